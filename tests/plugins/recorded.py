"""What a decomposer of several stages yielded and was sent back, and the dual it stands for."""

from typing import Any

import attrs
import numpy as np
from sklearn.svm import SVC

from dcsvm import Decomposer, DivideAndConquerClassifier, build, component
from dcsvm.base.stages import finish_stages
from dcsvm.toolbox import Constant


@component
class Recorded(Decomposer):
    """A decomposer that keeps the parts and members of every stage of another one."""

    decomposer: Any = attrs.field()

    def __attrs_post_init__(self):
        self.steps = []

    @property
    def yields(self):
        return self.decomposer.yields

    def divide(self, problem):
        work = finish_stages(self.decomposer.divide(problem))
        try:
            parts = next(work)
            while True:
                members = yield parts
                self.steps.append((parts, members))
                parts = work.send(members)
        except StopIteration as stop:
            return stop.value


def recorded(decomposer, X, y, seed=0, **settings):
    """The steps of a decomposer with kernel machines, and the fitted classifier."""
    watched = Recorded(decomposer)
    machine = build("learner", "kernel_svm", **{"C": 10.0, "gamma": 0.5, **settings})
    classifier = DivideAndConquerClassifier(watched, machine, "route", random_state=seed)
    return watched.steps, classifier.fit(X, y)


def kept(*members):
    """The rows that members kept, row by row, as sets of numbers."""
    rows = set()
    for member in members:
        one_class = isinstance(member.model, Constant)
        rows |= set((member.part.rows if one_class else member.support).tolist())
    return sorted(rows)


def alpha_of(member):
    """The signed duals of a member, row by row."""
    if isinstance(member.model, Constant):
        return {}
    return dict(zip(member.support.tolist(), member.duals[:, 0].tolist(), strict=True))


def overlapping(rows=160, seed=0, ties=True):
    """Two classes that overlap; with ties, most rows are repeated, some in both classes."""
    generator = np.random.default_rng(seed)
    y = generator.permutation(np.arange(rows) % 2)
    X = generator.normal(size=(rows, 2)) + 1.5 * y[:, None]
    return (np.round(2 * X) / 2 if ties else X), y


def dual_objective(X, y, duals, gamma):
    """1/2 a'Ka - sum |a| from the definition, for signed duals (n,)."""
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    return 0.5 * duals @ np.exp(-gamma * distances) @ duals - np.abs(duals).sum()


def objective_of(classifier, X, y, gamma):
    """The dual objective that the one member of a classifier reached on all rows."""
    (member,) = classifier.model_.committee.members
    duals = np.zeros(len(y))
    duals[member.support] = member.duals[:, 0]
    return dual_objective(X, y, duals, gamma)


def libsvm_objective(X, y, C, gamma):
    """The dual objective of scikit-learn's libsvm on all rows, solved tightly."""
    svc = SVC(C=C, gamma=gamma, tol=1e-8).fit(X, y)
    duals = np.zeros(len(y))
    duals[svc.support_] = svc.dual_coef_[0]
    return dual_objective(X, y, duals, gamma)
