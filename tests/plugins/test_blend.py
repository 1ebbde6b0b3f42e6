"""A blend is the weighted mean of its members, each with its own features, and stored as such."""

import numpy as np
import pytest

import dcsvm
from dcsvm import DivideAndConquerClassifier, SettingError, build


def rows(n=240):
    """Two numbers and a category of three levels, which says most."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, 2)) * [1.0, 50.0]
    level = generator.integers(3, size=n)
    y = (level == 1) ^ (X[:, 0] > 0.5)
    return np.column_stack([X, level]), y.astype(int)


def blended(**settings):
    strategy = DivideAndConquerClassifier("whole", "kernel_svm", "route", probability="auto")
    learners = (strategy, build("learner", "logistic"))
    given = {
        "learners": learners,
        "weights": [0.25, 0.75],
        "preparations": [
            {"scale": "standard", "encode": "onehot"},
            {"scale": "minmax", "encode": "codes"},
        ],
        "n_levels": [0, 0, 3],
    }
    blend = build("decomposer", "blend", **(given | settings))
    return DivideAndConquerClassifier(
        blend, "majority", "mean", probability="auto", random_state=0
    )


def test_probabilities_are_the_weighted_mean_of_the_members():
    X, y = rows()
    clf = blended().fit(X[:200], y[:200])
    first, second = clf.model_.committee.members
    mean = 0.25 * first.probabilities(X[200:]) + 0.75 * second.probabilities(X[200:])
    np.testing.assert_allclose(clf.predict_proba(X[200:]), mean, atol=1e-12)
    assert (clf.predict(X[200:]) == mean.argmax(axis=1)).all()


def test_each_member_sees_the_columns_in_its_own_way():
    X, y = rows()
    first, second = blended().fit(X, y).model_.committee.members
    assert first.view.apply(X[:4]).shape == (4, 5)  # two numbers and three levels
    assert second.view.apply(X[:4]).shape == (4, 3)
    assert first.view.names(("a", "b", "c")) == ("a", "b", "c=0", "c=1", "c=2")
    assert abs(first.view.apply(X)[:, :2].std(axis=0) - 1).max() < 1e-9


def test_rare_levels_of_a_member_are_pooled_and_stored(tmp_path):
    X, y = rows()
    X[:, 2] = np.where((X[:, 2] == 2) & (np.arange(len(X)) > 40), 0, X[:, 2])
    pooled = {"encode": "onehot", "min_frequency": 30}
    clf = blended(preparations=[pooled, {"encode": "codes"}]).fit(X, y)
    first = clf.model_.committee.members[0]
    assert first.view.names(("a", "b", "c")) == ("a", "b", "c=0", "c=1", "c rare")
    dcsvm.save(clf, tmp_path / "blend.dcsvm")
    again = dcsvm.load(tmp_path / "blend.dcsvm")
    assert (again.predict_proba(X) == clf.predict_proba(X)).all()


def test_columns_beyond_the_known_ones_are_numbers():
    X, y = rows()
    X = np.column_stack([X, np.arange(len(X)) % 2])  # an indicator of missing values
    first, _ = blended().fit(X, y).model_.committee.members
    assert first.view.apply(X[:4]).shape == (4, 6)


def test_a_stored_blend_gives_the_same_bits(tmp_path):
    X, y = rows()
    clf = blended().fit(X, y)
    dcsvm.save(clf, tmp_path / "blend.dcsvm")
    again = dcsvm.load(tmp_path / "blend.dcsvm")
    assert (again.predict_proba(X) == clf.predict_proba(X)).all()


def test_without_learners_the_learner_of_the_strategy_learns_all_rows():
    X, y = rows()
    blend = build("decomposer", "blend")
    clf = DivideAndConquerClassifier(blend, "logistic", "mean", random_state=0).fit(X, y)
    (member,) = clf.model_.committee.members
    assert member.n_rows == len(X)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"weights": [1.0]}, "blend: weights must be one for each of the 2 learners, got 1"),
        ({"weights": [1.0, 0.0]}, r"blend: weights must be above 0, got \[1.0, 0.0\]"),
        ({"preparations": [{}]}, "blend: preparations must be one for each of the 2 learners"),
        (
            {"preparations": [{}, {"colour": 1}]},
            "blend: a preparation is a table with scale, encode and min_frequency",
        ),
    ],
)
def test_settings_that_do_not_agree_are_refused(settings, sentence):
    with pytest.raises(SettingError, match=sentence):
        blended(**settings).fit(*rows())
