"""Probabilities and thresholds of `predict_file`."""

import csv

import numpy as np
import pytest
from sklearn.datasets import make_classification

from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import UsageError
from dcsvm.experiments.predict.predictor import predict_file

pytest.importorskip("dcsvm_plugins", reason="the models are made of the built-in plugins")


@pytest.fixture
def rows(tmp_path):
    X, y = make_classification(
        300, 3, n_informative=3, n_redundant=0, weights=[0.8], random_state=0
    )
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    return X, y, path


def read(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def test_probabilities_are_columns_and_a_threshold_moves_labels(rows, tmp_path):
    X, y, path = rows
    model = DivideAndConquerClassifier("whole", probability="auto").fit(X, y)
    out = tmp_path / "answers.csv"
    predict_file(model, path, out, probabilities=True, threshold=0.2)
    shares = model.predict_proba(X)
    found = read(out)
    np.testing.assert_allclose(
        [[float(row[f"probability_{label}"]) for label in (0, 1)] for row in found], shares
    )
    labels = np.array([int(row["prediction"]) for row in found])
    assert (labels == (shares[:, 1] >= 0.2)).all()
    assert labels.sum() > model.predict(X).sum()


def test_what_a_model_cannot_do_is_said(rows, tmp_path):
    X, y, path = rows
    plain = DivideAndConquerClassifier("whole").fit(X, y)
    with pytest.raises(UsageError, match='no probabilities: train it with probability = "auto"'):
        predict_file(plain, path, tmp_path / "out.csv", probabilities=True)
    three = DivideAndConquerClassifier("whole", probability="auto").fit(X, np.arange(300) % 3)
    with pytest.raises(UsageError, match="decides between two classes, and the model has 3"):
        predict_file(three, path, tmp_path / "out.csv", threshold=0.5)


def test_the_threshold_of_a_model_is_used_and_another_one_overrides_it(rows, tmp_path):
    X, y, path = rows
    model = DivideAndConquerClassifier("whole", probability="auto", threshold=0.9).fit(X, y)
    shares = model.predict_proba(X)[:, 1]
    for threshold, limit in ((None, 0.9), (0.3, 0.3)):
        out = tmp_path / "answers.csv"
        predict_file(model, path, out, threshold=threshold)
        labels = np.array([int(row["prediction"]) for row in read(out)])
        assert (labels == (shares >= limit)).all()
