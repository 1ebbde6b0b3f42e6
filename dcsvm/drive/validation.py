"""Rows and labels checked as they are given, with a way out where something is wrong."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from dcsvm.base.errors import DataError, SettingError

FEW_NAMES = 6
"""Names of columns that a sentence lists."""
MISSING = (
    "X contains NaN, a missing value: put an imputer in front, as in "
    "make_pipeline(SimpleImputer(), classifier), or a preparation that fills the gaps, as in "
    'DivideAndConquerClassifier(Prepared(missing="impute"), classifier)'
)
"""What to do about missing values where no one fills them in."""
TEXTS = (
    "X holds texts, such as {text!r} in column {column!r}: put an encoder in front, as in "
    "make_pipeline(make_column_transformer((OneHotEncoder(), [{column!r}]), "
    "remainder='passthrough'), classifier), or run a recipe, which encodes categories itself"
)
"""What to do about texts where numbers are wanted."""
NAMED = (
    "X holds texts, such as {text!r} in column {column!r}: the model knows texts by the names of "
    "their columns; pass a data frame with the columns {names}"
)
"""What to do about texts where a model prepares columns itself."""
DATES = (
    "X holds dates or times in column {column!r}: turn them into numbers first, such as days "
    "since the first of them, or leave the column out"
)
"""What to do about dates where numbers are wanted."""
NO_NUMBER = ("could not convert string to float", "float() argument must be", "The DType")
"""How sentences of Python and numpy begin that are about values that are no numbers."""


def validated(classifier: Any, *given: Any, **options: Any) -> Any:
    """Rows, and labels where given, by scikit-learn's checks; NaN and texts with a way out.

    A data frame whose columns the classifier's layout names is read by these names.
    """
    layout = getattr(classifier.decomposer, "layout", None)
    if layout is not None and layout.first_index is None and hasattr(given[0], "columns"):
        given = (layout.matrix(given[0]), *given[1:])
    try:
        return validate_data(classifier, *given, **classifier._checks(), **options)
    except (ValueError, TypeError) as error:
        if str(error).startswith("Input X contains NaN"):
            raise DataError(MISSING) from error
        if not str(error).startswith(NO_NUMBER):
            raise
        date = date_in(given[0])
        if date is not None:
            raise DataError(DATES.format(column=date)) from error
        found = text_in(given[0])
        if found is None:
            raise
        sentence, names = TEXTS, getattr(layout, "names", ())
        if names:
            sentence = NAMED
        shown = ", ".join(names[:FEW_NAMES]) + (", ..." if len(names) > FEW_NAMES else "")
        told = sentence.format(column=found[0], text=found[1], names=shown)
        raise DataError(told) from error


def text_in(X: Any) -> tuple[Any, str] | None:
    """The first column of rows X (n, d) with a text that is no number, and that text."""
    has_names = hasattr(X, "columns")
    table = X if has_names else np.asarray(X)
    for name in X.columns if has_names else range(table.shape[1]):
        values = np.asarray(table[name] if has_names else table[:, name])
        if values.dtype.kind not in "biufc":
            texts = (value for value in values.ravel().tolist() if isinstance(value, str))
            text = next((each for each in texts if not is_number(each)), None)
            if text is not None:
                return name, text
    return None


def date_in(X: Any) -> Any:
    """The first column of a data frame that holds dates or times, or None."""
    for name in getattr(X, "columns", ()):
        if np.asarray(X[name]).dtype.kind in "mM":
            return name
    return None


def is_number(text: str) -> bool:
    """Whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_labels(y: Any) -> None:
    """Refuse labels of which only some are texts; numpy would write the others out as texts."""
    if not isinstance(y, list | tuple):
        y = np.asarray(y)
        if y.dtype != object:
            return
        y = y.ravel().tolist()
    if len({issubclass(kind, str) for kind in set(map(type, y))}) < 2:
        return
    text = next(label for label in y if isinstance(label, str))
    place, other = next((place, each) for place, each in enumerate(y) if not isinstance(each, str))
    raise DataError(
        f"y mixes texts with other labels: {text!r}, and {other!r} in row {place}; make all of "
        "them texts or all of them numbers, and leave out rows without a label"
    )


def check_jobs(n_jobs: Any) -> None:
    """Refuse what joblib cannot take for a number of things to do at the same time."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise SettingError(
            "n_jobs must be a whole number other than 0 (-1 means as many as there are cores) or "
            f"None, got {n_jobs!r}"
        )
