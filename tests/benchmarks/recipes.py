"""Every registered recipe on its embedded data: seconds, accuracy and whether it was quick enough.

`python tests/benchmarks/recipes.py` runs each by the command line, as a user would, the time of
starting included. Asked: under 10 s each, under 5 minutes all together. On a machine shared with
others, the processor's seconds (of all cores together) say more.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dcsvm.drive.registry import RECIPE, default_registry

EACH, ALL = 10.0, 300.0


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--only", default="", help="recipes whose name holds this text")
    parser.add_argument("--jobs", default="2", help="parts trained at the same time")
    given = parser.parse_args(arguments)
    names = [name for name in default_registry().names(RECIPE) if given.only in name]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(names):
            found[name] = measured(name, Path(folder, name), given.jobs)
            if not given.json:
                show(name, found[name])
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        total = sum(each["seconds"] for each in found.values())
        print(f"{'all':22}{total:9.1f} s  {'yes' if total < ALL else 'no'} (asked: {ALL:.0f} s)")


def measured(name: str, folder: Path, jobs: str) -> dict[str, float]:
    command = [sys.executable, "-m", "dcsvm", "run", name, "--out", str(folder), "--jobs", jobs]
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, capture_output=True, text=True)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run.returncode == 0, run.stderr
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    metrics = json.loads((folder / "metrics.json").read_text())
    wanted = ("search_seconds", "fit_seconds", "test_accuracy", "n_train")
    times = {"seconds": round(seconds, 2), "processor_seconds": round(processor, 2)}
    return {**times, **{key: metrics.get(key) for key in wanted}}


def show(name: str, found: dict[str, float]) -> None:
    held = "yes" if found["seconds"] < EACH else "no"
    print(
        f"{name:22}{found['seconds']:9.1f} s  {held:4} processor "
        f"{found['processor_seconds']:5.1f} s  accuracy {found['test_accuracy']:.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
