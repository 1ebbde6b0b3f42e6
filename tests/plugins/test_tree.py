"""The tree: its leaves, its levels, its borders, and the nodes where splitting gains nothing."""

import re
from itertools import pairwise, product

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import dcsvm
from dcsvm import DivideAndConquerClassifier, GranularitySearch, Problem, SettingError, build
from dcsvm.base.component import settings_of
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.inspection.explainer import explain
from dcsvm.numeric import merge_duplicates
from dcsvm.numeric.native import numpy_only
from dcsvm.toolbox import Column, Repeat, TablePreparation, TableSchema
from dcsvm_plugins.decomposers.tree.axis_tree import AxisTree, round_thresholds


def tree(**settings):
    return build("decomposer", "tree", **settings)


def waves(n=1500, seed=0):
    """Four features, three classes in waves, no two values alike."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 4))
    return X, ((np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]) > 0) + (X[:, 3] > 1).astype(int)


def problem(X, y, **others):
    return Problem(X, y, int(y.max()) + 1, **others)


def finest(decomposer, X, y, **others):
    return next(decomposer.levels(problem(X, y, **others)))


def homes(level, X):
    return level.router.route(X).member


def is_mixed(part, y):
    return len(np.unique(y[part.rows])) > 1


def test_only_leaves_of_one_class_are_above_the_ceiling():
    X, y = waves()
    parts = finest(tree(ceiling=100), X, y).parts
    assert len(parts) > 10
    assert max(len(part.rows) for part in parts if is_mixed(part, y)) <= 100


@pytest.mark.parametrize(
    "settings", [{}, {"splitter": "random"}, {"max_features": 0.5}, {"growth": "exact"}]
)
def test_levels_are_nested_partitions_that_end_with_one_part(settings):
    X, y = waves()
    levels = list(tree(ceiling=30, **settings).levels(problem(X, y)))
    assert [level.settings for level in levels] == [
        {"ceiling": 30 * 4**step} for step in range(len(levels))
    ]
    assert len(levels) == 4
    assert len(levels[-1].parts) == 1
    for level in levels:
        rows = np.concatenate([part.rows for part in level.parts])
        assert np.array_equal(np.sort(rows), np.arange(len(X)))
        for number, part in enumerate(level.parts):
            assert (homes(level, X[part.rows]) == number).all()
    for fine, coarse in pairwise(levels):
        assert len(coarse.parts) < len(fine.parts)
        around = homes(coarse, X)
        assert all(len(set(around[part.rows])) == 1 for part in fine.parts)


def test_a_level_of_the_grown_tree_is_the_tree_grown_to_that_ceiling():
    X, y = waves()
    for level in tree(ceiling=30).levels(problem(X, y)):
        direct = finest(tree(**level.settings), X, y)
        assert len(direct.parts) == len(level.parts)
        for one, other in zip(direct.parts, level.parts, strict=True):
            assert np.array_equal(one.rows, other.rows)


def test_the_step_between_levels_can_be_chosen():
    X, y = waves()
    ceilings = [level.settings["ceiling"] for level in tree(ceiling=400).levels(problem(X, y), 2)]
    assert ceilings == [400, 800, 1600]


def test_repeated_trees_have_levels_side_by_side():
    X, y = waves()
    forest = Repeat(tree(ceiling=100, splitter="random"), 3)
    levels = list(forest.levels(problem(X, y)))
    assert [level.settings for level in levels] == [
        {"decomposer__ceiling": ceiling} for ceiling in (100, 400, 1600)
    ]
    assert all(len(level.groups) == 3 for level in levels)
    first, second, _ = levels[0].groups
    assert not np.array_equal(homes(first, X), homes(second, X))
    assert all(len(group.parts) == 1 for group in levels[-1].groups)


def parity():
    """Sixty-four cells of forty rows, where no single feature says anything of the class."""
    X = np.repeat(np.array(list(product([0.0, 1.0], repeat=6))), 40, axis=0)
    return X, X.sum(axis=1).astype(int) % 2


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_a_node_where_no_split_gains_anything_is_halved(as_matrix):
    X, y = parity()
    parts = finest(tree(ceiling=300), as_matrix(X), y).parts
    assert [len(part.rows) for part in parts] == [160] * 16


def test_halving_chooses_the_feature_whose_sides_differ_least():
    X, y = parity()
    X = np.column_stack([np.arange(len(X)) % 40 < 10, X])  # says nothing, and splits 1 : 3
    level = finest(tree(ceiling=1500), X, y)
    assert level.router.tree.feature[0] == 1
    assert [len(part.rows) for part in level.parts] == [1280, 1280]


def test_alike_rows_of_several_classes_stay_together_and_the_ledger_says_so():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 200, axis=0)
    y = np.concatenate([np.arange(200) % 2, np.zeros(200, dtype=int)])
    clf = DivideAndConquerClassifier(tree(ceiling=50), "kernel_svm", "route").fit(X, y)
    assert [(record.rows, record.about.get("rows")) for record in clf.ledger_] == [
        (200, "alike"),
        (200, None),
    ]
    assert clf.predict([[1.0, 1.0]]) == [0]


@pytest.mark.parametrize("growth", ["histogram", "exact"])
def test_features_too_small_for_scikit_learns_tree_are_divided_all_the_same(growth):
    X = np.random.default_rng(0).random((1000, 2)) * 1e-9
    parts = finest(tree(ceiling=100, growth=growth), X, np.arange(1000) % 2).parts
    sizes = {len(part.rows) for part in parts}
    assert max(sizes) <= 100
    if growth == "exact" and (
        DecisionTreeClassifier().fit(X, np.arange(1000) % 2).tree_.node_count == 1
    ):
        assert sizes <= {62, 63}  # scikit-learn 1.6 still splits some of them


def test_rows_on_a_threshold_go_where_scikit_learn_sends_them():
    X, y = waves()
    X = np.round(X, 1)
    grown = DecisionTreeClassifier(criterion="entropy", min_samples_split=51, random_state=0)
    leaf = grown.fit(X, y).apply(np.nextafter(X, np.inf))
    own = AxisTree(
        grown.tree_.children_left,
        grown.tree_.children_right,
        np.maximum(grown.tree_.feature, 0),
        round_thresholds(grown.tree_.threshold),
    )
    assert len(np.unique(leaf)) > 20
    assert np.array_equal(own.leaves(np.nextafter(X, np.inf)), leaf)
    with numpy_only():
        assert np.array_equal(own.leaves(np.nextafter(X, np.inf)), leaf)


def test_sparse_rows_are_divided_and_routed_as_dense_ones():
    X, y = waves()
    X = np.where(X > 0.5, X, 0.0)
    settings = {"ceiling": 100, "border": 0.5}
    dense, thin = finest(tree(**settings), X, y), finest(tree(**settings), sparse.csr_array(X), y)
    for one, other in zip(dense.parts, thin.parts, strict=True):
        assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(homes(dense, X), homes(thin, sparse.csr_array(X)))


def test_row_weights_decide_where_the_tree_is_cut():
    X = np.column_stack([np.arange(100) % 2, np.arange(100) // 2 % 2]).astype(float)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    weights = np.where(X[:, 0] > 0, 5.0, 1.0)
    assert finest(tree(ceiling=60), X, y, weights=weights).router.tree.feature[0] == 1
    other = np.where(X[:, 1] > 0, 5.0, 1.0)
    assert finest(tree(ceiling=60), X, y, weights=other).router.tree.feature[0] == 0


def test_gini_and_entropy_cut_differently():
    X, y = waves()
    cuts = [
        finest(tree(ceiling=100, criterion=word), X, y).router.tree.threshold[:7].tolist()
        for word in ("gini", "entropy")
    ]
    assert cuts[0] != cuts[1]


def test_random_splits_depend_on_the_seed_alone():
    X, y = waves()
    decomposer = tree(ceiling=100, splitter="random")
    given = problem(X, y)
    one, again = next(decomposer.levels(given)), next(decomposer.levels(given))
    other = next(decomposer.levels(given.with_child_seed(1)))
    assert np.array_equal(homes(one, X), homes(again, X))
    assert not np.array_equal(homes(one, X), homes(other, X))


@pytest.mark.parametrize(("scaling", "centre"), [("minmax", 0.0), ("standard", -1.0)])
def test_local_scaling_is_fitted_on_the_rows_of_each_leaf(scaling, centre):
    X, y = waves()
    decomposer = tree(ceiling=200, local_scaling=scaling)
    clf = DivideAndConquerClassifier(decomposer, "kernel_svm", "route", random_state=0).fit(X, y)
    (group,) = clf.model_.committee.groups
    homes = group.router.route(X).member
    for number, member in enumerate(clf.model_.committee.members):
        if len(set(y[homes == number])) == 1:
            assert member.view is None  # a leaf of one class looks at no feature
            continue
        seen = member.view.apply(X[homes == number])
        if scaling == "minmax":
            assert (seen.min(axis=0) == centre).all()
            assert np.allclose(seen.max(axis=0)[np.ptp(seen, axis=0) > 0], 1.0)
        else:
            assert np.allclose(seen.mean(axis=0), 0.0)
            assert seen.min() < centre


def test_a_leaf_with_a_border_also_learns_the_rows_nearest_to_its_box():
    X, y = waves(600)
    plain, wide = finest(tree(ceiling=60), X, y), finest(tree(ceiling=60, border=0.5), X, y)
    low, high = plain.router.tree.boxes(X.shape[1])
    for number, (part, wider) in enumerate(zip(plain.parts, wide.parts, strict=True)):
        assert np.array_equal(wider.rows[: len(part.rows)], part.rows)
        around = wider.rows[len(part.rows) :]
        gaps = np.maximum(np.maximum(low[number] - X, X - high[number]), 0)
        distance = (gaps**2).sum(axis=1)
        outside = np.setdiff1d(np.arange(len(X)), part.rows)
        count = round(0.5 * len(part.rows)) if is_mixed(part, y) else 0
        nearest = outside[np.argsort(distance[outside], kind="stable")[:count]]
        assert np.array_equal(around, np.sort(nearest))


def test_a_border_of_everything_is_everything():
    X, y = waves(300)
    for part in finest(tree(ceiling=100, border=100.0), X, y).parts:
        if is_mixed(part, y):
            assert np.array_equal(np.sort(part.rows), np.arange(300))


def test_rows_around_a_leaf_come_from_its_own_branch_of_a_large_tree(monkeypatch):
    X, y = waves(600)
    whole = finest(tree(ceiling=30, border=0.5), X, y)
    monkeypatch.setattr("dcsvm_plugins.decomposers.tree.NEARBY_ROWS", 250)
    near = finest(tree(ceiling=30, border=0.5), X, y)
    branch = homes(finest(tree(ceiling=250), X, y), X)
    assert branch.max() > 1
    changed = 0
    for one, other in zip(whole.parts, near.parts, strict=True):
        (mine,) = np.unique(branch[other.rows])
        assert len(other.rows) == min(len(one.rows), np.count_nonzero(branch == mine))
        changed += len(np.unique(branch[one.rows])) > 1
    assert changed > 0


def test_rows_of_a_file_have_the_borders_and_leaves_of_those_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("dcsvm.numeric.mapped_rows.BLOCK_ROWS", 100)
    X, y = waves(450)
    np.save(tmp_path / "X.npy", X)
    mapped = map_rows(tmp_path / "X.npy")
    here, there = (finest(tree(ceiling=60, border=0.5), rows, y) for rows in (X, mapped))
    for one, other in zip(here.parts, there.parts, strict=True):
        assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(homes(here, X), homes(there, mapped))


def test_a_border_makes_a_tree_of_machines_more_accurate():
    X, y = waves(3000)

    def accuracy(**settings):
        learner = build("learner", "kernel_svm", C=10.0, gamma=1.0)
        clf = DivideAndConquerClassifier(tree(ceiling=60, **settings), learner, "route")
        return clf.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])

    assert accuracy(border=1.0) > accuracy() + 0.01


def test_a_row_can_be_traced_to_its_leaf():
    X = np.arange(10.0)[:, None]
    level = finest(tree(ceiling=5), X, (np.arange(10) > 4).astype(int))
    assert level.router.trace(np.array([[7.0]])) == ["feature 0: 7 > 4.5", "leaf 1"]
    assert level.router.trace(np.array([[2.0]])) == ["feature 0: 2 <= 4.5", "leaf 0"]


def test_a_saved_tree_routes_and_scales_as_before(tmp_path):
    X, y = waves(600)
    decomposer = tree(ceiling=100, local_scaling="minmax", border=0.5)
    clf = DivideAndConquerClassifier(decomposer, "kernel_svm", "route", random_state=0).fit(X, y)
    dcsvm.save(clf, tmp_path / "model.dcsvm")
    loaded = dcsvm.load(tmp_path / "model.dcsvm")
    assert np.array_equal(loaded.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ceiling": 0}, "tree: ceiling must be a whole number of at least 1, got 0"),
        ({"border": -0.5}, "tree: border must be a number of at least 0, got -0.5"),
        (
            {"local_scaling": "log"},
            "tree: local_scaling must be 'none' or 'minmax' or 'standard', got 'log'",
        ),
    ],
)
def test_a_setting_out_of_range_is_refused(settings, message):
    with pytest.raises(SettingError, match=f"^{re.escape(message)}$"):
        tree(**settings)


def test_a_decomposer_without_levels_says_so():
    with pytest.raises(dcsvm.DcsvmError, match=r"^decomposer 'chunks' has no levels to search"):
        build("decomposer", "chunks").levels(problem(*waves(20)))


def test_pruning_joins_leaves_that_other_rows_do_not_confirm():
    X, y = waves(3000)
    noisy = np.where(np.random.default_rng(0).random(3000) < 0.2, 1, y)
    sizes, scores = [], []
    for share in (0.0, 0.3):
        model = DivideAndConquerClassifier(
            tree(ceiling=1, prune=share), "majority", random_state=0
        )
        model.fit(X[:2000], noisy[:2000])
        sizes.append(len(model.model_.committee.members))
        scores.append(model.score(X[2000:], y[2000:]))
    assert sizes[1] < sizes[0] / 3
    assert scores[1] > scores[0] + 0.03


def test_leaves_learn_the_rows_that_a_tree_was_pruned_by():
    X, y = waves()
    levels = list(tree(ceiling=20, prune=0.3).levels(problem(X, y)))
    for level in levels:
        assert sorted(np.concatenate([part.rows for part in level.parts])) == list(range(1500))
    assert len(levels[-1].parts) == 1


def test_more_standard_errors_leave_fewer_leaves():
    X, y = waves()
    counts = [
        len(finest(tree(ceiling=1, prune=0.3, standard_errors=errors), X, y).parts)
        for errors in (0.0, 3.0)
    ]
    assert counts[1] < counts[0]


@pytest.mark.slow
def test_rows_find_their_own_of_ten_thousand_leaves():
    generator = np.random.default_rng(0)
    X = generator.uniform(size=(100_000, 4))
    problem = Problem(X, generator.integers(2, size=len(X)), 2)
    level = next(build("decomposer", "tree", ceiling=20).levels(problem))
    assert len(level.parts) >= 10_000
    own = np.full(len(X), -1)
    for number, part in enumerate(level.parts):
        own[part.rows] = number
    assert (level.router.route(X).member == own).all()


def test_explain_tells_the_way_to_the_leaf_and_its_heaviest_support_vectors():
    X, y = waves(400)
    learner = build("learner", "kernel_svm", gamma=0.5, C=2.0)
    clf = DivideAndConquerClassifier(tree(ceiling=100), learner, "route", random_state=0)
    told = explain(clf.fit(X, y), X[0])
    (group,) = clf.model_.committee.groups
    assert told.route == tuple(group.router.trace(X[:1]))
    (question,) = told.questions
    assert told.route[-1] == f"leaf {question.member}"
    leaf = group.router.route(X).member
    for weight in question.heaviest:
        assert leaf[weight.row] == question.member
        assert weight.kernel == pytest.approx(np.exp(-0.5 * ((X[weight.row] - X[0]) ** 2).sum()))
        assert weight.contribution == pytest.approx(weight.coefficient * weight.kernel)


def test_explain_calls_features_by_the_names_of_a_table():
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 5
    rows = pandas.DataFrame(X, columns=["size"])
    clf = DivideAndConquerClassifier(tree(ceiling=5), "kernel_svm", "route").fit(rows, y)
    assert explain(clf, rows[7:8]).route == ("size: 7 > 4.5", "leaf 1")
    assert explain(clf, rows.iloc[7]).route == ("size: 7 > 4.5", "leaf 1")
    clf.fit(X, y)
    assert explain(clf, X[7]).route == ("feature 0: 7 > 4.5", "leaf 1")


def test_explain_calls_prepared_columns_and_levels_by_name_also_after_loading(tmp_path):
    schema = TableSchema((Column("colour", ("blue", "red")), Column("size")))
    X = np.array([[code, size] for code in (0, 1) for size in range(5)], dtype=float)
    inner = DivideAndConquerClassifier(tree(ceiling=5), "kernel_svm", "route")
    clf = make_pipeline(TablePreparation("none", schema=schema), inner).fit(X, X[:, 0])
    dcsvm.save(clf, tmp_path / "model.dcsvm")
    for model in (clf, dcsvm.load(tmp_path / "model.dcsvm")):
        assert explain(model, X[0]).route[0] in ("colour=blue: 1 > 0.5", "colour=red: 0 <= 0.5")


@pytest.mark.parametrize("name", ["local_scaling", "relevance"])
def test_settings_that_change_distances_say_that_gamma_must_be_chosen_again(name):
    told = settings_of(type(tree()))[name].metadata["help"]
    assert told.endswith("; tune gamma again")


def with_noise(rows):
    """Waves in the first four features, and ten features that say nothing."""
    X, y = waves(rows)
    noise = np.random.default_rng(3).uniform(X.min(), X.max(), size=(rows, 10))
    return np.hstack([X, noise]), y


def test_features_count_in_a_leaf_by_what_they_gain_in_splits_below_it():
    X, y = with_noise(1500)
    level = finest(tree(ceiling=200, relevance=1.0), X, y)
    plain = finest(tree(ceiling=200), X, y)
    assert [part.rows.tolist() for part in level.parts] == [
        part.rows.tolist() for part in plain.parts
    ]
    mixed = [part for part in level.parts if is_mixed(part, y)]
    factors = np.array([part.view.fit(X[part.rows]).factor for part in mixed])
    assert np.allclose(factors.max(axis=1), 1.0)
    assert factors.min() >= 0.02
    assert factors[:, :4].mean() > 2 * factors[:, 4:].mean()


def test_gains_below_a_leaf_are_those_of_the_tree_that_goes_on():
    X, y = with_noise(1500)
    asked = problem(X, y)
    whole = DecisionTreeClassifier(
        criterion="entropy",
        max_features=1.0,
        min_samples_split=11,
        min_impurity_decrease=1e-12,
        random_state=asked.seed.integer(),
    ).fit(X, y)
    grown = whole.tree_

    def entropy(rows):
        shares = np.bincount(y[rows]) / len(rows)
        return -sum(len(rows) * share * np.log2(share) for share in shares if share)

    def gains(node, rows):
        found = np.zeros(X.shape[1])
        if grown.children_left[node] >= 0:
            goes_left = X[rows, grown.feature[node]] <= grown.threshold[node]
            sides = (rows[goes_left], rows[~goes_left])
            found[grown.feature[node]] += entropy(rows) - sum(entropy(side) for side in sides)
            children = (grown.children_left[node], grown.children_right[node])
            for child, side in zip(children, sides, strict=True):
                found += gains(child, side)
        return found

    paths = whole.decision_path(X)
    for part in finest(tree(ceiling=200, relevance=1.0, growth="exact"), X, y).parts:
        on_the_way = paths[part.rows[:1]].indices
        small = on_the_way[grown.n_node_samples[on_the_way] <= 200]
        top = small[0] if len(small) else on_the_way[-1]
        expected = gains(top, part.rows)
        factor = part.view.fit(X[part.rows]).factor
        if expected.max() > 0:
            assert np.allclose(factor, 0.02 + 0.98 * expected / expected.max())
        else:
            assert (factor == 1.0).all()


def test_relevance_makes_machines_among_useless_features_more_accurate():
    X, y = with_noise(3000)

    def accuracy(**settings):
        learner = build("learner", "kernel_svm", C=10.0, gamma=1.0)
        clf = DivideAndConquerClassifier(tree(ceiling=300, **settings), learner, "route")
        return clf.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])

    assert accuracy(relevance=1.0) > accuracy() + 0.05


def test_relevance_needs_what_pruning_takes_away():
    with pytest.raises(SettingError, match="set one of the two to 0"):
        DivideAndConquerClassifier(tree(relevance=1.0, prune=0.2)).fit(*waves(100))


def test_all_rows_stay_undivided_where_that_was_best_for_those_of_the_search():
    X, y = load_digits(return_X_y=True)
    clf = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=200))
    # 800 rows are learned from while searching, and at 4 * 200 they are one part; 1,000 are not.
    search = GranularitySearch(
        clf,
        {"learner__C": [10.0], "learner__gamma": [1e-3]},
        min_gain=-1.0,
        random_state=0,
    ).fit(X[:1000], y[:1000])
    assert search.stopped_ == "one part is left"
    assert len(search.best_estimator_.ledger_) == 1
    assert search.best_params_["decomposer__ceiling"] >= 1000
    assert search.best_estimator_.decomposer.ceiling == search.best_params_["decomposer__ceiling"]


def again_and_again(n=12_000, kinds=1500, power=3, seed=0):
    """Rows that come again, more unevenly with more power, and now and then with any label."""
    X, y = waves(kinds, seed)
    generator = np.random.default_rng(seed)
    rows = (kinds * generator.random(n) ** power).astype(int)
    noise = generator.random(n) < 0.05
    return X[rows], np.where(noise, generator.integers(3, size=n), y[rows])


def both_ways(monkeypatch, decomposer, given):
    """The nodes of the tree of condensed rows, and of that of all rows."""
    few = decomposer._grow(given)
    assert merge_duplicates(given.X, given.y) is not None
    with monkeypatch.context() as context:
        condensing = "dcsvm_plugins.decomposers.tree.exact_growth.merge_duplicates"
        context.setattr(condensing, lambda *data: None)
        return few, decomposer._grow(given)


def alike_but_for_ties(few, whole):
    """How many nodes are the same from the root down to where another split gains as much."""
    waiting, seen = [(0, 0)], 0
    while waiting:
        one, other = waiting.pop()
        seen += 1
        assert few.rows[one] == whole.rows[other]
        assert (few.left[one] < 0) == (whole.left[other] < 0)
        if few.left[one] >= 0:
            assert few.gain[one] == pytest.approx(whole.gain[other], rel=1e-9, abs=1e-6)
            if (few.feature[one], few.threshold[one]) == (
                whole.feature[other],
                whole.threshold[other],
            ):
                waiting += [(few.left[one], whole.left[other])]
                waiting += [(few.right[one], whole.right[other])]
        else:
            assert few.alike[one] == whole.alike[other]
    return seen


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rows_that_repeat_are_learned_once_and_the_tree_is_the_same(
    monkeypatch, criterion, weighted, seed
):
    X, y = again_and_again(20_000, 2500, power=1, seed=seed)
    weights = np.random.default_rng(seed).random(len(y)) + 0.5 if weighted else None
    decomposer = tree(ceiling=500, criterion=criterion, growth="exact")
    few, whole = both_ways(monkeypatch, decomposer, problem(X, y, weights=weights))
    inner = whole.left >= 0
    assert inner.sum() > 20
    for name in ("left", "right", "rows", "alike"):
        assert np.array_equal(getattr(few, name), getattr(whole, name)), name
    for name in ("feature", "threshold"):
        assert np.array_equal(getattr(few, name)[inner], getattr(whole, name)[inner]), name
    assert np.allclose(few.gain[inner], whole.gain[inner], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    "settings", [{"ceiling": 1}, {"ceiling": 100}, {"ceiling": 300, "relevance": 1.0}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_repeat_very_often_are_divided_as_well(monkeypatch, settings, weighted):
    X, y = again_and_again()
    weights = np.random.default_rng(0).random(len(y)) + 0.5 if weighted else None
    few, whole = both_ways(
        monkeypatch, tree(growth="exact", **settings), problem(X, y, weights=weights)
    )
    assert alike_but_for_ties(few, whole) > 0.3 * len(whole.left)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_few_values_are_divided_as_well(monkeypatch, seed):
    generator = np.random.default_rng(seed)
    X = generator.integers(3, size=(12_000, 6)).astype(float)
    y = (X[:, :3].sum(axis=1) + generator.normal(size=12_000) > 3).astype(int)
    few, whole = both_ways(monkeypatch, tree(ceiling=300, growth="exact"), problem(X, y))
    assert alike_but_for_ties(few, whole) > 0.3 * len(whole.left)


@pytest.mark.parametrize(
    "settings",
    [{}, {"splitter": "random"}, {"max_features": 0.5}, {"border": 0.5}, {"prune": 0.2}],
)
def test_levels_hold_all_rows_where_many_repeat(settings):
    X, y = again_and_again()
    decomposer = tree(ceiling=100, **settings)
    levels, again = (list(decomposer.levels(problem(X, y))) for _ in range(2))
    for level, same in zip(levels, again, strict=True):
        home = homes(level, X)
        assert np.array_equal(home, homes(same, X))
        assert np.array_equal(np.unique(home), np.arange(len(level.parts)))
        for number, part in enumerate(level.parts):
            assert np.isin(np.flatnonzero(home == number), part.rows).all()
            if is_mixed(part, y) and not settings and not part.about:
                assert len(part.rows) <= level.settings["ceiling"]
    assert len(levels[-1].parts) == 1


def test_condensed_rows_are_halved_where_no_split_gains_anything():
    X, y = (np.repeat(each, 8, axis=0) for each in parity())
    parts = finest(tree(ceiling=2400), X, y).parts
    assert [len(part.rows) for part in parts] == [1280] * 16


def test_condensed_rows_that_are_alike_stay_together():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 8000, axis=0)
    y = np.concatenate([np.arange(8000) % 2, np.zeros(8000, dtype=int)])
    parts = finest(tree(ceiling=50), X, y).parts
    assert [(len(part.rows), part.about.get("rows")) for part in parts] == [
        (8000, "alike"),
        (8000, None),
    ]
