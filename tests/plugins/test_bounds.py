"""The papers' bounds: against formulas written out, on problems that are solved exactly."""

from itertools import combinations
from math import e, log, log10, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from fakes import (
    Average,
    Centroids,
    Everything,
    Machine,
    Pairs,
    Regional,
    Rest,
    Strips,
    blobs,
)
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import DataError
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Wrapped
from dcsvm_plugins.combiners.dag.margin_bounds import enclosing_radius, graph_bounds
from dcsvm_plugins.decomposers.tree import region_bound
from dcsvm_plugins.decomposers.tree.region_bound import tree_terms

CORNERS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])


def test_the_ball_around_a_right_triangle_is_halfway_along_its_long_side() -> None:
    radius = enclosing_radius(Kernel("linear"), CORNERS, tolerance=1e-9)
    assert radius == pytest.approx(sqrt(2))
    assert enclosing_radius(Kernel("linear"), 7.0 + CORNERS[:1]) == pytest.approx(0.0)


def test_the_ball_holds_all_rows_and_is_hardly_larger_than_it_must_be() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    gram = Kernel("rbf", gamma=0.1)(X, X)
    radius = enclosing_radius(Kernel("rbf", gamma=0.1), X)
    assert radius <= 1.0
    # No ball is smaller than half the largest distance, nor than any dual value.
    assert radius >= sqrt((2 - 2 * gram.min()) / 4)
    tight = enclosing_radius(Kernel("rbf", gamma=0.1), X, tolerance=1e-7)
    assert tight <= radius <= 1.001 * tight


def test_the_margins_are_half_the_distances_of_three_points() -> None:
    clf = DivideAndConquerClassifier(Pairs(), Machine(), Average()).fit(CORNERS, ["a", "b", "c"])
    found = graph_bounds(clf, CORNERS, ["a", "b", "c"], confidence=0.9)
    assert [(node.first, node.second) for node in found.nodes] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert [node.margin for node in found.nodes] == pytest.approx([1.0, 1.0, sqrt(2)], rel=1e-5)
    assert found.margins.value == pytest.approx(2.5, rel=1e-5)
    assert found.radius.value == pytest.approx(sqrt(2), rel=1e-3)


def test_theorem_1_and_theorem_2_are_the_formulas_of_the_paper() -> None:
    clf = DivideAndConquerClassifier(Pairs(), Machine(), Average()).fit(CORNERS, ["a", "b", "c"])
    found = graph_bounds(clf, CORNERS, ["a", "b", "c"], confidence=0.9)
    R, m, K, delta = found.radius.value, 3, 3, 0.1
    whole = 130 * R**2 / m * (2.5 * log(4 * e * m) * log(4 * m) + log(2 * (2 * m) ** K / delta))
    assert found.graph.value == pytest.approx(whole, rel=1e-4)
    for label, margins in [("a", 2.0), ("b", 1.5), ("c", 1.5)]:
        growth = margins * log(4 * e * m) * log(4 * m)
        one = 130 * R**2 / m * (growth + log(2 * (2 * m) ** (3 - 1) / delta))
        assert found.classes[label].value == pytest.approx(one, rel=1e-4)
    assert found.graph.statement.endswith("(above 1: it says nothing)")


def test_margins_are_measured_in_the_space_of_the_kernel() -> None:
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    clf = DivideAndConquerClassifier(Pairs(), Machine(kernel="rbf"), Average()).fit(X, y)
    found = graph_bounds(clf, X, y)
    distance = sqrt(2 - 2 * np.exp(-1.0))
    assert found.nodes[0].margin == pytest.approx(distance / 2, rel=1e-6)
    assert found.radius.value == pytest.approx(distance / 2, rel=1e-3)


def test_where_a_node_errs_there_is_a_reason_and_no_number() -> None:
    X = np.array([[0.0], [1.0], [2.0], [9.0], [30.0]])
    y = np.array([0, 1, 0, 1, 2])
    clf = DivideAndConquerClassifier(Pairs(), Machine(C=1.0), Average()).fit(X, y)
    found = graph_bounds(clf, X, y)
    assert found.graph.value is None
    assert found.nodes[0].errors > 0
    assert found.graph.statement == (
        f"no bound: 1 of 3 nodes do not separate their classes ({found.nodes[0].errors} training "
        "rows on the wrong side, the first at 0 against 1), and the theorem wants all separated"
    )
    assert found.classes[0].value is None
    assert found.classes[1].value is None
    assert found.classes[2].value is not None


