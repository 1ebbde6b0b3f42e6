"""What dcsvm costs beside the solvers it calls: python tests/benchmarks/overhead.py [--json].

`whole fit` and `whole predict` put an undivided pipeline of one kernel SVM beside bare SVC.
`chunks part` puts the milliseconds that one of many tiny parts takes beside those of the learner
alone, called on problems that were cut before; what is asked bounds the difference.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC
from table import Row, show, side_by_side
from threadpoolctl import threadpool_limits

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.problem import Part, Problem
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import LocalProblem, Subproblem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print row names and ratios as JSON")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--repeats", type=int, default=5, help="how often; the median counts")
    given = parser.parse_args()
    rows, parts = (300, 10) if given.quick else (5_000, 1_000)
    repeats = 1 if given.quick else given.repeats
    table = [
        *whole(rows, 2, repeats, "libsvm"),
        *whole(rows, 5, repeats, "libsvm"),
        *whole(rows, 2, repeats, "own"),
        *whole(rows, 5, repeats, "own"),
        chunks(parts, 1, repeats),
        chunks(parts, 2, repeats),
    ]
    show(table, as_json=given.json)


def whole(n_rows: int, n_classes: int, repeats: int, solver: str) -> list[Row]:
    """An undivided pipeline beside bare SVC: fitting, then predicting the same rows.

    With libsvm both sides solve alike, so the ratio is what the pipeline itself costs.
    """
    X, y = _data(n_rows, n_classes)
    svm = build("learner", "kernel_svm", solver=solver)
    ours = DivideAndConquerClassifier("whole", svm, "route")
    theirs = SVC()
    fit = side_by_side(repeats, ours=lambda: ours.fit(X, y), theirs=lambda: theirs.fit(X, y))
    # libsvm gives a tie of votes to the first class, we to the surer one, as break_ties does.
    differ = ours.predict(X) != theirs.set_params(break_ties=n_classes > 2).predict(X)
    if solver == "own":
        # Two solvers stop 1e-3 apart; away from every border they may not differ.
        decisions = theirs.set_params(break_ties=False, decision_function_shape="ovo")
        nearest = np.abs(decisions.decision_function(X).reshape(len(X), -1)).min(axis=1)
        differ &= nearest > 0.01
    assert not differ.any(), f"the two sides disagree on {differ.mean():.2%} of the rows"
    theirs.set_params(break_ties=False, decision_function_shape="ovr")
    predict = side_by_side(repeats, ours=lambda: ours.predict(X), theirs=lambda: theirs.predict(X))
    return [
        _within(f"whole fit, {n_classes} classes, {solver}", fit),
        _within(f"whole predict, {n_classes} classes, {solver}", predict),
    ]


def chunks(n_parts: int, n_jobs: int, repeats: int) -> Row:
    """Many parts of 20 rows beside the learner alone on the same rows."""
    X, y = _data(20 * n_parts, 2)
    learner = build("learner", "kernel_svm")
    ours = DivideAndConquerClassifier(
        build("decomposer", "chunks", parts=n_parts),
        learner,
        "mean",
        n_jobs=n_jobs,
        random_state=0,
    )
    cuts = _cuts(X, y, n_parts)

    def alone() -> None:
        with threadpool_limits(limits=1, user_api="blas"):
            for cut in cuts:
                learner.fit(cut.problem)

    seconds = side_by_side(repeats, ours=lambda: ours.fit(X, y), theirs=alone)
    part = {side: 1e3 * total / n_parts for side, total in seconds.items()}
    beyond = part["ours"] - part["theirs"]
    name = f"chunks part, {n_jobs} job{'s' * (n_jobs > 1)}"
    return Row(name, "ms", part["ours"], part["theirs"], "beyond < 2 ms", beyond, 2.0)


def _within(name: str, seconds: dict[str, float]) -> Row:
    ours, theirs = seconds["ours"], seconds["theirs"]
    return Row(name, "s", ours, theirs, "ratio < 1.10", ours / theirs, 1.10)


def _data(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        n_rows, 20, n_informative=10, n_classes=n_classes, flip_y=0.1, random_state=0
    )


def _cuts(X: np.ndarray, y: np.ndarray, n_parts: int) -> list[LocalProblem]:
    """Problems like those that chunks makes: each class dealt evenly to all parts."""
    problem = Problem(X, y, 2)
    learner = build("learner", "kernel_svm")
    order = np.argsort(y, kind="stable")
    return [
        Subproblem(problem, Part(np.sort(order[start::n_parts])), learner, Seed(0)).extract()
        for start in range(n_parts)
    ]


if __name__ == "__main__":
    main()
