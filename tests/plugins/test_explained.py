"""Explanations of pipelines of built-in components: sums that add up, units, headings."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.inspection.explainer import explain
from dcsvm.numeric.expansion.pair_votes import pair_decisions
from dcsvm.toolbox import Column, TablePreparation, TableSchema


def test_what_is_told_of_a_pair_among_several_classes_adds_up_to_its_decision():
    X, y = load_digits(return_X_y=True)
    clf = DivideAndConquerClassifier("whole", "kernel_svm", "route").fit(X[:300], y[:300])
    model = clf.model_.committee.members[0].model
    for x in X[300:320]:
        (question,) = explain(clf, x).questions
        first, second = sorted((question.winners[0], question.losers[0]))
        gram = model.kernel(x[None], model.points.rows())
        of_pairs = pair_decisions(gram, model.coefficients, model.biases, model.class_sizes)[0]
        number = list(zip(*np.triu_indices(10, 1), strict=True)).index((first, second))
        sign = 1 if question.winners[0] == first else -1
        told = question.decision
        assert question.votes
        assert told.value == pytest.approx(sign * of_pairs[number])
        named = sum(weight.contribution for weight in question.heaviest)
        assert named + told.others + told.bias == pytest.approx(told.value)
        assert [weight.label for weight in question.heaviest] == [
            y[weight.row] for weight in question.heaviest
        ]


def test_a_pair_among_several_classes_is_printed_with_its_decision():
    X, y = load_digits(return_X_y=True)
    clf = DivideAndConquerClassifier("whole", "kernel_svm", "route").fit(X[:300], y[:300])
    told = explain(clf, X[305], heaviest=1)
    (question,) = told.questions
    (weight,), decision = question.heaviest, question.decision
    assert str(told).splitlines()[1:] == [
        f"  member 0: {question.winners[0]} over {question.losers[0]} by {question.margin:.4g} in "
        f"votes, the decision between the two is {decision.value:+.4g}",
        f"    training row {weight.row} ({weight.label}): {weight.contribution:+.4g} (coefficient "
        f"{weight.coefficient:.4g} x kernel {weight.kernel:.4g})",
        f"    and {decision.n_others} others: {decision.others:+.4g}",
        f"    bias: {decision.bias:+.4g}",
    ]


@pytest.mark.parametrize("scale", ["minmax", "standard", "robust"])
def test_thresholds_are_told_in_the_units_of_the_data(scale):
    wine = load_wine(as_frame=True)
    tree = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=60), "kernel_svm")
    clf = make_pipeline(TablePreparation(scale), tree).fit(wine.data, wine.target)
    row = wine.data.iloc[3]
    *route, leaf = explain(clf, row).route
    assert route
    assert leaf.startswith("leaf ")
    for sentence in route:
        name, value, sign, threshold = sentence.replace(":", "").split()
        column = wine.data[name]
        assert float(value) == pytest.approx(row[name], rel=1e-4)
        assert column.min() < float(threshold) < column.max()
        assert (row[name] > float(threshold)) == (sign == ">")


def test_levels_of_categories_keep_what_the_tree_sees_of_them():
    schema = TableSchema((Column("colour", ("blue", "red")), Column("size")))
    random = np.random.default_rng(0)
    X = np.column_stack([np.arange(80) % 2, random.uniform(100, 200, 80)])
    y = (X[:, 0] == 1) ^ (X[:, 1] > 150)
    tree = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=10), "kernel_svm")
    clf = make_pipeline(TablePreparation(schema=schema), tree).fit(X, y)
    told = set()
    for x in X:
        route = explain(clf, x).route
        told |= {sentence.rpartition(" ")[0] for sentence in route}
        for sentence in route:
            if sentence.startswith("size: "):
                assert 100 < float(sentence.split()[-1]) < 200
    assert told & {"colour=red: 1 >", "colour=blue: 1 >"}


def test_each_tree_of_a_forest_has_a_heading():
    X, y = load_wine(return_X_y=True)
    forest = 3 * build("decomposer", "tree", ceiling=60, splitter="random")
    clf = DivideAndConquerClassifier(forest, "kernel_svm", "mean", random_state=0).fit(X, y)
    route = explain(clf, X[0]).route
    headings = [sentence for sentence in route if not sentence.startswith("  ")]
    assert headings == ["group 1 of 3:", "group 2 of 3:", "group 3 of 3:"]
    assert [sentence.startswith("  leaf ") for sentence in route].count(True) == 3
