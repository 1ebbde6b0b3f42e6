"""Trees of hyperplanes: the same way down for everyone, grown alike in C and in numpy."""

import attrs
import numpy as np
import pytest
from scipy import sparse

from dcsvm.numeric import Float32Rows, PegasosSettings, PlaneTree, implementation
from dcsvm.numeric.native import HERE, numpy_only, set_signatures
from dcsvm_plugins.decomposers.oblique_tree.oblique_growth import GrowthSettings, grow_oblique

native_only = pytest.mark.skipif(implementation() == "numpy", reason="the library is not built")


def rings(n=400, d=3, classes=2, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    return X, np.minimum((np.linalg.norm(X, axis=1) / 1.3).astype(int), classes - 1)


def grown(X, y, masses=None, fit_plane=None, **settings):
    pegasos = PegasosSettings(settings.pop("regularization", 1e-2), 32, bias_rate=1.0)
    order = np.random.default_rng(0).permutation(len(y))
    wanted = GrowthSettings(pegasos, **settings)
    return grow_oblique(Float32Rows.of(X), y, int(y.max()) + 1, masses, order, wanted, fit_plane)


def answers(tree, X, y):
    """The most frequent class at each leaf, and what that gets right."""
    leaf = tree.route(X)[0]
    counts = np.zeros((tree.n_leaves, y.max() + 1))
    np.add.at(counts, (leaf, y), 1)
    return (counts.argmax(axis=1)[leaf] == y).mean()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_tree_that_grows_to_its_end_knows_its_rows(classes, weighted):
    X, y = rings(classes=classes)
    masses = 1.0 + np.arange(400) % 3 if weighted else None
    tree = grown(X, y, masses)
    assert answers(tree, X, y) == 1.0
    assert tree.n_leaves < 200


def test_hyperplanes_moved_by_impurity_make_a_far_better_tree_than_machines_own():
    X, y = rings()
    assert answers(grown(X, y), X, y) > answers(grown(X, y, by_impurity=False), X, y)


def test_nodes_of_few_rows_and_deep_ones_are_leaves():
    X, y = rings()
    passed = grown(X, y, deepest=3).route(X)[1]
    assert passed.max() == 3
    few = grown(X, y, fewest=100)
    inner_rows = [np.isin(few.route(X)[0], few._leaves_below(node)).sum() for node in range(3)]
    assert min(inner_rows) > 100
    assert grown(X, y, fewest=400).n_leaves == 1


def test_rows_that_are_all_alike_are_one_leaf():
    assert grown(np.ones((10, 2)), np.arange(10) % 2).n_leaves == 1


@pytest.mark.parametrize("d", [1, 3, 16, 37])
def test_rows_go_the_same_way_dense_and_sparse_alone_and_together_in_c_and_numpy(d):
    X, y = rings(d=d, n=300)
    X[np.abs(X) < 0.4] = 0.0
    tree = grown(X, y)
    leaf, passed = tree.route(X)
    csr = sparse.csr_array(X)
    alone = np.array([tree.route(X[[row]]) for row in range(300)])[:, :, 0]
    with numpy_only():
        twin = tree.route(X)
        sparse_twin = tree.route(csr)
    for other in (tree.route(csr), tree.route(np.asfortranarray(X)), alone.T, twin, sparse_twin):
        assert (other[0] == leaf).all()
        assert (other[1] == passed).all()
    assert [len(tree.path(X[[row]])) for row in range(20)] == passed[:20].tolist()


@pytest.mark.parametrize("d", [2, 20, 50])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_rows_close_to_a_hyperplane_go_the_same_way_in_c_and_numpy(d, scale):
    generator = np.random.default_rng(d)
    weights = np.zeros((1, -(-d // 16) * 16), dtype=np.float32)
    weights[0, :d] = generator.normal(size=d)
    X = scale * generator.normal(size=(500, d))
    # Half of the rows lie at the threshold but for the last bits of single precision.
    X[:250] = X[0] * (1 + 1e-7 * generator.integers(-3, 4, size=(250, d)))
    tree = PlaneTree(weights, np.zeros(1), np.array([[~0, ~1]], dtype=np.int32), d)
    tree = attrs.evolve(tree, thresholds=tree.products(X[:1], 0))
    with numpy_only():
        expected = tree.route(X)[0]
    assert 0 < expected[:250].sum() < 250
    assert (tree.route(X)[0] == expected).all()


@native_only
@pytest.mark.parametrize("d", [5, 37])
def test_all_instruction_sets_send_rows_the_same_way(d):
    import ctypes

    from dcsvm.numeric import native

    X, y = rings(d=d)
    tree = grown(X, y)
    ways = []
    before = native.library
    try:
        for level in ("base", "avx2"):
            path = HERE / f"numeric_{level}.so"
            if path.exists() and (level == "base" or before.dcsvm_level() >= 1):
                native.library = set_signatures(ctypes.CDLL(str(path)))
                ways.append(tree.route(3.7 * X)[0].tolist())
    finally:
        native.library = before
    assert all(way == ways[0] for way in ways)


@native_only
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("classes", [2, 4])
def test_numpy_grows_a_tree_about_as_good_as_c_does(classes, form):
    X, y = rings(classes=classes, n=600)
    compiled = grown(form(X[:300]), y[:300], deepest=4)
    with numpy_only():
        twin = grown(form(X[:300]), y[:300], deepest=4)
    # Roots see the same rows in the same order, so they hardly differ.
    np.testing.assert_allclose(twin.weights[0], compiled.weights[0], rtol=0.02, atol=0.02)
    assert abs(answers(twin, X[:300], y[:300]) - answers(compiled, X[:300], y[:300])) < 0.08


def test_more_than_two_classes_are_set_apart_in_two_groups():
    generator = np.random.default_rng(0)
    y = np.arange(400) % 4
    X = np.column_stack([y // 2 * 10.0, y % 2 * 2.0]) + 0.1 * generator.normal(size=(400, 2))
    tree = grown(X, y, regularization=1e-3)
    assert tree.n_leaves == 4
    assert np.abs(tree.weights[0, 0]) > np.abs(tree.weights[0, 1])


def test_hyperplanes_may_come_from_elsewhere():
    from dcsvm.numeric import Hyperplane

    X, y = rings()
    asked = []

    def by_the_first_feature(rows, signs, weights):
        asked.append((len(rows), weights[signs > 0].sum(), weights[signs < 0].sum()))
        return Hyperplane(np.array([1.0, 0.0, 0.0]), 0.0, 0)

    tree = grown(X, y, fit_plane=by_the_first_feature, deepest=3)
    assert (tree.weights[:, 0] == 1).all()
    for rows, plus, minus in asked:
        assert plus == pytest.approx(rows / 2)
        assert minus == pytest.approx(rows / 2)


def test_trees_are_put_in_the_place_of_leaves():
    X, y = rings()
    tree = grown(X, y, deepest=1)
    left = np.flatnonzero(tree.route(X)[0] == 0)
    stump = grown(X[left], y[left], deepest=2)
    both, origin = tree.graft({0: stump})
    assert both.n_leaves == stump.n_leaves + 1
    assert (origin[both.route(X)[0]] == tree.route(X)[0]).all()
    assert (both.route(X[left])[0] == stump.route(X[left])[0]).all()
    assert PlaneTree.leaf(3).graft({0: tree})[0].n_leaves == 2


def test_a_cut_tree_has_leaves_for_nodes():
    X, y = rings()
    tree = grown(X, y)
    middle = int(tree.children[0].max())
    short, home = tree.cut([middle])
    assert short.n_leaves < tree.n_leaves
    assert (home[tree.route(X)[0]] == short.route(X)[0]).all()
    alone, nowhere = tree.cut([0])
    assert alone.n_leaves == 1
    assert not nowhere.any()
    assert tree.depth == tree.route(X)[1].max() >= short.depth
