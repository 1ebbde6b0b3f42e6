"""Regions around centres: a row belongs where its affinity is largest."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dcsvm.base.models import Hyperplanes, KernelExpansion
from dcsvm.base.problem import Part, Problem, parts_by
from dcsvm.base.routing import Router, Routing
from dcsvm.drawing import Scene, draw_division
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.clusters import Clusters, kernel_kmeans, nearest
from dcsvm.numeric.kernels.distances import as_dense, products
from dcsvm.numeric.kernels.kernel import Kernel

#: Rows whose affinities are worked out together; fixed, so that no home depends on the machine.
BLOCK_ROWS = 8192


@attrs.frozen(eq=False)
class Regions(Router):
    """A router to the member whose column of `affinity` is largest for a row.

    `affinity` is any model with a column for each member: Hyperplanes for centres among the rows,
    a KernelExpansion for centres in feature space.
    """

    affinity: Any

    def route(self, X: Matrix) -> Routing:
        cost, ones = self.affinity.cost, np.ones(X.shape[0])
        return Routing.to_one(
            nearest(self.distances(X)),
            cost.hyperplanes * ones if cost.hyperplanes else None,
            cost.unique_kernel_evaluations * ones if cost.unique_kernel_evaluations else None,
        )

    def distances(self, X: Matrix) -> FloatArray:
        """How far rows X are from each region, (n, members), but for a constant of the row."""
        blocks = [
            -self.affinity.scores(X[start : start + BLOCK_ROWS])
            for start in range(0, X.shape[0], BLOCK_ROWS)
        ]
        return np.concatenate(blocks)

    def trace(self, x: Matrix) -> list[str]:
        away = self.distances(x)[0]
        home = int(nearest(away[None])[0])
        others = np.delete(away, home)
        if not len(others):
            return ["region 0, the only one"]
        margin = float(others.min() - away[home])
        return [f"region {home}: nearer than any other centre by {margin:.4g} of squared distance"]

    def parts(self, problem: Problem, border: float = 0.0, **others: Any) -> list[Part]:
        """The rows of a problem by region; regions without rows must not exist.

        With a border, each region of several classes also learns the rows nearest to it from
        outside, as many as that share of its own.
        """
        away = self.distances(problem.X)
        home = nearest(away)
        parts = parts_by(home, away.shape[1], **others)
        if not border:
            return parts
        own = away[np.arange(len(home)), home]
        return [
            self._wider(part, problem.y, home == number, away[:, number] - own, border)
            for number, part in enumerate(parts)
        ]

    def _wider(
        self, part: Part, y: IntArray, inside: Any, outside: FloatArray, border: float
    ) -> Part:
        wanted = min(round(border * len(part.rows)), len(inside) - len(part.rows))
        if wanted < 1 or (y[part.rows] == y[part.rows[0]]).all():
            return part
        order = np.argsort(np.where(inside, np.inf, outside), kind="stable")
        return attrs.evolve(part, rows=np.concatenate([part.rows, np.sort(order[:wanted])]))

    def overview(self, scene: Scene) -> str:
        n_regions = len(scene.members)
        question = f"the nearest of {n_regions} centres"
        question = "nearer to the first centre" if n_regions == 2 else question
        return draw_division(
            scene,
            [tuple(range(1, n_regions + 1)), *[()] * n_regions],
            [question, *[""] * n_regions],
            lambda X: nearest(self.distances(X)) + 1,
        )


def find_regions(
    problem: Problem,
    kernel: Kernel,
    clusters: int,
    *,
    rows: IntArray | None = None,
    sample: int = 2000,
    balance: float = np.inf,
    starts: int = 1,
) -> Regions:
    """Find regions by k-means in the feature space of a kernel, on a sample of the rows.

    Parameters
    ----------
    problem : Problem
        Its seed decides on the sample and on the first centres.
    kernel : Kernel
        With the linear kernel the centres are points among the rows, and cost a product each.
    clusters : int
        Fewer are found where rows are alike or a cluster would be home to no row.
    rows : (m,) int array, optional
        The rows to choose the sample from; all of them where absent.
    sample : int
    balance : float
        How many times the mean size no cluster of the sample may exceed.
    starts : int
        How often to begin anew; the tightest clusters win.
    """
    generator = problem.seed.generator()
    pool = np.arange(problem.n_rows) if rows is None else rows
    chosen = np.sort(generator.permutation(pool)[:sample])
    X = problem.X[chosen]
    gram = products(X) if kernel.kind == "linear" else kernel(X)
    found = kernel_kmeans(gram, clusters, generator, balance=balance, starts=starts)
    regions = _regions(found, kernel, X)
    return _inhabited(regions, problem)


def _regions(found: Clusters, kernel: Kernel, X: Matrix) -> Regions:
    biases = -(found.inner + found.prices)
    if kernel.kind == "linear":
        return Regions(Hyperplanes(2.0 * as_dense(X.T @ found.means), biases))
    rows = np.arange(X.shape[0])
    return Regions(KernelExpansion(X, 2.0 * found.means, biases, kernel, rows))


def _inhabited(regions: Regions, problem: Problem) -> Regions:
    """The same regions without those that are home to no row of the problem."""
    used = np.unique(nearest(regions.distances(problem.X)))
    affinity = regions.affinity
    if len(used) == len(affinity.biases):
        return regions
    word = "weights" if isinstance(affinity, Hyperplanes) else "coefficients"
    kept = {word: np.ascontiguousarray(getattr(affinity, word)[:, used])}
    return Regions(attrs.evolve(affinity, biases=affinity.biases[used], **kept))
