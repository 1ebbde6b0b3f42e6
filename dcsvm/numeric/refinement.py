"""Iterative refinement in numpy: the solver's matrix is float32, its gradient need not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.distances import Floats
from dcsvm.numeric.gram import Gram

if TYPE_CHECKING:
    from dcsvm.numeric.reference import Problem

Integers = npt.NDArray[np.int64]

ROUNDING = 1.7e-8
"""A float32 entry of size one is off by 3e-8 at most, by this on the average square."""
NOTICEABLE = 0.1
"""The share of the tolerance that rounding may take."""
MOST_OF_THE_WAY = 0.8


@attrs.define(eq=False)
class Refinement:
    """What corrects a gradient of the rounded matrix to one of the exact matrix.

    `exact_for` are the coefficients for which the gradient is exact, `old` the coefficients and
    the gradient of the round before, `ridge` what was added to the rounded diagonal.
    """

    gram: Gram
    rows: Integers
    exact_for: Floats
    ridge: float = 0.0
    old: tuple[Floats, Floats] = (np.empty(0), np.empty(0))

    def correct(self, problem: Problem, tol: float) -> bool:
        """Correct for what changed since the last time; False where that would not show."""
        change = problem.beta - self.exact_for
        moved = np.flatnonzero(change)
        noise = ROUNDING * float(np.linalg.norm(change))
        noise += self.ridge * float(np.abs(change).max(initial=0.0))
        if noise < NOTICEABLE * tol:
            return False
        exact = self.gram.exact(self.rows[moved], self.rows)
        if exact is None:
            return False
        problem.f += change[moved] @ (exact - problem.K[moved])
        self.exact_for = problem.beta.copy()
        return True

    def stiffen(self, problem: Problem) -> None:
        """Put a ridge on the diagonal, of the size that rounding has in any direction."""
        if self.ridge == 0.0:
            self.ridge = ROUNDING * float(np.sqrt(len(self.rows)))
            problem.K[np.diag_indices_from(problem.K)] += np.float32(self.ridge)
        self.old = problem.beta.copy(), problem.f.copy()

    def search(self, problem: Problem) -> None:
        """Go on from the last round's point through this one's, while the exact value falls.

        To the end of the bounds, or to most of the way to the least value: all of the way, every
        time, would run in zigzag.
        """
        beta, f = self.old
        step, rise = problem.beta - beta, problem.f - f
        slope, curvature = float(f @ step), float(step @ rise)
        if slope < 0.0:
            room = np.where(step > 0, problem.upper, problem.lower) - beta
            moving = step != 0
            most = float((room[moving] / step[moving]).min())
            least = -slope / curvature if curvature > 0.0 else np.inf
            share = most if least >= most else min(least, max(MOST_OF_THE_WAY * least, 1.0))
            problem.beta = np.clip(beta + share * step, problem.lower, problem.upper)
            problem.f = f + share * rise
            self.exact_for = problem.beta.copy()
        self.old = problem.beta.copy(), problem.f.copy()
