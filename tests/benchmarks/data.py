"""Where the benchmarks' data sets are, and the parts that are cut from them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np


class MissingDataError(Exception):
    """A data set that a row of a benchmark needs is not here."""


def folder() -> Path:
    """The folder of data sets: DCSVM_DATA, or shared/data beside the repository."""
    named = os.environ.get("DCSVM_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"


def arrays(name: str) -> dict[str, np.ndarray]:
    """All arrays of one data set."""
    path = folder() / f"{name}.npz"
    if not path.exists():
        raise MissingDataError(f"no {path.name} in the data folder (set DCSVM_DATA)")
    with np.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def scaled(X: np.ndarray) -> np.ndarray:
    """Every column moved and stretched to [0, 1], as float64."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    return np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1.0))


def letter() -> tuple[np.ndarray, np.ndarray]:
    """Letter Recognition, 20,000 rows of 16 columns in 26 classes."""
    data = arrays("letter")
    return scaled(data["X"]), data["y"].astype(int)


def pendigits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pen digits, split as published."""
    data = arrays("pendigits")
    X = scaled(np.vstack([data["X_train"], data["X_test"]]))
    rows = len(data["X_train"])
    return X[:rows], data["y_train"].astype(int), X[rows:], data["y_test"].astype(int)


def adult() -> tuple[np.ndarray, np.ndarray]:
    """Adult, the training rows, categories one-hot."""
    data = arrays("adult")
    X, blocks = data["X_train"], []
    for column in range(X.shape[1]):
        if column in data["categorical"]:
            blocks.append((X[:, column, None] == np.unique(X[:, column])).astype(float))
        else:
            blocks.append(scaled(X[:, column, None]))
    return np.hstack(blocks), data["y_train"].astype(int)


def covertype() -> tuple[np.ndarray, np.ndarray]:
    """Covertype, 581,012 rows of 54 columns in 7 classes."""
    data = arrays("covtype")
    return scaled(data["X"]), data["y"].astype(int)


def checkerboard(rows: int = 1500, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """A 4 x 4 checkerboard with flipped labels."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(rows, 2))
    y = np.floor(4 * X).astype(int).sum(axis=1) % 2
    return X, np.where(random.uniform(size=rows) < noise, 1 - y, y)


def leaves(
    X: np.ndarray, y: np.ndarray, ceiling: int = 1500, floor: int = 300, sample: int = 200_000
) -> list[np.ndarray]:
    """Rows of the first nodes of at most `ceiling` rows on the way down a decision tree.

    Nodes of fewer than `floor` rows or of one class are left out.
    """
    from sklearn.tree import DecisionTreeClassifier

    chosen = np.sort(np.random.default_rng(0).choice(len(y), min(sample, len(y)), replace=False))
    fitted = DecisionTreeClassifier(min_samples_leaf=floor, random_state=0)
    fitted.fit(X[chosen], y[chosen])
    paths, tree = fitted.decision_path(X[chosen]).tocsc(), fitted.tree_
    result, stack = [], [0]
    while stack:
        node = stack.pop()
        if floor <= tree.n_node_samples[node] <= ceiling:
            rows = chosen[paths.indices[paths.indptr[node] : paths.indptr[node + 1]]]
            if len(np.unique(y[rows])) > 1:
                result.append(rows)
        elif tree.children_left[node] >= 0:
            stack += [tree.children_left[node], tree.children_right[node]]
    return result
