"""The plain tables of a recipe: [data], [split], [search] and [measure]."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from dcsvm.base.component import component, setting, settings_of
from dcsvm.base.errors import did_you_mean
from dcsvm.datasets.embedded import EMBEDDED
from dcsvm.datasets.file_formats import NEED_TARGET, READERS, find_suffix
from dcsvm.numeric.probability_scores import MULTILABEL, OWN_SCORES, PROBABILITY_SCORES
from dcsvm.toolbox.level_pooling import MinFrequency
from dcsvm.toolbox.missing_values import Missing, MissingTarget
from dcsvm.toolbox.table_preparation import Encode, Scale

#: The key at the top of a recipe that says how much the rows of each class count.
CLASS_WEIGHT = "class_weight"
#: The key at the top of a recipe that says where probabilities come from.
PROBABILITY = "probability"
#: The keys at the top of a recipe that say how probabilities decide on labels.
THRESHOLD, COSTS = "threshold", "costs"


@component
class Data:
    """The table [data]: the source of the rows, and how their features are prepared."""

    name: ClassVar[str] = "[data]"
    #: Keys that make sense for any rows: they outlast a change of the source.
    lasting: ClassVar[frozenset[str]] = frozenset(
        {"scale", "encode", "missing", "missing_target", "min_frequency"}
    )

    path: str | None = setting(
        None, help="a file, or a folder of Parquet files, seen from the recipe's folder"
    )
    use: str | None = setting(None, help="the name of an embedded set")
    target: str | int | None = setting(
        None, help="the column that holds the classes: its name, or its number (-1 is the last)"
    )
    rows: int | None = setting(None, at_least=10, help="how many, of a generated set")
    header: bool = setting(True, help="whether a text file's first line names its columns")
    categorical: list[str] | None = setting(
        None, help="columns of numbers that stand for categories; columns of text do anyway"
    )
    drop: list[str] | None = setting(None, help="columns to leave out, by name")
    numeric: list[str] | None = setting(
        None, help="columns of numbers to learn from, though they look like ids or categories"
    )
    missing: Missing = setting(
        "error", help="refuse missing values, fill them in, or also mark where that was done"
    )
    missing_values: list[str] | None = setting(
        None,
        help="words that count as missing beside an empty field, in place of ?, NA, N/A, NaN, "
        "null and none",
    )
    missing_target: MissingTarget = setting(
        "error", help="refuse rows without the target, or leave them out"
    )
    dates: list[str] | None = setting(
        None, help="columns of dates: year, month, day, weekday and seconds become features"
    )
    day_first: bool | None = setting(
        None, help="whether dates such as 03/04/2024 begin with the day"
    )
    encoding: str = setting("utf-8", help='of a text file, such as "latin-1"')
    decimal: Literal[".", ","] = setting(
        ".", help="what stands before the fraction of a number in a text file"
    )
    encode: Encode = setting(
        "onehot", help="a category as one feature per level, or as the number of its level"
    )
    min_frequency: MinFrequency = setting(
        0.0,
        at_least=0,
        help="levels of fewer rows, or below 1 of a smaller share, have one feature together; "
        "auto: of fewer than 40 rows and less than 1%",
    )
    scale: Scale = setting(
        "minmax",
        help="features to [0, 1], to mean 0 and deviation 1, to median 0 and quartiles 1 apart, "
        "to their ranks, or as they are",
    )


@component
class Split:
    """The table [split]: which rows are held out for testing and for validation."""

    name: ClassVar[str] = "[split]"

    use: Literal["auto", "published", "random", "folds"] = setting(
        "auto",
        help="test rows as published, drawn at random, or each row once in k folds; "
        "auto: as published where they are",
    )
    test: float | None = setting(
        None,
        at_least=0,
        below=1,
        help="share of the rows held out; a quarter if not given; 0: none, all are learned",
    )
    validation: float | None = setting(
        None, above=0, below=1, help="share of the other rows to choose parameters by; a fifth"
    )
    folds: int | None = setting(None, at_least=2, help="how many folds; five if not given")
    stratified: bool = setting(True, help="whether every class is spread alike")
    refit: bool = setting(
        True, help="whether the model that is kept learns all rows, once it has been measured"
    )
    seed: int = setting(0, at_least=0, help="of the split, the search and the models")


@component
class Search:
    """The table [search]: how parameters are chosen; its other keys list the values to try."""

    name: ClassVar[str] = "[search]"

    use: Literal["grid", "random", "granularity", "portfolio"] = setting(
        "grid",
        help="try every combination, some at random, go from fine to coarse divisions, or try "
        "the recipes of the portfolio",
    )
    score: str = setting(
        "accuracy",
        help="what makes one combination better than another: a score of [measure], or the name "
        "of a scorer of scikit-learn",
    )
    tries: int = setting(20, at_least=1, help="combinations tried by a random search")
    folds: int | None = setting(
        None, at_least=2, help="judge by folds of the training rows, not by validation rows"
    )
    rows: int | None = setting(
        None, at_least=20, help="learn from so many rows at the most while searching"
    )
    seconds: float | None = setting(
        None, above=0, help="the time budget: begin nothing new once it is used up"
    )
    top: int = setting(5, at_least=1, help="granularity: cells of the finest level tried further")
    factor: int = setting(4, at_least=2, help="granularity: how much larger the next parts are")
    min_gain: float = setting(0.005, help="granularity: end where a level gains less than this")
    levels: int | None = setting(
        None, at_least=1, help="granularity: how many levels at the most; 1: the division as it is"
    )
    recipes: list[str] | None = setting(
        None, help="portfolio: the recipes to try, in this order; none: all that join"
    )
    exclude: list[str] | None = setting(None, help="portfolio: recipes not to try")
    members: int = setting(
        4, at_least=1, help="portfolio: how many models a blend may have; 1: the best one alone"
    )


def change_search(settings: Search, **changed: Any) -> Search:
    """The table with some values changed."""
    return Search(**{name: getattr(settings, name) for name in settings_of(Search)} | changed)


@component
class Measure:
    """The table [measure]: what is measured beside accuracy and time."""

    name: ClassVar[str] = "[measure]"

    train: bool = setting(True, help="whether the rows learned from are answered, too")
    cost: bool = setting(True, help="whether kernel evaluations and hyperplanes are counted")
    scores: list[str] | None = setting(
        None,
        help="more scores of the test rows: balanced_accuracy, f1_macro, cohen_kappa, mcc; of "
        'probabilities, which need probability = "auto" at the top: log_loss, brier, roc_auc, '
        "average_precision, calibration_error; or the "
        "name of a scorer of scikit-learn, of which those of one class take the class called 1, "
        "and without one the rarer class",
    )


@component
class Suits:
    """The table `suits`: the ranges of data sizes that suit a recipe."""

    name: ClassVar[str] = "suits"

    rows: list[float] | None = setting(None, help="from and to how many rows")
    features: list[float] | None = setting(None, help="from and to how many features")
    classes: list[float] | None = setting(None, help="from and to how many classes")


def find_data_mistakes(data: Data, given: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key and the message of each mistake in [data]; single values are valid."""
    if (data.path is None) == (data.use is None):
        what = "[data] needs one of the keys 'path' and 'use'"
        yield (), what if given else f"[data] is missing: {what}"
    elif data.path is not None:
        yield from _find_file_mistakes(data)
    elif data.use not in EMBEDDED:
        hint = did_you_mean(str(data.use), EMBEDDED)
        yield ("use",), f"no embedded data set is called {data.use!r}; {hint}"
    elif data.rows is not None and not EMBEDDED[data.use].generated:
        yield (
            ("rows",),
            f"[data]: rows can be asked of a generated set only, not of {data.use!r}",
        )


