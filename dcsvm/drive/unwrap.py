"""The fitted classifier inside what scikit-learn puts around one: searches and pipelines."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from dcsvm.base.errors import SettingError
from dcsvm.classifier import DivideAndConquerClassifier


def best_of(given: Any) -> Any:
    """What a search, or a search of searches, learned with the best parameters; or `given`."""
    while hasattr(given, "best_estimator_"):
        given = given.best_estimator_
    return given


def unwrapped(given: Any, X: Any, asker: str) -> tuple[DivideAndConquerClassifier, Any]:
    """The classifier inside fitted searches and pipelines, and rows X as it gets to see them.

    `asker` is the function that the sentence about anything else begins with.
    """
    given = best_of(given)
    while isinstance(given, Pipeline):
        for _, step in given.steps[:-1]:
            X = X if step in (None, "passthrough") else step.transform(X)
        given = best_of(given.steps[-1][1])
    if isinstance(given, DivideAndConquerClassifier):
        return given, X
    lacking = " without best_estimator_: fit it, with refit=True" if is_search(given) else ""
    raise SettingError(
        f"{asker} takes a fitted DivideAndConquerClassifier, a search for one or a pipeline that "
        f"ends with one, not a {type(given).__name__}{lacking}"
    )


def is_search(given: Any) -> bool:
    """Whether this searches for parameters, fitted or not."""
    return hasattr(given, "estimator") and hasattr(given, "refit")
