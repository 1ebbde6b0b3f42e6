"""The split into training and held-out rows of a granularity search."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import attrs
import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets

from dcsvm.base.errors import DataError, SettingError
from dcsvm.base.problem import Problem
from dcsvm.base.row_splitting import hold_out_by_class
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.row_weights import compute_row_weights
from dcsvm.drive.validation import check_labels, validate_input
from dcsvm.model_selection.recorded_answers import HeldOut
from dcsvm.numeric.array_types import IntArray


@attrs.frozen(eq=False)
class ValidationSplit:
    """(X, y, weights or None) of the training rows, the held-out rows, and all rows."""

    training: tuple[Any, Any, Any]
    held_out: tuple[Any, Any, Any]
    everything: tuple[Any, Any, Any]
    own_validation: bool = False

    @classmethod
    def from_validation(
        cls, X: Any, y: Any, weights: Any, X_val: Any, y_val: Any
    ) -> ValidationSplit:
        """Hold out rows of their own."""
        if X_val is None or y_val is None:
            there, lacks = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise DataError(f"{there} was given without {lacks}")
        with _rename_argument("y_val"):
            check_labels(y_val)
            y_val = column_or_1d(y_val)
            assert_all_finite(y_val, input_name="y")
        everything = (X, y, weights)
        return cls(everything, (X_val, y_val, None), everything, True)

    @classmethod
    def split(
        cls,
        X: Any,
        y: Any,
        weights: Any,
        estimator: DivideAndConquerClassifier,
        validation: Any,
        random_state: np.random.RandomState,
    ) -> ValidationSplit:
        """Hold out some of the rows: a share of every class, or those numbered."""
        X, y, weights = indexable(X, y, weights)
        check_labels(y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        held_out = _select_rows(validation, y, random_state)
        learned = np.setdiff1d(np.arange(len(y)), held_out)
        training, tested = (
            (
                *_safe_split(estimator, X, y, rows, learned),
                None if weights is None else np.asarray(weights)[rows],
            )
            for rows in (learned, held_out)
        )
        return cls(training, tested, (X, y, weights))

    def build_problems(
        self, estimator: DivideAndConquerClassifier, *, balanced: bool
    ) -> tuple[Problem, HeldOut]:
        """Return the training problem and the held-out rows, with the same encoding.

        If balanced, the held-out rows of every class have the same total weight.
        """
        problem = estimator._problem(*self.training)
        X, y, weights = self.held_out
        with _rename_argument("X_val") if self.own_validation else nullcontext():
            X = validate_input(estimator, X, reset=False)
        if X.shape[0] != len(y):
            raise DataError(f"X_val has {X.shape[0]} rows, but y_val has {len(y)} labels")
        known = _encode_labels(estimator.classes_, y)
        weights = compute_row_weights(X, y, weights)
        if balanced:
            own = np.unique(y, return_inverse=True)[1]
            totals = np.bincount(own, weights)
            weights = weights / np.where(totals > 0, totals, 1.0)[own]
        return problem, HeldOut(X, known, weights, labels=y, classes=estimator.classes_)


def _encode_labels(classes: Any, y: Any) -> IntArray:
    """Return the class index of each label, -1 if no training row has it."""
    if isinstance(classes[0], str) == isinstance(y[0], str):
        place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        known = np.where(classes[place] == y, place, -1)
        if (known >= 0).any():
            _warn_of_unknown(y, known)
            return known
    learned = ", ".join(map(repr, classes[:3].tolist()))
    raise DataError(
        f"y_val and y have no label in common: y_val has {y[:1].tolist()[0]!r}, y has {learned}"
        + (", ..." if len(classes) > 3 else "")
    )


def _warn_of_unknown(y: Any, known: IntArray) -> None:
    strange = np.flatnonzero(known < 0)
    if len(strange):
        warnings.warn(
            f"{len(strange)} of the {len(y)} validation rows have a class without training rows, "
            f"such as {y[strange[:1]].tolist()[0]!r}: they count as errors",
            UserWarning,
            stacklevel=2,
        )


@contextmanager
def _rename_argument(argument: str) -> Iterator[None]:
    """Make errors about X and y name this argument instead."""
    try:
        yield
    except ValueError as error:
        known_as = argument.partition("_")[0]
        said = str(error)
        named = re.sub(rf"^(Input )?{known_as}\b", rf"\g<1>{argument}", said)
        raise DataError(named if named != said else f"{argument}: {said}") from error


def _select_rows(validation: Any, y: Any, random_state: np.random.RandomState) -> IntArray:
    """The rows to hold out, ascending."""
    if np.ndim(validation) == 1:
        numbers = np.unique(np.asarray(validation))
        some = numbers.dtype.kind in "iu" and 0 < len(numbers) < len(y)
        if some and numbers[0] >= 0 and numbers[-1] < len(y):
            return numbers
    elif isinstance(validation, float) and 0 < validation < 1:
        numbers = hold_out_by_class(y, validation, random_state)
        if len(numbers):
            return numbers
        raise DataError(
            f"n_samples={len(y)} is too few to hold out a share of {validation:g}: give more "
            "rows, a larger share, or X_val and y_val"
        )
    raise SettingError(
        "granularity_search: validation must be a share between 0 and 1, or the numbers of some "
        f"of the {len(y)} rows, got {validation!r}"
    )
