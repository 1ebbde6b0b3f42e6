"""The rows near class boundaries, as one part."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from dcsvm import Decomposer, Division, Problem, component, part, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, merge_duplicates
from dcsvm.toolbox import Level, Stages

#: Rows whose neighbours are looked up at a time: lists of all of them would fill the memory.
BLOCK_ROWS = 8192
#: Up to so many features a tree of boxes finds neighbours faster than trying everyone; up to more
#: of them where there are many rows.
FEW_FEATURES, FEATURES, MANY_ROWS = 10, 64, 150_000


@component
class ConceptBoundary(Decomposer):
    """The rows that are near another class, found by lists of nearest neighbours, as one part.

    A row's list names the rows of other classes among its nearest neighbours; each of them scores
    by how near it is, compared with the nearest of them. Rows with the highest scores are kept,
    until they hold the `mass` of all scores. One set serves all pairs of classes. It pays where
    classes seldom touch: then most rows are far from any other class, and need not be learned.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> near = build("decomposer", "concept_boundary", neighbours=15)
    >>> clf = DivideAndConquerClassifier(near, "kernel_svm", "route").fit(X, y)
    >>> clf.ledger_[0].rows < 100, clf.score(X, y) > 0.9
    (True, True)

    References
    ----------
    Panda, Chang, Wu: Concept boundary detection for speeding up SVMs (2006).
    """

    name = "concept_boundary"
    yields = frozenset({"one part"})

    neighbours: int = setting(100, at_least=1, help="how many neighbours a row's list holds")
    mass: float = setting(
        0.999, above=0, at_most=1, help="share of all scores that the rows kept must hold"
    )

    def divide(self, problem: Problem) -> Stages:
        kept = self._select_rows(problem)
        members = yield [part(kept)]
        dropped = np.setdiff1d(np.arange(problem.n_rows), kept)
        return Division(members=members, held_back=dropped)

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, [part(self._select_rows(problem))])

    def _select_rows(self, problem: Problem) -> IntArray:
        scores = self._score_rows(problem)
        order = np.argsort(-scores, kind="stable")
        held = np.cumsum(scores[order])
        needed = int(np.searchsorted(held, self.mass * held[-1] * (1 - 1e-12))) + 1
        kept = order[: needed if held[-1] > 0 else 0]
        kept = kept[scores[kept] > 0]
        return np.union1d(kept, self._fill_classes(problem, kept))

    def _fill_classes(self, problem: Problem, kept: IntArray) -> IntArray:
        """Rows at random for classes with fewer near a boundary than a list is long.

        A class that touches no other would be forgotten, and its rows answered as others.
        """
        generator = problem.seed.generator()
        more = []
        for label in range(problem.n_classes):
            rows = np.setdiff1d(problem.rows_of(label), kept)
            missing = self.neighbours - int((problem.y[kept] == label).sum())
            more.append(generator.permutation(rows)[: max(missing, 0)])
        return np.concatenate(more)

    def _score_rows(self, problem: Problem) -> FloatArray:
        """What each row is worth as a neighbour of other classes: (n,).

        Of rows that repeat each is looked up once, and stands in lists as often as it is there.
        """
        few = merge_duplicates(problem.X, problem.y)
        X, y = (problem.X, problem.y) if few is None else (few.X, few.y)
        counts = np.ones(len(y), dtype=np.intp) if few is None else few.counts
        length = self.neighbours + 1
        finder = NearestNeighbors(
            n_neighbors=min(length, len(y)), algorithm=_choose_algorithm(X)
        ).fit(X)
        scores = np.zeros(len(y))
        for start in range(0, len(y), BLOCK_ROWS):
            asking = slice(start, start + BLOCK_ROWS)
            distances, others = finder.kneighbors(X[asking])
            copies = counts[others]
            listed = np.clip(length + copies - np.cumsum(copies, axis=1), 0, copies)
            listed[y[others] == y[asking, None]] = 0
            near = _weigh_neighbours(distances, listed) * listed / copies * counts[asking, None]
            np.add.at(scores, others.ravel(), near.ravel())
        return scores if few is None else scores[few.kind]


def _choose_algorithm(X: Matrix) -> str:
    """Trees of boxes pay with few features, or so many rows that no one can try them all."""
    if sparse.issparse(X) or X.shape[1] > FEATURES:
        return "brute"
    return "kd_tree" if X.shape[1] <= FEW_FEATURES or len(X) > MANY_ROWS else "brute"


def _weigh_neighbours(distances: FloatArray, listed: IntArray) -> FloatArray:
    """How near neighbours are, 1 for the nearest; 0 where no copy of them is in the list."""
    there = listed > 0
    squares = np.where(there, distances**2, np.inf)
    excess = squares - squares.min(axis=1, keepdims=True, initial=np.finfo(float).max)
    excess = np.where(there, excess, 0.0)
    typical = (excess * listed).sum(axis=1) / np.maximum(listed.sum(axis=1), 1)
    scale = np.where(typical > 0, typical, 1.0)[:, None]
    return np.where(there, np.exp(-excess / scale), 0.0)
