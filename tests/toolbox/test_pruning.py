"""Cost-complexity pruning on trees small enough to check by hand."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier

from dcsvm.toolbox import Branches, hold_out, prune

#      0
#    1   2
#   3 4
CHILDREN = np.array([[1, 2], [3, 4], [-1, -1], [-1, -1], [-1, -1]])
LEARNED = np.array([[0, 0], [0, 0], [0, 10], [10, 0], [1, 2]])


def branches(judged):
    judged = np.array(judged)
    return Branches.of(CHILDREN, LEARNED, judged, int(judged.sum()))


def test_masses_are_added_up_from_the_leaves():
    found = branches([[0, 0], [0, 0], [0, 5], [5, 0], [2, 1]])
    assert found.learned.tolist() == [[11, 12], [11, 2], [0, 10], [10, 0], [1, 2]]
    assert found.judged[0].tolist() == [7, 6]


def test_a_split_that_others_do_not_confirm_is_cut():
    # Node 4 answers class 1; of the rows held back there, two of three are class 0.
    assert prune(branches([[0, 0], [0, 0], [0, 5], [5, 0], [2, 1]])).tolist() == [1]


def test_a_split_that_others_confirm_stays():
    assert prune(branches([[0, 0], [0, 0], [0, 5], [5, 0], [0, 3]])).tolist() == []


def test_of_trees_that_are_equally_good_the_smallest_is_chosen():
    assert prune(branches([[0, 0], [0, 0], [0, 5], [5, 0], [1, 1]])).tolist() == [1]


def test_standard_errors_forgive_a_smaller_tree():
    judged = [[0, 0], [0, 0], [1, 5], [5, 1], [1, 2]]
    assert prune(branches(judged)).tolist() == []
    assert prune(branches(judged), standard_errors=1.0).tolist() == [1]


def test_without_rows_to_judge_by_nothing_is_cut():
    assert prune(branches(np.zeros((5, 2)))).tolist() == []


def test_the_chosen_tree_is_about_as_good_as_the_best_of_scikit_learn():
    X, y = make_moons(300, noise=0.4, random_state=0)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200]).tree_
    children = np.column_stack([tree.children_left, tree.children_right])
    leaf_of = tree.apply(X.astype(np.float32))
    masses = []
    for rows in (slice(200), slice(200, None)):
        at = np.zeros((tree.node_count, 2))
        np.add.at(at, (leaf_of[rows], y[rows]), 1)
        masses.append(at)
    cuts = prune(Branches.of(children, *masses, 100))
    assert len(cuts)
    errors = {}
    for alpha in np.unique(
        DecisionTreeClassifier(random_state=0)
        .cost_complexity_pruning_path(X[:200], y[:200])
        .ccp_alphas
    ):
        other = DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(X[:200], y[:200])
        errors[alpha] = (other.predict(X[200:]) != y[200:]).sum()
    ours = np.where(np.isin(np.arange(len(children)), cuts)[:, None], -1, children)
    node = np.zeros(100, dtype=int)
    for _ in range(tree.max_depth):
        goes_left = X[200:][np.arange(100), tree.feature[node]] <= tree.threshold[node]
        below = np.where(goes_left, ours[node, 0], ours[node, 1])
        node = np.where(below < 0, node, below)
    answers = np.array([Branches.of(children, *masses, 100).learned[at].argmax() for at in node])
    # scikit-learn's impurity is Gini's, ours the error: both must find trees about as good.
    assert (answers != y[200:]).sum() <= min(errors.values()) + 1


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_no_class_is_held_back_as_a_whole(share):
    y = np.repeat([0, 1, 2], [100, 10, 1])
    rows = hold_out(y, share, np.random.default_rng(0))
    assert [int(share * 100), int(share * 10), 0] == np.bincount(y[rows], minlength=3).tolist()
