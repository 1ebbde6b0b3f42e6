"""Scores of answers and probabilities by name: dcsvm's own and scikit-learn's scorers."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import attrs
import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin

from dcsvm.base.errors import DataError, RecipeError
from dcsvm.experiments.recipe import Candidate, Recipe
from dcsvm.experiments.recipe.sections import (
    OWN_SCORES,
    PROBABILITY,
    Measure,
    Search,
    needs_probabilities,
)
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.probability_scores import LOSSES, PROBABILITY_SCORES, score_probabilities


@attrs.frozen(eq=False)
class Answered:
    """True and predicted labels, and the probabilities (n, k) of `classes` or None."""

    truth: Any
    labels: Any
    classes: Any
    shares: FloatArray | None = None

    def codes(self) -> Any:
        """The column of each true class; -1 for a class that the model never learned."""
        places = np.searchsorted(self.classes, self.truth).clip(max=len(self.classes) - 1)
        return np.where(self.classes[places] == self.truth, places, -1)


class _Recorded(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """An estimator that repeats recorded answers, for scorers."""

    def __init__(self, predictions: Any = None) -> None:
        self.predictions = predictions
        self.classes_ = predictions.classes

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict(self, X: Any) -> Any:
        return self.predictions.labels

    def predict_proba(self, X: Any) -> Any:
        if self.predictions.shares is None:
            raise AttributeError("probability is off")
        return self.predictions.shares


def compute_score(name: str, rated: Answered) -> float:
    """Compute a score by its name in a recipe."""
    if name == "accuracy":
        return float(np.mean(rated.labels == rated.truth))
    if name == "balanced_accuracy":
        # By hand: scikit-learn warns of an answer that no row has as its class. It is just wrong.
        classes = np.unique(rated.truth)
        return float(np.mean([np.mean(rated.labels[rated.truth == c] == c) for c in classes]))
    if name in PROBABILITY_SCORES:
        shares: Any = rated.shares
        return score_probabilities(name, shares, rated.codes())
    if name in OWN_SCORES:
        more = {"average": "macro", "zero_division": 0.0} if name == "f1_macro" else {}
        return float(getattr(metrics, OWN_SCORES[name])(rated.truth, rated.labels, **more))
    try:
        rows = np.zeros((len(rated.truth), 1))
        return float(metrics.get_scorer(name)(_Recorded(rated), rows, rated.truth))
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"the score {name!r} cannot be computed: {error}") from error


def rate(name: str, rated: Answered) -> float:
    """The score as a search compares it: larger is better."""
    return -compute_score(name, rated) if name in LOSSES else compute_score(name, rated)


@cache
def list_scorers() -> tuple[str, ...]:
    """The names of scikit-learn's scorers that suit a classifier."""
    kinds = {name: metrics.get_scorer(name)._score_func for name in metrics.get_scorer_names()}
    return tuple(
        name
        for name, function in kinds.items()
        if not any(word in function.__module__ for word in ("_regression", "cluster"))
    )


def score_classes(rated: Answered, scores: Sequence[str]) -> dict[str, float]:
    """Precision, recall and F1 of every class, and the given scores.

    With probabilities, log-loss and Brier score are measured in any case.
    """
    truth, answers = rated.truth, rated.labels
    classes = np.unique(np.concatenate([truth, answers]))
    table = metrics.precision_recall_fscore_support(
        truth, answers, labels=classes, zero_division=0.0
    )
    found = {
        f"{word}.{label}": float(values[place])
        for word, values in zip(("precision", "recall", "f1"), table[:3], strict=True)
        for place, label in enumerate(classes.tolist())
    }
    always = [] if rated.shares is None else ["log_loss", "brier"]
    names = dict.fromkeys([*scores, *always])
    return found | {f"test_{name}": compute_score(name, rated) for name in names}


def list_scores(measure: Measure, search: Search, searched: bool) -> list[str]:
    """The scores beside accuracy: what [measure] asks for, and what the search chose by."""
    wanted = [*(measure.scores or ()), *([search.score] if searched else [])]
    return [name for name in dict.fromkeys(wanted) if name != "accuracy"]


def check_scores(recipe: Recipe, candidate: Candidate) -> None:
    """Raise if a score needs probabilities, and the candidate has none."""
    wanted = [*(recipe.measure.scores or ()), *([recipe.search.score] if candidate.grid else [])]
    for name in filter(needs_probabilities, wanted):
        if candidate.classifier.probability == "off" and PROBABILITY not in candidate.grid:
            raise RecipeError(
                f"the score {name!r} needs probabilities, and {candidate.name} has none; put "
                'probability = "auto" at the top of the recipe'
            )


def compute_baseline(truth: Any) -> float:
    """The accuracy of always predicting the largest class."""
    return float(np.unique(truth, return_counts=True)[1].max() / len(truth))
