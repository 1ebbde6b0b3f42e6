"""Log-odds that are a sum of curves of single features, drawn to zero."""

from itertools import pairwise

import attrs
import numpy as np
import scipy
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, Matrix
from dcsvm.numeric.stored_arrays import Stored, axes

#: All features together have at most so many pieces, but each has one, and at most so many.
PIECES, MOST_PIECES = 64, 8
#: The penalty on the squared slope of a standardized piece: as much as about so many rows.
DRAW = 100.0
#: Rows whose quantiles are where curves bend.
QUANTILE_ROWS = 1000
#: Newton steps from zero, near which the curves are, all with the curvature there.
STEPS = 2


@attrs.frozen(eq=False)
class AdditiveCurves(Stored):
    """A sum of curves, each of one feature: linear between edges, constant beyond the ends.

    The pieces of each curve begin and end at ascending `edges` (pieces + 1, features).
    """

    edges: FloatArray = attrs.field(metadata=axes("edges", "features"))
    slopes: FloatArray = attrs.field(metadata=axes("pieces", "features"))
    shift: float

    def check_stored(self, **sizes: int) -> dict[str, int]:
        return super().check_stored(**sizes, pieces=len(self.edges) - 1)

    def evaluate(self, X: Matrix) -> FloatArray:
        """The sums (n,) for rows X (n, features); row by row, so that batches change nothing."""
        X = X.toarray() if sparse.issparse(X) else X
        sums = np.full(X.shape[0], self.shift)
        for (low, high), slopes in zip(pairwise(self.edges), self.slopes, strict=True):
            sums += ((np.clip(X, low, high) - low) * slopes).sum(axis=1)
        return sums


def fit_additive_curves(
    X: FloatArray, wanted: FloatArray, weights: FloatArray, offsets: FloatArray
) -> AdditiveCurves:
    """Fit curves that are added to the log-odds `offsets` (n,) of rows X (n, features).

    `wanted` (n,) is the probability that each row should have, with `weights` (n,).
    """
    knots = max(1, min(MOST_PIECES, PIECES // X.shape[1])) - 1
    some = X[:: 1 + len(X) // QUANTILE_ROWS]
    inner = np.quantile(some, np.linspace(0.0, 1.0, knots + 2)[1:-1], axis=0)
    edges = np.vstack([X.min(axis=0), inner, X.max(axis=0)])
    given = np.ascontiguousarray(X.T)
    rises = np.empty((knots + 1, *given.shape))
    for rise, low, high in zip(rises, edges[:-1, :, None], edges[1:, :, None], strict=True):
        np.minimum(np.maximum(given, low, out=rise), high, out=rise)
        rise -= low
    rises = rises.reshape(-1, len(X))
    means, largest = rises.mean(axis=1), rises.max(axis=1)
    rises -= means[:, None]
    scales = np.sqrt(np.einsum("ij,ij->i", rises, rises) / len(X))
    scales[scales <= 1e-9 * largest] = np.inf  # a constant says nothing
    rises /= scales[:, None]
    shares = scipy.special.expit(offsets)
    halves = rises * np.sqrt(weights * shares * (1.0 - shares))
    curvature = halves @ halves.T
    curvature[np.diag_indices(len(rises))] += DRAW
    found = np.zeros(len(rises))
    for _ in range(STEPS):
        gradient = rises @ (weights * (shares - wanted)) + DRAW * found
        found -= np.linalg.solve(curvature, gradient)
        shares = scipy.special.expit(offsets + found @ rises)
    slopes = found / scales
    return AdditiveCurves(edges, slopes.reshape(knots + 1, -1), -float(means @ slopes))
