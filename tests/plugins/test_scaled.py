"""The whole problem with its features rescaled; the class lives in the core, for recipes."""

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.testing import easy_problem


@pytest.mark.parametrize(
    ("scale", "scaler"), [("minmax", MinMaxScaler()), ("standard", StandardScaler())]
)
def test_the_model_is_that_of_rows_scaled_by_scikit_learn(scale, scaler):
    problem = easy_problem(2, gap=1.0)
    X = problem.X * [1.0, 100.0, 0.01] + [5.0, 0.0, -3.0]
    svm = build("learner", "kernel_svm", gamma=0.5, tol=1e-6)
    ours = DivideAndConquerClassifier(build("decomposer", "scaled", scale=scale), svm, "route")
    theirs = SVC(gamma=0.5, tol=1e-6).fit(scaler.fit_transform(X), problem.y)
    np.testing.assert_allclose(
        ours.fit(X, problem.y).decision_function(X),
        theirs.decision_function(scaler.transform(X)),
        atol=1e-4,
    )
