"""Kernel expansions asked for many rows or for one: sums, votes of class pairs, walks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import backend
from dcsvm.numeric.expansion.packed_expansion import PackedExpansion, pack_expansion
from dcsvm.numeric.expansion.pair_decisions import decisions_from_sums, pair_scores
from dcsvm.numeric.kernels.distances import Floats, Rows, as_dense
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.native import address

Integers = npt.NDArray[np.int64]

BLOCK_ROWS = 768
"""Rows that are answered together; fixed, so that no answer depends on the number of threads."""


@attrs.frozen(eq=False)
class Expansion:
    """Functions f(x) = sum_i k(x, point_i) coefficient_i + bias that share kernel and points.

    Parameters
    ----------
    kernel : Kernel
    points : (p, features) array or CSR
    coefficients : (p, outputs) array
        With `counts`, (p, k - 1): the compressed coefficients of `OneVsOneSolution`.
    biases : (outputs,) array
        With `counts`, (k (k - 1) / 2,).
    counts : (k,) array of int, optional
        Points of each class, in order, for one-against-one machines.
    packed : PackedExpansion, optional
        What the compiled library works on; made by `prepare`.
    """

    kernel: Kernel
    points: Rows
    coefficients: Floats
    biases: Floats
    counts: Integers | None = None
    packed: PackedExpansion | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """What goes to another process is packed there: pointers do not travel."""
        return prepare, (self.kernel, self.points, self.coefficients, self.biases, self.counts)


def prepare(
    kernel: Kernel,
    points: Rows,
    coefficients: npt.ArrayLike,
    biases: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
) -> Expansion:
    """An expansion, its points packed once for all later questions.

    Parameters
    ----------
    kernel, points, coefficients, biases, counts
        As in `Expansion`.

    Examples
    --------
    >>> import numpy as np
    >>> expansion = prepare(Kernel("linear"), np.eye(2), [[1.0], [-1.0]], [0.5])
    >>> evaluate(expansion, np.array([[2.0, 1.0]])).tolist()
    [[1.5]]
    """
    table = np.ascontiguousarray(coefficients, dtype=np.float64)
    offsets = np.ascontiguousarray(biases, dtype=np.float64)
    sizes = None if counts is None else np.ascontiguousarray(counts, dtype=np.int64)
    if table.ndim != 2 or len(table) != points.shape[0]:
        raise ValueError(
            f"prepare: {points.shape[0]} points need as many rows of coefficients, "
            f"not an array of shape {table.shape}"
        )
    if sizes is not None and (sizes.sum() != len(table) or table.shape[1] != len(sizes) - 1):
        raise ValueError(
            f"prepare: {len(sizes)} classes with {sizes.sum()} points do not fit "
            f"coefficients of shape {table.shape}"
        )
    packed = pack_expansion(kernel, points, table, sizes)
    return Expansion(kernel, points, table, offsets, sizes, packed)


def evaluate(
    expansion: Expansion, X: Rows, *, precision: str = "float64", threads: int = 1
) -> Floats:
    """The values of all functions; with class pairs, the decisions of all pairs.

    Parameters
    ----------
    expansion : Expansion
    X : (n, features) array or CSR
    precision : ``float64`` or ``float32``
    threads : int
        Row blocks answered at the same time; the answer does not depend on it.

    Returns
    -------
    (n, outputs) or (n, k (k - 1) / 2) array of float64
    """
    result = np.empty((X.shape[0], len(expansion.biases)))

    def answer(rows: slice) -> None:
        sums, _ = _sums(expansion, X[rows], precision)
        if expansion.counts is None:
            result[rows] = sums[:, 0, : len(expansion.biases)] + expansion.biases
        else:
            result[rows] = decisions_from_sums(sums, expansion.biases)

    _in_blocks(answer, X.shape[0], threads)
    return result


def class_sums(expansion: Expansion, X: Rows) -> Floats:
    """What the points of each class add to each of its pairs, for walks that ask a few pairs.

    Parameters
    ----------
    expansion : Expansion
        With `counts`.
    X : (n, features) array or CSR

    Returns
    -------
    (n, k, columns) array of float64
        The decision of the pair (a, b), a < b, is [a, b - 1] + [b, a] + its bias.
    """
    return np.asarray(_sums(expansion, X, "float64")[0])


def vote(
    expansion: Expansion, X: Rows, *, precision: str = "float64", threads: int = 1
) -> Integers:
    """Labels by votes of all class pairs; of equals, the larger sum of decisions wins.

    With ``float32`` the rows whose label rounding could change are asked again in float64; what
    rounding can do is bounded by `Float32ErrorBound`, so labels are those of ``float64``.

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
    """Labels by a walk: first and last class are compared and one drops out, until one is left.

    In ``float64`` only the coefficients of the pairs that a row asks are looked at. Parameters and
    result are those of `vote`.
    """
    packed, library = expansion.packed, backend.library()
    if packed is None or library is None or precision != "float64" or expansion.counts is None:
        return _labels(expansion, X, precision, threads, walks=True)
    labels = np.empty(X.shape[0], dtype=np.int64)

    def answer(rows: slice) -> None:
        labels[rows] = packed.walk(library, as_dense(X[rows]), expansion.biases)

    _in_blocks(answer, X.shape[0], threads)
    return labels


