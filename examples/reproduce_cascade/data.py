"""The data of the cascade paper and of DC-SVM: checkerboards, covertype, text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from scipy import sparse

#: Numbers of the classes of covertype, as the source counts them less one.
SPRUCE, LODGEPOLE, PONDEROSA, COTTONWOOD, ASPEN, DOUGLAS, KRUMMHOLZ = range(7)
RIVALS = {"spruce": SPRUCE, "ponderosa": PONDEROSA}


@attrs.frozen(eq=False)
class Split:
    """Rows to learn from and rows to test on; the latter come out of a method, to be seen."""

    X: Any
    y: np.ndarray
    _test: tuple[Any, np.ndarray]

    def test(self) -> tuple[Any, np.ndarray]:
        """The rows for the one measurement after every choice is made."""
        return self._test


def arrays(name: str) -> Any:
    """A data set's archive, from the folder that DCSVM_DATA names or from beside the project."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return np.load(Path(os.environ.get("DCSVM_DATA", beside)) / f"{name}.npz", allow_pickle=False)


def checkerboard(number: int, per_class: int = 5000, tested: int = 10000) -> Split:
    """The 2 x 2 board of 200 x 200: training set `number`, and the test set that all share."""
    learned = _board(per_class, np.random.default_rng(number))
    return Split(*learned, _board(tested, np.random.default_rng(0)))


def _board(per_class: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = generator.uniform(-100.0, 100.0, size=(5 * per_class, 2))
    y = X[:, 0] * X[:, 1] > 0
    rows = np.concatenate([np.flatnonzero(y == side)[:per_class] for side in (True, False)])
    rows = generator.permutation(rows)
    return X[rows], y[rows].astype(int)


def covertype_pair(first: int, second: int, seed: int = 0) -> Split:
    """Two classes of covertype as they are, half of each to learn from, the paper's sizes."""
    archive = arrays("covtype")
    labels = archive["y"]
    generator = np.random.default_rng(seed)
    halves = []
    for label in (first, second):
        rows = generator.permutation(np.flatnonzero(labels == label))
        halves.append(np.array_split(rows, 2))
    X, y = archive["X"], (labels == second).astype(int)
    learned, tested = (np.concatenate(rows) for rows in zip(*halves, strict=True))
    return Split(_floats(X[learned]), y[learned], (_floats(X[tested]), y[tested]))


def covertype_two(rows: int, against: str, tested: int = 20000, seed: int = 0) -> Split:
    """Lodgepole Pine against another class of RIVALS, in [0, 1] by the training rows."""
    archive = arrays("covtype")
    labels = archive["y"]
    both = np.flatnonzero((labels == RIVALS[against]) | (labels == LODGEPOLE))
    order = np.random.default_rng(seed).permutation(both)[: rows + tested]
    return _unit(archive["X"], (labels == LODGEPOLE).astype(int), order[:rows], order[rows:])


def covertype_binary(rows: int | None = None, seed: int = 0) -> Split:
    """Lodgepole Pine against the rest, random 0.8 / 0.2, in [0, 1]; at most `rows` to learn."""
    archive = arrays("covtype")
    order = np.random.default_rng(seed).permutation(len(archive["y"]))
    cut = round(0.8 * len(order))
    y = (archive["y"] == LODGEPOLE).astype(int)
    return _unit(archive["X"], y, order[:cut][:rows], order[cut:])


def ijcnn(rows: int, seed: int = 0) -> Split:
    """ijcnn1 in a random order, both of its files together."""
    archive = arrays("ijcnn1")
    X = np.concatenate([archive["X_train"], archive["X_test"]])
    y = np.concatenate([archive["y_train"], archive["y_test"]]).astype(int)
    order = np.random.default_rng(seed).permutation(len(y))
    learned, tested = order[:rows], order[rows:]
    return Split(_floats(X[learned]), y[learned], (_floats(X[tested]), y[tested]))


def _unit(X: np.ndarray, y: np.ndarray, learned: np.ndarray, tested: np.ndarray) -> Split:
    low, high = X[learned].min(axis=0), X[learned].max(axis=0)
    spread = np.where(high > low, high.astype(float) - low, 1.0)

    def scaled(rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray((X[rows] - low.astype(float)) / spread)

    return Split(scaled(learned), y[learned], (scaled(tested), y[tested]))


def _floats(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X, dtype=np.float64)


def moneyfx(features: int = 5000) -> Split:
    """Reuters money-fx with its most frequent words, rows of unit length again."""
    archive = arrays("reuters_moneyfx")
    X, T = (
        sparse.csr_matrix(
            tuple(archive[f"{part}_{word}"] for word in ("data", "indices", "indptr")),
            shape=tuple(archive[f"{part}_shape"]),
            dtype=np.float64,
        )
        for part in ("train", "test")
    )
    columns = np.sort(np.argsort(-X.getnnz(axis=0), kind="stable")[:features])
    y, t = archive["y_train"].astype(int), archive["y_test"].astype(int)
    return Split(_unit_length(X[:, columns]), y, (_unit_length(T[:, columns]), t))


def generated_text(
    rows: int = 16000, features: int = 5000, draws: int = 3, noise: float = 0.0, seed: int = 0
) -> Split:
    """Documents drawn from two mixtures of the same forty topics; half of them to test on.

    A document has 20 words from each of `draws` topics; `noise` is the share of wrong labels.
    """
    generator = np.random.default_rng(seed)
    common = 1.0 / np.arange(1, features + 1)
    topics = generator.permuted(np.tile(common, (40, 1)), axis=1) + 2.0 * common
    topics /= topics.sum(axis=1, keepdims=True)
    taste = generator.dirichlet(np.full(40, 0.3), size=2)
    y = generator.integers(2, size=2 * rows)
    words = []
    for row in range(2 * rows):
        mixture = generator.dirichlet(8.0 * taste[y[row]] + 0.02)
        for each in generator.choice(40, size=draws, p=mixture):
            words.append(generator.choice(features, size=20, p=topics[each]))
    places = np.repeat(np.arange(2 * rows), 20 * draws)
    entries = (np.ones(len(places)), (places, np.concatenate(words)))
    counts = sparse.csr_matrix(entries, shape=(2 * rows, features))
    seen = np.maximum(counts[:rows].getnnz(axis=0), 1)
    X = _unit_length(sparse.csr_matrix(counts.multiply(np.log(rows / seen))))
    if noise:
        y = np.where(generator.random(2 * rows) < noise, 1 - y, y)
    return Split(X[:rows], y[:rows], (X[rows:], y[rows:]))


def _unit_length(X: Any) -> Any:
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ X)
