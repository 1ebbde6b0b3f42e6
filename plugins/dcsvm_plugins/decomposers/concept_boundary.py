"""The rows near class boundaries, as one part."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from dcsvm import Decomposer, Division, Problem, component, part, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, merge_duplicates
from dcsvm.toolbox import Level, Stages

#: Rows whose neighbours are looked up at a time, to bound the memory.
BLOCK_ROWS = 8192
#: Up to FEW_FEATURES a k-d tree is faster than brute force, with MANY_ROWS up to FEATURES.
FEW_FEATURES, FEATURES, MANY_ROWS = 10, 64, 150_000


@component
class ConceptBoundary(Decomposer):
    """One part with the rows that lie near another class, found by nearest neighbours.

    Each row looks up its nearest neighbours; those of other classes score by how close they are,
    relative to the closest one. The rows with the highest scores are kept until they hold the
    share `mass` of all scores. One set serves all pairs of classes.

    It pays if classes overlap little: most rows are then far from any other class and need not be
    trained on. The search for neighbours is exact, by a k-d tree in low dimensions and by brute
    force, quadratic in the rows, in high ones.

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
    rows_held = 7.0
    sibling = "cascade"

    neighbours: int = setting(100, at_least=1, help="number of neighbours per row")
    mass: float = setting(
        0.999, above=0, at_most=1, help="share of all scores that the kept rows must hold"
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
        """Draw more rows of classes with fewer kept rows than `neighbours`.

        A class far from all others would otherwise be missing from the part.
        """
        generator = problem.seed.generator()
        more = []
        for label in range(problem.n_classes):
            rows = np.setdiff1d(problem.rows_of(label), kept)
            missing = self.neighbours - int((problem.y[kept] == label).sum())
            more.append(generator.permutation(rows)[: max(missing, 0)])
        return np.concatenate(more)

    def _score_rows(self, problem: Problem) -> FloatArray:
        """Score each row, (n,), by how close it is to rows of other classes.

        Duplicate rows are looked up once and count as often as they occur.
        """
        few = merge_duplicates(problem.X, problem.y)
        X, y = (problem.X, problem.y) if few is None else (few.X, few.y)
        counts = np.ones(len(y), dtype=np.intp) if few is None else few.counts
        length = self.neighbours + 1
        from sklearn.neighbors import NearestNeighbors  # slow, and needed here only

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
    """Choose the k-d tree for few features or very many rows, otherwise brute force."""
    if sparse.issparse(X) or X.shape[1] > FEATURES:
        return "brute"
    return "kd_tree" if X.shape[1] <= FEW_FEATURES or len(X) > MANY_ROWS else "brute"


def _weigh_neighbours(distances: FloatArray, listed: IntArray) -> FloatArray:
    """Weigh neighbours by distance: 1 for the closest, 0 for those that are not in the list."""
    there = listed > 0
    squares = np.where(there, distances**2, np.inf)
    excess = squares - squares.min(axis=1, keepdims=True, initial=np.finfo(float).max)
    excess = np.where(there, excess, 0.0)
    typical = (excess * listed).sum(axis=1) / np.maximum(listed.sum(axis=1), 1)
    scale = np.where(typical > 0, typical, 1.0)[:, None]
    return np.where(there, np.exp(-excess / scale), 0.0)
