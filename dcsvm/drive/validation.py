"""Validation of components, rows, labels and n_jobs, before training and before prediction.

`classifier.py` calls it: `_problem` encodes the labels, and `check_rows` compares the features
with those of `fit`. Row weights are computed in `row_weights.py`.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from dcsvm.base.combiner import Combiner
from dcsvm.base.decomposer import GROUPS, YIELDS, Decomposer, Repeat
from dcsvm.base.errors import CompositionError, DataError, SettingError, did_you_mean
from dcsvm.base.learner import LocalLearner
from dcsvm.base.member import Member
from dcsvm.drive.decision_thresholds import BEST, SCORES, build_costs
from dcsvm.drive.registry import WORDS, Registry, check_words, default_registry
from dcsvm.numeric.array_types import FloatArray, narrow_indices
from dcsvm.toolbox.missing_values import ADVICE, is_about_missing_values
from dcsvm.toolbox.table_schema import describe_dates, find_dates

Fit = TypeVar("Fit", bound=Callable[..., Any])
#: Where probabilities come from: nowhere; the members or else a sigmoid or scaling; a sigmoid
#: (or softmax) with shifts by class; or one common temperature.
Method = Literal["off", "auto", "scaling", "temperature"]
TEXTS = (
    "X holds texts, such as {text!r} in column {column!r}: put an encoder in front, as in "
    "make_pipeline(TablePreparation(), classifier)"
)
"""What to do about texts where numbers are wanted."""
NO_NUMBER = ("could not convert string to float", "float() argument must be", "The DType")
"""How sentences of Python and numpy begin that are about values that are no numbers."""


def learn_from_dask(fit: Fit) -> Fit:
    """Let the method `fit` of a classifier take dataframes and arrays of Dask."""

    @functools.wraps(fit)
    def call(self: Any, X: Any, *more: Any, **named: Any) -> Any:
        if not hasattr(X, "__dask_graph__"):
            return fit(self, X, *more, **named)
        from dcsvm.drive.dask_collections import gather

        return gather(fit, self, X, *more, **named)

    return cast(Fit, call)


def validate_input(classifier: Any, *given: Any, **options: Any) -> Any:
    """Rows, and labels where given, by scikit-learn's checks; NaN and texts with a way out.

    Sparse rows get 32-bit indices.
    """
    try:
        found = validate_data(classifier, *given, accept_sparse="csr", dtype=np.float64, **options)
    except (ValueError, TypeError) as error:
        if is_about_missing_values(error):
            raise DataError(ADVICE) from error
        if not str(error).startswith(NO_NUMBER):
            raise
        dates = find_dates(given[0])
        if dates:
            raise DataError(describe_dates(dates)) from error
        text = find_text(given[0])
        if text is None:
            raise
        raise DataError(TEXTS.format(column=text[0], text=text[1])) from error
    rows = found[0] if isinstance(found, tuple) else found
    if not sparse.issparse(rows):
        return found
    rows = narrow_indices(rows)
    return (rows, *found[1:]) if isinstance(found, tuple) else rows


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


def is_number(text: str) -> bool:
    """Whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_labels(y: Any) -> None:
    """Raise if a label is None, or only some are strings: numpy would convert the others."""
    if not isinstance(y, list | tuple):
        y = np.asarray(y)
        if y.dtype != object or y.ndim == 0:
            return
        y = y.ravel().tolist()
    absent = [place for place, label in enumerate(y) if label is None]
    if absent:
        rows = ", ".join(map(str, absent[:3])) + (", ..." if len(absent) > 3 else "")
        count = "one row" if len(absent) == 1 else f"{len(absent)} rows"
        raise DataError(
            f"y has no label (None) in {count} of {len(y)}, the first is 0: {rows}; leave them out"
        )
    if len({issubclass(kind, str) for kind in set(map(type, y))}) < 2:
        return
    text = next(label for label in y if isinstance(label, str))
    place, other = next((place, each) for place, each in enumerate(y) if not isinstance(each, str))
    raise DataError(
        f"y mixes texts with other labels: {text!r}, and {other!r} in row {place}; make all of "
        "them texts or all of them numbers, and leave out rows without a label"
    )


