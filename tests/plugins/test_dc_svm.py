"""DC-SVM: levels of clusters, duals handed on, the global objective, and stopping early."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import CompositionError, SettingError

from .recorded import alpha_of, kept, libsvm_objective, objective_of, overlapping, recorded


def levels(**settings):
    return build("decomposer", "dc_svm", **{"branching": 2, "depth": 2, "gamma": 0.5, **settings})


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_it_reaches_the_global_objective(C, ties):
    X, y = overlapping(rows=400, ties=ties)
    expected = libsvm_objective(X, y, C, 0.5)
    for refine in (True, False):
        _, clf = recorded(levels(refine=refine), X, y, C=C, tol=1e-7)
        assert objective_of(clf, X, y, 0.5) == pytest.approx(expected, rel=1e-6)
    _, clf = recorded(levels(), X, y, C=C)
    assert objective_of(clf, X, y, 0.5) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("ties", [True, False])
def test_every_level_starts_from_the_duals_of_the_last(ties):
    X, y = overlapping(rows=300, ties=ties)
    steps, clf = recorded(levels(depth=3), X, y)
    assert len(steps) == 5
    assert len(steps[0][0]) <= 8
    for (_, before), (parts, _) in pairwise(steps):
        alpha = {row: value for member in before for row, value in alpha_of(member).items()}
        for part in parts:
            assert part.start.tolist() == [alpha.get(row, 0.0) for row in part.rows.tolist()]
    for parts, _ in steps[:3]:
        assert sorted(row for part in parts for row in part.rows.tolist()) == list(range(300))
    speakers = [member for member in steps[2][1] if len(member.support)]
    assert steps[3][0][0].rows.tolist() == kept(*speakers)
    assert steps[4][0][0].rows.tolist() == list(range(300))
    assert clf.ledger_[0].about["step"] == "level 3"
    assert [record.about["step"] for record in clf.ledger_[-2:]] == ["refined", "whole"]


def test_later_clusters_are_made_around_support_vectors():
    X, y = overlapping(rows=300, ties=False)
    steps, clf = recorded(levels(depth=2, early=1, sample=40), X, y)
    support = {tuple(X[row]) for member in steps[0][1] for row in member.support}
    points = clf.model_.committee.groups[0].router.affinity.points.rows()
    assert len(points) == 40
    assert {tuple(row) for row in points.tolist()} <= support


def test_warm_levels_leave_less_to_do():
    X, y = overlapping(rows=3000, ties=False)
    whole = {}
    for warm in (False, True):
        _, clf = recorded(levels(warm=warm), X, y)
        whole[warm] = clf.ledger_[-1].about["iterations"]
    assert whole[True] < whole[False]


def test_early_stopping_routes_to_the_clusters_of_its_level():
    X, y = overlapping(rows=600, ties=False)
    steps, clf = recorded(levels(depth=3, early=2), X[:400], y[:400])
    assert len(steps) == 2
    assert len(clf.model_.committee.members) == len(steps[1][0])
    assert clf.decomposer.yields == {"regions"}
    member = clf.model_.committee.groups[0].router.route(X[:400]).member
    for number, part in enumerate(steps[1][0]):
        assert np.flatnonzero(member == number).tolist() == part.rows.tolist()
    whole = SVC(C=10.0, gamma=0.5).fit(X[:400], y[:400])
    assert clf.score(X[400:], y[400:]) >= whole.score(X[400:], y[400:]) - 0.02


def test_early_is_for_routing_and_the_whole_is_one_part():
    assert levels().yields == {"one part"}
    assert levels(early=1).yields == {"regions"}
    X, y = overlapping()
    with pytest.raises(CompositionError, match="regions"):
        DivideAndConquerClassifier(levels(early=1), "kernel_svm", "dag").fit(X, y)


def test_clusters_of_one_class_hand_on_nothing():
    X = (
        np.concatenate([np.zeros((30, 1)), np.ones((30, 1)) * 9])
        + np.linspace(0, 0.5, 60)[:, None]
    )
    y = np.repeat([0, 1], 30)
    steps, clf = recorded(levels(depth=1), X, y)
    assert {record.model for record in clf.ledger_[:2]} == {"Constant"}
    assert len(steps) == 2
    assert steps[1][0][0].start is None
    assert clf.score(X, y) == 1.0


def test_class_pairs_reach_what_libsvm_does():
    generator = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = generator.normal(size=(240, 2)) + 2.0 * np.eye(3)[y][:, :2]
    machine = build("learner", "kernel_svm", C=10.0, gamma=0.5, tol=1e-6)
    inner = DivideAndConquerClassifier(levels(), machine, "route")
    clf = DivideAndConquerClassifier("class_pairs", inner, "vote", random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        clf.predict(X), SVC(C=10.0, gamma=0.5, tol=1e-6).fit(X, y).predict(X)
    )


def test_a_level_finer_than_the_finest_cannot_answer():
    X, y = overlapping(rows=60, ties=False)
    with pytest.raises(SettingError, match=r"early must be at most depth, .* \(2\), got 5"):
        recorded(levels(depth=2, early=5), X, y)