def vote_one(expansion: Expansion, x: Floats) -> int:
    """The label of one row by votes, with as little overhead as Python allows.

    Parameters
    ----------
    expansion : Expansion
        With `counts`.
    x : (features,) array of float64
    """
    return _one(expansion, x, False)


def walk_one(expansion: Expansion, x: Floats) -> int:
    """The label of one row by a walk, with as little overhead as Python allows."""
    return _one(expansion, x, True)


def _one(expansion: Expansion, x: Floats, walks: bool) -> int:
    packed, library = expansion.packed, backend.library()
    if packed is None or library is None:
        return int(_labels(expansion, np.atleast_2d(x), "float64", 1, walks=walks)[0])
    row = np.ascontiguousarray(x, dtype=np.float64)
    return int(packed.ask_one(library, row, expansion.biases, walks))


def _labels(
    expansion: Expansion, X: Rows, precision: str, threads: int, *, walks: bool
) -> Integers:
    if expansion.counts is None:
        raise ValueError("vote and walk: the expansion has no class counts, so no class pairs")
    labels = np.empty(X.shape[0], dtype=np.int64)

    def answer(rows: slice) -> None:
        block = X[rows]
        sums, errors = _sums(expansion, block, precision)
        found, unsure = _label(sums, expansion.biases, errors, walks)
        again = np.flatnonzero(unsure)
        if len(again):
            found[again] = (walk if walks else vote)(expansion, block[again])
        labels[rows] = found

    _in_blocks(answer, X.shape[0], threads)
    return labels


def _in_blocks(answer: Callable[[slice], None], rows: int, threads: int) -> None:
    blocks: Iterable[slice] = [
        slice(start, min(rows, start + BLOCK_ROWS)) for start in range(0, rows, BLOCK_ROWS)
    ]
    if threads <= 1 or rows <= BLOCK_ROWS:
        for block in blocks:
            answer(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(answer, block) for block in blocks]:
            done.result()


def _sums(expansion: Expansion, X: Rows, precision: str) -> tuple[npt.NDArray[Any], Floats | None]:
    """Sums by row, class and column, and with float32 the share by which each row may be off."""
    if precision not in ("float64", "float32"):
        raise ValueError(f"precision is 'float64' or 'float32', not {precision!r}")
    packed, library = expansion.packed, backend.library()
    if packed is None or library is None:
        return _numpy_sums(expansion, X), None
    return packed.ask(library, as_dense(X), precision)


def _numpy_sums(expansion: Expansion, X: Rows) -> Floats:
    sizes = [expansion.points.shape[0]] if expansion.counts is None else expansion.counts
    result = np.empty((X.shape[0], len(sizes), expansion.coefficients.shape[1]))
    ends = np.cumsum(sizes)
    for rows, block in expansion.kernel.in_blocks(X, expansion.points):
        for index, (end, size) in enumerate(zip(ends, sizes, strict=True)):
            part = slice(end - size, end)
            result[rows, index] = block[:, part] @ expansion.coefficients[part]
    return result


def _label(
    sums: npt.NDArray[Any], biases: Floats, errors: Floats | None, walks: bool
) -> tuple[Integers, npt.NDArray[np.int8]]:
    """Labels, and which of them errors of that size could change."""
    rows, classes, columns = sums.shape
    labels, unsure = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int8)
    library = backend.library()
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
        raise MemoryError("vote: no room for the decisions of one row")
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
