"""Scores by name: dcsvm's own against scikit-learn's, and scikit-learn's scorers."""

import numpy as np
import pytest
from sklearn import metrics

from dcsvm.base.errors import DataError
from dcsvm.model_selection.named_scores import (
    Answered,
    compute_score,
    list_scorers,
    rate,
)
from dcsvm.numeric.probability_scores import calibration_error


def answered(n_classes, n=200, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, n_classes, n)
    logits = generator.normal(size=(n, n_classes)) + 2.0 * np.eye(n_classes)[truth]
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    names = np.array(["ash", "elm", "fir", "oak"])[:n_classes]
    return Answered(names[truth], names[probabilities.argmax(axis=1)], names, probabilities)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_log_loss_and_brier_are_those_of_scikit_learn(n_classes):
    said = answered(n_classes)
    expected = metrics.log_loss(said.truth, said.probabilities)
    assert compute_score("log_loss", said) == pytest.approx(expected)
    assert compute_score("neg_log_loss", said) == pytest.approx(-expected)
    assert rate("log_loss", said) == -compute_score("log_loss", said)
    hits = said.truth[:, None] == said.classes
    squares = ((said.probabilities - hits) ** 2).sum(axis=1).mean()
    assert compute_score("brier", said) == pytest.approx(squares / (2 if n_classes == 2 else 1))


def test_areas_of_two_classes_are_those_of_scikit_learn():
    said = answered(2)
    second, probabilities = said.truth == "elm", said.probabilities[:, 1]
    area = metrics.roc_auc_score(second, probabilities)
    assert compute_score("roc_auc", said) == pytest.approx(area)
    precision = metrics.average_precision_score(second, probabilities)
    assert compute_score("average_precision", said) == pytest.approx(precision)


def test_the_area_of_several_classes_is_one_against_the_rest():
    said = answered(3)
    expected = metrics.roc_auc_score(said.truth, said.probabilities, multi_class="ovr")
    assert compute_score("roc_auc", said) == pytest.approx(expected)
    assert compute_score("roc_auc_ovr", said) == pytest.approx(expected)
    weighted = metrics.roc_auc_score(
        said.truth, said.probabilities, multi_class="ovr", average="weighted"
    )
    assert compute_score("roc_auc_ovr_weighted", said) == pytest.approx(weighted)


def test_the_calibration_error_is_zero_only_for_what_comes_true():
    sure, right = np.full(1500, 0.8), np.arange(1500) % 5 > 0
    assert calibration_error(sure, right) == pytest.approx(0.0, abs=1e-12)
    assert calibration_error(sure + 0.15, right) == pytest.approx(0.15)


def test_a_class_that_was_never_learned_counts_as_wrong():
    said = answered(2)
    truth = np.where(np.arange(200) == 0, "yew", said.truth)
    other = Answered(truth, said.labels, said.classes, said.probabilities)
    assert compute_score("log_loss", other) > compute_score("log_loss", said) + 0.1
    assert np.isfinite(compute_score("brier", other))


def test_scorers_suit_a_classifier_or_fail_in_a_sentence():
    assert {"f1_weighted", "neg_log_loss", "jaccard_macro"} <= set(list_scorers())
    assert not {"r2", "neg_mean_squared_error", "adjusted_rand_score"} & set(list_scorers())
    assert compute_score("f1_weighted", answered(3)) > 0.5
    with pytest.raises(DataError, match=r"score 'f1' cannot be computed: .*(average|pos_label)"):
        compute_score("f1", answered(3))


@pytest.mark.parametrize(
    "name", ["f1", "precision", "recall", "jaccard", "neg_brier_score", "d2_brier_score"]
)
@pytest.mark.parametrize("common", [0, 1])
def test_the_rarer_of_two_named_classes_is_the_positive_one(name, common):
    if name not in list_scorers():
        pytest.skip("a newer scikit-learn has it")
    said = answered(2)
    kept = (said.truth == said.classes[common]) | (np.arange(200) % 3 == 0)
    said = Answered(said.truth[kept], said.labels[kept], said.classes, said.probabilities[kept])
    positive = said.classes[1 - common]
    truth, labels = said.truth == positive, said.labels == positive
    functions = {
        "f1": metrics.f1_score,
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "jaccard": metrics.jaccard_score,
    }
    if name in functions:
        expected = functions[name](truth, labels)
    elif name == "neg_brier_score":
        expected = -metrics.brier_score_loss(truth, said.probabilities[:, 1 - common])
    else:
        expected = metrics.d2_brier_score(truth, said.probabilities[:, 1 - common])
    assert compute_score(name, said) == pytest.approx(expected)


def test_a_class_called_1_is_the_positive_one_as_in_scikit_learn():
    truth, labels = np.array([1, 1, 1, 0]), np.array([1, 1, 0, 0])
    assert compute_score("recall", Answered(truth, labels, np.arange(2))) == 2 / 3
