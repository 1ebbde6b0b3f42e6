"""Votes and walks of class pairs: labels of one-vs-one expansions."""

import ctypes
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.expansion.expansion import (
    Expansion,
    Integers,
    PackedExpansion,
    decisions_from_sums,
    run_in_blocks,
    sum_by_class,
)
from dcsvm.numeric.kernels.distances import Floats, Rows, as_dense
from dcsvm.numeric.native import address

#: The log-odds of a pair of classes at the margin of a support vector machine, where d = 1.
STEEPNESS = 3.0
#: Log-odds beyond this are cut off, so that sums of odds stay finite.
STEEPEST = 600.0


def vote(
    expansion: Expansion, X: Rows, *, precision: str = "float64", threads: int = 1
) -> Integers:
    """Labels (n,) by votes of all class pairs; ties are broken by the sum of decisions.

    With "float32", rows whose label could change by rounding, according to `Float32ErrorBound`,
    are evaluated again in float64, so labels are the same.
    """
    return _labels(expansion, X, precision, threads, walks=False)


def walk(
    expansion: Expansion, X: Rows, *, precision: str = "float64", threads: int = 1
) -> Integers:
    """Labels by a walk: compare the first and last class and drop the loser, until one is left.

    In ``float64`` only the pairs on the way of a row are evaluated. Parameters and result are
    those of `vote`.
    """
    packed, library = expansion.packed, native.library
    if packed is None or library is None or precision != "float64" or expansion.counts is None:
        return _labels(expansion, X, precision, threads, walks=True)
    labels = np.empty(X.shape[0], dtype=np.int64)

    def answer(rows: slice) -> None:
        labels[rows] = _walk_compiled(library, packed, as_dense(X[rows]), expansion.biases)

    run_in_blocks(answer, X.shape[0], threads)
    return labels


def pair_decisions(
    gram: FloatArray,
    coefficients: FloatArray,
    biases: FloatArray,
    class_sizes: npt.NDArray[np.integer[Any]],
) -> FloatArray:
    """The decision (n, pairs) of every pair of classes (i, j), i < j; positive means i.

    `gram` (n, m) are kernel values of n rows and m points, sorted by class, of which there are
    `class_sizes` (k,); `coefficients` (m, k - 1) are the dual values of each point against the
    other classes, in order.
    """
    edges = np.concatenate([[0], np.cumsum(class_sizes)])
    sums = np.stack(
        [gram[:, start:stop] @ coefficients[start:stop] for start, stop in pairwise(edges)], axis=1
    )
    return decisions_from_sums(sums, biases)


def pair_scores(decisions: FloatArray, k: int) -> FloatArray:
    """Scores (n, k) by votes from decisions (n, pairs), with ties broken by their sum.

    The sum counts less than one half: it is scaled to about 1 for a class that wins against all
    others and -1 for one that loses to all.
    """
    first, second = np.triu_indices(k, 1)
    votes = np.zeros((len(decisions), k))
    sums = np.zeros_like(votes)
    for label in range(k):
        for_it, against_it = decisions[:, first == label], decisions[:, second == label]
        votes[:, label] = (for_it > 0).sum(axis=1) + (against_it <= 0).sum(axis=1)
        sums[:, label] = for_it.sum(axis=1) - against_it.sum(axis=1)
    votes += sums / (3.0 * (np.abs(sums) + 1.0))
    return votes * (2.0 / (k - 1)) - 1.0


def pair_margins(decisions: FloatArray, k: int) -> FloatArray:
    """Scores (n, k) without votes: how far each class is from losing to its strongest rival.

    Where the probability of class i against j is 1 / (1 + exp(-STEEPNESS d_ij)), that of i against
    all is 1 / (1 + sum_j exp(-STEEPNESS d_ij)); a score is its logarithm.

    References
    ----------
    Price, Knerr, Personnaz, Dreyfus: Pairwise neural network classifiers with probabilistic
    outputs (1994).
    """
    first, second = np.triu_indices(k, 1)
    margins = np.empty((len(decisions), k))
    steep = np.clip(STEEPNESS * decisions, -STEEPEST, STEEPEST)
    lost, won = np.exp(-steep), np.exp(steep)
    for label in range(k):
        odds = lost[:, first == label].sum(axis=1) + won[:, second == label].sum(axis=1)
        margins[:, label] = -np.log1p(odds) / STEEPNESS
    return margins


def _labels(
    expansion: Expansion, X: Rows, precision: str, threads: int, *, walks: bool
) -> Integers:
    if expansion.counts is None:
        raise ValueError("vote and walk need an expansion with class counts")
    labels = np.empty(X.shape[0], dtype=np.int64)

    def answer(rows: slice) -> None:
        block = X[rows]
        sums, errors = sum_by_class(expansion, block, precision)
        found, unsure = _label(sums, expansion.biases, errors, walks)
        again = np.flatnonzero(unsure)
        if len(again):
            found[again] = (walk if walks else vote)(expansion, block[again])
        labels[rows] = found

    run_in_blocks(answer, X.shape[0], threads)
    return labels


def _label(
    sums: npt.NDArray[Any], biases: Floats, errors: Floats | None, walks: bool
) -> tuple[Integers, npt.NDArray[np.int8]]:
    """Return labels, and which of them could change by errors of this size."""
    rows, classes, columns = sums.shape
    labels, unsure = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int8)
    library = native.library
    if library is None:
        decisions = decisions_from_sums(sums, biases)
        if walks:
            return _walk(decisions, classes), unsure
        return pair_scores(decisions, classes).argmax(axis=1), unsure
    finite = None if errors is None else np.where(np.isinf(errors), 1.0, errors)
    function = library.dcsvm_label_f32 if sums.dtype == np.float32 else library.dcsvm_label_f64
    done = function(
        *(address(sums), rows, classes, columns, address(biases), address(finite)),
        *(int(walks), address(labels), address(unsure)),
    )
    if not done:
        raise MemoryError("vote: not enough memory for the decisions of one row")
    if errors is not None:
        unsure[np.isinf(errors)] = 1
    return labels, unsure


def _walk(decisions: Floats, classes: int) -> Integers:
    rows = np.arange(len(decisions))
    first, last = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), classes - 1)
    for _ in range(classes - 1):
        pair = first * classes - first * (first + 1) // 2 + last - first - 1
        wins = decisions[rows, pair] > 0
        last, first = np.where(wins, last - 1, last), np.where(wins, first, first + 1)
    return np.asarray(first, dtype=np.int64)


def _walk_compiled(
    library: ctypes.CDLL, packed: PackedExpansion, X: Floats, biases: Floats
) -> Integers:
    """Labels of rows X by walks, in float64."""
    moved, squares = packed.center(X)
    labels = np.empty(len(X), dtype=np.int64)
    if not library.dcsvm_walk(
        *(packed.double, address(moved), address(squares), len(moved)),
        *(address(biases), address(labels)),
    ):
        raise MemoryError("walk: not enough memory for the kernel values of one tile")
    return labels
