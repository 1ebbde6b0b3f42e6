"""Validation of rows and labels, with messages that suggest a fix."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from dcsvm.base.errors import DataError, SettingError
from dcsvm.toolbox.table_schema import DATES

MISSING = (
    "X contains NaN, a missing value: put an imputer in front, as in "
    'make_pipeline(TablePreparation(missing="impute"), classifier) or '
    "make_pipeline(SimpleImputer(), classifier)"
)
"""What to do about missing values where no one fills them in."""
TEXTS = (
    "X holds texts, such as {text!r} in column {column!r}: put an encoder in front, as in "
    "make_pipeline(TablePreparation(), classifier)"
)
"""What to do about texts where numbers are wanted."""
NO_NUMBER = ("could not convert string to float", "float() argument must be", "The DType")
"""How sentences of Python and numpy begin that are about values that are no numbers."""


def validated(classifier: Any, *given: Any, **options: Any) -> Any:
    """Rows, and labels where given, by scikit-learn's checks; NaN and texts with a way out."""
    try:
        return validate_data(classifier, *given, accept_sparse="csr", dtype=np.float64, **options)
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
        raise DataError(TEXTS.format(column=found[0], text=found[1])) from error


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
    """Raise if only some labels are strings; numpy would convert the others to strings."""
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
    """Raise if n_jobs is not valid for joblib."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise SettingError(
            "n_jobs must be a whole number other than 0 (-1 means as many as there are cores) or "
            f"None, got {n_jobs!r}"
        )
