"""Scores of answers and probabilities by name: dcsvm's own and scikit-learn's scorers."""

from functools import cache
from inspect import signature
from typing import Any

import attrs
import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin

from dcsvm.base.errors import DataError, SettingError, did_you_mean
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.probability_scores import (
    LOSSES,
    MULTILABEL,
    OWN_SCORES,
    PROBABILITY_SCORES,
    score_probabilities,
)


@attrs.frozen(eq=False)
class Answered:
    """True and predicted labels of some rows, and probabilities (n, k) of `classes` or None.

    `weights` (n,) of the rows, if they differ, count in scores of searches.
    """

    truth: Any
    labels: Any
    classes: Any
    probabilities: FloatArray | None = None
    weights: FloatArray | None = None

    def codes(self) -> Any:
        """The column of each true class; -1 for a class that the model never learned."""
        places = np.searchsorted(self.classes, self.truth).clip(max=len(self.classes) - 1)
        return np.where(self.classes[places] == self.truth, places, -1)

    def with_positive_class(self) -> "Answered":
        """Two classes as 1, the rarer one, and 0; as they are where 1 is one of them."""
        if len(self.classes) != 2 or 1 in self.classes.tolist():
            return self
        counts = [np.count_nonzero(self.truth == each) for each in self.classes]
        order = [1, 0] if counts[0] < counts[1] else [0, 1]
        rarer = self.classes[order[1]]
        truth, labels = ((each == rarer).astype(np.intp) for each in (self.truth, self.labels))
        probabilities = None if self.probabilities is None else self.probabilities[:, order]
        return Answered(truth, labels, np.arange(2), probabilities, self.weights)


class _Recorded(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """An estimator that repeats recorded answers, for scorers."""

    def __init__(self, rated: Any = None) -> None:
        self.rated = rated
        self.classes_ = rated.classes

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict(self, X: Any) -> Any:
        return self.rated.labels

    def predict_proba(self, X: Any) -> Any:
        if self.rated.probabilities is None:
            raise AttributeError("probability is off")
        return self.rated.probabilities


def compute_score(name: str, rated: Answered) -> float:
    """A score by the name that it has in a recipe; NaN without rows."""
    if not len(rated.truth):
        return float("nan")
    weights = rated.weights
    if name == "accuracy":
        return float(np.average(rated.labels == rated.truth, weights=weights))
    if name == "balanced_accuracy":
        # By hand: scikit-learn warns of an answer that no row has as its class. It is just wrong.
        classes = np.unique(rated.truth)
        return float(np.mean([np.mean(rated.labels[rated.truth == c] == c) for c in classes]))
    if name in PROBABILITY_SCORES:
        probabilities: Any = rated.probabilities
        return score_probabilities(name, probabilities, rated.codes(), weights)
    if name in OWN_SCORES:
        function = getattr(metrics, OWN_SCORES[name])
        more: Any = {"average": "macro", "zero_division": 0.0} if name == "f1_macro" else {}
        return float(function(rated.truth, rated.labels, sample_weight=weights, **more))
    scorer = metrics.get_scorer(name)
    if "pos_label" in signature(scorer._score_func).parameters:
        rated = rated.with_positive_class()
    try:
        rows, more = np.zeros((len(rated.truth), 1)), {}
        if rated.weights is not None:
            more = {"sample_weight": rated.weights}
        return float(scorer(_Recorded(rated), rows, rated.truth, **more))
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"the score {name!r} cannot be computed: {error}") from error


def needs_two_classes(name: str) -> bool:
    """Whether a scorer of scikit-learn has no answer for several classes."""
    known = name in list_scorers() and name not in ("accuracy", *OWN_SCORES, *PROBABILITY_SCORES)
    return known and metrics.get_scorer(name)._kwargs.get("average") == "binary"


def rate(name: str, rated: Answered) -> float:
    """The score as a search compares it: larger is better."""
    return -compute_score(name, rated) if name in LOSSES else compute_score(name, rated)


def check_score(name: str) -> None:
    """Raise if no score has this name."""
    known = ("accuracy", *OWN_SCORES, *PROBABILITY_SCORES)
    if name not in known and name not in list_scorers():
        raise SettingError(f"no score is called {name!r}; {did_you_mean(name, known)}")


@cache
def list_scorers() -> tuple[str, ...]:
    """The names of scikit-learn's scorers that suit a classifier."""
    kinds = {name: metrics.get_scorer(name)._score_func for name in metrics.get_scorer_names()}
    return tuple(
        name
        for name, function in kinds.items()
        if not any(word in function.__module__ for word in ("_regression", "cluster"))
        and not name.endswith(MULTILABEL)
    )
