"""Subspaces of randomly chosen features."""

from dcsvm import Problem, component
from dcsvm.toolbox import Columns, Subspaces, View


@component
class RDSubspaces(Subspaces):
    """Random decomposition: each subspace is a random choice of the features.

    All features are used equally often; subspaces may overlap. Nothing is computed, and sparse
    rows with millions of features stay sparse. It is the baseline for the other subspace
    decomposers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> spaces = build("decomposer", "rd_subspaces", subspaces=3, features=10)
    >>> clf = DivideAndConquerClassifier(spaces, "krr", "mean", random_state=0).fit(X, y)
    >>> [member.view.columns.size for member in clf.model_.committee.members]
    [10, 10, 10]

    References
    ----------
    Guo, Chen, Jiang, Ji, Kung: Efficient divide-and-conquer classification based on feature-space
    decomposition (2015).
    """

    name = "rd_subspaces"
    rows_held = 0.0

    def views(self, problem: Problem) -> list[View]:
        return [Columns(group) for group in self.deal_features(problem)]
