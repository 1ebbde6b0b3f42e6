"""Subspaces of principal components."""

import numpy as np

from dcsvm import Problem, component, setting
from dcsvm.numeric import covariance, directions, means
from dcsvm.toolbox import LinearMap, Subspaces, View


@component
class PCASubspaces(Subspaces):
    """Principal components, split into subspaces that are uncorrelated with each other.

    Components are numbered by decreasing variance from 0, and keep that order within a subspace.
    They are not rescaled: distances in a subspace are those of the projected rows.

    It needs the d x d covariance matrix and its eigenvectors, so it suits up to some thousands of
    features. Sparse rows become dense in the subspaces.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> spaces = build("decomposer", "pca_subspaces", groups=[[0, 1, 2], [0, 3, 4]])
    >>> clf = DivideAndConquerClassifier(spaces, "krr", "mean").fit(X, y)
    >>> [member.view.matrix.shape for member in clf.model_.committee.members]
    [(30, 3), (30, 3)]

    References
    ----------
    Guo, Chen, Jiang, Ji, Kung: Efficient divide-and-conquer classification based on feature-space
    decomposition (2015).
    """

    name = "pca_subspaces"
    rows_held = 2.5
    sibling = "rd_subspaces"

    max_features: int = setting(
        10_000, at_least=1, help="raise above this number of features; the covariance is d x d"
    )

    def views(self, problem: Problem) -> list[View]:
        self.check_width(problem, self.max_features)
        mean = means(problem.X, problem.weights)
        components = directions(covariance(problem.X, problem.weights, mean))
        return [
            LinearMap(np.ascontiguousarray(components[:, group]), mean[0] @ components[:, group])
            for group in self.deal_features(problem, named=False)
        ]
