"""Small components that the core's own tests use instead of plugins."""

from __future__ import annotations

import time
from itertools import combinations

import attrs
import numpy as np
from sklearn.svm import SVC

from dcsvm import (
    Combiner,
    Decomposer,
    LocalLearner,
    Part,
    Router,
    Routing,
    Task,
    component,
    part,
    setting,
)
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Hyperplanes, KernelExpansion


@component
class Everything(Decomposer):
    name = "everything"
    yields = frozenset({"one part"})

    def divide(self, problem):
        yield [part(np.arange(problem.n_rows))]


@component
class Strips(Decomposer):
    """Equal strips along one feature, with a router."""

    name = "strips"
    yields = frozenset({"regions"})

    strips: int = setting(3, at_least=1, help="how many strips")
    feature: int = setting(0, at_least=0, help="along which feature")

    def divide(self, problem):
        shares = np.linspace(0, 1, self.strips + 1)[1:-1]
        router = StripRouter(np.quantile(problem.X[:, self.feature], shares), self.feature)
        home = router.find_strip(problem.X)
        yield [part(np.flatnonzero(home == strip)) for strip in range(self.strips)]
        return router


@attrs.frozen(eq=False)
class StripRouter(Router):
    borders: np.ndarray
    feature: int

    def find_strip(self, X):
        return np.searchsorted(self.borders, X[:, self.feature])

    def route(self, X):
        return Routing.to_one(self.find_strip(X), hyperplanes=np.ones(X.shape[0]))


Strips.stored_types = (StripRouter,)


@component
class Deal(Decomposer):
    """Rows dealt at random."""

    name = "deal"
    yields = frozenset({"subsets"})

    parts: int = setting(3, at_least=1, help="how many parts")

    def divide(self, problem):
        order = problem.seed.generator().permutation(problem.n_rows)
        yield [part(rows) for rows in np.array_split(order, self.parts)]


@component
class Rest(Decomposer):
    name = "rest"
    yields = frozenset({"class codes"})

    def divide(self, problem):
        rows, labels = np.arange(problem.n_rows), range(problem.n_classes)
        yield [
            Part(rows, task=Task((label,), tuple(o for o in labels if o != label)))
            for label in labels
        ]


@component
class Pairs(Decomposer):
    name = "pairs"
    yields = frozenset({"class pairs"})

    def divide(self, problem):
        yield [
            Part(np.flatnonzero(np.isin(problem.y, pair)), task=Task(pair[:1], pair[1:]))
            for pair in combinations(range(problem.n_classes), 2)
        ]


@component
class Centroids(LocalLearner):
    """The nearest class mean, as hyperplanes; jittered by the seed if asked to be."""

    name = "centroids"

    jitter: float = setting(0.0, at_least=0, help="size of random noise")
    sleep: float = setting(0.0, at_least=0, help="seconds to wait, longest for the smallest seed")

    def fit(self, problem):
        weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        means = np.stack(
            [
                np.average(problem.X[problem.y == c], axis=0, weights=weights[problem.y == c])
                for c in range(problem.n_classes)
            ]
        )
        generator = problem.seed.generator()
        means = means + self.jitter * generator.normal(size=means.shape)
        if self.sleep:
            time.sleep(self.sleep * generator.random())
        biases = -(means**2).sum(axis=1) / 2
        if len(means) == 2:
            return Hyperplanes((means[1] - means[0])[:, None], biases[1:] - biases[:1])
        return Hyperplanes(means.T.copy(), biases)


@component
class Slow(Centroids):
    """Holds the interpreter lock, or says so."""

    name = "slow"
    releases_gil = False


@component
class Machine(LocalLearner):
    """scikit-learn's SVC as an expansion, solved to many digits."""

    name = "machine"

    C: float = setting(1e6, above=0)
    kernel: str = setting("linear")
    gamma: float = setting(1.0, above=0)

    def fit(self, problem):
        svm = SVC(C=self.C, kernel=self.kernel, gamma=self.gamma, tol=1e-9)
        svm.fit(problem.X, problem.y)
        duals = svm.dual_coef_.toarray() if hasattr(svm.dual_coef_, "toarray") else svm.dual_coef_
        return KernelExpansion(
            problem.X[svm.support_],
            duals.T.copy(),
            svm.intercept_.copy(),
            Kernel(self.kernel, gamma=self.gamma),
            svm.support_.astype(np.intp),
            svm.n_support_.astype(np.intp) if problem.n_classes > 2 else None,
        )


@component
class Average(Combiner):
    name = "average"

    def combine(self, committee, X):
        return committee.mean_scores(X)


@component
class Regional(Average):
    name = "regional"
    accepts = frozenset({"regions", "one part"})


def blobs(n=120, k=3, seed=0):
    generator = np.random.default_rng(seed)
    y = np.arange(n) % k
    angles = 2 * np.pi * np.arange(k) / k
    centres = 4 * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres[y] + generator.normal(size=(n, 2)), y
