"""The dual problem of a solver: coefficients with bounds, optimality gap, bias and objective."""

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric import Floats

Integers = npt.NDArray[np.int64]


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
