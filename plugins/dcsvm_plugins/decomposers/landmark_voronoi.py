"""Voronoi cells of random landmarks, by number, size or radius."""

import numpy as np

from dcsvm import Decomposer, Problem, component, setting
from dcsvm.numeric import FloatArray, as_dense, squared_distances
from dcsvm.toolbox import Hyperplanes, Regions, Stages


@component
class LandmarkVoronoi(Decomposer):
    """The partitions of liquidSVM: cells of rows that are nearest to a landmark, with overlap.

    Landmarks are random rows, so dividing costs a distance of each row to each landmark, less than
    k-means. There are as many as give cells of `size` rows on average. With a `radius`, landmarks
    are added until each row is within it. `overlap` adds the nearest rows from outside to the part
    of a cell.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> cells = build("decomposer", "landmark_voronoi", size=50, overlap=0.2)
    >>> clf = DivideAndConquerClassifier(cells, "kernel_svm", "route", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Thomann, Blaschzyk, Meister, Steinwart: Spatial decompositions for large scale SVMs (2017).
    """

    name = "landmark_voronoi"
    yields = frozenset({"regions"})
    rows_held = 0.0

    size: int = setting(1000, at_least=1, help="mean number of rows of a cell")
    radius: float | None = setting(
        None, above=0, help="distance of each row to a landmark at most; replaces size"
    )
    overlap: float = setting(
        0.0, at_least=0, help="nearest rows from outside, as a share of the rows of a cell"
    )

    def divide(self, problem: Problem) -> Stages:
        landmarks = np.unique(self._choose(problem), axis=0)
        while True:
            biases = -np.square(landmarks).sum(axis=1)
            regions = Regions(Hyperplanes(2.0 * landmarks.T, biases))
            used = np.unique(regions.route(problem.X).member)
            if len(used) == len(landmarks):
                break
            landmarks = landmarks[used]
        yield regions.parts(problem, self.overlap)
        return regions

    def _choose(self, problem: Problem) -> FloatArray:
        """The landmarks, (m, d)."""
        order = problem.seed.generator().permutation(problem.n_rows)
        if self.radius is None:
            return as_dense(problem.X[order[: max(1, round(problem.n_rows / self.size))]])
        nearest, chosen = np.full(problem.n_rows, np.inf), []
        for row in order:
            if nearest[row] > self.radius**2:
                chosen.append(row)
                here = squared_distances(problem.X, problem.X[[row]])[:, 0]
                nearest = np.minimum(nearest, here)
        return as_dense(problem.X[np.array(chosen)])
