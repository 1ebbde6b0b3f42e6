"""Votes and walks of class pairs: labels of one-vs-one expansions, for many rows or one."""

from __future__ import annotations

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
    panel_starts,
    run_in_blocks,
    sum_by_class,
)
from dcsvm.numeric.kernels.distances import Floats, Rows, as_dense
from dcsvm.numeric.native import address


def vote(
    expansion: Expansion, X: Rows, *, precision: str = "float64", threads: int = 1
) -> Integers:
    """Labels by votes of all class pairs; ties are broken by the sum of decisions.

    With ``float32``, rows whose label could change by rounding, according to `Float32ErrorBound`,
    are evaluated again in float64, so labels are the same.

    Parameters
    ----------
    expansion : Expansion
        With `counts`.
    X, precision, threads
        As in `evaluate`.

    Returns
    -------
    (n,) array of int
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


def vote_one(expansion: Expansion, x: Floats) -> int:
    """The label of one row by votes, with little overhead.

    Parameters
    ----------
    expansion : Expansion
        With `counts`.
    x : (features,) array of float64
    """
    return _one(expansion, x, False)


def walk_one(expansion: Expansion, x: Floats) -> int:
    """The label of one row by a walk, with little overhead."""
    return _one(expansion, x, True)


def _one(expansion: Expansion, x: Floats, walks: bool) -> int:
    packed, library = expansion.packed, native.library
    if packed is None or library is None:
        return int(_labels(expansion, np.atleast_2d(x), "float64", 1, walks=walks)[0])
    row = np.ascontiguousarray(x, dtype=np.float64)
    return _ask_one(library, packed, row, expansion.biases, walks)


def pair_decisions(
    gram: FloatArray,
    coefficients: FloatArray,
    biases: FloatArray,
    class_sizes: npt.NDArray[np.integer[Any]],
) -> FloatArray:
    """The decision of every pair of classes (i, j), i < j; positive means i.

    Parameters
    ----------
    gram : (n, m) array
        Kernel values of n rows and m points, sorted by class.
    coefficients : (m, k - 1) array
        The dual values of each point against the other classes, in order.
    biases : (k (k - 1) / 2,) array
    class_sizes : (k,) int array
        The number of points of each class.

    Returns
    -------
    (n, k (k - 1) / 2) array
    """
    edges = np.concatenate([[0], np.cumsum(class_sizes)])
    sums = np.stack(
        [gram[:, start:stop] @ coefficients[start:stop] for start, stop in pairwise(edges)], axis=1
    )
    return decisions_from_sums(sums, biases)


def pair_scores(decisions: FloatArray, k: int) -> FloatArray:
    """Scores by votes, with ties broken by the sum of decisions.

    Parameters
    ----------
    decisions : (n, k (k - 1) / 2) array
    k : int

    Returns
    -------
    (n, k) array
        Votes, plus less than one half for the sum of decisions, scaled to about 1 for a class
        that wins against all others and -1 for one that loses to all.
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


def _ask_one(
    library: ctypes.CDLL, packed: PackedExpansion, x: Floats, biases: Floats, walks: bool
) -> int:
    """The label of one row, in float32 first, and in float64 if rounding could change it."""
    scratch = packed.scratch
    if getattr(scratch, "biases", None) is not biases:
        scratch.biases, scratch.keep = biases, np.empty(_scratch_size(packed))
        scratch.front = (packed.double, packed.single.structure, packed.single.table)
        scratch.middle = (address(packed.origin), len(packed.origin), address(packed.columns))
        scratch.back = (address(biases),), (address(scratch.keep),)
    before, after = scratch.back
    return int(
        library.dcsvm_one(*scratch.front, address(x), *scratch.middle, *before, walks, *after)
    )


def _scratch_size(packed: PackedExpansion) -> int:
    """How many numbers the compiled library writes for one row."""
    classes, features = len(packed.sizes), len(packed.origin)
    padded = int(panel_starts(packed.sizes, 8)[-1] + panel_starts(packed.sizes, 16)[-1])
    return 2 * features + padded + classes * (classes - 1) + 5 * classes + 16
