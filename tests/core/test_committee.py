"""Members asked together, what they say, and what it costs."""

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Everything, Rest, Strips, blobs

from dcsvm import (
    Committee,
    Constant,
    Cost,
    DivideAndConquerClassifier,
    Division,
    Hyperplanes,
    KernelExpansion,
    Member,
    Router,
    Routing,
    Wrapped,
)
from dcsvm.committee import Answers, floored
from dcsvm.errors import ContractError
from dcsvm.numeric import Kernel

X, y = blobs()
LINEAR = Kernel("linear")


def linear(*weights, code):
    return Member(
        Hyperplanes(np.array(weights, dtype=float).T, np.zeros(len(weights))), np.array(code)
    )


def expansion(rows, kernel=LINEAR, view=None):
    rows = np.asarray(rows)
    model = KernelExpansion(
        X[rows], np.ones((len(rows), 1)), np.zeros(1), kernel, np.arange(len(rows))
    )
    return Member(model, np.array([[-1, 1, 0]]), view, support=rows, n_rows=len(rows))


def committee_of(*members, router=None):
    return Committee.of(Division(router=router, members=members), 3)


def test_sums_known_and_votes_follow_the_codes():
    values = np.array([[2.0, 0.5, -1.0, 3.0], [-1.0, 4.0, 1.0, 0.0]])
    code = np.array([[-1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    said = Answers(np.arange(2), np.arange(2), values, code, np.array([0, 1, 1, 1]))
    assert said.sums().tolist() == [[-1.5, 1.0, 3.0], [5.0, 0.0, 0.0]]
    assert said.known().tolist() == [[2, 2, 1], [2, 2, 1]]
    assert said.votes().tolist() == [[0, 1, 1], [2, 0, 0]]
    assert said.gains().tolist() == [[0.5, 1.0, 3.0], [4.0, 0.0, 0.0]]
    assert said.gaining().tolist() == [[1, 2, 1], [1, 2, 1]]


def test_the_routers_weights_count():
    values = np.array([[2.0, -3.0]])
    code = np.array([[1, -1, 0], [1, -1, 0]])
    weights = np.array([[0.25, 0.75]])
    said = Answers(np.arange(1), np.arange(2), values, code, np.arange(2), weights)
    assert said.sums().tolist() == [[-1.75, 1.75, 0.0]]
    assert said.votes().tolist() == [[0.25, 0.75, 0.0]]


def test_a_row_may_be_routed_to_several_members():
    class Both(Router):
        def route(self, X):
            n = X.shape[0]
            rows = np.repeat(np.arange(n), 2)
            return Routing(rows, np.tile([0, 1], n), np.tile([0.25, 0.75], n))

    committee = committee_of(
        linear([1, 0], code=[[-1, 1, 0]]), linear([0, 1], code=[[-1, 1, 0]]), router=Both()
    )
    expected = 0.25 * X[:, 0] + 0.75 * X[:, 1]
    np.testing.assert_allclose(committee.mean_scores(X)[:, 1], expected)
    assert np.isnan(committee.mean_scores(X)[:, 2]).all()


def test_answers_come_in_blocks_that_do_not_change_them(monkeypatch):
    clf = DivideAndConquerClassifier(Deal(3), Centroids(), Average(), random_state=0).fit(X, y)
    whole = clf.decision_function(X)
    monkeypatch.setattr("dcsvm.committee.BLOCK_BYTES", 1)
    np.testing.assert_array_equal(whole, clf.decision_function(X))
    assert len(list(clf.model_.committee.answers(X))) == 2


def test_all_columns_come_as_a_table_with_gaps_where_no_one_was_asked():
    clf = DivideAndConquerClassifier(Strips(2), Centroids(), Average(), random_state=0).fit(X, y)
    table = clf.model_.committee.values(X)
    home = clf.model_.committee.groups[0].router.home(X)
    starts = clf.model_.committee.starts
    for strip in range(2):
        mine = slice(starts[strip], starts[strip + 1])
        assert np.isfinite(table[home == strip, mine]).all()
        assert np.isnan(table[home != strip, mine]).all()


def test_hyperplanes_of_members_and_of_the_router_are_counted():
    clf = DivideAndConquerClassifier(Strips(2), Centroids(), Average(), random_state=0).fit(X, y)
    widths = np.array([len(member.code) for member in clf.model_.committee.members])
    home = clf.model_.committee.groups[0].router.home(X)
    cost = clf.cost(X)
    np.testing.assert_array_equal(cost.hyperplanes, widths[home] + 1)
    assert cost.kernel_evaluations.sum() == 0


def asked(committee):
    counted = committee.counted(len(X))
    counted.mean_scores(X)
    return counted.tally.cost(committee.members)


def test_shared_support_vectors_are_counted_once_per_row():
    cost = asked(committee_of(expansion([0, 1, 2]), expansion([2, 3]), expansion([9])))
    assert set(cost.kernel_evaluations) == {6}
    assert set(cost.unique_kernel_evaluations) == {5}


def test_support_vectors_under_other_kernels_are_not_shared():
    other = Kernel("rbf", gamma=2.0)
    cost = asked(committee_of(expansion([0, 1, 2]), expansion([2, 3], other)))
    assert set(cost.unique_kernel_evaluations) == {5}


def test_rows_that_ask_different_members_are_counted_apart():
    class ByRow(Router):
        def route(self, X):
            n = X.shape[0]
            rows = np.r_[np.arange(n), np.arange(0, n, 2)]
            return Routing(rows, np.r_[np.zeros(n, dtype=int), np.ones(len(rows) - n, dtype=int)])

    cost = asked(committee_of(expansion([0, 1, 2]), expansion([1, 2, 3]), router=ByRow()))
    assert cost.unique_kernel_evaluations[:4].tolist() == [4, 3, 4, 3]
    assert cost.kernel_evaluations[:4].tolist() == [6, 3, 6, 3]


def test_a_nested_pipelines_cost_is_counted_row_by_row():
    nested = DivideAndConquerClassifier(Strips(2), Centroids(), Average())
    clf = DivideAndConquerClassifier(Everything(), nested, Average(), random_state=0).fit(X, y)
    alone = DivideAndConquerClassifier(Strips(2), Centroids(), Average()).fit(X, y)
    np.testing.assert_array_equal(clf.cost(X).hyperplanes, alone.cost(X).hyperplanes)


def test_a_wrapped_models_cost_is_unknown_and_not_zero():
    from sklearn.naive_bayes import GaussianNB

    member = Member(Wrapped(GaussianNB().fit(X, y)), np.eye(3, dtype=int))
    assert np.isnan(asked(committee_of(member)).kernel_evaluations).all()


def test_constants_cost_nothing():
    assert attrs_of(Constant().cost) == (0.0, 0.0, 0.0)


def attrs_of(cost):
    return cost.kernel_evaluations, cost.unique_kernel_evaluations, cost.hyperplanes


def test_costs_add_up():
    total = Cost(1, 2, 3) + Cost(10, 20, np.array([30, 40]))
    assert total.kernel_evaluations == 11
    assert total.hyperplanes.tolist() == [33, 43]


def test_masked_classes_get_a_certain_no_at_the_last_door():
    scores = np.array([[2.0, np.nan, 3.0], [-4.0, np.nan, 1.0], [np.nan] * 3, [1.0, 2.0, 3.0]])
    assert floored(scores).tolist() == [
        [2.0, -1.0, 3.0],
        [-4.0, -5.0, 1.0],
        [-1.0, -1.0, -1.0],
        [1.0, 2.0, 3.0],
    ]


def test_scores_of_the_wrong_shape_are_refused_in_a_sentence():
    committee = committee_of(linear([1, 0], [0, 1], code=[[-1, 1, 0]]))
    with pytest.raises(ContractError) as error:
        committee.mean_scores(X)
    assert str(error.value) == (
        "Hyperplanes.scores returned shape (120, 2) where (120, 1) was expected"
    )


def test_one_against_the_rest_through_tasks_equals_brute_force():
    clf = DivideAndConquerClassifier(Rest(), Centroids(), Average()).fit(X, y)
    values = np.column_stack([m.answer(X)[0] for m in clf.model_.committee.members])
    expected = (2 * values - values.sum(axis=1, keepdims=True)) / 3
    np.testing.assert_allclose(clf.decision_function(X), expected)
