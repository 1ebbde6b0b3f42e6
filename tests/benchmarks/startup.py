"""How long it takes to get started: python tests/benchmarks/startup.py [--json].

Fresh interpreters import dcsvm, print the command line's help, or answer ten rows of a file by
models of several kinds, beside one that only imports scikit-learn. What is asked bounds our
seconds; answering counts seconds of the processor. Modules are compiled to byte code beforehand,
as they are when packages are installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from sklearn.datasets import make_moons
from table import Row, show, side_by_side

from dcsvm import DivideAndConquerClassifier, build, save

DCSVM = str(Path(sys.executable).with_name("dcsvm"))
OURS = {
    "import dcsvm": ([sys.executable, "-c", "import dcsvm"], 0.3),
    "dcsvm --help": ([DCSVM, "--help"], 0.5),
}
ANSWERING_LIMIT = 0.7
LOGISTIC = build("learner", "logistic")
SVM, TREES = "kernel_svm", build("learner", "sklearn", classifier="HistGradientBoostingClassifier")
MODELS: dict[str, Callable[[], DivideAndConquerClassifier]] = {
    "an SVM": lambda: DivideAndConquerClassifier("whole", SVM, "route"),
    "a forest": lambda: DivideAndConquerClassifier(
        5 * build("decomposer", "tree", ceiling=150, splitter="random"),
        SVM,
        "mean",
        random_state=0,
    ),
    "boosted trees": lambda: DivideAndConquerClassifier(
        "whole", TREES, "route", probability="auto"
    ),
    "a blend": lambda: DivideAndConquerClassifier(
        build("decomposer", "blend", learners=(LOGISTIC, TREES)), SVM, "mean", probability="auto"
    ),
}
THEIRS = [sys.executable, "-c", "import sklearn"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print row names and ratios as JSON")
    parser.add_argument("--quick", action="store_true", help="once each, to see that it runs")
    parser.add_argument("--repeats", type=int, default=7, help="how often; the median counts")
    given = parser.parse_args()
    repeats = 1 if given.quick else given.repeats
    with tempfile.TemporaryDirectory() as folder:
        if not given.quick:
            os.environ["PYTHONPYCACHEPREFIX"] = folder
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        rows = [started(name, repeats) for name in OURS]
        theirs = _processor_seconds(THEIRS, repeats)
        rows.extend(answered(Path(folder), name, repeats, theirs) for name in MODELS)
    show(rows, as_json=given.json)


def started(name: str, repeats: int) -> Row:
    """One of our commands beside the bare import, each in a fresh interpreter."""
    command, limit = OURS[name]
    if repeats > 1:  # once beforehand, so that byte code is written and files are read
        _run(command)
        _run(THEIRS)
    seconds = side_by_side(repeats, ours=lambda: _run(command), theirs=lambda: _run(THEIRS))
    ours = seconds["ours"]
    return Row(name, "s", ours, seconds["theirs"], f"< {limit} s", ours, limit)


def answered(here: Path, name: str, repeats: int, theirs: float) -> Row:
    """`dcsvm predict` with one of the models beside the bare import."""
    X, y = make_moons(500, noise=0.2, random_state=0)
    save(MODELS[name]().fit(X, y), here / "model.dcsvm")
    (here / "rows.csv").write_text("x0,x1\n" + "0.5,0.25\n" * 10)
    out = ["--out", str(here / "answers.csv")]
    command = [DCSVM, "predict", str(here / "model.dcsvm"), str(here / "rows.csv"), *out]
    if repeats > 1:
        _run(command)
    ours = _processor_seconds(command, repeats)
    title = f"dcsvm predict, ten rows, {name}, processor"
    return Row(title, "s", ours, theirs, f"< {ANSWERING_LIMIT} s", ours, ANSWERING_LIMIT)


def _processor_seconds(command: list[str], repeats: int) -> float:
    """The median of what a command takes of the processor."""
    found = []
    for _ in range(repeats):
        before = os.times()
        _run(command)
        after = os.times()
        found.append(sum(after[2:4]) - sum(before[2:4]))
    return sorted(found)[repeats // 2]


def _run(command: list[str]) -> None:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, check=True, **quiet)


if __name__ == "__main__":
    main()
