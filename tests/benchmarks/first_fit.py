"""What the first fit costs beyond a warm one: python tests/benchmarks/first_fit.py [--json].

Fresh interpreters that have imported scikit-learn import dcsvm, fit a small kernel SVM and
predict, twice; `ours` is the first time, `theirs` the second, and what is asked bounds the
difference. Nothing is compiled when dcsvm runs, so a fresh environment differs from a later
process by byte code only: its row lets every interpreter write all of it anew. The last row has
dcsvm and its plugins imported beforehand and shows what the fit alone adds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from table import Row, show

FIT_TWICE = """
import sys
import time
import sklearn.svm
from sklearn.datasets import make_classification

X, y = make_classification(300, 10, n_classes=3, n_informative=5, random_state=0)
if "imported" in sys.argv:
    from dcsvm import DivideAndConquerClassifier, build

    build("learner", "kernel_svm")
for _ in range(2):
    started = time.perf_counter()
    from dcsvm import DivideAndConquerClassifier, build

    machine = DivideAndConquerClassifier("whole", build("learner", "kernel_svm"), "route")
    machine.fit(X, y).predict(X)
    print(time.perf_counter() - started)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print row names and ratios as JSON")
    parser.add_argument("--quick", action="store_true", help="once each, to see that it runs")
    parser.add_argument("--repeats", type=int, default=5, help="how often; the median counts")
    given = parser.parse_args()
    repeats = 1 if given.quick else given.repeats
    rows = [
        added("first fit in a fresh environment", 5.0, repeats, "anew"),
        added("first fit of a later process", 0.5, repeats, "later"),
        added("first fit, dcsvm imported", 0.5, repeats, "imported"),
    ]
    show(rows, as_json=given.json)


def added(name: str, limit: float, repeats: int, how: str) -> Row:
    """Medians of the first and of the second time."""
    times = [fitted_twice(how) for _ in range(repeats)]
    first, second = (statistics.median(side) for side in zip(*times, strict=True))
    return Row(name, "s", first, second, f"adds < {limit} s", first - second, limit)


def fitted_twice(how: str) -> tuple[float, float]:
    """Seconds of the first and of the second fit in one new interpreter."""
    with tempfile.TemporaryDirectory() as empty:
        byte_code = {"PYTHONPYCACHEPREFIX": empty} if how == "anew" else {}
        printed = subprocess.run(
            [sys.executable, "-c", FIT_TWICE, how],
            env=os.environ | byte_code,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    first, second = map(float, printed.split())
    return first, second


if __name__ == "__main__":
    main()
