"""A grid of 63 cells on one part, against a loop of scikit-learn's SVC."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import data
import numpy as np
from sidebyside import Case, main
from sklearn.svm import SVC

from dcsvm.numeric import Kernel
from dcsvm_plugins.learners.kernel_svm.multiclass import solve_grid

CS = 10.0 ** np.arange(-1, 6)
GAMMAS = 10.0 ** np.arange(-4, 5)


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Leaves of letter, adult and covertype, and a checkerboard."""
    X, y = data.checkerboard()
    yield case("noisy checkerboard, 1500 rows", 3, [(X, y)])
    X, y = data.letter()
    rows = np.random.default_rng(0).choice(16_000, 1500, replace=False)
    yield case("letter leaf, 26 classes, 1500 rows", 18, [(X[rows], y[rows])])
    X, y = data.adult()
    leaf = max(data.leaves(X, y), key=lambda rows: balance(y[rows]))
    yield case(f"adult leaf, {len(leaf)} rows", 8, [(X[leaf], y[leaf])])
    X, y = data.covertype()
    leaves = data.leaves(X, y)
    hard = max(leaves, key=lambda rows: balance(y[rows]) * (len(rows) > 1200))
    hard = hard[np.isin(y[hard], np.argsort(np.bincount(y[hard]))[-2:])]
    yield case(f"balanced binary covertype leaf, {len(hard)} rows", 6, [(X[hard], y[hard])])
    chosen = np.random.default_rng(1).choice(len(leaves), options.leaves, replace=False)
    parts = [(X[leaves[i]], y[leaves[i]]) for i in chosen]
    yield case(f"{options.leaves} random covertype leaves", 15, parts)


def balance(labels: np.ndarray) -> float:
    """The share of the second largest class."""
    return float(np.sort(np.bincount(labels))[-2] / len(labels))


def case(name: str, asked: float, parts: list[tuple[np.ndarray, np.ndarray]]) -> Case:
    """All cells of all parts, ours and theirs."""
    coded = [(X, np.unique(y, return_inverse=True)[1]) for X, y in parts]

    def ours() -> None:
        for X, y in coded:
            for _ in solve_grid(Kernel("rbf"), X, y, CS, GAMMAS):
                pass

    def theirs() -> None:
        for X, y in coded:
            for gamma in GAMMAS:
                for C in CS:
                    SVC(C=C, gamma=gamma, cache_size=1000).fit(X, y)

    return name, asked, ours, theirs


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(__doc__, cases, leaves=20)
