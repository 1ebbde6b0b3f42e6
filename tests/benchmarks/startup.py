"""How long it takes to get started: python tests/benchmarks/startup.py [--json].

Fresh interpreters import dcsvm, print the command line's help, or answer ten rows of a file,
beside one that only imports scikit-learn. What is asked bounds our seconds; answering counts
seconds of the processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import Row, show, side_by_side

DCSVM = str(Path(sys.executable).with_name("dcsvm"))
OURS = {
    "import dcsvm": ([sys.executable, "-c", "import dcsvm"], 0.3),
    "dcsvm --help": ([DCSVM, "--help"], 0.5),
}
ANSWERING, ANSWERING_LIMIT = "dcsvm predict, ten rows, processor", 0.7
THEIRS = [sys.executable, "-c", "import sklearn"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print row names and ratios as JSON")
    parser.add_argument("--quick", action="store_true", help="once each, to see that it runs")
    parser.add_argument("--repeats", type=int, default=7, help="how often; the median counts")
    given = parser.parse_args()
    repeats = 1 if given.quick else given.repeats
    rows = [started(name, repeats) for name in OURS]
    show([*rows, answered(repeats)], as_json=given.json)


def started(name: str, repeats: int) -> Row:
    """One of our commands beside the bare import, each in a fresh interpreter."""
    command, limit = OURS[name]
    if repeats > 1:  # once beforehand, so that byte code is written and files are read
        _run(command)
        _run(THEIRS)
    seconds = side_by_side(repeats, ours=lambda: _run(command), theirs=lambda: _run(THEIRS))
    ours = seconds["ours"]
    return Row(name, "s", ours, seconds["theirs"], f"< {limit} s", ours, limit)


def answered(repeats: int) -> Row:
    """`dcsvm predict` with the model of the quickstart beside the bare import."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        _run([DCSVM, "run", "quickstart", "--out", str(here / "run")])
        (here / "rows.csv").write_text("x,y\n" + "0.5,0.25\n" * 10)
        out = ["--out", str(here / "answers.csv")]
        command = [DCSVM, "predict", str(here / "run"), str(here / "rows.csv"), *out]
        ours, theirs = (
            sorted(_processor_seconds(each) for _ in range(repeats))[repeats // 2]
            for each in (command, THEIRS)
        )
    return Row(ANSWERING, "s", ours, theirs, f"< {ANSWERING_LIMIT} s", ours, ANSWERING_LIMIT)


def _processor_seconds(command: list[str]) -> float:
    before = os.times()
    _run(command)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def _run(command: list[str]) -> None:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, check=True, **quiet)


if __name__ == "__main__":
    main()
