"""Trees that settle: fewer errors with every round, sides without rows gone, C and numpy alike."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from dcsvm.numeric import Float32Rows, PegasosSettings, PlaneTree
from dcsvm.numeric.native import numpy_only
from dcsvm_plugins.decomposers.oblique_tree.alternating_optimization import optimize_oblique
from dcsvm_plugins.decomposers.oblique_tree.dual_coordinate_descent import DualSettings
from dcsvm_plugins.decomposers.oblique_tree.oblique_growth import GrowthSettings, grow_oblique


def rings(n=400, d=2, classes=2, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    return X, np.minimum((np.linalg.norm(X, axis=1) / 1.3).astype(int), classes - 1)


def grown(X, y, deepest=3, masses=None):
    pegasos = PegasosSettings(1e-2, 32, bias_rate=1.0)
    order = np.random.default_rng(0).permutation(len(y))
    wanted = GrowthSettings(pegasos, deepest=deepest)
    return grow_oblique(Float32Rows.of(X), y, int(y.max()) + 1, masses, order, wanted)


def settled(tree, X, y, rounds=10, masses=None, regularization=1e-3):
    order = np.random.default_rng(1).permutation(len(y))
    settings = DualSettings(regularization)
    n_classes = int(y.max()) + 1
    return optimize_oblique(tree, Float32Rows.of(X), y, n_classes, masses, order, rounds, settings)


def masses_of(tree, X, y, masses=None):
    found = np.zeros((tree.n_leaves, y.max() + 1))
    np.add.at(found, (tree.route(X)[0], y), 1.0 if masses is None else masses)
    return found


def wrong(tree, X, y, masses=None):
    found = masses_of(tree, X, y, masses)
    return found.sum() - found.max(axis=1).sum()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_no_round_makes_more_errors_and_all_make_far_fewer(classes, weighted):
    X, y = rings(classes=classes)
    masses = 1.0 + np.arange(len(y)) % 3 if weighted else None
    tree = grown(X, y, masses=masses)
    errors = [wrong(settled(tree, X, y, rounds, masses), X, y, masses) for rounds in range(8)]
    assert errors[0] == wrong(tree, X, y, masses)
    assert all(after <= before for before, after in pairwise(errors))
    assert errors[-1] < 0.7 * errors[0]


def test_the_tree_that_was_given_stays_as_it_was():
    X, y = rings()
    tree = grown(X, y)
    before = tree.weights.copy(), tree.thresholds.copy()
    settled(tree, X, y)
    assert (tree.weights == before[0]).all()
    assert (tree.thresholds == before[1]).all()


def test_a_tree_without_errors_and_one_without_nodes_have_nothing_to_learn():
    X, y = rings(n=100)
    tree = grown(X, y, deepest=50)
    assert wrong(tree, X, y) == 0
    assert wrong(settled(tree, X, y), X, y) == 0
    assert settled(PlaneTree.leaf(2), X, y).n_leaves == 1


def test_dense_and_sparse_rows_settle_alike():
    X, y = rings(n=300)
    X[np.abs(X) < 0.2] = 0.0
    tree = grown(X, y)
    dense, csr = settled(tree, X, y), settled(tree, sparse.csr_array(X), y)
    assert abs(wrong(dense, X, y) - wrong(csr, X, y)) <= 6


def test_numpy_settles_about_as_well_as_c_does():
    X, y = rings(n=200, classes=3)
    tree = grown(X, y)
    compiled = settled(tree, X, y, rounds=4)
    with numpy_only():
        twin = settled(tree, X, y, rounds=4)
        csr = settled(tree, sparse.csr_array(X), y, rounds=1)
    assert wrong(twin, X, y) < 0.8 * wrong(tree, X, y)
    assert abs(wrong(twin, X, y) - wrong(compiled, X, y)) <= 10
    assert wrong(csr, X, y) <= wrong(tree, X, y)


def test_sides_without_rows_and_splits_between_equal_answers_are_taken_out():
    one = np.zeros((4, 16), dtype=np.float32)
    one[:, 0] = 1.0
    # 0 asks x <= 0; left: 1 asks x <= -9, where nobody is; right: 2 asks x <= 1, then 3 x <= 2.
    children = np.array([[1, 2], [~0, ~1], [~2, 3], [~3, ~4]], dtype=np.int32)
    tree = PlaneTree(one, np.array([0.0, -9.0, 1.0, 2.0]), children, 1)
    X, y = np.array([[-1.0], [0.5], [1.5], [2.5]]), np.array([0, 1, 0, 0])
    small = tree.simplify(masses_of(tree, X, y))
    assert small.thresholds.tolist() == [0.0, 1.0]
    assert small.route(X)[0].tolist() == [0, 1, 2, 2]
    assert tree.simplify(masses_of(tree, X, np.zeros(4, dtype=int))).n_leaves == 1
    assert PlaneTree.leaf(1).simplify(np.ones((1, 2))).n_leaves == 1


def test_a_settled_tree_is_simplified_without_a_change_of_answers():
    X, y = rings(classes=3)
    tree = settled(grown(X, y, deepest=5), X, y)
    masses = masses_of(tree, X, y)
    small = tree.simplify(masses)
    assert small.n_leaves < tree.n_leaves
    answers = masses.argmax(axis=1)[tree.route(X)[0]]
    assert (masses_of(small, X, y).argmax(axis=1)[small.route(X)[0]] == answers).all()
