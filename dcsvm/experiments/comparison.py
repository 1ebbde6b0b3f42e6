"""Runs side by side: their measures, what differs in recipes and choices, McNemar's test."""

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from dcsvm.base.errors import UsageError
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.differences import MISSING, find_differences
from dcsvm.experiments.run.folder import METRICS, PREDICTIONS, RESOLVED, RESULT, SEARCH, RunFolder
from dcsvm.experiments.run.run_messages import compute_nsv_ratios
from dcsvm.experiments.run.run_status import find_status
from dcsvm.model_selection.stop_reasons import BUDGET
from dcsvm.toolbox.significance import mcnemar, paired_interval

#: The measures that are shown of each run, in this order, where they are known.
SHOWN = (
    *("test_accuracy", "train_accuracy", "fit_seconds", "search_seconds", "predict_seconds"),
    *("n_train", "n_test", "n_parts", "homogeneous_share"),
    *("n_support_vectors", "n_unique_support_vectors"),
    *("kernel_evaluations_mean", "nsv_ratio", "kernel_evaluations_max"),
    *("unique_kernel_evaluations_mean", "unique_kernel_evaluations_max"),
    *("hyperplanes_mean", "hyperplanes_max"),
)


@attrs.frozen
class Comparison:
    """Several runs by name; each mapping holds a value for every run under each key.

    `differences` are those between the recipes, `chosen` what the searches found, `cut_short` a
    sentence for each run whose search had no time left.
    """

    runs: tuple[str, ...]
    metrics: Mapping[str, Sequence[float | None]]
    differences: Mapping[str, Sequence[Any]]
    chosen: Mapping[str, Sequence[Any]]
    tests: tuple[dict[str, Any], ...]
    cut_short: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)


def compare_runs(folders: Sequence[Path]) -> Comparison:
    """Compare runs that are done; McNemar's test takes the first as the first of each pair."""
    runs = [RunFolder.find(path) for path in folders]
    for run in runs:
        if not run.has(METRICS):
            raise UsageError(find_status(run.path).sentence)
    names = _choose_names([run.path for run in runs])
    searches = [_read_searches(run) for run in runs]
    found = [run.read_json(METRICS) for run in runs]
    for each, ratio in zip(found, compute_nsv_ratios(found), strict=True):
        each["nsv_ratio"] = ratio
    scores = [key for each in found for key in each if key.startswith("test_")]
    more = sorted({*scores} - {*SHOWN, "test_error"}, key=lambda key: ("_fold_" in key, key))
    shown = [SHOWN[0], *more, *SHOWN[1:]]
    return Comparison(
        tuple(names),
        {
            key: [each.get(key) for each in found]
            for key in shown
            if any(each.get(key) is not None for each in found)
        },
        find_differences([_read_recipe(run.path / RESOLVED) for run in runs], default_registry()),
        _collect_chosen(searches),
        tuple(
            _test_pair(names[0], runs[0].path, name, run.path)
            for name, run in zip(names[1:], runs[1:], strict=True)
        ),
        tuple(_find_cut_short(names, searches)),
    )


def _read_searches(run: RunFolder) -> list[Mapping[str, Any]]:
    """The searches for a run's own model; with folds one for each, and a last one for all rows."""
    searches = run.read_json(SEARCH) if run.has(SEARCH) else {}
    name = run.read_json(RESULT)["models"][0]["model"] if searches else ""
    own = [key for key in searches if key.rpartition("/")[0] == name]
    return [searches[key] for key in sorted(own, key=lambda key: int(key.rpartition("/")[2]))]


def _collect_chosen(searches: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, list[Any]]:
    """The values that the searches for the runs' own models chose."""
    found = [each[-1]["values"] if each else {} for each in searches]
    keys = dict.fromkeys(key for each in found for key in each)
    return {key: [each.get(key, MISSING) for each in found] for key in keys}


def _find_cut_short(
    names: Sequence[str], searches: Sequence[Sequence[Mapping[str, Any]]]
) -> Iterator[str]:
    for name, own in zip(names, searches, strict=True):
        stopped = [str(each["stopped"]) for each in own if each["stopped"].startswith(BUDGET)]
        if stopped:
            yield f"{name}: the search was cut short: {stopped[-1]}"


def _choose_names(paths: Sequence[Path]) -> list[str]:
    """Return the shortest path suffixes that are unique."""
    whole = [path.resolve().parts for path in paths]
    for length in range(1, max(map(len, whole)) + 1):
        names = ["/".join(parts[-length:]) for parts in whole]
        if len(set(names)) == len({*whole}):
            return names
    return [str(path) for path in paths]


def _read_recipe(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error


def _test_pair(first_name: str, first: Path, second_name: str, second: Path) -> dict[str, Any]:
    """Compare the main models of two runs with McNemar's test, or say why it is impossible."""
    pair = {"first": first_name, "second": second_name}
    one, other = _read_predictions(first), _read_predictions(second)
    shared = [key for key in one if key in other]
    if not one or not other:
        return {**pair, "statement": "no test: a run held no rows out (test = 0)"}
    if not shared or len(shared) < len(one) or len(shared) < len(other):
        return {**pair, "statement": "no test: the runs were tested on different rows"}
    answers = (
        [truth for _, truth in shared],
        [one[key] for key in shared],
        [other[key] for key in shared],
    )
    test, interval = mcnemar(*answers), paired_interval(*answers)
    return {
        **pair,
        **attrs.asdict(test),
        **attrs.asdict(interval),
        "statement": f"{test.statement}; {interval.statement}",
    }


def _read_predictions(path: Path) -> dict[tuple[str, str], str]:
    """The answers of a run's own model by row number and truth."""
    try:
        with open(path / PREDICTIONS, newline="", encoding="utf-8") as file:
            lines = csv.reader(file)
            next(lines, None)
            return {(line[0], line[2]): line[3] for line in lines if len(line) > 3}
    except (OSError, csv.Error, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path / PREDICTIONS)!r} cannot be read: {error}") from error
