"""The few cells that a search tries on its coarser levels, against a loop of SVC."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import data
import numpy as np
from sidebyside import Case, main
from sklearn.svm import SVC

from dcsvm.numeric import Kernel
from dcsvm_plugins.learners.kernel_svm.multiclass import solve_grid

#: What was best at the finest level of adult: a large C goes with a wide kernel.
CELLS = [(1.0, [10.0]), (1.0, [100.0]), (0.1, [1e3]), (0.01, [1e4, 1e5])]


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Leaves of a few thousand rows."""
    del options
    for name, (X, y) in (("adult", data.adult()), ("covertype", data.covertype())):
        leaves = data.leaves(X, y, ceiling=4000, floor=3000)
        rows = max(leaves, key=lambda leaf: np.sort(np.bincount(y[leaf]))[-2])
        codes = np.unique(y[rows], return_inverse=True)[1]
        yield case(f"{name} leaf, {len(rows)} rows, 5 cells", X[rows], codes)


def case(name: str, X: np.ndarray, y: np.ndarray) -> Case:
    """The same cells, ours and theirs."""

    def ours() -> None:
        for gamma, Cs in CELLS:
            for _ in solve_grid(Kernel("rbf", gamma=gamma), X, y, Cs, [gamma]):
                pass

    def theirs() -> None:
        for gamma, Cs in CELLS:
            for C in Cs:
                SVC(C=C, gamma=gamma, cache_size=1000).fit(X, y)

    return name, 2.0, ours, theirs


if __name__ == "__main__":
    main(__doc__, cases, repeat=3)
