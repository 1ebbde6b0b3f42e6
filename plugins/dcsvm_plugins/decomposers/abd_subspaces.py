"""Subspaces that are weighted sums of blocks of features."""

import numpy as np

from dcsvm import Problem, component
from dcsvm.numeric import IntArray, block_products, directions
from dcsvm.toolbox import BlockSum, Subspaces, View


@component
class ABDSubspaces(Subspaces):
    """Approximate block decomposition: each subspace is a weighted sum of blocks of features.

    The features are split at random into m blocks of equal size, padded with zeros. The inner
    products of the blocks, summed over the rows, form an m x m matrix, and each of its m
    eigenvectors gives one subspace: the sum of all blocks, weighted by the entries of the
    eigenvector. Seen as single vectors, two of these sums are orthogonal.

    The cost is one pass over the data and an m x m eigenproblem, for any number of features.
    Sparse rows stay sparse. If more than m subspaces are asked for, the features are split into
    blocks again.

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
    rows_held = 4.5
    sibling = "rd_subspaces"

    def views(self, problem: Problem) -> list[View]:
        wanted = len(self.groups) or self.subspaces
        views = [
            view for groups in self.groupings(problem) for view in sum_blocks(problem, groups)
        ]
        return views[:wanted]


def sum_blocks(problem: Problem, groups: list[IntArray]) -> list[View]:
    """Return the views of one grouping: a sum of its blocks per eigenvector, largest first."""
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
