"""Solutions of multiclass problems, and the layout of their binary tasks."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats
from dcsvm_plugins.learners.kernel_svm.numpy_solver import Integers


@attrs.frozen(eq=False)
class OneVsOneSolution:
    """Solution of the one-vs-one problems of a part, with coefficients as in libsvm.

    Parameters
    ----------
    order : (n,) array of int
        The rows sorted by class; coefficients are in this order.
    counts : (k,) array of int
        Rows of each class.
    coefficients : (n, k - 1) array
        The coefficient of a row of class a against class b is in column b - 1 if b > a, in column
        b if b < a. It is nonnegative for the first class of a pair, nonpositive for the second.
    biases : (k (k - 1) / 2,) array
        By pair (0, 1), (0, 2), ..., (k - 2, k - 1). A positive decision is for the first class.
    objectives, gaps : (pairs,) arrays
    iterations : (pairs,) array of int
    converged : (pairs,) array of bool
    """

    order: Integers
    counts: Integers
    coefficients: Floats
    biases: Floats
    objectives: Floats
    gaps: Floats
    iterations: Integers
    converged: npt.NDArray[np.bool_]

    def compress(self) -> OneVsOneSolution:
        """The same without rows that are support vectors of no pair."""
        kept = np.flatnonzero(self.coefficients.any(axis=1))
        labels = np.repeat(np.arange(len(self.counts)), self.counts)
        counts = np.bincount(labels[kept], minlength=len(self.counts)).astype(np.int64)
        return attrs.evolve(
            self, order=self.order[kept], counts=counts, coefficients=self.coefficients[kept]
        )


@attrs.frozen(eq=False)
class OneVsRestSolution:
    """Solution of the one-vs-rest problems of a part.

    Parameters
    ----------
    coefficients : (n, k) array
        Signed, by row of the part; column c is for class c against the others.
    biases, objectives, gaps : (k,) arrays
    iterations : (k,) array of int
    converged : (k,) array of bool
    """

    coefficients: Floats
    biases: Floats
    objectives: Floats
    gaps: Floats
    iterations: Integers
    converged: npt.NDArray[np.bool_]


@attrs.frozen(eq=False)
class PairLayout:
    """The tasks of one-vs-one problems, and their places in the table of coefficients."""

    order: Integers
    counts: Integers
    rows: Integers
    offsets: Integers
    signs: Floats
    places: Integers

    @classmethod
    def of(cls, codes: Integers) -> PairLayout:
        """The layout for rows with these class codes."""
        order = np.argsort(codes, kind="stable").astype(np.int64)
        counts = np.bincount(codes).astype(np.int64)
        first, second = np.triu_indices(len(counts), 1)
        own = np.column_stack([first, second]).ravel()
        columns = np.column_stack([second - 1, first]).ravel()
        lengths = counts[own]
        begins = np.cumsum(lengths) - lengths
        shifts = (np.cumsum(counts) - counts)[own] - begins
        sorted_rows = np.arange(lengths.sum()) + np.repeat(shifts, lengths)
        offsets = np.concatenate([[0], np.cumsum(counts[first] + counts[second])])
        return cls(
            *(order, counts, order[sorted_rows], offsets.astype(np.int64)),
            signs=np.repeat(np.tile([1.0, -1.0], len(first)), lengths),
            places=sorted_rows * (len(counts) - 1) + np.repeat(columns, lengths),
        )

    def cell(
        self, beta: Floats, outcome: npt.NDArray[np.void], order: Integers | None = None
    ) -> OneVsOneSolution:
        """The solution for one C; `order` is given if rows were sorted before."""
        coefficients = np.zeros((len(self.order), max(len(self.counts) - 1, 0)))
        coefficients.ravel()[self.places] = beta
        order = self.order if order is None else order
        return OneVsOneSolution(order, self.counts, coefficients, **_columns(outcome))


@attrs.frozen(eq=False)
class RestLayout:
    """The tasks of one-vs-rest problems: all rows for each class."""

    rows: Integers
    offsets: Integers
    signs: Floats

    @classmethod
    def of(cls, codes: Integers) -> RestLayout:
        """The layout for rows with these class codes."""
        n, classes = len(codes), int(codes.max(initial=-1)) + 1
        return cls(
            np.tile(np.arange(n, dtype=np.int64), classes),
            np.arange(classes + 1, dtype=np.int64) * n,
            np.where(codes[None, :] == np.arange(classes)[:, None], 1.0, -1.0).ravel(),
        )

    def cell(
        self, beta: Floats, outcome: npt.NDArray[np.void], order: Integers | None = None
    ) -> OneVsRestSolution:
        """The solution for one C; `order` is given if rows were sorted before."""
        found = beta.reshape(len(self.offsets) - 1, -1).T
        coefficients = found
        if order is not None:
            coefficients = np.empty(found.shape)
            coefficients[order] = found
        return OneVsRestSolution(coefficients, **_columns(outcome))


def _columns(outcome: npt.NDArray[np.void]) -> dict[str, Any]:
    return {
        "biases": outcome["bias"].copy(),
        "objectives": outcome["objective"].copy(),
        "gaps": outcome["gap"].copy(),
        "iterations": outcome["iterations"].copy(),
        "converged": outcome["converged"] != 0,
    }
