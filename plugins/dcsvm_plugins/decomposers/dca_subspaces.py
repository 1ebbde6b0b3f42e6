"""Subspaces of discriminant components."""

from typing import Literal

import numpy as np

from dcsvm import DataError, Problem, component, setting
from dcsvm.numeric import covariance, directions, means
from dcsvm.toolbox import LinearMap, Subspaces, View


@component
class DCASubspaces(Subspaces):
    """Discriminant components, dealt into subspaces: directions in which classes lie apart.

    They solve `S v = value (S_w + rho I) v`, where S is the covariance of all rows and S_w that
    of rows around the means of their classes. Components are numbered by how far they tell classes
    apart, 0 for the most. With a small ridge the first are Fisher's.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> spaces = build("decomposer", "dca_subspaces", groups=[[0]])
    >>> clf = DivideAndConquerClassifier(spaces, "linear_svm", "mean").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Kung: Kernel methods and machine learning (2014).
    Guo, Chen, Jiang, Ji, Kung: Efficient divide-and-conquer classification based on feature-space
    decomposition (2015).
    """

    name = "dca_subspaces"

    ridge: float = setting(
        1e-3, above=0, help="rho as a share of the features' mean variance inside classes"
    )
    length: Literal["unit", "within"] = setting(
        "unit", help="directions of length 1, or such that rows of a class have deviation 1"
    )
    max_features: int = setting(
        10_000, at_least=1, help="more features are refused: their covariances are d x d"
    )

    def views(self, problem: Problem) -> list[View]:
        self.check_width(problem, self.max_features)
        mean = means(problem.X, problem.weights)
        total = covariance(problem.X, problem.weights, mean)
        of_classes = means(problem.X, problem.weights, problem.y, problem.n_classes)
        within = covariance(problem.X, problem.weights, of_classes, problem.y)
        # Where every row is its class's mean, the variance around the common mean is all there is.
        variance = np.trace(within) or np.trace(total) or 1.0
        np.fill_diagonal(within, within.diagonal() + self.ridge * variance / len(within))
        try:
            components = directions(total, within)
        except np.linalg.LinAlgError as error:
            raise DataError(
                f"dca_subspaces: features depend on each other, and a ridge of {self.ridge:g} is "
                "too small to tell them apart; make it larger"
            ) from error
        if self.length == "unit":
            components = components / np.linalg.norm(components, axis=0)
        return [
            LinearMap(np.ascontiguousarray(components[:, group]), mean[0] @ components[:, group])
            for group in self.deal_features(problem, named=False)
        ]
