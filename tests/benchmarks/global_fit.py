"""One machine for all rows, on two threads, against SVC with a cache of 1 GB."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterator

import data
import numpy as np
from sidebyside import Case, main
from sklearn.svm import SVC

from dcsvm.numeric import Kernel
from dcsvm_plugins.learners.kernel_svm.size_dispatch import solve_pairs_large


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Letter, adult and covertype; scikit-learn-intelex beside it where it is installed."""
    X, y = data.letter()
    yield case("letter, 16000 rows", 1, X[:16_000], y[:16_000], 10.0, 3.0)
    X, y = data.adult()
    yield case(f"adult, {len(y)} rows", 1, X, y, 1.0, 0.1)
    X, y = data.covertype()
    for rows, asked in ((20_000, 1.0), (50_000, 3.0)):
        if rows > options.rows:
            continue
        part = np.random.default_rng(0).choice(len(y), rows, replace=False)
        yield case(f"covertype, {rows} rows", asked, X[part], y[part], 10.0, 10.0)
        if importlib.util.find_spec("sklearnex"):
            yield intelex(f"covertype, {rows} rows, intelex", X[part], y[part])


def ours(X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> object:
    """All class pairs on two threads."""
    return solve_pairs_large(Kernel("rbf", gamma=gamma), X, y, C, threads=2)


def case(name: str, asked: float, X: np.ndarray, y: np.ndarray, C: float, gamma: float) -> Case:
    """The same machines, ours and theirs."""
    codes = np.unique(y, return_inverse=True)[1]
    model = SVC(C=C, gamma=gamma, cache_size=1000)
    return name, asked, lambda: ours(X, codes, C, gamma), lambda: model.fit(X, codes)


def intelex(name: str, X: np.ndarray, y: np.ndarray) -> Case:
    """Against Intel's solver on two threads; nothing is asked."""
    from sklearnex import svm

    codes = np.unique(y, return_inverse=True)[1]
    model = svm.SVC(C=10.0, gamma=10.0, cache_size=1000, n_jobs=2)
    return name, 0.0, lambda: ours(X, codes, 10.0, 10.0), lambda: model.fit(X, codes)


if __name__ == "__main__":
    main(__doc__, cases, rows=50_000)
