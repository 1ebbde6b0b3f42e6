"""The H-LSVM paper's measures, by hand on a tree of three leaves."""

from math import log

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier, TablePreparation, build
from dcsvm.base.errors import CompositionError
from dcsvm.inspection import compile_tree
from dcsvm_plugins.decomposers.oblique_tree.leaf_complexity import (
    plane_terms,
    relative_complexity,
    relative_error,
)

pytest.importorskip("dcsvm_plugins")


def test_effective_leaves_and_complexity_are_those_of_the_formula():
    X = np.repeat([[0.0], [1.0], [2.0]], [10, 20, 30], axis=0)
    y = np.repeat([0, 1, 0], [10, 20, 30])
    tree = build("decomposer", "oblique_tree", regularization=1e-4)
    terms = plane_terms(
        DivideAndConquerClassifier(tree, "majority", random_state=0).fit(X, y), X, y
    )
    assert (terms.leaves, terms.depth, terms.training_error) == (3, 2, 0.0)
    away = sum((share - 1 / 3) ** 2 for share in (1 / 6, 1 / 3, 1 / 2))
    assert terms.effective_leaves == pytest.approx(3 * (1 - away))
    cube = terms.effective_leaves * 2 * log(60) ** 2 * log(2) / 60
    assert terms.complexity == pytest.approx(cube ** (1 / 3))


def test_a_scaling_before_the_tree_is_looked_through():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 2)) * [1.0, 100.0]
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    tree = DivideAndConquerClassifier("oblique_tree", "majority", random_state=0)
    whole = make_pipeline(TablePreparation(), tree).fit(X, y)
    terms, fast = plane_terms(whole, X, y), compile_tree(whole)
    inside = fast.tree.route((X - fast.offset) * fast.factor)[0]
    right = fast.predict(X) == y
    assert terms.leaves == fast.tree.n_leaves > 1
    assert terms.training_error == pytest.approx(1.0 - right.mean())
    shares = np.bincount(inside[right], minlength=terms.leaves) / right.sum()
    away = ((shares - 1 / terms.leaves) ** 2).sum()
    assert terms.effective_leaves == pytest.approx(terms.leaves * (1 - away))


def test_deeper_trees_are_more_complex():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 2)), generator.integers(2, size=300)
    found = []
    for smallest in (0.5, 0.1, 0.01):
        tree = build("decomposer", "oblique_tree", smallest=smallest)
        model = DivideAndConquerClassifier(tree, "majority", random_state=0).fit(X, y)
        found.append(plane_terms(model, X, y).complexity)
    assert found == sorted(found)


def test_the_papers_own_figures_come_out():
    assert relative_error(2.36, linear=7.82, kernel=1.01) == pytest.approx(0.80, abs=0.005)
    assert relative_complexity(12.93, 245_687.2) == pytest.approx(4.86e-5, rel=0.01)
    assert np.isnan(relative_error(1.0, linear=2.0, kernel=2.0))
    assert np.isnan(relative_complexity(3.0, 1.0))


def test_what_is_no_tree_of_hyperplanes_has_no_such_terms():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    model = DivideAndConquerClassifier("whole", "linear_svm").fit(X, y)
    with pytest.raises(CompositionError, match="plane_terms: the classifier is not a tree"):
        plane_terms(model, X, y)
