"""A chain of linear SVMs that each split off rows of one class."""

from typing import Any

import attrs
import numpy as np

from dcsvm import (
    Decomposer,
    Division,
    Member,
    Part,
    Problem,
    Task,
    component,
    setting,
)
from dcsvm.numeric import Float32Rows, FloatArray, IntArray, PlaneTree
from dcsvm.toolbox import NormalizedWeights, PlaneRouter, Stages, parts_by, require_hyperplanes


@component
class SVMTree(Decomposer):
    """A one-sided tree: each linear SVM splits off rows of a single class.

    At each node the largest class is set against the rest. The rows of one side weigh `weight`
    times more, so that few of them are misclassified, and the hyperplane is then moved until one
    side holds a single class. These rows become a leaf, and the rest goes on to the next node. Of
    the possible sides, the one with most rows, counted by weight, is split off. Leaves of the same
    class form one part; the last node is a part for the classifier's learner: `linear_svm` in
    Zapien's tree, a kernel SVM in Fehr's and Sun's.

    Easy rows are decided by a few dot products, so prediction is fast if most rows are easy. Nodes
    are trained one after the other, two SVMs each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("svm_tree", "linear_svm", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Zapien, Fehr, Burkhardt: Fast support vector machine classification using linear SVMs (2006).
    """

    name = "svm_tree"
    yields = frozenset({"regions"})
    rows_held = 2.0
    sibling = "oblique_tree"
    separates_classes = True
    stored_types = (PlaneRouter, PlaneTree)

    nodes: int = setting(16, at_least=1, help="maximum number of hyperplanes")
    smallest: float = setting(
        0.01,
        at_least=0,
        at_most=1,
        help="smallest share of the rows that a hyperplane must split off",
    )
    weight: float = setting(
        100.0, at_least=1, help="weight of the side without errors, relative to the other"
    )
    splitter: Any = setting("linear_svm", kind="learner", help="learner of the hyperplanes")

    def divide(self, problem: Problem) -> Stages:
        left, mass = np.arange(problem.n_rows), problem.masses
        planes: list[_Cut] = []
        while len(planes) < self.nodes and len(np.unique(problem.y[left])) > 1:
            members = yield self._build_candidates(problem, left)
            cuts = [_place_cut(problem, left, member) for member in members]
            best = max(cuts, key=lambda cut: float(mass[cut.out].sum()))
            if not len(best.out) or mass[best.out].sum() < self.smallest * mass.sum():
                break
            planes.append(best)
            left = np.setdiff1d(left, best.out)
        parts, router = _build_parts(problem, planes, left)
        yield parts
        return Division(router)

    def _build_candidates(self, problem: Problem, left: IntArray) -> list[Part]:
        """Return the rows of a node twice: its largest class weighted more, or all others."""
        y = problem.y[left]
        largest = int(np.bincount(y, problem.masses[left]).argmax())
        others = tuple(int(each) for each in np.unique(y) if each != largest)
        heavy, light = self.weight, 1.0
        return [
            Part(
                left,
                task=Task(others, (largest,)),
                weights=np.where((y == largest) == first, heavy, light),
                learner=NormalizedWeights(self.splitter),
                about={"without errors": "the largest class" if first else "the others"},
            )
            for first in (True, False)
        ]


@attrs.frozen(eq=False)
class _Cut:
    """A hyperplane, and the rows of one class that it splits off."""

    weights: FloatArray
    threshold: float
    out: IntArray
    out_is_left: bool


def _place_cut(problem: Problem, left: IntArray, member: Member) -> _Cut:
    """Move a hyperplane until one of its sides holds a single class."""
    plane = Float32Rows.of(require_hyperplanes(member.model, "svm_tree").weights.T).dense
    assert plane is not None
    tree = PlaneTree(plane, np.zeros(1), np.array([[~0, ~1]], dtype=np.int32), problem.n_features)
    scores, y = tree.products(problem.X[left], 0), problem.y[left]
    # From either end as far as a single class reaches, whichever class that is.
    lowest, highest = y[scores.argmin()], y[scores.argmax()]
    least = float(np.nextafter(scores[y != lowest].min(), -np.inf))
    most = float(scores[y != highest].max())
    below, above = left[scores <= least], left[scores > most]
    mass = problem.masses
    if mass[below].sum() >= mass[above].sum():
        return _Cut(plane[0], least, below, True)
    return _Cut(plane[0], most, above, False)


def _build_parts(
    problem: Problem, planes: list[_Cut], left: IntArray
) -> tuple[list[Part], PlaneRouter]:
    """Build the chain as a tree: leaf i belongs to hyperplane i, the last leaf to the rest."""
    n = len(planes)
    owner = np.empty(problem.n_rows, dtype=np.intp)
    owner[left] = n
    for number, cut in enumerate(planes):
        owner[cut.out] = number
    # Leaves of the same class form one part; the rest may hold several classes.
    keys = [int(problem.y[cut.out[0]]) for cut in planes]
    mixed = len(np.unique(problem.y[left])) > 1
    keys.append(problem.n_classes if mixed else int(problem.y[left[0]]))
    used, member = np.unique(keys, return_inverse=True)
    children = np.empty((n, 2), dtype=np.int32)
    for number, cut in enumerate(planes):
        after = number + 1 if number + 1 < n else ~n
        children[number] = (~number, after) if cut.out_is_left else (after, ~number)
    tree = PlaneTree.leaf(problem.n_features)
    if n:
        tree = PlaneTree(
            np.stack([cut.weights for cut in planes]),
            np.array([cut.threshold for cut in planes]),
            children,
            problem.n_features,
        )
    return parts_by(member[owner], len(used)), PlaneRouter(tree, member)
