"""One fit of one part for one C and gamma, against scikit-learn's SVC."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import data
import numpy as np
from sidebyside import Case, main
from sklearn.svm import SVC

from dcsvm.numeric import Kernel
from dcsvm_plugins.learners.kernel_svm.size_dispatch import solve_pairs_large


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Parts of up to 1,500 rows, then of 6,000."""
    del options
    parts = []
    X, y = data.letter()
    rows = np.random.default_rng(0).permutation(16_000)
    parts.append(("letter", X, y, rows, 3.0))
    X, y = data.adult()
    parts.append(("adult", X, y, np.random.default_rng(0).permutation(len(y)), 0.1))
    X, y = data.covertype()
    leaves = data.leaves(X, y)
    largest = max(leaves, key=lambda rows: np.sort(np.bincount(y[rows]))[-2])
    parts.append(("covertype leaf", X, y, largest, 10.0))
    for name, X, y, rows, gamma in parts:
        part = rows[:1500]
        for C in (10.0, 100.0):
            yield case(f"{name}, {len(part)} rows, C = {C:g}", 2, X[part], y[part], C, gamma)
    large = max(data.leaves(X, y, ceiling=6000, floor=5000), key=len)
    for C in (10.0, 100.0):
        yield case(
            f"covertype leaf, {len(large)} rows, C = {C:g}", 1.5, X[large], y[large], C, 10.0
        )


def case(name: str, asked: float, X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> Case:
    """The same machines, ours and theirs."""
    codes = np.unique(y, return_inverse=True)[1]
    return (
        *(name, asked, lambda: solve_pairs_large(Kernel("rbf", gamma=gamma), X, codes, C)),
        lambda: SVC(C=C, gamma=gamma, cache_size=1000).fit(X, codes),
    )


if __name__ == "__main__":
    main(__doc__, cases, repeat=5)
