"""The class whose own member gives the largest score."""

import numpy as np

from dcsvm import Combiner, Committee, component
from dcsvm.numeric import FloatArray, Matrix, Plan, Step
from dcsvm.toolbox import mean_or_nan, rank_classes


@component
class Argmax(Combiner):
    """One against the rest: the class whose own member gives the largest score wins.

    The score of a class is the answer of the member that has it on the positive side, or the mean
    over several such members. All members are asked about every row. Scores of different members
    are compared directly, so members should be on the same scale.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_rest", "krr", "argmax").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    name = "argmax"
    accepts = frozenset({"class codes", "groups"})

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step:
        return plan.argmax()

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        sums = np.zeros((X.shape[0], committee.n_classes))
        counts = np.zeros_like(sums)
        for answers in committee.answers(X):
            sums[answers.rows] += answers.gains()
            counts[answers.rows] += answers.positive_weights()
        return mean_or_nan(sums, counts)

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        return [
            f"class {label}: its own member says {scores[label]:.4g}"
            for label in rank_classes(scores)
        ]
