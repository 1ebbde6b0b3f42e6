"""The scores of a recipe: those of every class, those of [measure], and their requirements."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import metrics

from dcsvm.base.errors import RecipeError
from dcsvm.experiments.recipe import Candidate, Recipe
from dcsvm.experiments.recipe.sections import Measure, Search
from dcsvm.model_selection.named_scores import Answered, compute_score, needs_two_classes


def score_classes(rated: Answered, scores: Sequence[str]) -> dict[str, float]:
    """Precision, recall and F1 of every class, and the given scores.

    With probabilities, log-loss and Brier score are measured in any case; without rows, nothing.
    """
    if not len(rated.truth):
        return {}
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
    always = [] if rated.probabilities is None else ["log_loss", "brier"]
    names = dict.fromkeys([*scores, *always])
    return found | {f"test_{name}": compute_score(name, rated) for name in names}


def score_folds(
    y: Any, tests: Sequence[Any], rated: Answered, scores: Sequence[str]
) -> dict[str, list[float]]:
    """Accuracy and the given scores, fold by fold; empty for a single split."""
    if len(tests) < 2:
        return {}
    edges = np.cumsum([len(test) for test in tests])[:-1]
    labels = np.split(rated.labels, edges)
    probabilities: list[Any] = [None] * len(tests)
    if rated.probabilities is not None:
        probabilities = np.split(rated.probabilities, edges)
    folds = [
        Answered(y[test], answers, rated.classes, table)
        for test, answers, table in zip(tests, labels, probabilities, strict=True)
    ]
    return {
        f"test_{name}": [compute_score(name, fold) for fold in folds]
        for name in ("accuracy", *scores)
    }


def list_scores(measure: Measure, search: Search, searched: bool) -> list[str]:
    """The scores beside accuracy: those of [measure], and that of the search."""
    wanted = [*(measure.scores or ()), *([search.score] if searched else [])]
    return [name for name in dict.fromkeys(wanted) if name != "accuracy"]


def check_scores(recipe: Recipe, candidate: Candidate, n_classes: int) -> None:
    """Raise if a score is one of two classes, and there are more."""
    names = [*(recipe.measure.scores or ()), *([recipe.search.score] if candidate.grid else [])]
    for name in names:
        if n_classes > 2 and needs_two_classes(name):
            raise RecipeError(
                f"the score {name!r} is one of two classes, and the data have {n_classes}: choose "
                f"'{name}_macro', the mean over the classes"
            )


def compute_baseline(truth: Any) -> float:
    """The accuracy of always predicting the largest class; NaN without rows."""
    if not len(truth):
        return float("nan")
    return float(np.unique(truth, return_counts=True)[1].max() / len(truth))
