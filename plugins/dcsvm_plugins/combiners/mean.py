"""The mean of the members' scores."""

from dcsvm import Combiner, Committee, component
from dcsvm.numeric import FloatArray, Matrix, Plan, Step
from dcsvm.toolbox import rank_classes

#: The score of a class that is sure to lose.
MISSING_SCORE = -1.0


@component
class Mean(Combiner):
    """The mean score of each class over the members that can score it.

    With routers, as in a forest, a class without training rows in a region scores -1 there. All
    groups are asked about every row. Scores should be on the same scale.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("chunks", "krr", "mean", random_state=0).fit(X, y)
    >>> clf.decision_function(X).shape
    (150, 3)
    """

    name = "mean"

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step:
        return plan.mean(MISSING_SCORE)

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        return committee.mean_scores(X, missing_score=MISSING_SCORE)

    def probabilities(self, committee: Committee, X: Matrix) -> FloatArray | None:
        return committee.mean_probabilities(X)

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        return [
            f"class {label} has the mean score {scores[label]:.4g}"
            for label in rank_classes(scores)
        ]
