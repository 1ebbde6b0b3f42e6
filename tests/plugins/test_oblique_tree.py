"""The oblique tree: leaves, pruning, who learns its hyperplanes, and what stands in its leaves."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

import dcsvm
from dcsvm import DivideAndConquerClassifier, Problem, SettingError, build
from dcsvm.inspection.explainer import explain
from dcsvm.numeric.native import numpy_only

X, Y = make_moons(2000, noise=0.3, random_state=0)
LEARNED, TESTED = slice(1000), slice(1000, None)
#: Trees that lower the entropy as fast as they can, by few steps of Pegasos.
GREEDY = {
    "threshold": "impurity",
    "weights": "mean_one",
    "batches": "in_turn",
    "regularization": 1e-3,
    "batch": 64,
    "iterations": 20_000,
    "tolerance": 0.0,
    "passes": 20.0,
    "bias_rate": 1.0,
    "average": True,
}


def fitted(learner="majority", n_jobs=None, **settings):
    return published(learner, n_jobs, **(GREEDY | settings))


def published(learner="majority", n_jobs=None, **settings):
    tree = build("decomposer", "oblique_tree", **settings)
    classifier = DivideAndConquerClassifier(tree, learner, random_state=0, n_jobs=n_jobs)
    return classifier.fit(X[LEARNED], Y[LEARNED])


def tree_of(classifier):
    return classifier.model_.committee.groups[0].router.tree


def test_a_tree_that_is_not_pruned_knows_its_rows_by_heart():
    classifier = fitted()
    assert classifier.score(X[LEARNED], Y[LEARNED]) == 1.0
    assert classifier.score(X[TESTED], Y[TESTED]) < 0.88


def test_pruning_makes_it_smaller_and_better():
    whole, pruned = fitted(), fitted(prune=0.2)
    assert tree_of(pruned).n_leaves < tree_of(whole).n_leaves / 2
    assert pruned.score(X[TESTED], Y[TESTED]) > whole.score(X[TESTED], Y[TESTED]) + 0.02


def test_standard_errors_make_it_smaller_still():
    assert (
        tree_of(fitted(prune=0.3, standard_errors=2.0)).n_leaves
        < tree_of(fitted(prune=0.3)).n_leaves
    )


def test_rows_of_pruning_are_held_back_or_learned_by_the_leaves():
    held, again = fitted(prune=0.2), fitted(prune=0.2, relearn=True)
    assert tree_of(held).n_leaves == tree_of(again).n_leaves
    kept = 1000 - sum(int(0.2 * n) for n in np.bincount(Y[LEARNED]))
    for classifier, rows in ((held, kept), (again, 1000)):
        assert sum(member.n_rows for member in classifier.model_.committee.members) == rows


def test_rounds_make_a_small_tree_better_and_no_larger():
    grown, settled = fitted(deepest=4), fitted(deepest=4, rounds=10)
    assert settled.score(X[LEARNED], Y[LEARNED]) > grown.score(X[LEARNED], Y[LEARNED])
    assert settled.score(X[TESTED], Y[TESTED]) > grown.score(X[TESTED], Y[TESTED])
    assert tree_of(settled).n_leaves <= tree_of(grown).n_leaves
    (rounds,) = [record for record in settled.ledger_ if record.about.get("piece") == "rounds"]
    assert rounds.rows == 1000


def test_rounds_learn_the_rows_of_pruning_where_the_leaves_do():
    for relearn in (False, True):
        ledger = fitted(prune=0.2, rounds=2, relearn=relearn).ledger_
        (rounds,) = [record for record in ledger if record.about.get("piece") == "rounds"]
        assert (rounds.rows == 1000) == relearn


def test_a_tree_comes_close_to_its_teacher():
    settings = {"deepest": 5, "rounds": 10}
    svm = build("learner", "kernel_svm", C=1.0, gamma=1.0)
    alone, taught = fitted(**settings), fitted(**settings, teacher=svm)
    teacher = DivideAndConquerClassifier("whole", svm, random_state=0).fit(X[LEARNED], Y[LEARNED])
    same = [
        (each.predict(X[TESTED]) == teacher.predict(X[TESTED])).mean() for each in (alone, taught)
    ]
    assert same[1] > same[0]
    assert same[1] > 0.96
    assert taught.score(X[TESTED], Y[TESTED]) > alone.score(X[TESTED], Y[TESTED])
    assert taught.cost(X[:5]).kernel_evaluations.max() == 0


def test_the_smallest_share_of_a_leaf_is_one_over_n_to_a_power_of_ten():
    tree = build("decomposer", "oblique_tree")
    assert [tree._find_leaf_size(n) for n in (150, 1000, 49_990, 522_910)] == [1, 1, 4, 5]
    assert build("decomposer", "oblique_tree", smallest=0.01)._find_leaf_size(1000) == 10


def test_leaves_with_one_answer_are_one_part():
    counts = {
        merge: len(fitted(merge=merge).model_.committee.members)
        for merge in ("none", "pure", "majority")
    }
    assert counts["none"] == tree_of(fitted()).n_leaves
    assert counts["pure"] == counts["majority"] == 2
    mixed = [fitted(merge=merge, smallest=0.05) for merge in ("none", "majority")]
    assert len(mixed[1].model_.committee.members) == 2
    assert (mixed[0].predict(X) == mixed[1].predict(X)).all()


def test_hyperplanes_are_counted_by_row():
    classifier = fitted(deepest=4)
    counts = classifier.cost(X[TESTED]).hyperplanes
    assert counts.max() == tree_of(classifier).depth == 4
    assert (counts == tree_of(classifier).route(X[TESTED])[1]).all()


def test_any_learner_can_stand_in_the_leaves():
    svm = fitted("kernel_svm", smallest=0.1)
    assert svm.score(X[TESTED], Y[TESTED]) > fitted(smallest=0.1).score(X[TESTED], Y[TESTED])
    assert svm.cost(X[:5]).kernel_evaluations.max() > 0


@pytest.mark.parametrize("splitter", ["linear_svm", "pegasos"])
def test_any_linear_learner_can_learn_the_hyperplanes(splitter):
    classifier = fitted(splitter=splitter, prune=0.2)
    assert classifier.score(X[TESTED], Y[TESTED]) > 0.89


def test_a_splitter_without_hyperplanes_is_refused():
    with pytest.raises(
        SettingError, match=r"oblique_tree: splitter must learn hyperplanes.*Kernel"
    ):
        fitted(splitter="kernel_svm")


def test_a_machines_own_threshold_leaves_a_smaller_tree():
    assert tree_of(fitted(threshold="machine")).n_leaves < tree_of(fitted()).n_leaves / 2


def grow_by_the_book(X, y, smallest, regularization, steps):
    """Figure 3 of the paper with full batches, as plainly as it can be said: rows to labels."""
    total = len(y)

    def entropy(y):
        shares = [np.mean(y > 0), np.mean(y < 0)]
        return -sum(share * np.log(share) for share in shares if share > 0)

    def grow(X, y):
        leaf = 1.0 if (y > 0).sum() > (y < 0).sum() else -1.0
        if entropy(y) == 0 or len(y) / total <= smallest:
            return lambda asked: np.full(len(asked), leaf)
        p = np.where(y > 0, 1 / (2 * (y > 0).sum()), 1 / (2 * (y < 0).sum()))
        w, b = np.zeros(X.shape[1]), 0.0
        for t in range(1, steps + 1):
            a = y * (X @ w + b) < 1
            eta = 1 / (regularization * t)
            before = w
            w = w - eta * (regularization * w - (p * y * a) @ X / len(y))
            b = b + 0.01 * eta * (p * y * a).sum() / len(y)
            w = w * min(1.0, 1 / np.sqrt(regularization) / max(np.linalg.norm(w), 1e-300))
            if np.linalg.norm(w - before) <= 1e-4:
                break
        right = X @ w + b > 0
        sides = [X[~right], y[~right]], [X[right], y[right]]
        after = sum(len(ys) / len(y) * entropy(ys) for _, ys in sides if len(ys))
        if after >= entropy(y) - 1e-12:
            return lambda asked: np.full(len(asked), leaf)
        left, rest = (grow(*side) for side in sides)
        return lambda asked: np.where(asked @ w + b > 0, rest(asked), left(asked))

    return grow(X, y)


@pytest.mark.parametrize("regularization", [1e-3, 1e-4])
def test_the_default_is_the_tree_of_the_paper(regularization):
    tree = published(iterations=2000, regularization=regularization, smallest=0.01)
    book = grow_by_the_book(X[LEARNED], 2.0 * Y[LEARNED] - 1, 0.01, regularization, 2000)
    assert tree_of(tree).n_leaves > 3
    assert np.mean((book(X[TESTED]) > 0) == tree.predict(X[TESTED])) > 0.995


def test_the_published_tree_is_learned_from_random_batches_of_large_nodes():
    one, other = (published(batch=100, iterations=2000, grain=grain) for grain in (50_000, 600))
    assert one.score(X[TESTED], Y[TESTED]) > 0.85
    assert other.score(X[TESTED], Y[TESTED]) > 0.85
    again = published(batch=100, iterations=2000)
    assert (tree_of(one).weights == tree_of(again).weights).all()


def test_large_nodes_are_parts_of_their_own_and_small_ones_whole_subtrees():
    ledger = fitted(grain=300).ledger_
    pieces = [record.about["piece"] for record in ledger if "piece" in record.about]
    assert pieces[0] == "split"
    assert {"split", "subtree"} == set(pieces)
    assert [r.about.get("piece") for r in fitted().ledger_][:1] == ["subtree"]
    alone, threads = fitted(grain=300), fitted(grain=300, n_jobs=2)
    assert (tree_of(alone).weights == tree_of(threads).weights).all()


def test_a_model_file_brings_the_tree_back(tmp_path):
    classifier = fitted(prune=0.2)
    dcsvm.save(classifier, tmp_path / "tree.dcsvm")
    again = dcsvm.load(tmp_path / "tree.dcsvm")
    assert (again.predict(X) == classifier.predict(X)).all()
    assert (tree_of(again).weights == tree_of(classifier).weights).all()


def test_an_explanation_names_the_hyperplanes_and_their_sides():
    classifier = fitted(deepest=2)
    route = explain(classifier, X[0]).route
    assert len(route) == 1 + tree_of(classifier).route(X[:1])[1][0]
    assert all(("to the left" in each) or ("to the right" in each) for each in route[:-1])
    assert route[-1].startswith("leaf ")


def test_it_grows_without_the_compiled_library_too():
    with numpy_only():
        classifier = fitted(prune=0.2, passes=5.0)
    assert classifier.score(X[TESTED], Y[TESTED]) > 0.87


def test_three_classes_are_divided_directly_or_by_pairs():
    y = (Y + (X[:, 0] > 1.0)).clip(max=2)
    tree = build("decomposer", "oblique_tree", prune=0.2, **GREEDY)
    direct = DivideAndConquerClassifier(tree, "majority", random_state=0)
    pairs = DivideAndConquerClassifier("class_pairs", direct, "vote", random_state=0)
    for classifier in (direct, pairs):
        assert classifier.fit(X[LEARNED], y[LEARNED]).score(X[TESTED], y[TESTED]) > 0.86
    assert direct.cost(X[TESTED]).hyperplanes.mean() < pairs.cost(X[TESTED]).hyperplanes.mean()


def test_a_problem_of_two_rows_is_two_leaves():
    problem = Problem(np.array([[0.0], [1.0]]), np.array([0, 1]), 2)
    model = DivideAndConquerClassifier("oblique_tree", "majority").fit(problem)
    assert model.labels(problem.X).tolist() == [0, 1]
