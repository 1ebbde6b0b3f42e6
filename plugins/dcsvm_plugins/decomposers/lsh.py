"""Buckets of locality-sensitive hashing: rows on the same side of random hyperplanes."""

import attrs
import numpy as np

from dcsvm import Decomposer, Problem, Router, Routing, component, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step, axes
from dcsvm.toolbox import Stages, parts_by


@attrs.frozen(eq=False)
class BucketRouter(Router):
    """Sends a row to the bucket whose bits differ least from those of the row."""

    directions: FloatArray = attrs.field(metadata=axes("features", "bits"))
    borders: FloatArray = attrs.field(metadata=axes("bits"))
    buckets: IntArray = attrs.field(
        metadata=axes("members", "bits", dtype=np.integer, at_least=0, at_most=1)
    )

    def bits(self, X: Matrix) -> IntArray:
        return (np.asarray(X @ self.directions) > self.borders).astype(np.int8)

    def route(self, X: Matrix) -> Routing:
        bits = self.bits(X).astype(np.int64)
        # Bits that differ, as sums of products: there may be many rows and buckets.
        differ = bits.sum(axis=1)[:, None] + self.buckets.sum(axis=1, dtype=np.int64)
        differ -= 2 * bits @ self.buckets.T.astype(np.int64)
        return Routing.to_one(differ.argmin(axis=1), np.full(X.shape[0], float(len(self.borders))))

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        bits, sums = plan.affine(self.directions, -self.borders), self.buckets.sum(axis=1)
        alike = plan.affine(2.0 * self.buckets.T, -sums.astype(float))
        return plan.nearest(plan.chain(bits, plan.sides(len(self.borders)), alike))

    def trace(self, x: Matrix) -> list[str]:
        (member,), bits = self.route(x).member, self.bits(x)[0]
        return [f"bits {''.join(map(str, bits))}: bucket {member} is the nearest"]


@component
class LSH(Decomposer):
    """Rows with the same bits, each the side of a random hyperplane through their middle.

    There are up to 2^bits buckets. Rows of buckets with fewer than `smallest` rows join the bucket
    whose bits differ least, as do new rows. It takes one pass over the rows, and a prediction
    costs `bits` products; the borders know nothing of classes or clusters.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> buckets = build("decomposer", "lsh", bits=2, smallest=20)
    >>> clf = DivideAndConquerClassifier(buckets, "kernel_svm", "route", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Charikar: Similarity estimation techniques from rounding algorithms (2002).
    """

    name = "lsh"
    yields = frozenset({"regions"})
    sibling = "kmeans"
    stored_types = (BucketRouter,)

    bits: int = setting(4, at_least=1, at_most=30, help="number of random hyperplanes")
    smallest: int = setting(100, at_least=1, help="rows that a bucket needs to be one")

    def divide(self, problem: Problem) -> Stages:
        generator = problem.seed.generator()
        directions = generator.normal(size=(problem.n_features, self.bits))
        values = np.asarray(problem.X @ directions)
        borders = np.array([_find_middle(column) for column in values.T])
        codes = (values > borders).astype(np.int8)
        buckets, counts = np.unique(codes, axis=0, return_counts=True)
        kept = counts >= min(self.smallest, counts.max())
        router = BucketRouter(directions, borders, buckets[kept])
        bucket = router.route(problem.X).member
        yield parts_by(bucket, int(kept.sum()))
        return router


def _find_middle(values: FloatArray) -> float:
    """The middle of the gap that is nearest to the median, so that rounding moves no row."""
    ordered = np.sort(values)
    gaps = np.flatnonzero(np.diff(ordered) > 1e-9 * np.abs(ordered).max())
    if not len(gaps):
        return float(ordered[-1] + np.abs(ordered[-1]) + 1.0)
    place = gaps[np.abs(gaps + 1 - len(values) / 2).argmin()]
    return float((ordered[place] + ordered[place + 1]) / 2)
