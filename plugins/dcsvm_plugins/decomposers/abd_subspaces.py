"""Subspaces of blocks of features added up."""

import numpy as np

from dcsvm import Problem, component
from dcsvm.numeric import IntArray, block_products, directions
from dcsvm.toolbox import BlockSum, Subspaces, View


@component
class ABDSubspaces(Subspaces):
    """Approximate block decomposition: whole blocks of features, added up with weights.

    The features are dealt into m blocks of one size (padded with zeros). The m x m matrix of the
    blocks' inner products, summed over rows, has m eigenvectors, and each of these makes one
    subspace: the sum of all blocks, weighed by its entries. Taken as single vectors, two such sums
    are orthogonal. It takes a pass over the values of the rows and an m x m problem, however many
    features there are; sparse rows stay sparse. More subspaces come from other blocks.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> spaces = build("decomposer", "abd_subspaces", subspaces=3, features=10)
    >>> clf = DivideAndConquerClassifier(spaces, "krr", "mean", random_state=0).fit(X, y)
    >>> [member.view.width for member in clf.model_.committee.members]
    [10, 10, 10]

    References
    ----------
    Guo, Chen, Jiang, Ji, Kung: Efficient divide-and-conquer classification based on feature-space
    decomposition (2015).
    """

    name = "abd_subspaces"

    def views(self, problem: Problem) -> list[View]:
        wanted = len(self.groups) or self.subspaces
        views = [
            view for groups in self.groupings(problem) for view in sum_blocks(problem, groups)
        ]
        return views[:wanted]


def sum_blocks(problem: Problem, groups: list[IntArray]) -> list[View]:
    """The views of one grouping: a sum of its blocks for each eigenvector, the largest first."""
    width = max(len(group) for group in groups)
    place = np.zeros(problem.n_features, dtype=np.int32)
    block = np.zeros(problem.n_features, dtype=np.int32)
    for number, group in enumerate(groups):
        place[group] = np.arange(len(group))
        block[group] = number
    products = block_products(problem.X, problem.weights, place, block, len(groups), width)
    vectors = directions(products)
    return [
        BlockSum(place, block, np.ascontiguousarray(vectors[:, number]), width)
        for number in range(len(groups))
    ]
