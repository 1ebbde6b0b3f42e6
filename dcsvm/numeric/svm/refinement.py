"""Iterative refinement: exact gradients for a solver with a float32 matrix."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.kernels.distances import Floats

Integers = npt.NDArray[np.int64]

ROUNDING = 1.7e-8
"""Root mean square rounding error of a float32 entry of size one."""
NOTICEABLE = 0.1
"""The share of the tolerance that rounding errors may use up."""
MOST_OF_THE_WAY = 0.8


@attrs.define(eq=False)
class BoundedDual:
    """Signed coefficients of a dual problem, their bounds and gradient; changed in place."""

    lower: Floats
    upper: Floats
    beta: Floats
    f: Floats

    def can_grow(self) -> npt.NDArray[np.bool_]:
        """Which coefficients are below their upper bound."""
        return self.beta < self.upper

    def can_fall(self) -> npt.NDArray[np.bool_]:
        """Which coefficients are above their lower bound."""
        return self.beta > self.lower

    def extremes(self) -> tuple[float, float]:
        """The smallest f that can grow and the largest f that can fall."""
        return (
            float(self.f.min(initial=np.inf, where=self.can_grow())),
            float(self.f.max(initial=-np.inf, where=self.can_fall())),
        )

    def gap(self) -> float:
        """The largest violation of optimality by a pair of rows."""
        lowest, highest = self.extremes()
        return highest - lowest

    def conclude(self, y: Floats, iterations: int, newton: int, tol: float) -> tuple[float, ...]:
        """The entries of `OUTCOME` for the current coefficients."""
        lowest, highest = self.extremes()
        free = self.can_grow() & self.can_fall()
        ends = [value for value in (lowest, highest) if np.isfinite(value)]
        middle = -float(np.mean(ends)) if ends else 0.0
        bias = -float(self.f[free].mean()) if free.any() else middle
        objective = 0.5 * float(self.beta @ (self.f - y))
        gap = highest - lowest
        return (bias, objective, gap, iterations, newton, gap < tol)


@attrs.define(eq=False)
class Refinement:
    """Corrects the gradient of the rounded matrix to that of the exact matrix.

    Parameters
    ----------
    products : callable
        Multiplies given rows of the exact matrix by a coefficient each and sums them; None if
        exact values are unknown.
    beta, f : (n,) arrays
        Coefficients and their exact gradient.
    size : float
        The largest absolute entry of the rounded matrix.
    ridge : float
        The value added to its diagonal.
    """

    products: Callable[[Integers, Floats], Floats | None]
    beta: Floats
    f: Floats
    size: float = 1.0
    ridge: float = 0.0

    def correct(self, problem: BoundedDual, tol: float, *, search: bool) -> bool:
        """Correct the gradient; return False if the rounding error is negligible.

        With `search`, extend the step since the last correction by an exact line search.
        """
        change = problem.beta - self.beta
        moved = np.flatnonzero(change)
        noise = ROUNDING * self.size * float(np.linalg.norm(change))
        noise += self.ridge * float(np.abs(change).max(initial=0.0))
        if noise < NOTICEABLE * tol:
            return False
        rise = self.products(moved, change[moved])
        if rise is None:
            return False
        share = self._share(problem, change, rise) if search else 1.0
        if share != 1.0:
            beta = self.beta + share * change
            problem.beta = np.clip(beta, problem.lower, problem.upper)
        problem.f = self.f + share * rise
        self.beta, self.f = problem.beta.copy(), problem.f.copy()
        return True

    def _share(self, problem: BoundedDual, change: Floats, rise: Floats) -> float:
        """The step length: up to the bounds, or most of the way to the minimum.

        Always going all the way would zigzag.
        """
        slope, curvature = float(self.f @ change), float(change @ rise)
        if slope >= 0.0:
            return 1.0
        moving = change != 0
        room = np.where(change > 0, problem.upper, problem.lower) - self.beta
        most = float((room[moving] / change[moving]).min())
        least = -slope / curvature if curvature > 0.0 else np.inf
        return most if least >= most else min(least, max(MOST_OF_THE_WAY * least, 1.0))

    def stiffen(self) -> float:
        """Return what to add to the rounded diagonal: a bound on the rounding error.

        It turns refinement rounds into proximal steps, so that directions with almost no
        curvature do not follow rounding errors. Zero if it was added before.
        """
        before, self.ridge = self.ridge, ROUNDING * self.size * float(np.sqrt(len(self.beta)))
        return self.ridge - before

    def rescale(self, factor: float, signs: Floats) -> None:
        """Follow a scaling of the coefficients."""
        self.beta = factor * self.beta
        self.f = factor * (self.f + signs) - signs
