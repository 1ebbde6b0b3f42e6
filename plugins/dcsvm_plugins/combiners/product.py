"""The product of the members' probabilities."""

from typing import Literal

import attrs
import numpy as np
import scipy

from dcsvm import Combiner, Committee, LocalModel, Member, Problem, component, setting
from dcsvm.numeric import FloatArray, Matrix, Plan, Step, axes
from dcsvm.toolbox import Combination, Constant, rank_classes

#: No member can rule out a class for good: the least probability that counts.
LEAST = 1e-9
#: Logits of members without probabilities are their scores times this.
STEEPNESS = 2.0


@attrs.frozen(eq=False)
class ProbabilityProduct(Combination):
    """The sum of log-probabilities, less those of the prior for all members but one."""

    logs: FloatArray = attrs.field(metadata=axes("classes"))

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step | None:
        if any(_may_have_probabilities(member) for member in committee.members):
            return None
        return plan.product(self.logs, STEEPNESS, LEAST)

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        sums, total = np.zeros((X.shape[0], committee.n_classes)), np.zeros((X.shape[0], 1))
        met = np.zeros(sums.shape, dtype=bool)
        for answers in committee.answers(X):
            for place, number in enumerate(answers.members):
                member, mine = committee.members[number], answers.owner == place
                weight: FloatArray = np.ones((len(answers.rows), 1))
                if answers.weights is not None:
                    weight = answers.weights[:, [place]]
                shares = _find_shares(member, X[answers.rows], answers.values[:, mine])
                sums[answers.rows] += weight * np.log(np.maximum(shares, LEAST))
                total[answers.rows] += weight
                met[answers.rows] |= (weight > 0) & np.asarray(member.code).any(axis=0)
        sums -= np.maximum(total - 1.0, 0.0) * self.logs
        logs = scipy.special.log_softmax(np.where(met, sums, -np.inf), axis=1)
        return np.where(met, logs, np.nan)

    def probabilities(self, committee: Committee, X: Matrix) -> FloatArray | None:
        if any(member.probabilities(X[:1]) is None for member in committee.members):
            return None
        return np.nan_to_num(np.exp(self.combine(committee, X)))

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        logs = self.combine(committee, x)[0]
        return [f"class {c} has the log-probability {logs[c]:.4g}" for c in rank_classes(logs)]


def _may_have_probabilities(member: Member) -> bool:
    """Whether a member may have probabilities of its own; those of one class are certain."""
    own = type(member.model).probabilities is not LocalModel.probabilities
    return own or bool(isinstance(member.model, Constant) and np.count_nonzero(member.code) > 1)


def _find_shares(member: Member, X: Matrix, values: FloatArray) -> FloatArray:
    """The probabilities (n, classes) of a member, or the softmax of its scores."""
    own = member.probabilities(X)
    known = np.asarray(member.code).any(axis=0)
    if own is None:
        logits = np.where(known, STEEPNESS * (values @ member.code), -np.inf)
        own = np.exp(scipy.special.log_softmax(logits, axis=1)) * (1.0 - member.missing_class_mass)
    return np.where(known, own, member.missing_class_mass / max(int((~known).sum()), 1))


@component
class Product(Combiner):
    """A product of experts: probabilities of the members multiplied, with their weights.

    With `prior="divide"` it is the Bayesian committee machine for classes: every member has seen
    the prior, so the product is divided by it for all members but one. That is exact for members
    that are independent given the class, such as feature subspaces of naive Bayes. A product is
    decided by whoever is sure, so members should have probabilities that can be trusted
    (`logistic`); of others, the softmax of the scores is used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("chunks", "logistic", "product", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Hinton: Products of experts (1999).
    Tresp: The generalized Bayesian committee machine (2000).
    """

    name = "product"
    accepts = frozenset({"one part", "regions", "subsets", "subspaces", "groups", "weights"})
    stored_types = (ProbabilityProduct,)

    prior: Literal["divide", "ignore"] = setting(
        "divide", help="count the prior of classes once, or not at all"
    )

    def fit(
        self, committee: Committee, problem: Problem, answers: FloatArray | None
    ) -> ProbabilityProduct:
        masses = np.bincount(problem.y, problem.weights, minlength=committee.n_classes)
        shares = np.maximum(masses / masses.sum(), LEAST)
        return ProbabilityProduct(np.log(shares) * (self.prior == "divide"))

    def check_committee(self, committee: Committee) -> None:
        raise ValueError("product must be fitted: a classifier holds its ProbabilityProduct")

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        raise NotImplementedError("product must be fitted first")
