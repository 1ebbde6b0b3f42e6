"""Members asked together, what they say, and what it costs."""

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Everything, Rest, StripRouter, Strips, blobs

from dcsvm import Committee, DivideAndConquerClassifier, Division, Member, Router, Routing
from dcsvm.base.answers import Answers
from dcsvm.base.errors import ContractError
from dcsvm.drive.committee.committee import _by_member
from dcsvm.drive.committee.group import Group
from dcsvm.drive.fitted_strategy import FittedStrategy, chunk_size
from dcsvm.drive.masked_scores import floor_masked
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Constant, Cost, Hyperplanes, KernelExpansion, Wrapped

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
    assert said.total_weights().tolist() == [[2, 2, 1], [2, 2, 1]]
    assert said.votes().tolist() == [[0, 1, 1], [2, 0, 0]]
    assert said.gains().tolist() == [[0.5, 1.0, 3.0], [4.0, 0.0, 0.0]]
    assert said.positive_weights().tolist() == [[1, 2, 1], [1, 2, 1]]


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
    monkeypatch.setattr("dcsvm.drive.committee.committee.BLOCK_BYTES", 1)
    np.testing.assert_array_equal(whole, clf.decision_function(X))
    assert len(list(clf.model_.committee.answers(X))) == 2


def test_all_columns_come_as_a_table_with_gaps_where_no_one_was_asked():
    clf = DivideAndConquerClassifier(Strips(2), Centroids(), Average(), random_state=0).fit(X, y)
    table = clf.model_.committee.values(X)
    home = clf.model_.committee.groups[0].router.find_strip(X)
    starts = clf.model_.committee.starts
    for strip in range(2):
        mine = slice(starts[strip], starts[strip + 1])
        assert np.isfinite(table[home == strip, mine]).all()
        assert np.isnan(table[home != strip, mine]).all()


def test_hyperplanes_of_members_and_of_the_router_are_counted():
    clf = DivideAndConquerClassifier(Strips(2), Centroids(), Average(), random_state=0).fit(X, y)
    widths = np.array([len(member.code) for member in clf.model_.committee.members])
    home = clf.model_.committee.groups[0].router.find_strip(X)
    cost = clf.cost(X)
    np.testing.assert_array_equal(cost.hyperplanes, widths[home] + 1)
    assert cost.kernel_evaluations.sum() == 0


def asked(committee):
    counted = committee.with_counter(len(X))
    counted.mean_scores(X)
    return counted.cost_counter.cost(committee.members)


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
    assert floor_masked(scores).tolist() == [
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


def sharing_committee(rows_of_members, columns=1, n=40, seed=0):
    generator = np.random.default_rng(seed)
    kernel = Kernel("rbf", gamma=0.3)
    members = []
    for number, rows in enumerate(rows_of_members):
        coefficients = generator.normal(size=(len(rows), columns))
        model = KernelExpansion(
            X[rows], coefficients, generator.normal(size=columns), kernel, np.arange(len(rows))
        )
        code = np.zeros((columns, 3), dtype=int)
        code[:, number % 3], code[:, (number + 1) % 3] = 1, -1
        members.append(Member(model, code, support=np.array(rows)))
    return members


@pytest.mark.parametrize("columns", [1, 2])
def test_members_that_share_points_say_together_what_they_say_alone(columns):
    generator = np.random.default_rng(1)
    rows = [generator.permutation(60)[:25] for _ in range(6)] + [np.arange(100, 110)]
    members = sharing_committee(rows, columns)
    committee = committee_of(*members)
    pools = {id(member.model.points.pool) for member in committee.members}
    assert len(pools) == 1
    assert committee.members[0].model.points.pool.shape[0] == len(np.unique(np.concatenate(rows)))
    together = committee.ask(X, np.arange(len(X)), np.arange(7)).values
    alone = np.hstack([member.answer(X)[0] for member in members])
    np.testing.assert_allclose(together, alone, atol=1e-12)


def test_members_without_common_points_keep_their_own():
    committee = committee_of(*sharing_committee([range(10), range(10, 20)]))
    assert all(member.model.points.ids is None for member in committee.members)


def test_a_mixture_of_sharing_and_other_members_keeps_its_order():
    first, second = sharing_committee([range(20), range(10, 30)])
    committee = committee_of(
        linear([1, 0], code=[[-1, 1, 0]]), first, Member(Constant(), np.array([[0, 0, 1]])), second
    )
    together = committee.ask(X, np.arange(len(X)), np.arange(4)).values
    alone = np.hstack([member.answer(X)[0] for member in committee.members])
    np.testing.assert_allclose(together, alone, atol=1e-12)
    cost = asked(committee)
    assert set(cost.unique_kernel_evaluations) == {30}
    assert set(cost.kernel_evaluations) == {40}
    assert set(cost.hyperplanes) == {1}


def test_one_against_one_expansions_share_their_kernel_values_too():
    from sklearn.svm import SVC

    members = []
    for rows in (np.arange(0, 90), np.arange(30, 120)):
        svc = SVC(gamma=0.3).fit(X[rows], y[rows])
        model = KernelExpansion(
            X[rows[svc.support_]], svc.dual_coef_.T, svc.intercept_, Kernel("rbf", 0.3),
            svc.support_, svc.n_support_,
        )  # fmt: skip
        members.append(Member(model, np.eye(3, dtype=int), support=rows[svc.support_]))
    committee = committee_of(*members)
    together = committee.ask(X, np.arange(len(X)), np.arange(2)).values
    alone = np.hstack([member.answer(X)[0] for member in members])
    np.testing.assert_allclose(together, alone, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_answers_in_chunks_are_the_same_for_any_number_of_jobs(n_jobs, monkeypatch):
    monkeypatch.setattr("dcsvm.drive.fitted_strategy.CHUNK_ROWS", 300)
    clf = DivideAndConquerClassifier(Strips(2), Centroids(), Average(), n_jobs=n_jobs).fit(X, y)
    rows = np.tile(X, (7, 1))
    scores, cost = clf.decision_function(rows), clf.cost(rows)
    expected, expected_cost = clf.model_.answer(rows)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    np.testing.assert_array_equal(cost.hyperplanes, expected_cost.hyperplanes)


@pytest.mark.parametrize(
    ("regions", "rows"), [(2, 2**15), (128, 2**15), (129, 129 * 256), (5000, 2**18)]
)
def test_chunks_grow_with_the_regions_of_a_division(regions, rows):
    members = [Member(Constant(), np.array([[0, 1, 0]]))] * regions
    routed = committee_of(*members, router=StripRouter(np.arange(regions - 1), 0))
    model = FittedStrategy(routed, Average())
    assert chunk_size(model) == rows
    around = committee_of(Member(model, np.eye(3)))
    assert chunk_size(FittedStrategy(around, Average())) == rows
    assert chunk_size(FittedStrategy(committee_of(*members), Average())) == 2**15


def test_a_routing_of_no_rows_queries_no_member():
    nothing = np.zeros(0, dtype=np.intp)
    assert list(_by_member(Routing(nothing, nothing), Group(0, 2))) == []
    rows, members = np.array([0, 1, 2]), np.array([1, 0, 1])
    found = {member: at.tolist() for member, at in _by_member(Routing(rows, members), Group(0, 2))}
    assert found == {0: [1], 1: [0, 2]}
