"""Iterative refinement in numpy: the solver's matrix is float32, its gradient need not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.kernels.distances import Floats

Integers = npt.NDArray[np.int64]

ROUNDING = 1.7e-8
"""A float32 entry of size one is off by 3e-8 at most, by this on the average square."""
NOTICEABLE = 0.1
"""The share of the tolerance that rounding may take."""
MOST_OF_THE_WAY = 0.8


class Bounded(Protocol):
    """Bounds, coefficients and gradient of a problem, changed in place."""

    lower: Floats
    upper: Floats
    beta: Floats
    f: Floats


@attrs.define(eq=False)
class Refinement:
    """What turns a gradient of the rounded matrix into one of the exact matrix.

    Parameters
    ----------
    products : callable
        Given rows and a coefficient for each, the exact matrix times them by row, or None where
        nothing exact is known.
    beta, f : (n,) arrays
        Coefficients, and their exact gradient.
    size : float
        The largest absolute entry of the rounded matrix.
    ridge : float
        What was added to its diagonal.
    """

    products: Callable[[Integers, Floats], Floats | None]
    beta: Floats
    f: Floats
    size: float = 1.0
    ridge: float = 0.0

    def correct(self, problem: Bounded, tol: float, *, search: bool) -> bool:
        """Put the gradient right; False where that would not show.

        With `search`, go on beyond the step from the last point, while the exact value falls.
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

    def _share(self, problem: Bounded, change: Floats, rise: Floats) -> float:
        """To the end of the bounds, or most of the way to the least value.

        All of the way, every time, would run in zigzag.
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
        """What to add to the rounded diagonal: the size that rounding has in any direction.

        With it a round of refinement is a proximal step: directions of almost no curvature no
        longer follow the rounding. Zero where it was added before.
        """
        before, self.ridge = self.ridge, ROUNDING * self.size * float(np.sqrt(len(self.beta)))
        return self.ridge - before

    def rescale(self, factor: float, signs: Floats) -> None:
        """Follow coefficients that were multiplied by a factor."""
        self.beta = factor * self.beta
        self.f = factor * (self.f + signs) - signs
