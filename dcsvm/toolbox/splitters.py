"""Learners at the nodes of a tree: row weights of mean 1, and a check for hyperplanes."""

from __future__ import annotations

from typing import Any, cast

import attrs

from dcsvm.base.component import component, setting
from dcsvm.base.errors import SettingError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import Hyperplanes, LocalModel
from dcsvm.base.problem import Problem


@component
class NormalizedWeights(LocalLearner):
    """A learner whose row weights are scaled to mean 1, so that its C keeps its meaning."""

    name = "normalized_weights"

    learner: Any = setting(kind="learner", help="the learner to fit")

    @property
    def releases_gil(self) -> bool:  # type: ignore[override]
        return bool(self.learner.releases_gil)

    def fit(self, problem: Problem) -> LocalModel:
        weights = None if problem.weights is None else problem.weights / problem.weights.mean()
        return cast(LocalModel, self.learner.fit(attrs.evolve(problem, weights=weights)))


def require_hyperplanes(model: LocalModel, owner: str) -> Hyperplanes:
    """Return the model, or raise if the splitter of the decomposer `owner` has learned another."""
    if not isinstance(model, Hyperplanes):
        raise SettingError(
            f"{owner}: splitter must learn hyperplanes, as linear_svm and pegasos do; it gave a "
            f"{type(model).__name__}"
        )
    return model
