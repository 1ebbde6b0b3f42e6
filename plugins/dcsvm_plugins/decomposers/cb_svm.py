"""Clusters whose representatives are learned first, and opened near the border: CB-SVM."""

import numpy as np

from dcsvm import Decomposer, Division, Member, Part, Problem, component, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, squared_distances
from dcsvm.toolbox import Stages


@component
class CBSVM(Decomposer):
    """One part of cluster representatives, with clusters near the border opened step by step.

    Rows of each class are halved until clusters have at most `size` rows. The row nearest to the
    middle of a cluster represents it, with the weight of all its rows. A model of the
    representatives is trained; clusters with a half whose representative is within the margin
    are split into four, and the next model is trained. With `rounds = 0` nothing is opened: that
    is squashing. Rows far from the border are never trained on, so it pays if classes overlap
    little. Halves are cut along the line between two distant rows, in place of the CF tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> clusters = build("decomposer", "cb_svm", size=8)
    >>> clf = DivideAndConquerClassifier(clusters, "kernel_svm", "route", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9, clf.ledger_[0].rows < 40
    (True, True)

    References
    ----------
    Yu, Yang, Han, Li: Making SVMs scalable to large data sets using hierarchical cluster
    indexing (2005).
    Pavlov, Chudova, Smyth: Towards scalable support vector machines using squashing (2000).
    """

    name = "cb_svm"
    yields = frozenset({"one part"})
    rows_held = 1.5
    sibling = "cascade"
    needs_row_weights = True

    size: int = setting(64, at_least=1, help="maximum number of rows of the first clusters")
    rounds: int = setting(4, at_least=0, help="how often clusters near the border are opened")

    def divide(self, problem: Problem) -> Stages:
        by_class = (problem.rows_of(label) for label in np.unique(problem.y))
        clusters = [each for rows in by_class for each in split(problem.X, rows, self.size)]
        for step in range(self.rounds + 1):
            part = _represent(problem, clusters, step)
            (member,) = yield [part]
            opened = self._open(problem, clusters, member) if step < self.rounds else clusters
            if len(opened) == len(clusters):
                break
            clusters = opened
        unused = np.setdiff1d(np.arange(problem.n_rows), part.rows)
        return Division(members=[member], held_back=unused)

    def _open(self, problem: Problem, clusters: list[IntArray], member: Member) -> list[IntArray]:
        """Split each cluster with a half whose representative is within the margin into four."""
        found: list[IntArray] = []
        for rows in clusters:
            halves = split(problem.X, rows, max(1, (len(rows) + 1) // 2))
            if len(halves) == 1:
                found.append(rows)
                continue
            middles = np.array([_find_middle(problem.X, half) for half in halves])
            near = (_margins(member, problem, middles) <= 1.0).any()
            quarters = [split(problem.X, half, max(1, (len(half) + 1) // 2)) for half in halves]
            found += [each for pair in quarters for each in pair] if near else [rows]
        return found


def split(X: Matrix, rows: IntArray, size: int) -> list[IntArray]:
    """Halve rows along the line between two distant ones, until sets have at most `size`."""
    if len(rows) <= size:
        return [rows]
    inside = X[rows]
    far = squared_distances(inside, inside[[0]])[:, 0].argmax()
    apart = squared_distances(inside, inside[[far]])[:, 0]
    along = apart - squared_distances(inside, inside[[apart.argmax()]])[:, 0]
    order, middle = rows[np.argsort(along, kind="stable")], len(rows) // 2
    return [*split(X, np.sort(order[:middle]), size), *split(X, np.sort(order[middle:]), size)]


def _represent(problem: Problem, clusters: list[IntArray], step: int) -> Part:
    """The part of the representatives, each with the weight of its cluster."""
    masses = problem.masses
    middles = np.array([_find_middle(problem.X, rows) for rows in clusters])
    totals = np.array([masses[rows].sum() for rows in clusters])
    about = {"step": "representatives" if step == 0 else f"opened {step}"}
    return Part(middles, weights=totals / masses[middles], about=about)


def _find_middle(X: Matrix, rows: IntArray) -> int:
    """The row that is nearest to the mean of its set."""
    inside = X[rows]
    centre = np.asarray(inside.mean(axis=0)).reshape(1, -1)
    return int(rows[squared_distances(inside, centre)[:, 0].argmin()])


def _margins(member: Member, problem: Problem, rows: IntArray) -> FloatArray:
    """Half of what a member scores the class of each row above any other, (rows,)."""
    known = np.asarray(member.code).any(axis=0)
    scores = np.where(known, member.scores(problem.X[rows], votes=False) @ member.code, -np.inf)
    own = scores[np.arange(len(rows)), problem.y[rows]].copy()
    scores[np.arange(len(rows)), problem.y[rows]] = -np.inf
    return np.asarray((own - scores.max(axis=1)) / 2)
