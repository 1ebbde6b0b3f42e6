"""Dual coordinate descent for linear SVMs, in C or numpy."""

import ctypes

import attrs
import numpy as np

from dcsvm.numeric import Float32Rows, FloatArray, Hyperplane, address, native


@attrs.frozen
class DualSettings:
    """Settings of the dual solver.

    `regularization` is lambda in lambda / 2 (|w|^2 + bias^2) + mean of weight x hinge loss. The
    solver stops when optimality is violated by less than `tolerance`, or after `passes` over the
    rows.
    """

    regularization: float = 1e-4
    tolerance: float = 0.01
    passes: int = 100

    def structure(self) -> native.DualStructure:
        return native.DualStructure(self.regularization, self.tolerance, self.passes)


def fit_linear_dual(
    rows: Float32Rows, signs: FloatArray, masses: FloatArray | None, settings: DualSettings
) -> Hyperplane:
    """Minimise lambda / 2 (|w|^2 + bias^2) + sum(masses hinge) / sum(masses).

    `signs` (n,) are +1 and -1, and `masses` (n,) row weights of any scale, 1 by default. The
    iterations of the hyperplane are passes over the rows.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale
    linear SVM (2008).
    """
    weights = np.ones(rows.n_rows) if masses is None else masses
    pulls = (signs * weights / weights.mean()).astype(np.float32)
    compiled = native.library
    if compiled is None:
        return _dual_numpy(rows, pulls.astype(np.float64), settings)
    w, bias = np.empty(rows.stride, dtype=np.float32), ctypes.c_double()
    order = np.arange(rows.n_rows)
    given, wanted = rows.structure(), settings.structure()
    taken = compiled.dcsvm_dual_plane(
        *(ctypes.byref(given), address(order), rows.n_rows, address(pulls)),
        *(ctypes.byref(wanted), address(w), ctypes.byref(bias)),
    )
    if taken < 0:
        raise MemoryError("dual: not enough memory for a hyperplane")
    return Hyperplane(w[: rows.n_features].astype(np.float64), bias.value, int(taken))


def _dual_numpy(rows: Float32Rows, pulls: FloatArray, settings: DualSettings) -> Hyperplane:
    """The same in double precision, with all rows in every pass."""
    values = (rows.sparse.toarray() if rows.dense is None else rows.dense).astype(np.float64)
    square, signs = 1.0 + (values**2).sum(axis=1), np.sign(pulls)
    most = np.abs(pulls) / (settings.regularization * rows.n_rows)
    alpha, w, bias, passes = np.zeros(rows.n_rows), np.zeros(values.shape[1]), 0.0, 0
    generator = np.random.default_rng(rows.n_rows)
    while passes < settings.passes:
        passes += 1
        lowest, highest = np.inf, -np.inf
        for i in generator.permutation(rows.n_rows):
            slope = signs[i] * (values[i] @ w + bias) - 1.0
            stuck = (alpha[i] <= 0 and slope > 0) or (alpha[i] >= most[i] and slope < 0)
            free = 0.0 if stuck else slope
            lowest, highest = min(lowest, free), max(highest, free)
            if stuck:
                continue
            after = min(max(alpha[i] - slope / square[i], 0.0), most[i])
            step = (after - alpha[i]) * signs[i]
            alpha[i], w, bias = after, w + step * values[i], bias + step
        if highest - lowest <= settings.tolerance:
            break
    return Hyperplane(w[: rows.n_features], float(bias), passes)
