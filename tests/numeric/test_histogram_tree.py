"""Trees grown by histograms: the best splits, the same ones in NumPy and with threads."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from dcsvm.numeric import FeatureBins, TreeGrowth, native
from dcsvm.numeric.native import numpy_only
from dcsvm.numeric.trees import histogram_tree
from dcsvm.numeric.trees.feature_bins import to_single
from dcsvm.numeric.trees.histogram_numpy import x_log_x
from dcsvm.numeric.trees.histogram_tree import round_weights

NAMES = histogram_tree.NODE.names


def in_threads(work, arguments):
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work, *each) for each in arguments]:
            done.result()


def grow(X, y, weights=None, *, binned=True, each=None, numpy=False, key=5, **others):
    """The nodes of a tree, and the rows in the order of its leaves."""
    more = {} if each is None else {"each": each}
    with numpy_only() if numpy else nullcontext():
        bins = None if sparse.issparse(X) or not binned else FeatureBins.of(X, **more)
        rows = np.arange(X.shape[0])
        growth = TreeGrowth(X, y, int(y.max()) + 1, weights, bins, **others)
        return growth.grow(rows, 0, len(rows), key, **more), rows


def impurity(y, weights, classes, gini):
    """By other formulas than ours."""
    shares = np.array([weights[y == label].sum() for label in range(classes)]) / weights.sum()
    each = 1 - shares if gini else -np.log(np.maximum(shares, 1e-300))
    return float(weights.sum() * (shares * each).sum())


def all_cuts(X, y, weights, gini):
    """The gain of every cut of some rows, as (feature, low, high): gain."""
    classes, gains = int(y.max()) + 1, {}
    whole = impurity(y, weights, classes, gini)
    for feature in range(X.shape[1]):
        column = to_single(X[:, feature])
        values = np.unique(column)
        for low, high in pairwise(values):
            left = column <= low
            sides = [impurity(y[s], weights[s], classes, gini) for s in (left, ~left)]
            gains[feature, low, high] = whole - sum(sides)
    return gains


def check_splits(X, y, weights, nodes, rows, *, gini, smallest=1):
    """Every inner node has the best split of its rows; every leaf is pure, small or stuck."""
    inner = 0
    weights = np.ones(len(y)) if weights is None else weights
    scale = 1.0 if weights.min() == weights.max() == 1 else round_weights(weights).sum()
    scale = scale if scale == 1.0 else scale / weights.sum()
    for node in nodes:
        mine = rows[node["begin"] : node["begin"] + node["count"]]
        assert node["mixed"] == (len(np.unique(y[mine])) > 1)
        if len(mine) <= smallest or not node["mixed"]:
            assert node["left"] < 0
            continue
        gains = all_cuts(X[mine], y[mine], weights[mine], gini)
        best = max(gains.values(), default=0.0)
        if node["left"] < 0:
            assert best < 1e-9 * weights.sum()
            continue
        inner += 1
        values = to_single(X[mine, node["feature"]])
        low = values[values <= node["threshold"]].max()
        high = values[values > node["threshold"]].min()
        assert gains[node["feature"], low, high] == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert node["gain"] / scale == pytest.approx(best, rel=1e-6, abs=1e-9)
        if np.isfinite(high):
            assert node["threshold"] == pytest.approx((float(low) + float(high)) / 2, rel=1e-6)
        left, right = nodes[node["left"]], nodes[node["right"]]
        assert sorted(rows[left["begin"] : left["begin"] + left["count"]]) == sorted(
            mine[values <= node["threshold"]]
        )
        assert right["begin"] == left["begin"] + left["count"]
        assert left["count"] + right["count"] == node["count"]
    return inner


def few_values(n=250, seed=0, classes=3):
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(n, 4)), 1)
    y = ((X[:, 0] > 0) + (X[:, 1] * X[:, 2] > 0.1)) % classes
    return X, np.where(generator.random(n) < 0.1, generator.integers(classes, size=n), y)


@pytest.mark.parametrize("numpy", [False, True])
@pytest.mark.parametrize("gini", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sorted_rows", [0, 40, 1000])
def test_each_split_is_the_best_of_all(numpy, gini, weighted, sorted_rows):
    X, y = few_values()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, size=len(y)) if weighted else None
    nodes, rows = grow(X, y, weights, numpy=numpy, gini=gini, sorted_rows=sorted_rows, smallest=5)
    assert check_splits(X, y, weights, nodes, rows, gini=gini, smallest=5) > 10


@pytest.mark.parametrize("sorted_rows", [0, 1000])
def test_missing_values_are_larger_than_all_others(sorted_rows):
    X, y = few_values()
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    y[np.isnan(X[:, 3])] = 2
    nodes, rows = grow(X, y, sorted_rows=sorted_rows)
    assert check_splits(X, y, None, nodes, rows, gini=False) > 10
    assert nodes[0]["feature"] == 3
    assert nodes[0]["threshold"] == X[~np.isnan(X[:, 3]), 3].max().astype(np.float32)


def test_sparse_rows_are_split_as_dense_ones():
    X, y = few_values()
    X[np.random.default_rng(3).random(X.shape) < 0.6] = 0.0
    dense, rows = grow(X, y, sorted_rows=1000)
    thin, others = grow(sparse.csr_array(X), y)
    assert np.array_equal(rows, others)
    for name in NAMES:
        assert np.array_equal(dense[name], thin[name])


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_a_tree_over_few_values_is_that_of_scikit_learn(criterion):
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(4000, 5)), 1)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + generator.normal(size=4000) > 0).astype(int)
    weights = generator.uniform(0.5, 2.0, size=4000)  # so that no two splits are as good
    nodes, rows = grow(
        X, y, weights, gini=criterion == "gini", sorted_rows=0, smallest=50, least_gain=1e-7
    )
    theirs = DecisionTreeClassifier(
        criterion=criterion, min_samples_split=51, min_impurity_decrease=1e-7, random_state=0
    ).fit(X, y, sample_weight=weights)
    leaves = [rows[b : b + c] for b, c in nodes[["begin", "count"]][nodes["left"] < 0]]
    assert len(leaves) == theirs.get_n_leaves() > 50
    found = theirs.apply(X)
    assert all(len(np.unique(found[leaf])) == 1 for leaf in leaves)
    inner = nodes["left"] >= 0
    assert np.array_equal(
        np.sort(nodes["feature"][inner]),
        np.sort(theirs.tree_.feature[theirs.tree_.children_left >= 0]),
    )


def test_a_cut_between_bins_moves_to_the_best_value_beside_it():
    X = np.arange(2000.0)[:, None]
    y = (X[:, 0] > 1233).astype(int)
    nodes, _ = grow(X, y, sorted_rows=0)
    assert len(nodes) == 3
    assert nodes[0]["threshold"] == 1233.5


def test_rows_of_one_bin_are_split_by_their_values():
    # 255 bins for far-away values, one for all the rows of this tree.
    X = np.concatenate([np.arange(30_000.0), 1e6 + np.arange(8) / 8])[:, None]
    y = np.arange(len(X)) % 2
    bins = FeatureBins.of(X)
    rows = np.arange(30_000, 30_008)
    growth = TreeGrowth(X, y, 2, None, bins, sorted_rows=0)
    nodes = growth.grow(rows, 0, len(rows), 0)
    assert (nodes["count"][nodes["left"] < 0] == 1).all()


def shapes():
    return st.tuples(
        st.integers(1, 60), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1)
    )


@settings(max_examples=150, deadline=None)
@given(
    shapes(),
    st.sampled_from(["round", "huge", "tiny", "ties", "constant", "missing", "all missing"]),
    st.sampled_from(["none", "some", "far apart"]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 30),
    st.booleans(),
)
def test_numpy_threads_and_c_grow_the_same_tree(
    shape, values, weighing, gini, random, sorted_rows, thin
):
    rows, features, classes, seed = shape
    generator = np.random.default_rng(seed)
    X, y = generator.normal(size=(rows, features)), generator.integers(classes, size=rows)
    if values == "round":
        X = np.round(X, 1)
    elif values == "ties":
        X = np.sign(np.round(X))
    elif values == "constant":
        X[:, generator.integers(features)] = -0.0
    elif values == "missing":
        X[generator.random(X.shape) < 0.4] = np.nan
    else:
        X *= {"huge": 1e300, "tiny": 1e-44, "all missing": np.nan}[values]
    weights = None
    if weighing != "none":
        weights = generator.random(rows) ** (1 if weighing == "some" else 60) + 1e-300
    if thin:
        X = sparse.csr_array(np.where(generator.random(X.shape) < 0.5, X, 0.0))
    tried = int(generator.integers(1, features + 1))
    asked = {"gini": gini, "random": random, "sorted_rows": sorted_rows, "tried": tried}
    one, order = grow(X, y, weights, **asked)
    for others in ({"numpy": True}, {"each": in_threads}):
        other, its_order = grow(X, y, weights, **asked, **others)
        assert np.array_equal(order, its_order)
        for name in NAMES:
            assert np.array_equal(one[name], other[name]), name
    assert np.array_equal(np.sort(order), np.arange(rows))
    leaves = one[one["left"] < 0]
    assert leaves["count"].sum() == rows
    assert (one["count"] > 0).all()
    assert np.isfinite(one["threshold"]).all()


@pytest.mark.parametrize("random", [False, True])
def test_threads_do_not_change_a_large_tree(random):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(30_000, 5))
    y = (X[:, 0] * X[:, 1] + generator.normal(size=30_000) > 0).astype(int)
    asked = {"sorted_rows": 500, "smallest": 100, "tried": 3, "random": random}
    one, order = grow(X, y, **asked)
    many, its_order = grow(X, y, each=in_threads, **asked)
    assert len(one) > 300
    assert np.array_equal(order, its_order)
    assert one.tobytes() == many.tobytes()


def test_a_histogram_that_would_be_too_large_is_not_made(monkeypatch):
    X, y = few_values()
    with_bins, rows = grow(X, y, sorted_rows=0)
    monkeypatch.setattr(histogram_tree, "MOST_CELLS", 10)
    without, others = grow(X, y, sorted_rows=0)
    assert np.array_equal(rows, others)
    assert np.array_equal(np.sort(with_bins["threshold"]), np.sort(without["threshold"]))


def test_random_thresholds_lie_anywhere_between_the_least_and_the_largest_value():
    generator = np.random.default_rng(0)
    X, y = generator.random((500, 1)), generator.integers(2, size=500)
    for sorted_rows in (0, 1000):
        drawn = [
            grow(X, y, random=True, key=key, sorted_rows=sorted_rows)[0][0]["threshold"]
            for key in range(200)
        ]
        assert abs(np.mean(drawn) - 0.5) < 0.06
        assert abs(np.std(drawn) - 12**-0.5) < 0.03


def test_features_are_tried_at_random_and_constant_ones_do_not_count():
    generator = np.random.default_rng(0)
    X, y = np.zeros((300, 6)), generator.integers(2, size=300)
    X[:, 1:5] = generator.normal(size=(300, 4))
    for sorted_rows in (0, 1000):
        first = [
            int(grow(X, y, tried=1, key=key, sorted_rows=sorted_rows)[0][0]["feature"])
            for key in range(200)
        ]
        assert set(first) == {1, 2, 3, 4}
        assert np.bincount(first)[1:5].min() > 30


def test_weights_are_rounded_to_exact_sums():
    weights = np.random.default_rng(0).random(10_000)
    whole = round_weights(weights)
    assert np.array_equal(whole, np.rint(whole))
    assert 2.0**51 <= whole.sum() <= 2.0**52 + len(whole)
    assert np.allclose(whole / whole.sum(), weights / weights.sum(), rtol=1e-9, atol=1e-14)
    least, most = round_weights(np.array([1e-300, 1e300]))
    assert least == 1.0
    assert 2.0**51 <= most <= 2.0**52


def test_x_log_x_is_exact_to_a_few_bits():
    x = np.concatenate([np.arange(1.0, 5000), np.random.default_rng(0).random(1000) * 2.0**52])
    assert np.allclose(x_log_x(x), x * np.log(x), rtol=1e-15, atol=1e-15)
    assert x_log_x(np.zeros(1))[0] == 0.0


@pytest.mark.skipif(native.library is None, reason="the compiled library is not built")
def test_a_library_without_memory_says_so(monkeypatch):
    class Full:
        def dcsvm_grow_tree(self, *arguments):
            return -1

    monkeypatch.setattr(native, "library", Full())
    X, y = few_values()
    with pytest.raises(MemoryError, match=r"^tree: not enough memory to grow the tree$"):
        grow(X, y, binned=False)
