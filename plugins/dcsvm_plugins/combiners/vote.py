"""The majority vote of the members."""

import numpy as np

from dcsvm import Combiner, Committee, component
from dcsvm.numeric import FloatArray, Matrix, Plan, Step
from dcsvm.toolbox import are_pairs, couple_pairs, rank_classes


@component
class Vote(Combiner):
    """Each member votes for the classes on its winning side; ties go to the larger mean score.

    Over class pairs this is Max Wins. The score of a class is its number of votes plus a share
    below one half that grows with the mean of its decision values. All members are asked about
    every row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y)
    >>> bool(clf.decision_function(X).max() < 2.5)
    True

    References
    ----------
    Friedman: Another approach to polychotomous classification (1996).
    """

    name = "vote"

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step:
        if not plan.votes:
            return plan.couple() if are_pairs(committee) else plan.mean()
        return plan.vote()

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        votes = np.zeros((X.shape[0], committee.n_classes))
        sums = np.zeros_like(votes)
        known = np.zeros_like(votes)
        for answers in committee.answers(X):
            votes[answers.rows] += answers.votes()
            sums[answers.rows] += answers.sums()
            known[answers.rows] += answers.total_weights()
        means = sums / np.maximum(known, 1.0)
        scores = votes + means / (3.0 * (np.abs(means) + 1.0))
        return np.where(known > 0, scores, np.nan)

    def margins(self, committee: Committee, X: Matrix) -> FloatArray:
        if are_pairs(committee):
            return couple_pairs(committee, X)
        return committee.mean_scores(X)

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        # The share that decides ties is below one half: rounding leaves the votes.
        return [
            f"class {label} has {round(scores[label])} votes" for label in rank_classes(scores)
        ]
