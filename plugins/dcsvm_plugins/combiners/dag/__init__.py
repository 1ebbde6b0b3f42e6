"""The decision graph over class pairs: the first class of a list against the last."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from dcsvm import (
    Combiner,
    Committee,
    DcsvmError,
    DivideAndConquerClassifier,
    Problem,
    SettingError,
    component,
    setting,
)
from dcsvm.numeric import FloatArray, IntArray, Matrix, squared_distances
from dcsvm.toolbox import ModelFact
from dcsvm_plugins.combiners.dag.graph_walk import DecisionGraph
from dcsvm_plugins.combiners.dag.margin_bounds import graph_facts


@component
class Dag(Combiner):
    """DAGSVM: compare the first class of a list with the last, drop the loser, and repeat.

    A row asks K - 1 of the K (K - 1) / 2 members for pairs of classes, so prediction is much
    cheaper than a vote over all pairs; any learner will do. Rows at the same node are evaluated
    together.

    The score of the winner is its smallest margin. Any other class scores its margin of defeat
    below the class that beat it (below zero if that is the winner). With two classes this is the
    decision value. Scores order the classes, but they are not comparable between rows that took
    different paths. The result depends on the order of the list.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification (2000).
    """

    name = "dag"
    accepts = frozenset({"class pairs"})
    stored_types = (DecisionGraph,)

    order: Literal["natural", "similarity"] | tuple[int, ...] = setting(
        "natural",
        help=(
            "initial list of classes: sorted; by similarity, so that similar classes are "
            "neighbours and meet late (a chain of nearest class means, from an end of the pair "
            "farthest apart); or all class numbers in any order"
        ),
    )

    def fit(
        self, committee: Committee, problem: Problem, answers: FloatArray | None
    ) -> DecisionGraph:
        node, sign = _find_nodes(committee)
        known = np.flatnonzero((node >= 0).any(axis=1))
        order = self._order_classes(problem, known)
        lacking = np.argwhere(np.triu(node[np.ix_(known, known)] < 0, 1))
        if len(lacking):
            first, second = known[lacking[0]]
            raise DcsvmError(f"dag: there is no member for the classes {first} and {second}")
        return DecisionGraph(order, node, sign)

    def check_committee(self, committee: Committee) -> None:
        raise ValueError("dag must be fitted: a classifier holds its DecisionGraph")

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        raise DcsvmError("dag must be fitted first: call combine of what its fit returns")

    def facts(self, classifier: DivideAndConquerClassifier, X: Any, y: Any) -> Iterable[ModelFact]:
        return graph_facts(classifier, X, y)

    def _order_classes(self, problem: Problem, known: IntArray) -> IntArray:
        if isinstance(self.order, str):
            return known if self.order == "natural" else _chain_classes(problem, known)
        if sorted(self.order) != list(range(problem.n_classes)):
            raise SettingError(
                f"dag: order must list each class number from 0 to {problem.n_classes - 1} once, "
                f"got {list(self.order)}"
            )
        order = np.array(self.order, dtype=np.intp)
        return order[np.isin(order, known)]


def _find_nodes(committee: Committee) -> tuple[IntArray, IntArray]:
    """Return the member for any two classes, and the side of the first of the two."""
    code = committee.code
    code.sort_indices()
    widths = np.diff(code.indptr)
    if code.shape[0] != len(committee.members) or (widths != 2).any():
        strange = next(n for n, m in enumerate(committee.members) if np.count_nonzero(m.code) != 2)
        raise DcsvmError(f"dag: member {strange} does not separate two classes")
    pairs, sides = code.indices.reshape(-1, 2), code.data.reshape(-1, 2)
    node = np.full((committee.n_classes, committee.n_classes), -1, dtype=np.intp)
    sign = np.zeros(node.shape, dtype=np.int8)
    low, high = pairs.T
    node[low, high] = node[high, low] = np.arange(len(pairs))
    sign[low, high], sign[high, low] = sides.T
    if np.count_nonzero(node >= 0) != 2 * len(pairs):
        raise DcsvmError("dag: two members separate the same two classes")
    return node, sign


def _chain_classes(problem: Problem, known: IntArray) -> IntArray:
    """Order classes as a chain of nearest means, from an end of the pair farthest apart."""
    means: Any = np.stack(
        [np.asarray(problem.X[problem.rows_of(label)].mean(axis=0)).ravel() for label in known]
    )
    distances = squared_distances(means, means)
    # Of the two ends take the lower class: each pair occurs once above the diagonal.
    chain = [int(np.triu(distances).max(axis=1).argmax())]
    while len(chain) < len(known):
        distances[:, chain[-1]] = np.inf
        chain.append(int(distances[chain[-1]].argmin()))
    return known[chain]