def test_nodes_of_different_spaces_have_no_common_radius() -> None:
    from attrs import evolve

    clf = DivideAndConquerClassifier(Pairs(), Machine(), Average()).fit(CORNERS, [0, 1, 2])
    committee = clf.model_.committee
    stranger = evolve(committee.members[0].model, kernel=Kernel("rbf", gamma=3.0))
    members = (evolve(committee.members[0], model=stranger), *committee.members[1:])
    clf.model_ = evolve(clf.model_, committee=evolve(committee, members=members))
    assert graph_bounds(clf, CORNERS, [0, 1, 2]).radius.reason == (
        "the nodes live in different feature spaces (kernels or features differ), and the "
        "theorem speaks of one"
    )


def test_members_that_do_not_know_one_pair_are_refused() -> None:
    X, y = blobs(30)
    clf = DivideAndConquerClassifier(Rest(), Machine(C=1.0), Average()).fit(X, y)
    with pytest.raises(DataError) as caught:
        graph_bounds(clf, X, y)
    assert str(caught.value) == (
        "the theorems speak of class pairs, but member 0 does not know one pair only"
    )


def test_other_rows_than_those_learned_from_are_refused() -> None:
    clf = DivideAndConquerClassifier(Pairs(), Machine(), Average()).fit(CORNERS, [0, 1, 2])
    with pytest.raises(
        DataError,
        match="graph_bounds needs the rows and labels that the classifier was trained on",
    ):
        graph_bounds(clf, CORNERS, [0, 1, 7])


@pytest.mark.parametrize("count", [40, 100])
def test_more_or_fewer_rows_than_were_learned_are_refused(count) -> None:
    X, y = blobs(100, k=2, seed=1)
    clf = DivideAndConquerClassifier(Everything(), Machine(C=2.0), Regional()).fit(X[:80], y[:80])
    with pytest.raises(DataError) as caught:
        tree_terms(clf, X[:count], y[:count])
    assert str(caught.value) == (
        f"tree_terms needs the 80 training rows, without those of weight zero, got {count} rows"
    )


def test_rows_of_weight_zero_were_not_learned() -> None:
    X, y = blobs(100, k=2, seed=1)
    clf = DivideAndConquerClassifier(Everything(), Machine(C=2.0), Regional())
    clf.fit(X, y, sample_weight=np.arange(100) < 80)
    assert clf.n_rows_ == 80
    assert tree_terms(clf, X[:80], y[:80]).R.value > 0


def quantity(X, signs, C, gamma):
    """The squared norm and squared slacks of a machine, from scikit-learn alone."""
    svm = SVC(C=C, gamma=gamma, tol=1e-9).fit(X, signs)
    gram = Kernel("rbf", gamma=gamma)(svm.support_vectors_, svm.support_vectors_)
    norm = svm.dual_coef_[0] @ gram @ svm.dual_coef_[0]
    slacks = np.maximum(0, 1 - signs * svm.decision_function(X))
    return norm + slacks @ slacks


def test_one_undivided_machine_gives_s_of_the_paper() -> None:
    X, y = blobs(80, k=2, seed=1)
    learner = Machine(C=2.0, kernel="rbf", gamma=0.3)
    clf = DivideAndConquerClassifier(Everything(), learner, Regional()).fit(X, y)
    found = tree_terms(clf, X, y)
    S = quantity(X, 2 * y - 1, 2.0, 0.3)
    assert (found.leaves, found.rho, found.T2.value) == (1, 1.0, 0.0)
    assert found.R.value == pytest.approx(S)
    assert found.T1.value == pytest.approx(S * log10(80) ** 2)


def test_regions_add_up_and_several_classes_are_averaged_over_pairs() -> None:
    X, y = blobs(150, seed=1)
    learner = Machine(C=2.0, kernel="rbf", gamma=0.3)
    clf = DivideAndConquerClassifier(Strips(2), learner, Regional()).fit(X, y)
    home = clf.model_.committee.groups[0].router.find_strip(X)
    total = 0.0
    for region in range(2):
        for i, j in combinations(range(3), 2):
            rows = (home == region) & np.isin(y, (i, j))
            if len(np.unique(y[rows])) == 2:
                total += quantity(X[rows], np.where(y[rows] == i, 1, -1), 2.0, 0.3)
    found = tree_terms(clf, X, y)
    assert found.classifiers == 3
    assert found.R.value == pytest.approx(total / 3)
    assert found.R_per_leaf.value == pytest.approx(total / 6)
    assert found.T2.value == pytest.approx(2 * log10(2 * 150 * 4))


