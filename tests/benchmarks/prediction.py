"""Prediction by class pairs, many rows and one row, against SVC.predict on one thread."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import data
import numpy as np
from sidebyside import Case, main
from sklearn.svm import SVC

from dcsvm.numeric import Expansion, Kernel, Plan, prepare, vote
from dcsvm.numeric.plan_runner import PlanRunner

ONE_BY_ONE = 200


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Models of letter, pendigits and a covertype leaf."""
    del options
    X, y = data.letter()
    yield from rows_of("letter", X[:16_000], y[:16_000], X[16_000:], 10.0, 3.0)
    X, y, T, _ = data.pendigits()
    yield from rows_of("pendigits", X, y, T, 10.0, 1.0)
    X, y = data.covertype()
    leaf = max(data.leaves(X, y), key=lambda rows: len(np.unique(y[rows])) * len(rows))
    near = np.random.default_rng(0).choice(leaf, 3000)
    yield from rows_of("covertype leaf", X[leaf], y[leaf], X[near], 100.0, 10.0)


def rows_of(
    name: str, X: np.ndarray, y: np.ndarray, T: np.ndarray, C: float, gamma: float
) -> Iterator[Case]:
    """One model asked in three ways; labels are compared before anything is timed."""
    model = SVC(C=C, gamma=gamma, cache_size=1000).fit(X, np.unique(y, return_inverse=True)[1])
    expansion = prepare(
        *(Kernel("rbf", gamma=gamma), model.support_vectors_, model.dual_coef_.T),
        *(model.intercept_, model.n_support_),
    )
    # Ties go by SVC's break_ties=True; SVC.predict as timed lets the first of equals win.
    expected = model.decision_function(T).argmax(axis=1)
    for precision, asked in (("float32", 15.0), ("float64", 5.0)):
        assert (vote(expansion, T, precision=precision) == expected).all()
        yield (
            *(f"{name}, batch, {precision}", asked),
            lambda precision=precision: vote(expansion, T, precision=precision),
            lambda: model.predict(T),
        )
    singles = [np.array(row)[None] for row in T[:ONE_BY_ONE]]
    one = plan_of(expansion, X.shape[1])
    assert [one.labels(x)[0] for x in singles] == expected[:ONE_BY_ONE].tolist()
    yield (
        *(f"{name}, one row at a time, votes", 7.0),
        lambda: [one.labels(x) for x in singles],
        lambda: [model.predict(x) for x in singles],
    )


def plan_of(expansion: Expansion, n_features: int) -> PlanRunner:
    """The plan of a single expansion."""
    plan = Plan()
    step = plan.expansion(expansion, n_features)
    plan.allow_float32_labels(step)
    return PlanRunner(plan, step)


if __name__ == "__main__":
    main(__doc__, cases)
