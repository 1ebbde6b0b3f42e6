"""The members of a fitted model: the rows they learned, and committees merged."""

import attrs
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons

import dcsvm
from dcsvm import Committee, DivideAndConquerClassifier, SettingError
from dcsvm.base.errors import CompositionError

X, y = load_iris(return_X_y=True)


def test_members_know_their_rows_where_asked(tmp_path):
    clf = DivideAndConquerClassifier("chunks", "krr", "mean", random_state=0, keep_rows=True)
    members = clf.fit(X, y).model_.committee.members
    assert sorted(np.concatenate([member.rows for member in members])) == list(range(150))
    dcsvm.save(clf, tmp_path / "model")
    loaded = dcsvm.load(tmp_path / "model").model_.committee.members
    assert [m.rows.tolist() for m in loaded] == [m.rows.tolist() for m in members]
    clf.set_params(keep_rows=False).fit(X, y)
    assert {member.rows is None for member in clf.model_.committee.members} == {True}


def test_committees_can_be_merged():
    chunks = DivideAndConquerClassifier("chunks", "krr", "mean")
    one, two = clone(chunks).set_params(decomposer__parts=3).fit(X, y), chunks.fit(X, y)
    both = Committee.merge([one.model_.committee, two.model_.committee])
    assert [(g.first, g.last) for g in both.groups] == [(0, 3), (3, 3 + len(both.members) - 3)]
    clf = two.with_committee(both)
    assert clf.score(X, y) > 0.8
    assert len(two.model_.committee.groups) == 1
    with pytest.raises(SettingError, match="got 2 and 3 classes"):
        Committee.merge([both, attrs.evolve(both, n_classes=2)])
    with pytest.raises(SettingError, match="of the same classes, got none"):
        Committee.merge([])


def test_a_committee_must_suit_the_classifier_and_its_combination():
    clf = DivideAndConquerClassifier("chunks", "krr", "fusion", random_state=0).fit(X, y)
    committee = clf.model_.committee
    with pytest.raises(SettingError, match="one of 2 classes, but the classifier has 3"):
        clf.with_committee(attrs.evolve(committee, n_classes=2))
    with pytest.raises(CompositionError, match="cannot be combined like the old ones"):
        clf.with_committee(Committee.merge([committee, committee]))


def test_a_committee_of_another_size_does_not_suit_probabilities_by_region():
    X, y = make_moons(600, noise=0.3, random_state=0)
    tree = dcsvm.build("decomposer", "tree", ceiling=100)
    clf = DivideAndConquerClassifier(tree, "kernel_svm", "mean", probability="auto")
    committee = clf.fit(X, y).model_.committee
    n = len(committee.members)
    assert len(clf.model_.calibration.regions) == n
    with pytest.raises(
        SettingError,
        match=f"has probabilities for the regions of {n} members, but the committee has {2 * n}:",
    ):
        clf.with_committee(Committee.merge([committee, committee]))
    same = clf.with_committee(committee.replace({0: committee.members[0]}))
    np.testing.assert_array_equal(same.predict_proba(X), clf.predict_proba(X))


def test_a_member_of_other_features_is_refused():
    clf = DivideAndConquerClassifier("chunks", "krr", "mean").fit(X, y)
    narrow = DivideAndConquerClassifier("whole", "krr", "route").fit(X[:, :2], y)
    committee = clf.model_.committee.replace({0: narrow.model_.committee.members[0]})
    with pytest.raises(
        SettingError, match=r"a member does not suit the 4 features of the classifier: .* 2"
    ):
        clf.with_committee(committee)


def test_a_combiner_is_given_no_members_that_it_does_not_accept():
    clf = DivideAndConquerClassifier("class_rest", "krr", "argmax").fit(X, y)
    pairs = DivideAndConquerClassifier("class_pairs", "krr", "vote").fit(X, y)
    with pytest.raises(
        SettingError,
        match="the committee has class pairs, but the combiner of the classifier works with class "
        "codes, groups",
    ):
        clf.with_committee(pairs.model_.committee)
    twice = clf.with_committee(Committee.merge([clf.model_.committee] * 2))
    np.testing.assert_allclose(twice.decision_function(X), clf.decision_function(X))
    tree = dcsvm.build("decomposer", "tree", ceiling=40)
    routed = DivideAndConquerClassifier(tree, "krr", "route").fit(X, y)
    with pytest.raises(SettingError, match=r"the committee has groups, but .* works with"):
        routed.with_committee(Committee.merge([routed.model_.committee] * 2))