@pytest.mark.parametrize("decomposer", [Pairs(), Rest()])
def test_nested_class_tasks_count_like_those_of_one_machine(decomposer) -> None:
    X, y = blobs(150, seed=1)
    learner = Machine(C=2.0, kernel="rbf", gamma=0.3)
    nested = DivideAndConquerClassifier(decomposer, learner, Average())
    clf = DivideAndConquerClassifier(Strips(2), nested, Regional()).fit(X, y)
    found = tree_terms(clf, X, y)
    assert found.classifiers == 3
    if isinstance(decomposer, Pairs):
        flat = DivideAndConquerClassifier(Strips(2), learner, Regional()).fit(X, y)
        assert found.R.value == pytest.approx(tree_terms(flat, X, y).R.value)
    else:
        home = clf.model_.committee.groups[0].router.find_strip(X)
        total = sum(
            quantity(X[home == r], np.where(y[home == r] == c, 1, -1), 2.0, 0.3)
            for r in range(2)
            for c in np.unique(y[home == r])
        )
        assert found.R.value == pytest.approx(total / 3)


@pytest.mark.parametrize(
    ("leaves", "features", "rows", "T2"),
    [(8, 16, 7328, 55), (14, 9, 38667, 110), (53, 14, 30148, 481), (24, 10, 20843, 194)],
)
def test_the_papers_table_16_takes_logarithms_to_base_10(leaves, features, rows, T2) -> None:
    # Pendigits, Shuttle, Census Income and Poker, with L from R and R / L of table 17.
    assert leaves * log10(features * rows * leaves**2) == pytest.approx(T2, abs=0.6)


def test_rows_that_ask_several_regions_give_a_reason() -> None:
    X, y = blobs(60)
    clf = DivideAndConquerClassifier(Rest(), Machine(C=1.0), Average()).fit(X, y)
    found = tree_terms(clf, X, y)
    assert found.R.statement == "no bound: rows ask more than one region"
    assert found.R_per_leaf.value is None
    assert found.T2.statement == found.R.statement


def test_hyperplanes_have_their_weights_for_a_normal() -> None:
    X, y = blobs(60, k=2)
    clf = DivideAndConquerClassifier(Everything(), Centroids(), Regional()).fit(X, y)
    model = clf.model_.committee.members[0].model
    slacks = np.maximum(0, 1 - (2 * y - 1) * model.scores(X)[:, 0])
    found = tree_terms(clf, X, y)
    rho_squared = (X**2).sum(axis=1).max()
    assert found.rho == pytest.approx(sqrt(rho_squared))
    assert found.R.value == pytest.approx(rho_squared * (model.weights**2).sum() + slacks @ slacks)


def test_a_model_that_is_no_hyperplane_gives_a_reason() -> None:
    from attrs import evolve

    X, y = blobs(60)
    clf = DivideAndConquerClassifier(Everything(), Centroids(), Regional()).fit(X, y)
    committee = clf.model_.committee
    other = evolve(committee.members[0], model=Wrapped(None))
    clf.model_ = evolve(clf.model_, committee=evolve(committee, members=(other,)))
    assert tree_terms(clf, X, y).R.reason == (
        "region 0 holds a Wrapped, which is no hyperplane in a feature space"
    )


def test_regions_are_found_below_a_preparation_of_the_rows() -> None:
    X, y = blobs(150, seed=1)
    learner = Machine(C=2.0, kernel="rbf", gamma=0.3)
    inner = DivideAndConquerClassifier(Strips(2), learner, Regional())
    outer = DivideAndConquerClassifier(Everything(), inner, Regional()).fit(X, y)
    found, plain = tree_terms(outer, X, y), tree_terms(inner.fit(X, y), X, y)
    assert found.leaves == plain.leaves == 2
    assert found.R.value == pytest.approx(plain.R.value)
    assert found.T2.value == plain.T2.value


def test_coefficients_of_pairs_are_those_of_their_points():
    """Against a loop over pairs."""
    generator = np.random.default_rng(0)
    sizes = np.array([3, 1, 4, 2, 5])
    coefficients = generator.normal(size=(15, 4)) * (generator.random((15, 4)) < 0.7)
    model = SimpleNamespace(class_sizes=sizes, coefficients=coefficients)
    own = np.repeat(np.arange(5), sizes)
    expected = np.zeros((15, 10))
    for number, (i, j) in enumerate(combinations(range(5), 2)):
        expected[own == i, number] = coefficients[own == i, j - 1]
        expected[own == j, number] = coefficients[own == j, i]
    found = region_bound._columns(model)
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.has_canonical_format
    assert found.nnz == np.count_nonzero(coefficients)


def test_very_many_pairs_of_classes_have_no_facts(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120) % 30
    clf = DivideAndConquerClassifier("whole", "kernel_svm", "route").fit(X, y)
    assert list(region_bound.tree_facts(clf, X, y))
    monkeypatch.setattr(region_bound, "MOST_VALUES", 120 * 435)
    assert not list(region_bound.tree_facts(clf, X, y))
