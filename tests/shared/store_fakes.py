"""Components for the tests of model files, and what these tests share."""

import types

import attrs
import numpy as np
from fakes import Average, Centroids, Deal, Everything, Regional, Strips, blobs
from sklearn.base import clone

import dcsvm
from dcsvm import (
    Combiner,
    Decomposer,
    DivideAndConquerClassifier,
    LocalLearner,
    LocalModel,
    Part,
    component,
    setting,
)
from dcsvm.drive.registry import Registry
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Chain, Columns, Combination, KernelExpansion, Scaling, View, Wrapped


@attrs.frozen(eq=False)
class Keepsake(LocalModel):
    """A model with a field of every kind."""

    things: object
    skipped: object = attrs.field(default="as by default", metadata={"stored": False})
    derived: object = attrs.field(init=False, default=None)

    def scores(self, X):
        return np.ones((X.shape[0], 1))


@component
class Keeps(LocalLearner):
    name = "keeps"
    stored_types = (Keepsake,)

    things: object = setting(None)

    def fit(self, problem):
        made = Keepsake(self.things, "changed")
        object.__setattr__(made, "derived", "by hand")
        return made


@component
class Shared(Decomposer):
    """Two parts that look through one fitted view."""

    name = "shared"
    yields = frozenset({"subsets"})

    def divide(self, problem):
        view = Chain((Columns(np.array([1, 0])), Scaling("standard"))).fit(problem.X)
        rows = np.arange(problem.n_rows)
        yield [Part(rows, view=_Fitted(view)), Part(rows[::2], view=_Fitted(view))]


class _Fitted(View):
    def __init__(self, view):
        self.view = view

    def fit(self, X):
        return self.view

    def apply(self, X):
        return self.view.apply(X)


@component
class Kernels(LocalLearner):
    """An expansion over all rows: what a core without plugins can do."""

    name = "kernels"

    kernel: object = setting("rbf")

    def fit(self, problem):
        kernel = Kernel("callable", function=self.kernel) if callable(self.kernel) else Kernel()
        rows = np.arange(problem.n_rows)
        duals = np.where(problem.y[:, None] == np.arange(problem.n_classes), 1.0, -1.0)
        duals = duals[:, 1:] if problem.n_classes == 2 else duals
        return KernelExpansion(problem.X, duals, np.zeros(duals.shape[1]), kernel, rows)


@component
class Learned(Combiner):
    """A combiner that learns."""

    name = "learned"

    def fit(self, committee, problem, answers):
        return LearnedForm(np.bincount(problem.y))

    def combine(self, committee, X):
        raise AssertionError("only the fitted form combines")


@attrs.frozen(eq=False)
class LearnedForm(Combination):
    counts: np.ndarray

    def combine(self, committee, X):
        return committee.mean_scores(X) + self.counts


Learned.stored_types = (LearnedForm,)


@component
class Wraps(LocalLearner):
    """Any estimator, fitted."""

    name = "wraps"

    estimator: object = setting(None)

    def fit(self, problem):
        return Wrapped(clone(self.estimator).fit(problem.X, problem.y))


def registry_of(*components, distribution="fakes", version="1.2"):
    """A registry that offers these components and nothing else."""
    registry = Registry(entry_points=())
    plugin = types.ModuleType("plugin")
    for kind, base in (
        ("decomposer", Decomposer),
        ("learner", LocalLearner),
        ("combiner", Combiner),
    ):
        mine = [each for each in components if issubclass(each, base)]
        exec(f"def dcsvm_{kind}s(): return mine", scope := {"mine": mine})
        setattr(plugin, f"dcsvm_{kind}s", dcsvm.hookimpl(scope[f"dcsvm_{kind}s"]))
    registry.add_module(plugin, distribution, version)
    return registry


FAKES = (
    Average,
    Centroids,
    Deal,
    Everything,
    Regional,
    Strips,
    Keeps,
    Kernels,
    Learned,
    Shared,
    Wraps,
)


def fitted(decomposer=None, learner=None, combiner=None, n=60, k=3, **settings):
    X, y = blobs(n, k)
    classifier = DivideAndConquerClassifier(
        decomposer or Strips(), learner or Centroids(), combiner or Average(), **settings
    )
    return classifier.fit(X, y), X


def again(model, path):
    dcsvm.save(model, path)
    return dcsvm.load(path)


def assert_same(before, after, X):
    np.testing.assert_array_equal(before.decision_function(X), after.decision_function(X))
    assert before.decision_function(X).tobytes() == after.decision_function(X).tobytes()
    np.testing.assert_array_equal(before.predict(X), after.predict(X))
    for count in ("kernel_evaluations", "unique_kernel_evaluations", "hyperplanes"):
        np.testing.assert_array_equal(
            getattr(before.cost(X), count), getattr(after.cost(X), count)
        )
