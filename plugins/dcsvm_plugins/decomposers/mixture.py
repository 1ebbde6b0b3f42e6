"""A mixture of experts: a gate assigns rows to experts, and the experts learn their rows."""

from typing import Any

import attrs
import numpy as np
import scipy

from dcsvm import Decomposer, Division, Member, Part, Problem, Router, Routing, component, setting
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step
from dcsvm.toolbox import NormalizedWeights, Stages, deal_rows

#: The score of an expert that the gate has not learned, and of a class that an expert lacks.
UNKNOWN = -1.0


@attrs.frozen(eq=False)
class Gate(Router):
    """Routes every row to every expert, with weights from a learned gate."""

    gate: Member
    steepness: float
    soft = True

    def check_stored(self, **sizes: int) -> dict[str, int]:
        experts = sizes.get("members", int(self.gate.code.shape[1]))
        self.gate.check_stored(**sizes | {"classes": experts})
        return sizes

    def weigh_experts(self, X: Matrix) -> FloatArray:
        """The weights (n, experts) of the experts; rows sum to one."""
        logits = self.steepness * _score_labels(self.gate, X)
        return np.asarray(scipy.special.softmax(logits, axis=1))

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        scores, code = self.gate.add_to_plan(plan, n_features), self.gate.code
        by_label = plan.affine(code.astype(float), np.where(code.any(axis=0), 0.0, UNKNOWN))
        return plan.gate(plan.chain(scores, by_label), self.steepness)

    def route(self, X: Matrix) -> Routing:
        weights, cost = self.weigh_experts(X), self.gate.model.answer(X[:1])[1]
        row, member = np.divmod(np.arange(weights.size), weights.shape[1])
        counts = (cost.hyperplanes, cost.unique_kernel_evaluations)
        planes, kernels = (np.full(len(weights), float(np.mean(count))) for count in counts)
        return Routing(row, member, weights.ravel(), planes, kernels)


@component
class Mixture(Decomposer):
    """A hard mixture of SVMs: experts are trained on parts, and the gate decides the parts.

    Rows are dealt to experts at random. Then, in each round, the experts are trained on their
    rows, the gate learns which expert suits each row best, and rows go to the experts that the
    gate prefers, up to `slack` times an equal share. In the paper the gate is a network trained on
    the error of the mixture; here it is any classifier of the expert with the largest margin, and
    it is a part like any other. On validation rows of five data sets, more than one round made it
    worse: experts of rows that are alike know too few classes. Every expert is asked about every
    row, so prediction costs all of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> mixture = build("decomposer", "mixture", experts=3)
    >>> clf = DivideAndConquerClassifier(mixture, "kernel_svm", "route", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Collobert, Bengio, Bengio: A parallel mixture of SVMs for very large scale problems (2002).
    """

    name = "mixture"
    yields = frozenset({"regions"})
    sibling = "kmeans"
    stored_types = (Gate,)

    experts: int = setting(8, at_least=1, help="number of experts")
    rounds: int = setting(1, at_least=1, help="how often experts and gate are trained in turn")
    slack: float = setting(1.5, at_least=1, help="rows of an expert, in multiples of equal shares")
    steepness: float = setting(2.0, above=0, help="how clearly the gate prefers an expert")
    gate: Any = setting("logistic", kind="learner", help="learns which expert suits a row")

    def divide(self, problem: Problem) -> Stages:
        rows = deal_rows(problem.y, self.experts, problem.seed.generator())
        everyone, limit = np.arange(problem.n_rows), self.slack * problem.n_rows / len(rows)
        for _ in range(self.rounds):
            experts = yield [Part(each) for each in rows if len(each)]
            best = np.stack([_margins(each, problem) for each in experts]).argmax(axis=0)
            learner = NormalizedWeights(self.gate)
            (gate,) = yield [Part(everyone, labels=best, n_labels=len(experts), learner=learner)]
            router = Gate(gate.without_part(), self.steepness)
            rows = _assign(router.weigh_experts(problem.X), int(np.ceil(limit)))
        return Division(router, experts)


def _score_labels(member: Member, X: Matrix) -> FloatArray:
    """The scores of the labels of a member, (n, labels)."""
    known = member.code.any(axis=0)
    return np.where(known, member.scores(X) @ member.code, UNKNOWN)


def _margins(expert: Member, problem: Problem) -> FloatArray:
    """How much better an expert scores the class of each row than any other, (n,)."""
    scores, rows = _score_labels(expert, problem.X), np.arange(problem.n_rows)
    own = scores[rows, problem.y]
    scores[rows, problem.y] = -np.inf
    return np.asarray(own - scores.max(axis=1))


def _assign(weights: FloatArray, limit: int) -> list[IntArray]:
    """Assign rows to their preferred experts with free capacity, the clearest rows first."""
    expert_of, room = np.full(len(weights), -1), np.full(weights.shape[1], limit)
    for row in np.argsort(-weights.max(axis=1), kind="stable"):
        open_to = np.where(room > 0, weights[row], -1.0)
        expert_of[row] = open_to.argmax()
        room[expert_of[row]] -= 1
    return [np.flatnonzero(expert_of == expert) for expert in range(weights.shape[1])]
