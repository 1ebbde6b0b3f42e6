"""The class whose path through a tree over the classes is likeliest."""

from collections.abc import Iterable

import numpy as np

from dcsvm import Combiner, Committee, component, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step
from dcsvm.toolbox import Answers, mean_or_nan, rank_classes

#: Classes with probabilities nearer than this are compared by the scores of `combine`.
TIE = 1e-9


@component
class ClassPath(Combiner):
    """Nested dichotomies: the likeliest path from the root of a class tree to a class.

    The answer of each node is turned into the probability of its two sides by a logistic curve,
    and a class has the product along its path. The score is twice that product minus one. Several
    trees are averaged, as in an ensemble of nested dichotomies.

    Scores and probabilities ask all K - 1 nodes of a tree. Labels without probabilities, and their
    cost, are found by best-first search: a path asked in part is at least as likely as its
    classes, so a row asks the next node on the path in front until that is at its end. They are
    the labels of the scores. Few rows at a time are faster asked all nodes, and are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_tree", "kernel_svm", "class_path").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Frank, Kramer: Ensembles of nested dichotomies for multi-class problems (2004).
    """

    name = "class_path"
    accepts = frozenset({"class tree", "groups"})
    counts_labels = True

    steepness: float = setting(2.0, above=0, help="slope of the curve: log-odds per score")

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step:
        return plan.class_path(self.steepness)

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        return self._score(committee.answers(X), (X.shape[0], committee.n_classes))

    def labels(self, committee: Committee, X: Matrix) -> IntArray:
        """The likeliest classes of rows X (n, d), asked of as few nodes as can tell."""
        found = np.zeros(X.shape[0], dtype=np.intp)
        members = np.arange(len(committee.members))
        for rows in committee.blocks(np.arange(X.shape[0]), members):
            found[rows] = self._search(committee, X, rows)
        return found

    def _score(self, answered: Iterable[Answers], shape: tuple[int, int]) -> FloatArray:
        paths, trees = np.zeros(shape), np.zeros(shape)
        for answers in answered:
            known = np.asarray(abs(answers.code).sum(axis=0)).ravel() > 0
            paths[answers.rows] += np.where(known, self._follow(answers), 0.0)
            trees[answers.rows] += known
        return 2.0 * mean_or_nan(paths, trees) - 1.0

    def _follow(self, answers: Answers) -> FloatArray:
        """The probability of the way to each class through the nodes that answered."""
        odds = self.steepness * answers.values
        logs = -np.logaddexp(0.0, -odds) @ (answers.code > 0)
        logs += -np.logaddexp(0.0, odds) @ (answers.code < 0)
        return np.asarray(np.exp(logs))

    def _search(self, committee: Committee, X: Matrix, rows: IntArray) -> IntArray:
        """The classes of some rows of X by best-first search, in all trees at once."""
        on_way = np.array([member.code.any(axis=0) for member in committee.members])
        trees = [np.arange(group.first, group.last) for group in committee.groups]
        known = np.array([on_way[tree].any(axis=0) for tree in trees], dtype=float)
        tree_of = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
        bounds = np.tile(known, (len(rows), 1, 1))  # of the probabilities, by row, tree and class
        asked = np.zeros((len(rows), len(on_way)), dtype=bool)
        found, searched = np.zeros(len(rows), dtype=np.intp), np.arange(len(rows))
        while len(searched):
            found[searched] = _average(bounds[searched], known).argmax(axis=1)
            lacking = on_way[:, found[searched]].T & ~asked[searched]
            nodes = lacking.argmax(axis=1)[lacking.any(axis=1)]
            searched = searched[lacking.any(axis=1)]
            asked[searched, nodes] = True
            for node in np.unique(nodes):
                mine = searched[nodes == node]
                answers = committee.ask(X, rows[mine], np.array([node]))
                bounds[mine, tree_of[node]] *= self._follow(answers)
        shares = _average(bounds, known)
        tied = (shares > shares.max(axis=1, keepdims=True) - TIE).sum(axis=1) > 1
        if tied.any():
            answered = (committee.ask(X, rows[tied], tree) for tree in trees)
            scores = self._score(answered, (X.shape[0], committee.n_classes))[rows[tied]]
            found[tied] = np.nanargmax(scores, axis=1)
        return found

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        shares = (self.combine(committee, x)[0] + 1.0) / 2.0
        likeliest = rank_classes(shares)
        return [f"the path to class {c} has the probability {shares[c]:.4g}" for c in likeliest]


def _average(bounds: FloatArray, known: FloatArray) -> FloatArray:
    """The mean (rows, classes) over the trees that know a class."""
    return np.asarray(bounds.sum(axis=1) / np.maximum(known.sum(axis=0), 1.0))
