"""How long it takes to get started: python tests/benchmarks/startup.py [--json].

Fresh interpreters import dcsvm, or print the command line's help, beside one that only imports
scikit-learn. What is asked bounds our seconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from table import Row, show, side_by_side

OURS = {
    "import dcsvm": ([sys.executable, "-c", "import dcsvm"], 0.3),
    "dcsvm --help": ([str(Path(sys.executable).with_name("dcsvm")), "--help"], 0.5),
}
THEIRS = [sys.executable, "-c", "import sklearn"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print row names and ratios as JSON")
    parser.add_argument("--quick", action="store_true", help="once each, to see that it runs")
    parser.add_argument("--repeats", type=int, default=7, help="how often; the median counts")
    given = parser.parse_args()
    repeats = 1 if given.quick else given.repeats
    show([started(name, repeats) for name in OURS], as_json=given.json)


def started(name: str, repeats: int) -> Row:
    """One of our commands beside the bare import, each in a fresh interpreter."""
    command, limit = OURS[name]
    if repeats > 1:  # once beforehand, so that byte code is written and files are read
        _run(command)
        _run(THEIRS)
    seconds = side_by_side(repeats, ours=lambda: _run(command), theirs=lambda: _run(THEIRS))
    ours = seconds["ours"]
    return Row(name, "s", ours, seconds["theirs"], f"< {limit} s", ours, limit)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
