"""Iterative refinement: exact gradients for a solver with a float32 matrix."""

from collections.abc import Callable

import attrs
import numpy as np

from dcsvm.numeric import Floats
from dcsvm_plugins.learners.kernel_svm.dual_problem import BoundedDual, Integers

ROUNDING = 1.7e-8
"""Root mean square rounding error of a float32 entry of size one."""
NOTICEABLE = 0.1
"""The share of the tolerance that rounding errors may use up."""
MOST_OF_THE_WAY = 0.8


@attrs.define(eq=False)
class Refinement:
    """Corrects the gradient of the rounded matrix to that of the exact matrix.

    `products` multiplies given rows of the exact matrix by a coefficient each and sums them; None
    if exact values are unknown. `beta` and `f` (n,) are coefficients and their exact gradient,
    `size` is the largest absolute entry of the rounded matrix, and `ridge` was added to its
    diagonal.
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

    def shift_diagonal(self) -> float:
        """Return what to add to the rounded diagonal: a bound on the rounding error.

        Rounds become proximal steps, which do not follow rounding. Zero if it was added before.
        """
        before, self.ridge = self.ridge, ROUNDING * self.size * float(np.sqrt(len(self.beta)))
        return self.ridge - before

    def rescale(self, factor: float, signs: Floats) -> None:
        """Follow a scaling of the coefficients."""
        self.beta = factor * self.beta
        self.f = factor * (self.f + signs) - signs
