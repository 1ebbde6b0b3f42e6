"""The answer of the one leaf that a row falls into."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons

from dcsvm import DcsvmError, DivideAndConquerClassifier, build


def test_a_row_gets_the_answer_of_its_own_leaf() -> None:
    X, y = make_moons(300, noise=0.3, random_state=0)
    tree = build("decomposer", "tree", ceiling=60)
    clf = DivideAndConquerClassifier(tree, "kernel_svm", "route", random_state=0).fit(X, y)
    committee = clf.model_.committee
    home = committee.groups[0].router.route(X).member
    assert len(set(home.tolist())) > 3
    scores = clf.decision_function(X)
    for number in np.unique(home):
        member, rows = committee.members[number], np.flatnonzero(home == number)
        if member.code.any(axis=0).all():
            own = member.answer(X[rows])[0][:, 0] * member.code[0, 1]
            np.testing.assert_allclose(scores[rows], own, rtol=1e-9, atol=1e-12)


def test_it_does_not_fit_parts_that_are_no_regions() -> None:
    X, y = make_moons(50, random_state=0)
    with pytest.raises(DcsvmError) as refused:
        DivideAndConquerClassifier("bootstrap", "kernel_svm", "route").fit(X, y)
    assert str(refused.value).startswith(
        "combiner 'route' does not fit decomposer 'bootstrap', which yields subsets: "
        "it works with one part, regions; combiners that fit: "
    )


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("ceiling", [40, 400, 4000])
def test_labels_are_the_winners_of_the_scores(ceiling, precision):
    X, y = load_digits(return_X_y=True)
    svm = build("learner", "kernel_svm", gamma=0.001, precision=precision)
    tree = build("decomposer", "tree", ceiling=ceiling)
    clf = DivideAndConquerClassifier(tree, svm, "route", random_state=0).fit(X[::2], y[::2])
    np.testing.assert_array_equal(clf.predict(X), clf.decision_function(X).argmax(axis=1))
