"""The answer of the member that a row is routed to."""

from dcsvm import Combiner, Committee, component
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step


@component
class Route(Combiner):
    """The answer of the region that a row falls into, weighted if the router names several.

    A row asks only the members of its regions, so prediction costs one local model plus routing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> DivideAndConquerClassifier("tree", "kernel_svm", "route").fit(X, y).score(X, y) > 0.9
    True
    """

    name = "route"
    accepts = frozenset({"regions", "one part"})

    def labels(self, committee: Committee, X: Matrix) -> IntArray:
        """The winners of rows X; for a row with a single member, the label that it predicts."""
        return committee.routed_labels(X)

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step:
        return plan.route()

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        return committee.mean_scores(X)

    def probabilities(self, committee: Committee, X: Matrix) -> FloatArray | None:
        return committee.mean_probabilities(X)