def _find_file_mistakes(data: Data) -> Iterator[tuple[tuple[str, ...], str]]:
    suffix, is_folder = find_suffix(Path(str(data.path))), Path(str(data.path)).is_dir()
    if suffix not in READERS and not is_folder:
        known = ", ".join(READERS)
        yield ("path",), f"[data]: no reader knows the ending {suffix!r}; available: {known}"
    if (is_folder or suffix in NEED_TARGET) and data.target is None:
        yield (
            ("path",),
            "[data] needs the key 'target', or the command line --target: the column that holds "
            "the classes",
        )
    if data.rows is not None:
        yield ("rows",), "[data]: rows can be asked of a generated set only, not of a file"


def find_split_mistakes(split: Split) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key and the message of each mistake in [split]; single values are valid."""
    for key, kinds in (("test", ("auto", "random")), ("folds", ("folds",))):
        if getattr(split, key) is not None and split.use not in kinds:
            yield (key,), f"[split]: {key} has no meaning with use = {split.use!r}"


def find_search_mistakes(search: Search) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key and the message of each mistake in [search]; single values are valid."""
    yield from ((("score",), f"[search]: {text}") for text in _find_score_mistakes(search.score))
    if search.use == "portfolio" and search.seconds is None:
        yield ("seconds",), "[search]: a portfolio needs the key 'seconds', the time for all of it"
    if search.use != "granularity":
        return
    if search.folds is not None and search.levels != 1:
        yield (
            ("folds",),
            "[search]: granularity judges several levels by validation rows: leave out folds, or "
            "set levels to 1",
        )


def find_class_weight_mistake(weights: Any) -> str:
    """Return the message for invalid class weights; empty if they are valid."""
    if weights in ("none", "balanced"):
        return ""
    if not isinstance(weights, Mapping):
        return (
            "class_weight must be 'balanced', 'none' or a table of numbers by class, "
            f"got {weights!r}"
        )
    for label, weight in weights.items():
        number = type(weight) in (int, float) and math.isfinite(weight) and weight > 0
        if not number:
            return f"class_weight: {label} must be a number above 0, got {weight!r}"
    return "" if weights else "class_weight is an empty table: name a class, or leave it out"


def find_suits_mistakes(suits: Suits) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key and the message of each mistake in `suits`; single values are valid."""
    for key in ("rows", "features", "classes"):
        ends = getattr(suits, key)
        numbers = ends is None or all(type(each) in (int, float) for each in ends)
        if ends is not None and not (numbers and len(ends) == 2 and ends[0] <= ends[1]):
            yield (key,), f"suits: {key} must be two numbers, from and to, got {ends!r}"


def find_measure_mistakes(measure: Measure) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the key and the message of each mistake in [measure]; single values are valid."""
    for place, score in enumerate(measure.scores or ()):
        for text in _find_score_mistakes(score):
            yield ("scores", place), f"[measure]: {text}"


def _find_score_mistakes(score: object) -> Iterator[str]:
    known = ("accuracy", *OWN_SCORES, *PROBABILITY_SCORES)
    if score in known:
        return
    if str(score).endswith(MULTILABEL):
        yield f"{score!r} scores rows that have several labels each, and a class is only one"
        return
    from dcsvm.model_selection.named_scores import list_scorers  # takes a second to import

    if score not in list_scorers():
        yield f"no score is called {score!r}; {did_you_mean(str(score), known)}"


SECTIONS: dict[str, type] = {"data": Data, "split": Split, "search": Search, "measure": Measure}
