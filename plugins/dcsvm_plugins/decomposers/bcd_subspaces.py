"""Subspaces of feature groups that are decorrelated from each other."""

from itertools import pairwise

import numpy as np

from dcsvm import Problem, component, setting
from dcsvm.numeric import FloatArray, IntArray, covariance, means
from dcsvm.toolbox import LinearMap, Subspaces, View

#: A feature that keeps less than this share of its variance is rounding noise: it becomes zero.
EXPLAINED = 1e-10


@component
class BCDSubspaces(Subspaces):
    """Block Cholesky decomposition: groups of features that are uncorrelated with each other.

    The covariance matrix is eliminated block by block, so that each group loses what the groups
    before it explain. Features of one group keep their correlation. The groups of one grouping
    hold every feature once; more subspaces come from further groupings.

    It needs the d x d covariance matrix, so it suits up to some thousands of features. Sparse rows
    become dense in the subspaces.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> spaces = build("decomposer", "bcd_subspaces", subspaces=4, features=15)
    >>> clf = DivideAndConquerClassifier(spaces, "krr", "mean", random_state=0).fit(X, y)
    >>> [member.view.matrix.shape for member in clf.model_.committee.members]
    [(30, 15), (30, 15), (30, 15), (30, 15)]

    References
    ----------
    Guo, Chen, Jiang, Ji, Kung: Efficient divide-and-conquer classification based on feature-space
    decomposition (2015).
    """

    name = "bcd_subspaces"
    rows_held = 2.5
    sibling = "rd_subspaces"

    max_features: int = setting(
        10_000, at_least=1, help="raise above this number of features; the covariance is d x d"
    )

    def views(self, problem: Problem) -> list[View]:
        self.check_width(problem, self.max_features)
        mean = means(problem.X, problem.weights)
        matrix = covariance(problem.X, problem.weights, mean)
        wanted = len(self.groups) or self.subspaces
        maps = [each for groups in self.groupings(problem) for each in decorrelate(matrix, groups)]
        return [LinearMap(each, mean[0] @ each) for each in maps[:wanted]]


def decorrelate(covariance: FloatArray, groups: list[IntArray]) -> list[FloatArray]:
    """Return for each group the map (d, group size) that makes the groups uncorrelated.

    A feature that earlier groups explain completely becomes zero.
    """
    d = len(covariance)
    order = np.concatenate(groups)
    edges = np.cumsum([0] + [len(group) for group in groups])
    rest = covariance[np.ix_(order, order)]
    transform = np.eye(d)
    for start, stop in pairwise(edges.tolist()):
        mine, later = slice(start, stop), slice(stop, d)
        explained = rest.diagonal()[mine] <= EXPLAINED * covariance.diagonal()[order[mine]]
        transform[mine][explained] = 0.0
        gain = rest[later, mine] @ _invert(rest[mine, mine])
        rest[later, later] -= gain @ rest[mine, later]
        transform[later] -= gain @ transform[mine]
    maps = []
    for start, stop in pairwise(edges.tolist()):
        each = np.zeros((d, stop - start))
        each[order] = transform[start:stop].T
        maps.append(each)
    return maps


def _invert(block: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric block; of a singular one, the pseudo-inverse."""
    values, vectors = np.linalg.eigh(block)
    kept = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    return np.asarray((vectors[:, kept] / values[kept]) @ vectors[:, kept].T)
