"""Decoding: the class whose code word fits best."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from dcsvm import DivideAndConquerClassifier, build

LOSS = {
    "hinge": lambda z: max(1 - z, 0),
    "exponential": lambda z: np.exp(-z),
    "linear": lambda z: -z,
    "hamming": lambda z: (1 - np.sign(z)) / 2,
}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def by_hand(committee, x, loss):
    """Minus the loss of every class, term by term."""
    scores = np.zeros(committee.n_classes)
    for member in committee.members:
        value = member.answer(x)[0][0, 0]
        for label, sign in enumerate(member.code[0].astype(int)):
            scores[label] -= LOSS[loss](sign * value)
    return scores


@pytest.mark.parametrize("loss", list(LOSS))
@pytest.mark.parametrize("code", ["dense", "sparse"])
def test_scores_are_minus_the_loss_up_to_a_constant(loss: str, code: str, digits) -> None:
    X, y = digits
    decode = build("combiner", "decode", loss=loss)
    codes = build("decomposer", "class_codes", code=code, tries=5)
    clf = DivideAndConquerClassifier(codes, "linear_svm", decode, random_state=0)
    clf.fit(X[:300], y[:300])
    scores = clf.decision_function(X[300:320])
    for row in range(20):
        difference = scores[row] - by_hand(clf.model_.committee, X[300 + row][None], loss)
        # With the Hamming distance a share below a quarter decides between equals.
        assert np.ptp(difference) < (0.41 if loss == "hamming" else 1e-9 * np.abs(scores).max())


def test_equal_hamming_distances_go_to_the_larger_sum(digits) -> None:
    X, y = digits
    codes = build("decomposer", "class_codes", code="dense", length=6)
    decode = build("combiner", "decode", loss="hamming")
    clf = DivideAndConquerClassifier(codes, "linear_svm", decode, random_state=0)
    clf.fit(X[:300], y[:300])
    tied = 0
    for x in X[300:800]:
        committee = clf.model_.committee
        distances = by_hand(committee, x[None], "hamming")
        sums = by_hand(committee, x[None], "linear")
        equals = np.flatnonzero(distances == distances.max())
        tied += len(equals) > 1
        assert clf.predict(x[None])[0] == equals[sums[equals].argmax()]
    assert tied > 5


def test_class_pairs_can_be_decoded_too(digits) -> None:
    X, y = digits
    clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "decode").fit(X[:600], y[:600])
    assert clf.score(X[600:900], y[600:900]) > 0.9


def test_huge_answers_stay_finite(digits) -> None:
    X, y = digits
    decode = build("combiner", "decode", loss="exponential")
    clf = DivideAndConquerClassifier("class_codes", "linear_svm", decode, random_state=0)
    clf.fit(X[:300], y[:300])
    assert np.isfinite(clf.decision_function(1e6 * X[:50])).all()


def test_the_trace_names_the_best_words(digits) -> None:
    X, y = digits
    clf = DivideAndConquerClassifier("class_codes", "linear_svm", "decode", random_state=0)
    clf.fit(X[:300], y[:300])
    told = clf.model_.combination.trace(clf.model_.committee, X[400][None])
    best = clf.decision_function(X[400][None])[0]
    assert told[0] == f"class {best.argmax()} fits its code word with {best.max():.4g} (hinge)"
    assert len(told) == 3
