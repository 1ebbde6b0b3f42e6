"""The decision graph: first against last, the loser leaves."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from attrs import evolve
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from dcsvm import DcsvmError, DivideAndConquerClassifier, SettingError, build, load, save
from dcsvm.inspection.explainer import explain
from dcsvm.numeric import Kernel
from dcsvm.toolbox import TablePreparation
from dcsvm_plugins.combiners.dag.margin_bounds import graph_bounds
from dcsvm_report.evidence import gather_evidence


def classifier(learner="kernel_svm", **settings):
    return DivideAndConquerClassifier(
        "class_pairs", learner, build("combiner", "dag", **settings), random_state=0
    )


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.fixture(scope="module")
def fitted(digits):
    X, y = digits
    return classifier(build("learner", "kernel_svm", gamma=0.1)).fit(X[:600], y[:600])


def walk(committee, x, order):
    """The list of the paper, kept as a list: the winner, the members asked, who lost by what."""
    remaining, asked, lost = list(order), [], {}
    while len(remaining) > 1:
        one, other = remaining[0], remaining[-1]
        (number,) = (
            n
            for n, m in enumerate(committee.members)
            if set(np.flatnonzero(m.code[0])) == {one, other}
        )
        member = committee.members[number]
        value = member.answer(x)[0][0, 0]
        winner = int(np.flatnonzero(member.code[0] == (1 if value > 0 else -1))[0])
        loser = other if winner == one else one
        asked.append(number)
        lost[loser] = (winner, abs(value))
        remaining.remove(loser)
    return remaining[0], asked, lost


def test_every_row_goes_the_way_of_the_list(fitted, digits) -> None:
    X = digits[0][600:650]
    winners = [walk(fitted.model_.committee, x[None], range(10))[0] for x in X]
    assert fitted.predict(X).tolist() == winners


@pytest.mark.parametrize("order", ["natural", (3, 1, 4, 0, 5, 9, 2, 6, 8, 7)])
def test_a_row_alone_walks_to_the_same_class(order, digits) -> None:
    X, y = digits
    clf = classifier(build("learner", "kernel_svm", gamma=0.1), order=order).fit(X[:300], y[:300])
    graph, committee = clf.model_.combination, clf.model_.committee
    alone = [int(graph.labels(committee, x[None])[0]) for x in X[300:400]]
    assert (
        alone == graph.labels(committee, X[300:400]).tolist() == clf.predict(X[300:400]).tolist()
    )
    assert graph._prepare(committee)[1] is not None


def test_rows_without_a_common_pool_walk_node_by_node(digits) -> None:
    X, y = digits
    clf = classifier("linear_svm").fit(X[:200], y[:200])
    graph, committee = clf.model_.combination, clf.model_.committee
    assert graph._prepare(committee)[1] is None
    assert graph.labels(committee, X[300:301]).tolist() == clf.predict(X[300:301]).tolist()


def test_an_own_order_of_the_classes_is_walked(digits) -> None:
    X, y = digits
    order = (3, 1, 4, 0, 5, 9, 2, 6, 8, 7)
    clf = classifier(order=order).fit(X[:300], y[:300])
    winners = [walk(clf.model_.committee, x[None], order)[0] for x in X[300:330]]
    assert clf.predict(X[300:330]).tolist() == winners


def test_a_row_asks_one_node_less_than_there_are_classes(fitted, digits) -> None:
    committee = fitted.model_.committee.with_counter(30)
    fitted.model_.combination.combine(committee, digits[0][600:630])
    for row in range(30):
        expected = walk(fitted.model_.committee, digits[0][600 + row][None], range(10))[1]
        assert committee.cost_counter.members_of(row) == expected
        assert len(expected) == 9


def test_the_cost_is_the_unique_support_vectors_along_the_path(fitted, digits) -> None:
    X = digits[0][600:620]
    cost = fitted.cost(X)
    members = fitted.model_.committee.members
    for row, x in enumerate(X):
        supports = [
            members[number].support
            for number in walk(fitted.model_.committee, x[None], range(10))[1]
        ]
        assert cost.unique_kernel_evaluations[row] == len(np.unique(np.concatenate(supports)))
        assert cost.kernel_evaluations[row] == sum(map(len, supports))


def test_asking_along_a_path_costs_less_than_asking_everyone(fitted, digits) -> None:
    X, y = digits
    learner = build("learner", "kernel_svm", gamma=0.1)
    everyone = DivideAndConquerClassifier("class_pairs", learner, "vote").fit(X[:600], y[:600])
    lazy = fitted.cost(X[600:]).unique_kernel_evaluations.mean()
    assert lazy < 0.8 * everyone.cost(X[600:]).unique_kernel_evaluations.mean()


def test_a_loser_stands_as_far_below_who_beat_it_as_it_lost_by(fitted, digits) -> None:
    X = digits[0][600:620]
    scores = fitted.decision_function(X)
    for row, x in enumerate(X):
        winner, _, lost = walk(fitted.model_.committee, x[None], range(10))
        won_by = [margin for beater, margin in lost.values() if beater == winner]
        assert scores[row, winner] == pytest.approx(min(won_by))
        for loser, (beater, margin) in lost.items():
            above = 0.0 if beater == winner else scores[row, beater]
            assert scores[row, loser] == pytest.approx(above - margin)


def test_over_two_classes_the_score_is_the_decision_value(digits) -> None:
    X, y = digits
    X, y = X[y < 2], y[y < 2]
    clf = classifier().fit(X, y)
    said = clf.model_.committee.members[0].answer(X)[0][:, 0]
    np.testing.assert_allclose(clf.decision_function(X), -said, atol=1e-12)


def test_a_margin_of_zero_still_has_one_winner() -> None:
    X, y = np.eye(3), np.arange(3)
    clf = classifier("linear_svm").fit(X, y)
    for member in clf.model_.committee.members:
        member.model.weights[:], member.model.biases[:] = 0.0, 0.0
    # Zero is an answer for the negative side, the later class of a pair.
    assert clf.predict(X).tolist() == [2, 2, 2]
    assert np.isfinite(clf.decision_function(X)).all()


def test_alike_classes_stand_next_to_each_other_in_the_list() -> None:
    centres = np.array([[0.0], [9.0], [1.0], [10.0], [2.0]])
    X, y = make_blobs(100, centers=centres, cluster_std=0.1, random_state=0)
    clf = classifier(order="similarity").fit(X, y)
    assert clf.model_.combination.order.tolist() == [0, 2, 4, 1, 3]
    assert clf.score(X, y) == 1.0


def test_sparse_rows_give_the_same_list(digits) -> None:
    from scipy import sparse

    X, y = digits
    dense = classifier(order="similarity").fit(X[:200], y[:200])
    thin = classifier(order="similarity").fit(sparse.csr_matrix(X[:200]), y[:200])
    assert dense.model_.combination.order.tolist() == thin.model_.combination.order.tolist()
    assert (
        dense.predict(X[200:300]).tolist() == thin.predict(sparse.csr_matrix(X[200:300])).tolist()
    )


@pytest.mark.parametrize("learner", ["linear_svm", "krr", "sklearn"])
def test_any_binary_learner_can_decide_at_a_node(learner: str, digits) -> None:
    X, y = digits
    assert classifier(learner).fit(X[:300], y[:300]).score(X[300:500], y[300:500]) > 0.8


def test_nodes_may_be_pipelines_and_leaves_may_be_graphs(digits) -> None:
    X, y = digits
    tree = build("decomposer", "tree", ceiling=40)
    of_trees = classifier(DivideAndConquerClassifier(tree, "linear_svm", "route"))
    assert of_trees.fit(X[:300], y[:300]).score(X[:300], y[:300]) > 0.9
    of_graphs = DivideAndConquerClassifier(
        build("decomposer", "tree", ceiling=200), classifier(), "route", random_state=0
    )
    assert of_graphs.fit(X[:600], y[:600]).score(X[600:800], y[600:800]) > 0.7


def test_nodes_may_be_cascades(digits) -> None:
    X, y = digits
    X, y = X[:500][y[:500] < 4], y[:500][y[:500] < 4]
    learner = build("learner", "kernel_svm", gamma=0.1, C=10.0)
    node = DivideAndConquerClassifier(build("decomposer", "cascade"), learner, "route")
    ours, plain = classifier(node).fit(X[:150], y[:150]), classifier(learner).fit(X[:150], y[:150])
    assert (ours.predict(X[150:]) == plain.predict(X[150:])).mean() > 0.95
    assert ours.cost(X[150:]).kernel_evaluations.mean() > 0
    told = explain(ours, X[150])
    assert [question.inside is not None for question in told.questions] == [True] * 3


def test_nodes_may_be_oblique_trees(digits) -> None:
    X, y = digits
    tree = build("decomposer", "oblique_tree", merge="majority")
    ours = classifier(DivideAndConquerClassifier(tree, "majority", "route"))
    ours.fit(X[:600], y[:600])
    assert ours.score(X[600:900], y[600:900]) > 0.8
    planes = ours.cost(X[600:900]).hyperplanes
    assert planes.min() >= 9  # every node of the path asks one hyperplane or more
    assert all(question.inside for question in explain(ours, X[600]).questions)


def test_leaves_may_be_graphs_whose_nodes_are_trees(digits, tmp_path) -> None:
    X, y = digits
    inner = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=30), "linear_svm")
    leaf = classifier(inner)
    tree = build("decomposer", "tree", ceiling=200)
    clf = DivideAndConquerClassifier(tree, leaf, "route", random_state=0).fit(X[:600], y[:600])
    assert clf.score(X[600:800], y[600:800]) > 0.7
    assert max(len(record.path) for record in clf.ledger_) == 6
    save(clf, tmp_path / "model.dcsvm")
    again = load(tmp_path / "model.dcsvm")
    assert (again.decision_function(X[:50]) == clf.decision_function(X[:50])).all()


def test_the_trace_tells_the_path_and_the_margins(fitted, digits) -> None:
    x = digits[0][600][None]
    winner, asked, lost = walk(fitted.model_.committee, x, range(10))
    told = fitted.model_.combination.trace(fitted.model_.committee, x)
    assert len(told) == 10
    assert told[0].startswith("10 in the list: class ")
    for sentence, number in zip(told, asked, strict=False):
        found = re.fullmatch(
            r"\d+ in the list: class (\d) beats class (\d) by (\S+), member (\d+)", sentence
        )
        assert found
        assert int(found[4]) == number
        assert lost[int(found[2])] == (int(found[1]), pytest.approx(float(found[3]), rel=1e-3))
    assert told[-1] == f"class {winner} is left"


def test_an_order_that_lacks_a_class_is_refused(digits) -> None:
    X, y = digits
    with pytest.raises(SettingError) as caught:
        classifier(order=(0, 1, 2)).fit(X[:100], y[:100])
    assert str(caught.value) == (
        "dag: order must list each class number from 0 to 9 once, got [0, 1, 2]"
    )


def test_a_word_that_is_no_order_is_refused() -> None:
    with pytest.raises(
        SettingError,
        match=re.escape("dag: order must be 'natural' or 'similarity' or a list, got 'random'"),
    ):
        build("combiner", "dag", order="random")


def test_members_that_do_not_know_pairs_are_refused(digits) -> None:
    X, y = digits
    clf = DivideAndConquerClassifier("class_rest", "linear_svm", "argmax").fit(X[:100], y[:100])
    with pytest.raises(DcsvmError, match="dag: member 0 does not separate two classes"):
        build("combiner", "dag").fit(clf.model_.committee, None, None)


def test_a_missing_pair_is_named(digits) -> None:
    from dcsvm import Committee
    from dcsvm.drive.committee.committee import Group

    X, y = digits
    X, y = X[y < 3], y[y < 3]
    members = classifier().fit(X, y).model_.committee.members
    two = Committee(members[:2], (Group(0, 2),), 3)
    with pytest.raises(DcsvmError, match="dag: there is no member for the classes 1 and 2"):
        build("combiner", "dag").fit(two, None, None)
    twice = Committee((*members, members[0]), (Group(0, 4),), 3)
    with pytest.raises(DcsvmError, match="dag: two members separate the same two classes"):
        build("combiner", "dag").fit(twice, None, None)


def test_an_unfitted_dag_says_that_it_must_be_fitted(fitted, digits) -> None:
    with pytest.raises(DcsvmError, match="dag must be fitted first"):
        build("combiner", "dag").combine(fitted.model_.committee, digits[0][:1])


def test_the_picture_is_the_triangle_of_the_paper_with_the_way_of_the_row() -> None:
    X, y = make_blobs(80, centers=4, random_state=0)
    clf = classifier().fit(X, np.array(["a<", "b", "c", "d"])[y])
    told = explain(clf, X[0])
    picture = ElementTree.fromstring(told.picture)
    space = "{http://www.w3.org/2000/svg}"
    texts = [each.text for each in picture.iter(f"{space}text")]
    pairs = ["a< v d", "a< v c", "b v d", "a< v b", "b v c", "c v d"]
    assert [text for text in texts if " v " in text] == pairs
    assert len(list(picture.iter(f"{space}line"))) == 12
    on_way = [each for each in picture.iter() if each.get("class") == "way"]
    assert len(on_way) == 3 + 4
    for question in told.questions:
        assert f"{question.margin:.3g}" in texts
    assert told._repr_html_().startswith("<svg")


def test_explain_follows_the_list_from_node_to_node(fitted, digits) -> None:
    x = digits[0][600]
    winner, asked, lost = walk(fitted.model_.committee, x[None], range(10))
    told = explain(fitted, x)
    assert told.answer == winner
    assert [question.member for question in told.questions] == asked
    for question in told.questions:
        (loser,) = question.losers
        assert lost[loser] == (question.winners[0], pytest.approx(question.margin))


def test_a_report_counts_the_rows_that_pass_each_node(fitted, digits):
    X, y = digits
    (graph,) = (
        each
        for each in gather_evidence(fitted, X[::5], y[::5]).pictures
        if each.title == "how scores are combined"
    )
    ElementTree.fromstring(graph.svg)
    passed = re.findall(r"<title>(\d) v (\d): ([\d,]+) rows?", graph.svg)
    assert len(passed) == 45
    assert passed[0] == ("0", "9", str(len(y[::5])))
    answered = re.findall(r"<title>\d: ([\d,]+) rows?", graph.svg)
    assert sum(map(int, answered)) == len(y[::5])
    assert "Test rows go from top to bottom" in graph.words


def test_a_prepared_model_is_explained_with_its_picture_and_missing_values() -> None:
    X, y = load_iris(return_X_y=True)
    X[::7, 1] = np.nan
    inner = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag")
    model = make_pipeline(TablePreparation(missing="impute"), inner).fit(X, y)
    found = explain(model, X[0])
    assert found.answer == model.predict(X[:1])[0]
    assert found.picture.startswith("<svg")
    X, y = load_iris(return_X_y=True)
    bounds = graph_bounds(model.fit(X, y), X, y)
    assert len(bounds.nodes) == 3
    assert bounds.radius.value > 0


def test_all_pairs_have_the_gamma_of_all_rows_and_agree_with_svc() -> None:
    X, y = load_iris(return_X_y=True)
    pairs = DivideAndConquerClassifier("class_pairs", build("learner", "kernel_svm", C=3.0), "dag")
    kernels = {member.model.kernel for member in pairs.fit(X, y).model_.committee.members}
    assert kernels == {Kernel("rbf", gamma=1 / (4 * X.var()))}
    expected = SVC(C=3.0, tol=1e-5, decision_function_shape="ovo").fit(X, y).decision_function(X)
    answers = [member.answer(X)[0][:, 0] for member in pairs.model_.committee.members]
    np.testing.assert_allclose(np.abs(np.stack(answers, 1)), np.abs(expected), atol=5e-3)


def test_a_graph_is_walked_in_any_memory_order(fitted, digits) -> None:
    """A model file keeps the order of arrays, and compiled code reads rows."""
    X, _ = digits
    graph = fitted.model_.combination
    turned = evolve(graph, node=np.asfortranarray(graph.node), sign=np.asfortranarray(graph.sign))
    model = evolve(fitted.model_, combination=turned)
    assert model.labels(X[600:620]).tolist() == fitted.model_.labels(X[600:620]).tolist()
