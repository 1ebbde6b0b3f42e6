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
    """What a model said of some rows: labels, and probabilities (n, k) of `classes` or None."""

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

    def __init__(self, said: Any = None) -> None:
        self.said = said
        self.classes_ = said.classes

    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict(self, X: Any) -> Any:
        return self.said.labels

    def predict_proba(self, X: Any) -> Any:
        if self.said.shares is None:
            raise AttributeError("probability is off")
        return self.said.shares


def compute_score(name: str, said: Answered) -> float:
    """A score by the name that it has in a recipe; NaN without rows."""
    if not len(said.truth):
        return float("nan")
    if name == "accuracy":
        return float(np.mean(said.labels == said.truth))
    if name == "balanced_accuracy":
        # By hand: scikit-learn warns of an answer that no row has as its class. It is just wrong.
        classes = np.unique(said.truth)
        return float(np.mean([np.mean(said.labels[said.truth == c] == c) for c in classes]))
    if name in PROBABILITY_SCORES:
        shares: Any = said.shares
        return score_probabilities(name, shares, said.codes())
    if name in OWN_SCORES:
        more = {"average": "macro", "zero_division": 0.0} if name == "f1_macro" else {}
        return float(getattr(metrics, OWN_SCORES[name])(said.truth, said.labels, **more))
    try:
        rows = np.zeros((len(said.truth), 1))
        return float(metrics.get_scorer(name)(_Recorded(said), rows, said.truth))
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"the score {name!r} cannot be computed: {error}") from error


def rate(name: str, said: Answered) -> float:
    """The score as a search compares it: larger is better."""
    return -compute_score(name, said) if name in LOSSES else compute_score(name, said)


@cache
def list_scorers() -> tuple[str, ...]:
    """The names of scikit-learn's scorers that suit a classifier."""
    kinds = {name: metrics.get_scorer(name)._score_func for name in metrics.get_scorer_names()}
    return tuple(
        name
        for name, function in kinds.items()
        if not any(word in function.__module__ for word in ("_regression", "cluster"))
    )


def score_classes(said: Answered, asked: Sequence[str]) -> dict[str, float]:
    """Precision, recall and F1 of every class, and the scores that are asked for.

    With probabilities, log-loss and Brier score are measured in any case; without rows, nothing.
    """
    if not len(said.truth):
        return {}
    truth, answers = said.truth, said.labels
    classes = np.unique(np.concatenate([truth, answers]))
    table = metrics.precision_recall_fscore_support(
        truth, answers, labels=classes, zero_division=0.0
    )
    found = {
        f"{word}.{label}": float(values[place])
        for word, values in zip(("precision", "recall", "f1"), table[:3], strict=True)
        for place, label in enumerate(classes.tolist())
    }
    always = [] if said.shares is None else ["log_loss", "brier"]
    names = dict.fromkeys([*asked, *always])
    return found | {f"test_{name}": compute_score(name, said) for name in names}


def score_folds(
    y: Any, tests: Sequence[Any], said: Answered, asked: Sequence[str]
) -> dict[str, list[float]]:
    """Accuracy and the scores that are asked for, fold by fold; empty for a single split."""
    if len(tests) < 2:
        return {}
    edges = np.cumsum([len(test) for test in tests])[:-1]
    labels = np.split(said.labels, edges)
    shares: list[Any] = [None] * len(tests)
    if said.shares is not None:
        shares = np.split(said.shares, edges)
    folds = [
        Answered(y[test], answers, said.classes, table)
        for test, answers, table in zip(tests, labels, shares, strict=True)
    ]
    return {
        f"test_{name}": [compute_score(name, fold) for fold in folds]
        for name in ("accuracy", *asked)
    }


def list_scores(measure: Measure, search: Search, searched: bool) -> list[str]:
    """The scores beside accuracy: what [measure] asks for, and what the search chose by."""
    asked = [*(measure.scores or ()), *([search.score] if searched else [])]
    return [name for name in dict.fromkeys(asked) if name != "accuracy"]


def check_scores(recipe: Recipe, candidate: Candidate) -> None:
    """Raise if a score needs probabilities, and the candidate has none."""
    asked = [*(recipe.measure.scores or ()), *([recipe.search.score] if candidate.grid else [])]
    for name in filter(needs_probabilities, asked):
        if candidate.classifier.probability == "off" and PROBABILITY not in candidate.grid:
            raise RecipeError(
                f"the score {name!r} needs probabilities, and {candidate.name} has none; put "
                'probability = "auto" at the top of the recipe'
            )


def compute_baseline(truth: Any) -> float:
    """The accuracy of always predicting the largest class; NaN without rows."""
    if not len(truth):
        return float("nan")
    return float(np.unique(truth, return_counts=True)[1].max() / len(truth))
