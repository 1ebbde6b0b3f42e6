"""The weighted sum of the members' scores."""

import numpy as np

from dcsvm import Combiner, Committee, component
from dcsvm.numeric import FloatArray, Matrix, Plan, Step
from dcsvm.toolbox import rank_classes

#: The score that a member gives to a class that it does not know.
UNKNOWN = -1.0


@component
class WeightedSum(Combiner):
    """The sum of scores, times the weights of members and of routers: additive models.

    A class that a member does not know gets -1 from it. Unlike `mean`, the sum grows with the
    number of members asked, so its size says how much they agree. With `boosting` it is the
    additive model of AdaBoost over real scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> boosting = build("decomposer", "boosting", rounds=5)
    >>> clf = DivideAndConquerClassifier(boosting, "linear_svm", "weighted_sum", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Friedman, Hastie, Tibshirani: Additive logistic regression (2000).
    """

    name = "weighted_sum"

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step:
        return plan.weighted_sum()

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        sums = np.zeros((X.shape[0], committee.n_classes))
        met = np.zeros(sums.shape, dtype=bool)
        for answers in committee.answers(X):
            known = answers.total_weights()
            asked = np.ones((len(answers.rows), len(answers.members)))
            asked = asked if answers.weights is None else asked * answers.weights
            sums[answers.rows] += answers.sums()
            met[answers.rows] |= known > 0
            missing = np.maximum(asked.sum(axis=1)[:, None] - known, 0.0)
            sums[answers.rows] += UNKNOWN * missing
        return np.where(met, sums, np.nan)

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        return [f"class {label} has the sum {scores[label]:.4g}" for label in rank_classes(scores)]
