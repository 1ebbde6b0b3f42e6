"""Look through scikit-learn's searches and pipelines for the fitted classifier inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline

from dcsvm.base.errors import SettingError
from dcsvm.base.learner import LocalLearner
from dcsvm.toolbox.table_preparation import TablePreparation

if TYPE_CHECKING:
    from dcsvm.classifier import DivideAndConquerClassifier


def find_best(given: Any) -> Any:
    """The best estimator of a search, or of nested searches; anything else as it is."""
    while hasattr(given, "best_estimator_"):
        given = given.best_estimator_
    return given


def find_classifier(given: Any) -> Any:
    """The estimator at the end of searches and pipelines."""
    given = find_best(given)
    while isinstance(given, Pipeline):
        given = find_best(given.steps[-1][1])
    return given


def find_preparation(given: Any) -> TablePreparation | None:
    """The TablePreparation right before the classifier of a pipeline, or None."""
    given = find_best(given)
    while isinstance(given, Pipeline) and len(given) > 1:
        if isinstance(given[-2], TablePreparation) and not isinstance(given[-1], Pipeline):
            return given[-2]
        given = find_best(given[-1])
    return None


def unwrap(given: Any, X: Any, asker: str) -> tuple[DivideAndConquerClassifier, Any]:
    """The classifier inside fitted searches and pipelines, and rows X as it sees them.

    `asker` is the name of the calling function, for the error message.
    """
    given = find_best(given)
    while isinstance(given, Pipeline):
        for _, step in given.steps[:-1]:
            X = X if step in (None, "passthrough") else step.transform(X)
        given = find_best(given.steps[-1][1])
    check_classifier(given, asker)
    return given, X


def check_classifier(given: Any, asker: str) -> None:
    """Raise if this is not a DivideAndConquerClassifier, the only learner that is a classifier."""
    if isinstance(given, LocalLearner) and isinstance(given, ClassifierMixin):
        return
    lacking = " without best_estimator_: fit it, with refit=True" if is_search(given) else ""
    raise SettingError(
        f"{asker} takes a fitted DivideAndConquerClassifier, a search for one or a pipeline that "
        f"ends with one, not a {type(given).__name__}{lacking}"
    )


def is_search(given: Any) -> bool:
    """Whether this is a search for parameters, fitted or not."""
    return hasattr(given, "estimator") and hasattr(given, "refit")
