"""Boosting: each member is trained with more weight on the rows that the last one got wrong."""

import numpy as np

from dcsvm import DataError, Decomposer, Division, Member, Part, Problem, component, setting
from dcsvm.numeric import FloatArray
from dcsvm.toolbox import Stages

#: The least error and the least weight of a row: a perfect member would have infinite weight.
LEAST = 1e-10


@component
class Boosting(Decomposer):
    """SAMME: AdaBoost for any number of classes, over any learner that takes row weights.

    Each member is trained on all rows, one after the other. Rows that a member gets wrong weigh
    more for the next one, and members with fewer errors weigh more in the vote. A member that is
    no better than chance ends it, as does one without errors. With `vote` this is SAMME; `mean`
    uses scores instead. Use it with weak learners: a kernel SVM leaves few errors to learn from,
    and noisy labels get more and more weight.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> stump = build("learner", "sklearn", classifier="DecisionTreeClassifier",
    ...               settings={"max_depth": 1})
    >>> clf = DivideAndConquerClassifier("boosting", stump, "vote", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Hastie, Rosset, Zhu, Zou: Multi-class AdaBoost (2009).
    """

    name = "boosting"
    yields = frozenset({"subsets", "weights"})
    sibling = "growing_bags"
    needs_row_weights = True

    rounds: int = setting(50, at_least=1, help="maximum number of members")
    rate: float = setting(1.0, above=0, help="learning rate: how much each member counts")

    def divide(self, problem: Problem) -> Stages:
        everyone, chances = np.arange(problem.n_rows), len(np.unique(problem.y)) - 1
        masses, boosts = problem.masses, np.ones(problem.n_rows)
        members: list[Member] = []
        weights: list[float] = []
        while len(members) < self.rounds:
            given = boosts / np.average(boosts, weights=masses)
            (member,) = yield [Part(everyone, weights=np.maximum(given, LEAST))]
            wrong = _find_errors(member, problem)
            error = max(float(np.average(wrong, weights=masses * given)), LEAST)
            weight = self.rate * (np.log((1.0 - error) / error) + np.log(chances))
            if weight <= 0.0 and members:
                break
            members.append(member)
            weights.append(max(weight, LEAST))
            if weight <= 0.0 or not wrong.any():
                break
            boosts = given * np.exp(weight * wrong)
        return Division(members=members, weights=np.array(weights))


def _find_errors(member: Member, problem: Problem) -> FloatArray:
    """1.0 for each row that the member gets wrong, as (n,)."""
    labels = member.labels(problem.X)
    if labels is None:
        raise DataError("boosting: the members cannot tell all classes apart")
    return np.asarray(labels != problem.y, dtype=float)
