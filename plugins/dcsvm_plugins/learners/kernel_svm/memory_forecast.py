"""The memory that a kernel machine takes, by its rows and by a sample of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from dcsvm import LocalModel, Problem
from dcsvm_plugins.learners.kernel_svm.large_solver import working_set_size
from dcsvm_plugins.learners.kernel_svm.size_dispatch import FULL_ROWS

#: Up to this many rows one matrix of distances serves a whole grid, or all classes.
GRID_ROWS = 6000
#: Bytes for each value of a full matrix, of which a Newton step takes some once more; for other
#: kernels than RBF, values are computed in float64 first, and distances may be kept, too.
RBF_VALUE, OTHER_VALUE, DISTANCE_VALUE = 4.6, 20.0, 12.4
#: What the working sets of larger problems take.
WORKING_BYTES = 2e7
#: Blocks of float64 kernel values of larger problems: the most they take, rows of the first.
BLOCK_BYTES, FIRST_ROWS = 2.0**28, 1024
#: Rows that the solver of a larger problem looks at: per support vector, and a share of all.
LOOKED, MORE = 1.05, 0.02


@attrs.frozen
class MemoryForecast:
    """What a machine with some settings takes."""

    is_rbf: bool
    has_rest: bool
    is_pairwise: bool
    cache_bytes: float

    @classmethod
    def of(cls, machine: Any) -> MemoryForecast:
        kernel, cache = machine.kernel, 2**20 * machine.cache_size
        return cls(kernel == "rbf", machine.multiclass == "rest", machine.pairwise, cache)

    def estimate(self, n_rows: int, n_features: int, share: float = 1.0) -> float:
        """The bytes for a kernel matrix, or for the rows of it that are kept.

        `share` is that of the rows that the solver of a larger problem looks at.
        """
        if self.has_rest and FULL_ROWS < n_rows <= GRID_ROWS:
            return (RBF_VALUE if self.is_rbf else DISTANCE_VALUE) * n_rows**2
        if n_rows <= FULL_ROWS or working_set_size(n_rows, n_rows // 2) >= n_rows:
            return (RBF_VALUE if self.is_rbf else OTHER_VALUE) * n_rows**2
        kept = min(4.0 * share * n_rows**2, self.cache_bytes)
        blocks = 0.0 if self.is_rbf else min(24.0 * n_rows * FIRST_ROWS, BLOCK_BYTES)
        return kept + blocks + WORKING_BYTES + 12.0 * n_rows * n_features

    def estimate_like(
        self, sample: Problem, n_rows: int, fit: Callable[[Problem], LocalModel]
    ) -> float:
        """The same for rows like those of a sample, by its support vectors."""
        if sample.n_classes > 2 and not self.has_rest:  # pairs are solved in turn
            pair = _take_largest_pair(sample)
            n_rows = round(n_rows * pair.n_rows / sample.n_rows)
            sample = pair
        if n_rows <= FULL_ROWS or sample.n_classes > 2 or self.is_pairwise:
            return self.estimate(n_rows, sample.n_features)
        return self.estimate(n_rows, sample.n_features, _estimate_share(sample, n_rows, fit))


def _take_largest_pair(sample: Problem) -> Problem:
    """The rows of the two largest classes."""
    largest = np.argsort(-np.bincount(sample.y), kind="stable")[:2]
    y = (sample.y == largest.max()).astype(np.intp)
    rows = np.flatnonzero(np.isin(sample.y, largest))
    return attrs.evolve(sample, y=y, n_classes=2).subset(rows)


def _estimate_share(sample: Problem, n_rows: int, fit: Callable[[Problem], LocalModel]) -> float:
    """The share of `n_rows` rows like those of a sample that the solver looks at.

    These are the support vectors and a few others. Their share falls with the rows by a power,
    which a third of the sample tells.
    """
    some = max(2, sample.n_rows // 3)
    few = np.sort(np.random.default_rng(0).permutation(sample.n_rows)[:some])
    if len(np.unique(sample.y[few])) < sample.n_classes:
        return 1.0
    shares = []
    for problem in (sample.subset(few), sample):
        support: Any = fit(problem).support
        shares.append(max(len(support) / problem.n_rows, 1e-3))
    power = min(0.0, np.log(shares[1] / shares[0]) / np.log(sample.n_rows / some))
    return float(min(1.0, LOOKED * shares[1] * (n_rows / sample.n_rows) ** power + MORE))
