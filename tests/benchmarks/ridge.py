"""Kernel ridge regression over 9 gammas and 9 ridges, against a loop of KernelRidge."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import data
import numpy as np
from sidebyside import Case, main
from sklearn.kernel_ridge import KernelRidge

from dcsvm.numeric import Kernel, KernelMatrices
from dcsvm_plugins.learners.krr.ridge_path import ridge_path

RIDGES = 10.0 ** np.arange(-4, 5)
GAMMAS = 10.0 ** np.arange(-4, 5)


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Parts of 1,500 rows."""
    del options
    X, y = data.checkerboard()
    yield case("checkerboard, 1500 rows", X, 2.0 * y - 1.0)
    X, y = data.letter()
    rows = np.random.default_rng(0).choice(16_000, 1500, replace=False)
    yield case("letter, 1500 rows, 2 classes", X[rows], 2.0 * (y[rows] < 13) - 1.0)
    yield case("letter, 1500 rows, 26 outputs", X[rows], 2.0 * np.eye(26)[y[rows]] - 1.0)
    X, y = data.covertype()
    leaf = max(data.leaves(X, y), key=len)[:1500]
    yield case(f"covertype leaf, {len(leaf)} rows", X[leaf], 2.0 * (y[leaf] == y[leaf[0]]) - 1.0)


def case(name: str, X: np.ndarray, targets: np.ndarray) -> Case:
    """All 81 cells, ours and theirs."""

    def theirs() -> None:
        for gamma in GAMMAS:
            for ridge in RIDGES:
                KernelRidge(alpha=ridge, kernel="rbf", gamma=gamma).fit(X, targets)

    def ours() -> None:
        matrices = KernelMatrices(X)
        for gamma in GAMMAS:
            ridge_path(matrices.build(Kernel("rbf", gamma=gamma)), targets, RIDGES)

    return name, 15, ours, theirs


if __name__ == "__main__":
    main(__doc__, cases)
