"""The data sets of the feature-space paper's tables, or what stands in for them."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
from scipy import sparse

#: One random order of the rows, the same for every method.
SEED = 0
Rows: TypeAlias = tuple[Any, np.ndarray]


@attrs.frozen(eq=False)
class Split:
    """Rows to learn from, rows to choose by, and rows to test on once.

    The test rows come out of a method, so that a reader sees where they are asked for.
    """

    training: Rows
    validation: Rows
    _test: Rows

    def test(self) -> Rows:
        """The rows for the one measurement after every choice is made."""
        return self._test


@functools.cache
def covertype(rows: int | None = None) -> Split:
    """Lodgepole Pine against the rest: 464,810 rows to learn and 116,202 to test, or fewer.

    With `rows`, so many to learn from, a quarter as many to choose by (of the training rows that
    are left), and a quarter as many of the test rows. Features are brought to [0, 1] by the rows
    that are learned from. Without it there are no rows to choose by: choose with fewer.
    """
    with np.load(folder() / "covtype.npz", allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float64), (archive["y"] == 1).astype(np.intp)
    order = np.random.default_rng(SEED).permutation(len(y))
    learned, tested = order[:464_810], order[464_810:]
    judged = learned[:0]
    if rows is not None:
        learned, judged, tested = (
            learned[:rows],
            learned[rows : rows + rows // 4],
            tested[: rows // 4],
        )
    return scaled(X, y, learned, judged, tested)


def adult() -> Split:
    """The published training and test rows, categories one by one, a fifth to choose by."""
    with np.load(folder() / "adult.npz", allow_pickle=False) as archive:
        X = np.concatenate([archive["X_train"], archive["X_test"]]).astype(np.float64)
        y = np.concatenate([archive["y_train"], archive["y_test"]]).astype(np.intp)
        categorical, n = archive["categorical"], len(archive["y_train"])
    order = np.random.default_rng(SEED).permutation(n)
    learned, judged = np.split(order, [n * 4 // 5])
    others = np.setdiff1d(np.arange(X.shape[1]), categorical)
    levels = [np.unique(X[learned, column]) for column in categorical]
    encoded = [
        (X[:, [column]] == known).astype(np.float64)
        for column, known in zip(categorical, levels, strict=True)
    ]
    return scaled(np.hstack([X[:, others], *encoded]), y, learned, judged, np.arange(n, len(y)))


def reuters() -> Split:
    """Reuters money-fx: the published training and test rows, a fifth to choose by."""
    with np.load(folder() / "reuters_moneyfx.npz", allow_pickle=False) as archive:
        parts = [
            sparse.csr_matrix(
                tuple(archive[f"{name}_{key}"] for key in ("data", "indices", "indptr")),
                shape=tuple(archive[f"{name}_shape"]),
                dtype=np.float64,
            )
            for name in ("train", "test")
        ]
        y, y_test = archive["y_train"].astype(np.intp), archive["y_test"].astype(np.intp)
    learned, judged = _stratified(y)
    return Split(
        (parts[0][learned], y[learned]), (parts[0][judged], y[judged]), (parts[1], y_test)
    )


def generated(rows: int = 19_996, features: int = 1_355_191, per_row: int = 450) -> Split:
    """Sparse rows of the shape of news20: words by their frequency, classes by a few of them.

    Words are drawn by Zipf's law; each of two classes prefers words of its own, a little, and one
    label in fifty is wrong. Rows have length 1. The split is the paper's, 0.9 to 0.1, with a tenth
    of the training rows to choose by.
    """
    generator = np.random.default_rng(SEED)
    y = generator.integers(2, size=rows)
    wanted = generator.poisson(per_row, size=rows)
    edges = np.concatenate([[0], np.cumsum(wanted)])
    # The inverse of a distribution of words with frequency 1 / rank, drawn for all rows at once.
    ranks = np.exp(generator.random(edges[-1]) * np.log(features)).astype(np.int64)
    words = np.minimum(ranks, features - 1)
    side = generator.integers(2, size=features)
    owner = np.repeat(np.arange(rows), wanted)
    # A word of the other class is replaced by its neighbour now and then.
    swapped = (side[words] != y[owner]) & (generator.random(len(words)) < 0.12)
    words[swapped] = np.minimum(words[swapped] + 1, features - 1)
    X = sparse.csr_matrix(
        (np.ones(len(words)), words.astype(np.int32), edges.astype(np.int32)), (rows, features)
    )
    X.sum_duplicates()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    y = np.where(generator.random(rows) < 0.02, 1 - y, y)
    learned, tested = np.split(np.arange(rows), [rows * 9 // 10])
    learned, judged = np.split(learned, [len(learned) * 9 // 10])
    return Split((X[learned], y[learned]), (X[judged], y[judged]), (X[tested], y[tested]))


def scaled(
    X: np.ndarray, y: np.ndarray, learned: np.ndarray, judged: np.ndarray, tested: np.ndarray
) -> Split:
    """The three parts, features brought to [0, 1] by the rows that are learned from."""
    low, high = X[learned].min(axis=0), X[learned].max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    parts = [((X[rows] - low) / spread, y[rows]) for rows in (learned, judged, tested)]
    return Split(*parts)


def folder() -> Path:
    """The folder of data sets: DCSVM_DATA, or shared/data beside the repository."""
    named = os.environ.get("DCSVM_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"


def _stratified(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Four fifths and one fifth of the rows, each class spread evenly."""
    order = np.random.default_rng(SEED).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    judged = order[::5]
    return np.setdiff1d(order, judged), np.sort(judged)
