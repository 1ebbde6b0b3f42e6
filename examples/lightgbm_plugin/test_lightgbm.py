"""Every law of dcsvm on LightGBM, whose labels are those of LightGBM's own classifier."""

from pathlib import Path

import numpy as np
import pytest

import dcsvm
from dcsvm.testing import checks_of, easy_problem

lightgbm = pytest.importorskip("lightgbm")
dcsvm.load_plugin(Path(__file__).with_name("dcsvm_lightgbm.py"))


@pytest.mark.parametrize("check", checks_of("learner", "lightgbm", rounds=15), ids=str)
def test_lightgbm_conforms(check):
    check()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_its_probabilities_are_those_of_the_classifier_of_lightgbm(n_classes):
    problem = easy_problem(n_classes, rows=200, gap=1.0)
    learner = dcsvm.build("learner", "lightgbm", rounds=20)
    judge = lightgbm.LGBMClassifier(
        n_estimators=20, min_child_samples=5, min_data_in_bin=1, verbosity=-1, n_jobs=1
    )
    shares = judge.fit(problem.X, problem.y).booster_.predict(problem.X)
    expected = np.column_stack([1 - shares, shares]) if n_classes == 2 else shares
    assert np.allclose(learner.fit(problem).probabilities(problem.X), expected)
