"""The learned metric: gradients as by differences, and features that matter stretched."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from dcsvm import DivideAndConquerClassifier, Problem, SettingError, build
from dcsvm.base.seed import Seed
from dcsvm.numeric import Kernel
from dcsvm_plugins.decomposers.learned_metric import LearnedMetric, _Regression

GENERATOR = np.random.default_rng(0)
X = StandardScaler().fit_transform(GENERATOR.normal(size=(400, 5)))
y = (X[:, 1] * X[:, 3] > 0).astype(int)


def learn_scales(**settings):
    (stage,) = LearnedMetric(**settings).divide(Problem(X, y, 2, Seed(0)))
    return stage[0].view.weights


@pytest.mark.parametrize("kind", ["rbf", "laplacian"])
def test_slopes_are_those_of_finite_differences(kind):
    points, values = X[:30], GENERATOR.normal(size=(30, 2))
    kernel = Kernel(kind, gamma=0.3)
    slopes = _Regression(kernel, points, kernel(points), values, 0.0).measure_slopes()
    # The derivative of |x - x'| jumps where they meet, and is taken as 0 there: steps both ways.
    step = 1e-6
    for feature in range(points.shape[1]):
        moved = np.zeros(points.shape[1])
        moved[feature] = step
        ahead, behind = (kernel(points + sign * moved, points) @ values for sign in (1, -1))
        derivative = (ahead - behind) / (2 * step)
        factor = kernel.gamma * (2 if kind == "rbf" else 1)
        expected = np.sqrt(np.mean(derivative**2)) / factor
        assert slopes[feature] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_features_that_matter_are_stretched(kernel):
    scales = learn_scales(kernel=kernel)
    assert scales[[1, 3]].min() > 2 * scales[[0, 2, 4]].max()
    assert np.sum(scales**2) == pytest.approx(5)  # the total variance stays


def test_a_metric_that_does_not_help_is_not_taken():
    noise = GENERATOR.integers(0, 2, 400)
    (stage,) = LearnedMetric(sample=100).divide(Problem(X, noise, 2, Seed(0)))
    constant = LearnedMetric().divide(Problem(np.ones((50, 2)), y[:50], 2, Seed(0)))
    assert np.isfinite(stage[0].view.weights).all()
    assert next(constant)[0].view.weights.tolist() == [1.0, 1.0]


def test_it_helps_a_kernel_machine_and_takes_sparse_rows():
    learner = build("learner", "kernel_svm", kernel="laplacian")
    scores = []
    for decomposer in ("whole", "learned_metric"):
        clf = DivideAndConquerClassifier(decomposer, learner, "route", random_state=0)
        scores.append(clf.fit(X[:250], y[:250]).score(X[250:], y[250:]))
        thin = sparse.csr_array(X)
        assert clf.fit(thin[:250], y[:250]).score(thin[250:], y[250:]) == scores[-1]
    assert scores[1] > scores[0] + 0.03


def test_too_many_features_are_refused():
    with pytest.raises(SettingError, match="5 features are more than max_features = 4"):
        learn_scales(max_features=4)


def test_slopes_of_many_features_are_measured_at_fewer_rows(monkeypatch):
    generator = np.random.default_rng(0)
    points = generator.normal(size=(60, 4))
    kernel = Kernel("laplacian", gamma=0.3)
    regression = _Regression(kernel, points, kernel(points), generator.normal(size=(60, 1)), 0.0)
    all_rows = regression.measure_slopes()
    monkeypatch.setattr(f"{_Regression.__module__}.DIFFERENCES", 60 * 4 * 40)
    some_rows = regression.measure_slopes()
    assert not np.array_equal(all_rows, some_rows)
    assert some_rows == pytest.approx(all_rows, rel=0.3)
