"""Gaussian processes of random parts, blended by how sure each is: the Bayesian committee."""

import attrs
import numpy as np
import scipy

from dcsvm import Decomposer, Problem, Router, Routing, build, component, part, setting
from dcsvm.numeric import FloatArray, IntArray, Kernel, Matrix, Stored, axes
from dcsvm.toolbox import GAMMA_HELP, Gamma, Stages, deal_rows

#: The least posterior variance, as rounding may leave none.
LEAST = 1e-9


@attrs.frozen(eq=False)
class Posterior(Stored):
    """The rows of a Gaussian process, and the inverse of its Cholesky factor."""

    points: Matrix
    factor: FloatArray = attrs.field(metadata=axes("points", "points"))
    kernel: Kernel

    def check_stored(self, **sizes: int) -> dict[str, int]:
        self.kernel.check_stored()
        if sizes.get("features", self.points.shape[1]) != self.points.shape[1]:
            raise ValueError(f"Posterior.points must have {sizes['features']} features")
        return super().check_stored(points=self.points.shape[0])

    def variances(self, X: Matrix) -> FloatArray:
        """The variances (n,) of the function at rows X."""
        values = self.kernel(self.points, X)
        return np.asarray(np.maximum(1.0 - np.square(self.factor @ values).sum(axis=0), LEAST))


@attrs.frozen(eq=False)
class PrecisionRouter(Router):
    """Routes every row to every member, with the inverse variances as weights."""

    posteriors: tuple[Posterior, ...]
    soft = True

    def check_stored(self, **sizes: int) -> dict[str, int]:
        if len(self.posteriors) != sizes.get("members", len(self.posteriors)):
            raise ValueError(f"PrecisionRouter.posteriors must be {sizes['members']}")
        for each in self.posteriors:
            each.check_stored(**{key: sizes[key] for key in ("features",) if key in sizes})
        return sizes

    def route(self, X: Matrix) -> Routing:
        precisions = 1.0 / np.stack([each.variances(X) for each in self.posteriors], axis=1)
        weights = precisions / precisions.sum(axis=1, keepdims=True)
        n, members = weights.shape
        row, member = np.repeat(np.arange(n), members), np.tile(np.arange(members), n)
        kernels = np.full(n, float(sum(each.points.shape[0] for each in self.posteriors)))
        return Routing(row, member, weights.ravel(), None, kernels)


@component
class BayesianCommittee(Decomposer):
    """The Bayesian committee machine: Gaussian process regression of +1 and -1 on random parts.

    Members are `krr` models, the posterior means, with the noise for a ridge. Each weighs as much
    as its posterior variance at the row is small. Weights sum to one, while those of the paper
    also take the prior into account: that is one factor for all classes, so the labels are those
    of the paper for a single row. Training costs the rows times the square of `ceiling`, and so
    does a prediction, which makes it the most expensive committee to ask. The parts bring their
    learner; use `route` or `mean`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> committee = build("decomposer", "bayesian_committee", ceiling=50)
    >>> clf = DivideAndConquerClassifier(committee, "krr", "route", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Tresp: A Bayesian committee machine (2000).
    """

    name = "bayesian_committee"
    yields = frozenset({"regions"})
    sibling = "landmark_voronoi"
    brings_learners = True
    stored_types = (PrecisionRouter, Posterior)

    ceiling: int = setting(500, at_least=1, help="maximum number of rows of a part")
    noise: float = setting(0.1, above=0, help="variance of the noise; that of the prior is 1")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)

    def memory(self, n_rows: int, n_features: int) -> float:
        """The rows, and two triangular factors of the kernel matrix of each part."""
        return 8.0 * n_rows * (n_features + 2 * min(self.ceiling, n_rows))

    def divide(self, problem: Problem) -> Stages:
        kernel = problem.kernel("rbf", self.gamma)
        count = -(-problem.n_rows // self.ceiling)
        dealt = deal_rows(problem.y, count, problem.seed.generator())
        learner = build("learner", "krr", gamma=kernel.gamma, ridge=self.noise)
        yield [part(rows, learner=learner) for rows in dealt]
        return PrecisionRouter(tuple(self._condition(problem, kernel, rows) for rows in dealt))

    def _condition(self, problem: Problem, kernel: Kernel, rows: IntArray) -> Posterior:
        points, here = problem.X[rows], np.arange(len(rows))
        gram = kernel(points)
        masses = 1.0 if problem.weights is None else problem.weights[rows]
        gram[here, here] += self.noise / masses
        factor = scipy.linalg.cholesky(gram, lower=True)
        return Posterior(
            points, scipy.linalg.solve_triangular(factor, np.eye(len(rows)), lower=True), kernel
        )
