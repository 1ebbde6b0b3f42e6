"""Subspaces of discriminant components."""

from typing import Literal

import numpy as np

from dcsvm import DataError, Problem, component, setting
from dcsvm.numeric import covariance, directions, means
from dcsvm.toolbox import LinearMap, Subspaces, View


@component
class DCASubspaces(Subspaces):
    """Discriminant components, split into subspaces: directions that separate the classes.

    They solve `S v = value (S_w + rho I) v`, where S is the covariance of all rows and S_w the
    covariance within classes. Components are numbered by how well they separate the classes, 0
    first. With a small ridge the first ones are Fisher's discriminants.

    It needs two d x d covariance matrices and a generalized eigenproblem, so it suits up to some
    thousands of features. Sparse rows become dense in the subspaces.

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
    rows_held = 3.5
    sibling = "rd_subspaces"

    ridge: float = setting(
        1e-3, above=0, help="rho, as a share of the mean variance within classes"
    )
    length: Literal["unit", "within"] = setting(
        "unit", help="scale directions to length 1, or to unit variance within classes"
    )
    max_features: int = setting(
        10_000, at_least=1, help="raise above this number of features; the covariance is d x d"
    )

    def views(self, problem: Problem) -> list[View]:
        self.check_width(problem, self.max_features)
        mean = means(problem.X, problem.weights)
        total = covariance(problem.X, problem.weights, mean)
        of_classes = means(problem.X, problem.weights, problem.y, problem.n_classes)
        within = covariance(problem.X, problem.weights, of_classes, problem.y)
        # If every row equals the mean of its class, fall back to the total variance.
        variance = np.trace(within) or np.trace(total) or 1.0
        np.fill_diagonal(within, within.diagonal() + self.ridge * variance / len(within))
        try:
            components = directions(total, within)
        except np.linalg.LinAlgError as error:
            raise DataError(
                f"dca_subspaces: the features are linearly dependent, and ridge = {self.ridge:g} "
                "is too small to make the problem solvable; use a larger ridge"
            ) from error
        if self.length == "unit":
            components = components / np.linalg.norm(components, axis=0)
        return [
            LinearMap(np.ascontiguousarray(components[:, group]), mean[0] @ components[:, group])
            for group in self.deal_features(problem, named=False)
        ]
