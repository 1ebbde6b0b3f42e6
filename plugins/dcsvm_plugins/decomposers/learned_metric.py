"""No division: all rows, in a metric learned from the gradients of a kernel ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import attrs
import numpy as np
import scipy

from dcsvm import Decomposer, Part, Problem, SettingError, component, setting
from dcsvm.numeric import FloatArray, IntArray, Kernel, as_dense
from dcsvm.toolbox import Level, Scaling, Stages

#: Share of the sampled rows that judge metrics.
JUDGES = 0.25
#: Ridges and factors of gamma that are tried; gamma times the mean distance is 1 at factor 1.
RIDGES = (0.03, 0.3, 3.0)
FACTORS = (0.3, 1.0, 3.0)
#: Differences of pairs of rows by a feature, at the most, that slopes are measured by: of many
#: features, fewer rows do (the default sample: all rows up to 177 features).
DIFFERENCES = 10**8


@component
class LearnedMetric(Decomposer):
    """One part with all rows, whose features are scaled by how much the classes depend on them.

    A kernel ridge regression is fitted to a sample of the rows; the root mean square of its
    derivative by a feature becomes the scale of that feature, and this is repeated. Of the metrics
    along the way, that of the given features included, the one is kept whose regression predicts
    held-out rows best. The total variance of the features stays the same, so that gammas keep
    their meaning. Scale the features before.

    Put it inside a tree to learn a metric for each leaf: a classifier with `learned_metric` is a
    learner. The time is that of about nine Cholesky factors of the sample for each round, and of
    one pass over its kernel matrix for each feature; sparse rows of the sample become dense.

    Examples
    --------
    >>> import numpy as np
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> scores = []
    >>> for decomposer in ("whole", "learned_metric"):
    ...     clf = DivideAndConquerClassifier(decomposer, "kernel_svm", "route", random_state=0)
    ...     scores.append(clf.fit(X[:200], y[:200]).score(X[200:], y[200:]))
    >>> scores[0] < scores[1]
    True

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit, Belkin: Mechanism for feature learning in neural networks
    and backpropagation-free machine learning models (2024).
    """

    name = "learned_metric"
    yields = frozenset({"one part"})
    rows_held = 0.0

    kernel: Literal["laplacian", "rbf"] = setting(
        "laplacian", help="kernel of the regressions; the learner's kernel should be the same"
    )
    rounds: int = setting(3, at_least=1, help="maximum number of times the metric is learned anew")
    sample: int = setting(1000, at_least=4, help="rows that the metric is learned on")
    max_features: int = setting(2000, at_least=1, help="raise above this number of features")

    def divide(self, problem: Problem) -> Stages:
        yield [self._build_part(problem)]
        return None

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, [self._build_part(problem)])

    def _build_part(self, problem: Problem) -> Part:
        if problem.n_features > self.max_features:
            raise SettingError(
                f"learned_metric: {problem.n_features} features are more than max_features = "
                f"{self.max_features}; raise it, or choose features first"
            )
        rows = problem.seed.generator().permutation(problem.n_rows)[: self.sample]
        scales = self._learn_scales(_Sample.of(problem, rows))
        return Part(np.arange(problem.n_rows), view=Scaling("none", weights=scales))

    def _learn_scales(self, sample: _Sample) -> FloatArray:
        """The scales (d,) whose regression has the smallest error on the held-out rows."""
        scales: FloatArray = np.ones(sample.X.shape[1])
        if not sample.can_judge():
            return scales
        found: list[tuple[float, int, FloatArray]] = []
        for _ in range(self.rounds):
            fitted = _Regression.fit_best(self.kernel, sample.scale(scales))
            found.append((fitted.error, len(found), scales))
            scales = sample.keep_variance(scales * fitted.measure_slopes())
        last = _Regression.fit_best(self.kernel, sample.scale(scales))
        return min([*found, (last.error, len(found), scales)])[2]


@attrs.frozen(eq=False)
class _Sample:
    """Training and validation rows of regressions."""

    X: FloatArray
    targets: FloatArray
    weights: FloatArray
    judges: int

    @classmethod
    def of(cls, problem: Problem, rows: IntArray) -> _Sample:
        weights = np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
        shares = np.eye(problem.n_classes)[problem.y[rows]]
        shares -= np.average(shares, axis=0, weights=weights)
        X = np.asarray(as_dense(problem.X[rows]), dtype=np.float64)
        return cls(X, shares, weights / weights.mean(), int(JUDGES * len(rows)))

    def can_judge(self) -> bool:
        """Whether there are rows of several classes on both sides."""
        return all(np.ptp(part, axis=0).any() for part in self.split(self.targets) if len(part))

    def split(self, array: FloatArray) -> tuple[FloatArray, FloatArray]:
        return array[self.judges :], array[: self.judges]

    def scale(self, scales: FloatArray) -> _Sample:
        return attrs.evolve(self, X=self.X * scales)

    def keep_variance(self, scales: FloatArray) -> FloatArray:
        """The scales times a number, so that the features have the total variance they had."""
        variances = np.average((self.X - self.X.mean(axis=0)) ** 2, axis=0, weights=self.weights)
        after = float(variances @ scales**2)
        return scales * np.sqrt(variances.sum() / after) if after > 0 else np.ones_like(scales)


@attrs.frozen(eq=False)
class _Regression:
    """A kernel ridge regression of class shares."""

    kernel: Kernel
    X: FloatArray
    matrix: FloatArray
    coefficients: FloatArray
    error: float

    @classmethod
    def fit_best(cls, kind: str, sample: _Sample) -> _Regression:
        """The regression, by gamma and ridge, with the smallest squared error of the judges."""
        (X, held), (targets, wanted) = sample.split(sample.X), sample.split(sample.targets)
        weights, shares = sample.split(sample.weights)
        if not len(held):
            held, wanted, shares = X, targets, weights
        common = Kernel(kind).common(X), Kernel(kind).common(held, X)
        mean = float(common[0].mean()) or 1.0
        best: _Regression | None = None
        for factor in FACTORS:
            kernel = Kernel(kind, gamma=factor / mean)
            matrix, asked = (kernel.from_common(each) for each in common)
            for ridge in RIDGES:
                factored = scipy.linalg.cho_factor(matrix + np.diag(ridge / weights), lower=True)
                coefficients = scipy.linalg.cho_solve(factored, targets)
                error = float(shares @ ((asked @ coefficients - wanted) ** 2).sum(axis=1))
                if best is None or error < best.error:
                    best = cls(kernel, X, matrix, coefficients, error)
        assert best is not None
        return best

    def measure_slopes(self) -> FloatArray:
        """The root mean square of the derivative by each feature, at some of the rows: (d,)."""
        n_rows, n_features = self.X.shape
        some = slice(max(1, DIFFERENCES // (n_rows * n_features)))
        values = self.matrix[some]
        slopes = np.empty(n_features)
        for feature, column in enumerate(self.X.T):
            difference = column[some, None] - column
            if self.kernel.kind == "laplacian":
                np.sign(difference, out=difference)
            difference *= values
            slopes[feature] = np.sqrt(np.mean((difference @ self.coefficients) ** 2))
        return slopes
