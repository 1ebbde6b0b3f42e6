"""Regions around centers, found by k-means: a row belongs where its affinity is largest."""

from typing import Any

import attrs
import numpy as np

from dcsvm.base.models import Hyperplanes, KernelExpansion, LocalModel
from dcsvm.base.problem import Part, Problem, parts_by
from dcsvm.base.routing import Router, Routing
from dcsvm.drawing import Scene, draw_division
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.clusters import kernel_kmeans, nearest
from dcsvm.numeric.kernels.distances import as_dense, products
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.row_plan import Plan, Step

#: Rows per block of affinities; fixed, so that results do not depend on the machine.
BLOCK_ROWS = 8192


@attrs.frozen(eq=False)
class Regions(Router):
    """A router to the member whose column of `affinity` is largest for a row.

    `affinity` is any model with a column for each member: Hyperplanes for centers in input space,
    a KernelExpansion for centers in feature space.
    """

    affinity: Any

    def check_stored(self, **sizes: int) -> dict[str, int]:
        if not isinstance(self.affinity, LocalModel):
            raise ValueError(
                f"Regions.affinity is a {type(self.affinity).__name__}, but must be a model"
            )
        if "features" in sizes:
            self.affinity.check_stored(features=sizes["features"], columns=sizes["members"])
        return sizes

    def route(self, X: Matrix) -> Routing:
        cost, ones = self.affinity.cost, np.ones(X.shape[0])
        return Routing.to_one(
            self.find_nearest(X),
            cost.hyperplanes * ones if cost.hyperplanes else None,
            cost.unique_kernel_evaluations * ones if cost.unique_kernel_evaluations else None,
        )

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        scores = self.affinity.add_to_plan(plan, n_features)
        return None if scores is None else plan.nearest(scores)

    def distances(self, X: Matrix) -> FloatArray:
        """Return the distances of rows X to regions, (n, members), up to a constant per row."""
        blocks = [
            -self.affinity.scores(X[start : start + BLOCK_ROWS])
            for start in range(0, X.shape[0], BLOCK_ROWS)
        ]
        return np.concatenate(blocks)

    def find_nearest(self, X: Matrix) -> IntArray:
        """Return the region of each of the rows X, (n,), block by block."""
        starts = range(0, X.shape[0], BLOCK_ROWS)
        blocks = [nearest(self.distances(X[start : start + BLOCK_ROWS])) for start in starts]
        return np.concatenate(blocks)

    def trace(self, x: Matrix) -> list[str]:
        away = self.distances(x)[0]
        region = int(nearest(away[None])[0])
        others = np.delete(away, region)
        if not len(others):
            return ["region 0, the only one"]
        margin = float(others.min() - away[region])
        return [
            f"region {region}: nearer than any other centre by {margin:.4g} of squared distance"
        ]

    def parts(self, problem: Problem, border: float = 0.0, **others: Any) -> list[Part]:
        """Divide the rows of a problem by region; every region must have rows.

        With a border, a region of several classes also gets the nearest rows from outside, as many
        as that share of its own.
        """
        region = self.find_nearest(problem.X)
        n_regions = self.distances(problem.X[:1]).shape[1]
        parts = parts_by(region, n_regions, **others)
        if not border:
            return parts
        away = self.distances(problem.X)
        own = away[np.arange(len(region)), region]
        return [
            _widen(part, problem.y, region == number, away[:, number] - own, border)
            for number, part in enumerate(parts)
        ]

    def overview(self, scene: Scene) -> str:
        n_regions = len(scene.members)
        question = f"the nearest of {n_regions} centres"
        question = "nearer to the first centre" if n_regions == 2 else question
        return draw_division(
            scene,
            [tuple(range(1, n_regions + 1)), *[()] * n_regions],
            [question, *[""] * n_regions],
            lambda X: self.find_nearest(X) + 1,
        )


def _widen(part: Part, y: IntArray, inside: Any, outside: FloatArray, border: float) -> Part:
    wanted = min(round(border * len(part.rows)), len(inside) - len(part.rows))
    if wanted < 1 or (y[part.rows] == y[part.rows[0]]).all():
        return part
    order = np.argsort(np.where(inside, np.inf, outside), kind="stable")
    return attrs.evolve(part, rows=np.concatenate([part.rows, np.sort(order[:wanted])]))


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

    The seed of the problem determines the sample, of `rows` if they are given, and the first
    centers. With the linear kernel the centers are points of the input space, which cost one
    product each. Fewer clusters are found if rows are equal or a cluster would have no rows.
    `balance` is the largest size of a cluster of the sample, in multiples of the mean size; of
    several starts the tightest clusters are used.
    """
    generator = problem.seed.generator()
    pool = np.arange(problem.n_rows) if rows is None else rows
    chosen = np.sort(generator.permutation(pool)[:sample])
    X = problem.X[chosen]
    gram = products(X) if kernel.kind == "linear" else kernel(X)
    found = kernel_kmeans(gram, clusters, generator, balance=balance, starts=starts)
    biases = -(found.inner + found.prices)
    if kernel.kind == "linear":
        regions = Regions(Hyperplanes(2.0 * as_dense(X.T @ found.means), biases))
    else:
        sampled = np.arange(X.shape[0])
        regions = Regions(KernelExpansion(X, 2.0 * found.means, biases, kernel, sampled))
    return _drop_empty(regions, problem)


def _drop_empty(regions: Regions, problem: Problem) -> Regions:
    """Return the regions that have rows of the problem."""
    used = np.unique(regions.find_nearest(problem.X))
    affinity = regions.affinity
    if len(used) == len(affinity.biases):
        return regions
    word = "weights" if isinstance(affinity, Hyperplanes) else "coefficients"
    kept = {word: np.ascontiguousarray(getattr(affinity, word)[:, used])}
    return Regions(attrs.evolve(affinity, biases=affinity.biases[used], **kept))