def check_method(method: Any) -> Method:
    """Return `probability`; raise unless it is a known method."""
    if method not in get_args(Method):
        known = ", ".join(repr(each) for each in get_args(Method))
        raise SettingError(f"probability must be one of {known}, got {method!r}")
    found: Method = method
    return found


def has_probabilities(classifier: Any) -> bool:
    """Whether a classifier has probabilities, or will have some once it is fitted."""
    model = getattr(classifier, "model_", None)
    return bool(classifier.probability != "off" if model is None else model.calibration)


def check_decision(threshold: Any, costs: Any, probability: Any) -> None:
    """Raise unless a classifier can decide by this threshold or these costs."""
    is_number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    is_best = isinstance(threshold, str) and threshold.removeprefix(BEST) in SCORES
    if threshold is not None and not is_best and not (is_number and 0.0 <= threshold <= 1.0):
        known = ", ".join(repr(BEST + name) for name in SCORES)
        raise SettingError(
            f"threshold must be None, a number from 0 to 1 or one of {known}, got {threshold!r}"
        )
    if costs is not None:
        _check_costs(costs)
    name = "threshold" if costs is None else "costs"
    if threshold is not None and costs is not None:
        raise SettingError("threshold and costs both decide on labels: leave out one of them")
    if probability == "off" and (threshold is not None or costs is not None):
        raise SettingError(f'{name} needs probabilities: set probability to "auto"')


def _check_costs(costs: Any) -> None:
    rows: list[Any] = list(costs.values()) if isinstance(costs, Mapping) else []
    inner = [list(row.values()) if isinstance(row, Mapping) else [row] for row in rows]
    numbers = [each for row in inner for each in row]
    if not numbers or not all(
        type(each) in (int, float) and 0.0 <= each < np.inf for each in numbers
    ):
        raise SettingError(
            "costs must map each class to the cost of missing it, or to a table of costs by "
            f"predicted class, all of them finite and at least 0, got {costs!r}"
        )


def find_costs(threshold: Any, costs: Any, classes: Any) -> FloatArray | None:
    """The costs by class, if there are some; raise if they name a class that is not there."""
    if threshold is not None and len(classes) != 2:
        raise SettingError(
            f"a threshold decides between two classes, and y has {len(classes)}: give costs"
        )
    return None if costs is None else build_costs(costs, classes)


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
    check_row_weights(decomposer, learner, registry)


def check_row_weights(decomposer: Decomposer, learner: LocalLearner, registry: Registry) -> None:
    """Raise if the decomposer needs row weights and the learner does not support them."""
    needing = next((each for each in iterate_nested(decomposer) if each.needs_row_weights), None)
    if needing is None or learner.row_weights != "refused":
        return
    learners = [
        offer.name
        for offer in registry.of_kind("learner")
        if offer.what.row_weights in ("exact", "approximate")
    ]
    raise CompositionError(
        f"learner {_title(learner)!r} does not fit decomposer {_title(needing)!r}, which "
        "gives rows unequal weights: it refuses them; learners that fit: "
        f"{', '.join(learners) or 'none'}"
    )


def check_composition(decomposer: Decomposer, combiner: Combiner, registry: Registry) -> None:
    """Raise if the combiner cannot work with what the decomposer yields."""
    check_words(type(decomposer), "yields")
    check_words(type(combiner), "accepts")
    unfit = decomposer.yields - combiner.accepts
    if not unfit:
        return
    offered = [offer.what for kind in WORDS for offer in registry.of_kind(kind)]
    known = {
        *YIELDS,
        *(word for each in (decomposer, combiner, *offered) for word in each.declares),
    }
    for word in sorted(unfit - known):
        raise CompositionError(
            f"decomposer {_title(decomposer)!r} yields {word!r}, which is no word that a "
            f"component declares; {did_you_mean(word, known)}"
        )
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
