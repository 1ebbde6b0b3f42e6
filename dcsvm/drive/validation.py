"""Validation before training: compatible components, rows, labels, weights and n_jobs."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, validate_data

from dcsvm.base.combiner import Combiner
from dcsvm.base.decomposer import GROUPS, Decomposer, Repeat
from dcsvm.base.errors import CompositionError, DataError, SettingError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.member import Member
from dcsvm.drive.registry import Registry, default_registry
from dcsvm.numeric.array_types import FloatArray
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


def validate_input(classifier: Any, *given: Any, **options: Any) -> Any:
    """Rows, and labels where given, by scikit-learn's checks; NaN and texts with a way out."""
    try:
        return validate_data(classifier, *given, accept_sparse="csr", dtype=np.float64, **options)
    except (ValueError, TypeError) as error:
        if str(error).startswith("Input X contains NaN"):
            raise DataError(MISSING) from error
        if not str(error).startswith(NO_NUMBER):
            raise
        date = find_date(given[0])
        if date is not None:
            raise DataError(DATES.format(column=date)) from error
        found = find_text(given[0])
        if found is None:
            raise
        raise DataError(TEXTS.format(column=found[0], text=found[1])) from error


def find_text(X: Any) -> tuple[Any, str] | None:
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


def find_date(X: Any) -> Any:
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


def check_weights(X: Any, y: Any, sample_weight: Any, class_weight: Any = None) -> FloatArray:
    """Return the weights (n,) of rows and classes together; raise if one is negative."""
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    return np.asarray(weights * compute_sample_weight(class_weight, y))


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


def check_compatible(
    decomposer: Decomposer, learner: LocalLearner, combiner: Combiner, registry: Registry
) -> None:
    """Raise if the components do not fit together, or one has conflicting settings."""
    check_composition(decomposer, combiner, registry)
    for each in (*iterate_nested(decomposer), learner):
        each.check()
    check_support(decomposer, learner, registry)


def check_composition(decomposer: Decomposer, combiner: Combiner, registry: Registry) -> None:
    """Raise if the combiner cannot work with what the decomposer yields."""
    unfit = decomposer.yields - combiner.accepts
    if not unfit:
        return
    combiners = [
        offer.name
        for offer in registry.of_kind("combiner")
        if decomposer.yields <= offer.what.accepts
    ]
    yields, accepts = _join(decomposer.yields - {GROUPS}), _join(combiner.accepts - {GROUPS})
    if GROUPS in unfit:
        yields, accepts = f"{yields} in several groups", f"{accepts} in one group"
    raise CompositionError(
        f"combiner {_title(combiner)!r} does not fit decomposer {_title(decomposer)!r}, which "
        f"yields {yields}: it works with {accepts}; "
        f"combiners that fit: {', '.join(combiners) or 'none'}"
    )


def check_support(decomposer: Decomposer, learner: LocalLearner, registry: Registry) -> None:
    """Raise if the decomposer needs support vectors and the learner never has them."""
    if learner.keeps_support is False and needs_support(decomposer):
        raise lacks_support_error(decomposer, learner, registry)


def check_kept(decomposer: Decomposer, learner: LocalLearner, members: list[Member]) -> None:
    """Raise if the decomposer needs support vectors and a model of the learner has none."""
    own = [each for each in members if each.part is None or each.part.learner is None]
    if needs_support(decomposer) and not all(each.model.tells_support for each in own):
        raise lacks_support_error(decomposer, learner, default_registry())


def needs_support(decomposer: Decomposer) -> bool:
    """Whether a decomposer, or one nested in it, needs support vectors."""
    return any(each.needs_support for each in iterate_nested(decomposer))


def lacks_support_error(
    decomposer: Decomposer, learner: LocalLearner, registry: Registry
) -> CompositionError:
    """The error for a learner without support vectors; it names learners that have them."""
    needing = next((each for each in iterate_nested(decomposer) if each.needs_support), decomposer)
    while isinstance(inner := getattr(learner, "learner", None), (str, LocalLearner)):
        learner = registry.resolve("learner", inner)
    learners = [
        offer.name for offer in registry.of_kind("learner") if offer.what.keeps_support is True
    ]
    return CompositionError(
        f"learner {_title(learner)!r} does not fit decomposer {_title(needing)!r}, which needs "
        "support vectors: its models have none; "
        f"learners that fit: {', '.join(learners) or 'none'}"
    )


def without_levels(decomposer: Decomposer, registry: Registry) -> str:
    """The message for a decomposer without levels, naming others; empty if it has some."""
    while isinstance(decomposer, Repeat) and isinstance(decomposer.decomposer, Decomposer):
        decomposer = decomposer.decomposer
    if type(decomposer).levels is not Decomposer.levels:
        return ""
    others = [
        offer.name
        for offer in registry.of_kind("decomposer")
        if offer.what.levels is not Decomposer.levels
    ]
    return (
        f"decomposer {_title(decomposer)!r} has no levels to search through; decomposers that "
        f"have: {', '.join(others) or 'none'}"
    )


def iterate_nested(decomposer: Decomposer) -> Iterator[Decomposer]:
    """Yield a decomposer and those nested in its settings."""
    yield decomposer
    for value in decomposer.get_params(deep=False).values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, Decomposer):
                yield from iterate_nested(each)


def _title(component: Decomposer | LocalLearner | Combiner) -> str:
    return component.name or type(component).__name__


def _join(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
