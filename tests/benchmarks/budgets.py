"""How long `dcsvm run auto --seconds S` takes, asked and taken, on sets of the suite.

    python tests/benchmarks/budgets.py
    python tests/benchmarks/budgets.py --sets magic kropt --seconds 10 60
    python tests/benchmarks/budgets.py --print

Each run is a command of its own, timed by the clock on the wall from its start to its end: nothing
else may run beside it. A budget is kept if the run takes no more than a tenth longer. Records go
to measured/budgets.jsonl; `--print` writes the table of what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from suite import HERE, SHARED, ask_git, read_kept

KEPT = HERE / "measured" / "budgets.jsonl"
SECONDS = (10, 15, 20, 30, 45, 60)
RUNS = 20
#: A run may take so many times what was asked.
SLACK = 1.1


def list_runs(sets: list[str], seconds: list[float], runs: int) -> list[tuple[str, float]]:
    """Pairs of set and seconds: all sets and all budgets come as often as the others."""
    return list(islice(zip(cycle(sets), cycle(seconds), strict=False), runs))


def run(name: str, seconds: float) -> dict[str, Any]:
    """Run a set once, and say what was asked and taken."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "dcsvm", "run", "auto", "--seconds", str(seconds)]
        command += ["--data", str(SHARED / "suite" / f"{name}.npz"), "--out", str(out)]
        began = time.monotonic()
        done = subprocess.run([*command, "--json"], capture_output=True, text=True)
        taken = time.monotonic() - began
        if done.returncode:
            return {"error": done.stderr[-300:]}
        result = json.loads(done.stdout)
        found = json.loads((out / "search.json").read_text())["auto/0"]
    return {
        "taken": round(taken, 2),
        "kept": taken <= SLACK * seconds,
        "rows": result["n_train"] + result["n_test"],
        "learned": result["n_kept"],
        "accuracy": result["models"][0]["test_accuracy"],
        "tried": sum(bool(each["n_rows"]) for each in found["leaderboard"]),
    }


def write_table(records: list[dict[str, Any]]) -> list[str]:
    """The records as a table, and how many budgets were kept."""
    lines = [
        "| set | rows | asked | taken | kept | recipes tried | rows learned | accuracy |",
        "|---|---:|---:|---:|---|---:|---:|---:|",
    ]
    done = [each for each in records if "taken" in each]
    for each in done:
        lines.append(
            f"| {each['set']} | {each['rows']:,} | {each['asked']:g} | {each['taken']:.1f} | "
            f"{'yes' if each['kept'] else '**no**'} | {each['tried']} | {each['learned']:,} | "
            f"{each['accuracy']:.4f} |"
        )
    kept = sum(each["kept"] for each in done)
    return [*lines, "", f"Budgets kept within a tenth: {kept} of {len(done)}."]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = sorted(path.stem for path in (SHARED / "suite").glob("*.npz"))
    parser.add_argument("--sets", nargs="+", default=names)
    parser.add_argument("--seconds", nargs="+", type=float, default=list(SECONDS))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--print", action="store_true", help="print the table, run nothing")
    given = parser.parse_args(arguments)
    if given.print:
        print("\n".join(write_table(read_kept(given.out))))
        return
    for name, seconds in list_runs(given.sets, given.seconds, given.runs):
        load = os.getloadavg()[0]
        record = {"set": name, "asked": seconds, **run(name, seconds), "load": round(load, 1)}
        record |= {"commit": ask_git("rev-parse", "--short", "HEAD")}
        with given.out.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
