"""Facts that components report about a fitted classifier, and the report that shows them."""

import numpy as np
import pytest
from fakes import Average, Everything, Machine, Regional, Rest, Strips, blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.inspection import collect_facts
from dcsvm.toolbox import ModelFact
from dcsvm_plugins.combiners.dag.margin_bounds import graph_bounds
from dcsvm_plugins.decomposers.oblique_tree.leaf_complexity import plane_terms
from dcsvm_plugins.decomposers.tree.region_bound import tree_terms
from dcsvm_report.evidence import Evidence, gather_evidence
from dcsvm_report.page import format_number


def tree_facts(decomposer, combiner=None):
    X, y = blobs(120, seed=1)
    learner = Machine(C=2.0, kernel="rbf", gamma=0.3)
    clf = DivideAndConquerClassifier(decomposer, learner, combiner or Regional()).fit(X, y)
    return {fact.name: fact.value for fact in build("decomposer", "tree").facts(clf, X, y)}


def fitted(*components):
    X, y = blobs(120, seed=1)
    return DivideAndConquerClassifier(*components, random_state=0).fit(X, y), X, y


def test_regions_have_four_terms_and_an_undivided_model_two():
    clf, X, y = fitted(build("decomposer", "tree", ceiling=40), "kernel_svm", "route")
    terms = tree_terms(clf, X, y)
    assert terms.leaves > 1
    assert {fact.name: fact.value for fact in collect_facts(clf, X, y)} == {
        "T1": terms.T1.value,
        "T2": terms.T2.value,
        "R": terms.R.value,
        "R / L": pytest.approx(terms.R_per_leaf.value),
    }
    assert list(tree_facts(Strips(3))) == ["T1", "T2", "R", "R / L"]
    assert list(tree_facts(Everything())) == ["T1", "S"]


def test_there_are_none_without_a_bound_or_where_that_would_take_long(monkeypatch):
    assert tree_facts(Rest(), Average()) == {}
    monkeypatch.setattr("dcsvm_plugins.decomposers.tree.region_bound.MOST_VALUES", 10)
    assert tree_facts(Strips(3)) == {}


def test_a_graph_that_separates_its_classes_has_a_bound(monkeypatch):
    X, y = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]), ["a", "b", "c"]
    clf = DivideAndConquerClassifier("class_pairs", Machine(), "dag").fit(X, y)
    bounds = graph_bounds(clf, X, y)
    assert {fact.name: fact.value for fact in collect_facts(clf, X, y)} == {
        "R": bounds.radius.value,
        "D'": bounds.margins.value,
        "theorem 1": bounds.graph.value,
    }
    monkeypatch.setattr("dcsvm_plugins.combiners.dag.margin_bounds.MOST_VALUES", 8)
    assert collect_facts(clf, X, y) == ()


def test_a_graph_that_errs_or_stands_in_regions_has_none():
    X, y = np.array([[0.0], [1.0], [2.0], [9.0], [30.0]]), np.array([0, 1, 0, 1, 2])
    clf = DivideAndConquerClassifier("class_pairs", Machine(C=1.0), "dag").fit(X, y)
    assert collect_facts(clf, X, y) == ()
    inner = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag")
    clf, X, y = fitted(build("decomposer", "tree", ceiling=40), inner, "route")
    assert [fact.name for fact in collect_facts(clf, X, y)] == ["T1", "T2", "R", "R / L"]


def test_a_tree_of_hyperplanes_has_the_terms_of_its_paper():
    clf, X, y = fitted("oblique_tree", "majority", "route")
    terms = plane_terms(clf, X, y)
    assert [fact.value for fact in collect_facts(clf, X, y)] == [
        terms.leaves,
        terms.effective_leaves,
        terms.depth,
        terms.complexity,
        terms.training_error,
    ]
    inner = DivideAndConquerClassifier("oblique_tree", "majority", "route")
    assert collect_facts(*fitted("class_rest", inner, "argmax")) == ()


def test_they_are_collected_through_a_pipeline():
    X, y = blobs(120, seed=1)
    clf = DivideAndConquerClassifier("tree", "kernel_svm", "route", random_state=0)
    line = make_pipeline(StandardScaler(), clf).fit(X, y)
    scaled = line[0].transform(X)
    assert collect_facts(line, X, y) == collect_facts(line[-1], scaled, y)


def test_they_are_kept_with_the_evidence():
    clf, X, y = fitted(build("decomposer", "tree", ceiling=40), "kernel_svm", "route")
    seen = gather_evidence(clf, X, y, X, y)
    assert seen.facts == collect_facts(clf, X, y)
    assert Evidence.from_dict(seen.as_dict()).facts == seen.facts
    assert isinstance(seen.facts[0], ModelFact)
    assert gather_evidence(clf, X, y).facts == ()
    assert gather_evidence(clf, X, y, X[:50], y[:50]).facts == ()


def test_large_values_are_written_without_digits_after_the_point():
    assert format_number(46973.4) == "46,973"
    assert format_number(61.78) == "61.8"
