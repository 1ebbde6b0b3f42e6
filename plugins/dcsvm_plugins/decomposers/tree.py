"""A binary axis-parallel tree whose leaves are the parts."""

from typing import Literal

import attrs
import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from dcsvm import Decomposer, Problem, Router, Routing, Stages, component, part, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix


@attrs.frozen(eq=False)
class TreeRouter(Router):
    """The tree as arrays over its nodes: -1 as a child marks a leaf."""

    left: IntArray
    right: IntArray
    feature: IntArray
    threshold: FloatArray
    member: IntArray

    def route(self, X: Matrix) -> Routing:
        return Routing.to_one(self.member[self.leaves(X)])

    def leaves(self, X: Matrix) -> IntArray:
        """The leaf of each row of X: rows go left where their value is at most the threshold."""
        value_of = _SparseValues(X) if sparse.issparse(X) else _DenseValues(X)
        node = np.zeros(X.shape[0], dtype=np.intp)
        inner = np.flatnonzero(self.left[node] >= 0)
        while len(inner):
            here = node[inner]
            goes_left = value_of(inner, self.feature[here]) <= self.threshold[here]
            node[inner] = np.where(goes_left, self.left[here], self.right[here])
            inner = inner[self.left[node[inner]] >= 0]
        return node

    def trace(self, x: Matrix) -> list[str]:
        value_of = _SparseValues(x) if sparse.issparse(x) else _DenseValues(x)
        sentences, node = [], 0
        while self.left[node] >= 0:
            value = value_of(np.array([0]), self.feature[[node]])[0]
            left = value <= self.threshold[node]
            sign = "<=" if left else ">"
            sentences.append(
                f"feature {self.feature[node]}: {value:g} {sign} {self.threshold[node]:g}"
            )
            node = self.left[node] if left else self.right[node]
        return [*sentences, f"leaf {self.member[node]}"]


@component
class Tree(Decomposer):
    """A decision tree, grown until no leaf holds more rows than the ceiling; leaves are the parts.

    A row asks the one leaf it falls into. Leaves of one class answer by themselves, so the cost of
    training falls from the square of the rows to about rows times ceiling.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = build("decomposer", "tree", ceiling=60)
    >>> clf = DivideAndConquerClassifier(tree, "kernel_svm", "route", random_state=0).fit(X, y)
    >>> max(record.rows for record in clf.ledger_) <= 60
    True

    References
    ----------
    Chang, Guo, Lin, Lu: Tree decomposition for large-scale SVM problems (2010).
    """

    name = "tree"
    yields = frozenset({"regions"})
    stored_types = (TreeRouter,)

    ceiling: int = setting(1500, at_least=1, help="a leaf with more rows is split")
    criterion: Literal["entropy", "gini"] = setting("entropy", help="what a split should lower")
    splitter: Literal["best", "random"] = setting(
        "best", help="the best threshold of a feature, or a random one"
    )
    max_features: float = setting(
        1.0, above=0, at_most=1, help="share of the features tried at each split"
    )

    def divide(self, problem: Problem) -> Stages:
        grown = DecisionTreeClassifier(
            criterion=self.criterion,
            splitter=self.splitter,
            max_features=self.max_features,
            min_samples_split=max(2, self.ceiling + 1),
            random_state=problem.seed.integer(),
        ).fit(problem.X, problem.y, sample_weight=problem.weights)
        router = _router(grown.tree_)
        home = router.member[router.leaves(problem.X)]
        order = np.argsort(home, kind="stable")
        edges = np.searchsorted(home[order], np.arange(1, home.max() + 1))
        yield [part(rows) for rows in np.split(order, edges)]
        return router


class _DenseValues:
    def __init__(self, X: FloatArray) -> None:
        # scikit-learn's tree compares in single precision; so must we, at the borders.
        self.X = X.astype(np.float32)

    def __call__(self, rows: IntArray, features: IntArray) -> FloatArray:
        return self.X[rows, features]


class _SparseValues:
    def __init__(self, X: Matrix) -> None:
        self.X = sparse.csr_matrix(X, dtype=np.float32)

    def __call__(self, rows: IntArray, features: IntArray) -> FloatArray:
        return np.asarray(self.X[rows, features]).ravel()


def _router(tree: object) -> TreeRouter:
    left = tree.children_left  # type: ignore[attr-defined]
    member = np.where(left < 0, np.cumsum(left < 0) - 1, -1)
    return TreeRouter(
        left.astype(np.intp),
        tree.children_right.astype(np.intp),  # type: ignore[attr-defined]
        tree.feature.astype(np.intp),  # type: ignore[attr-defined]
        tree.threshold.astype(np.float64),  # type: ignore[attr-defined]
        member,
    )
