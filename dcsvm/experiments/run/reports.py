"""Reports of runs: gather what they show, write them, and write them again from a run folder."""

import tomllib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.base.component import settings_of
from dcsvm.base.errors import DiskFullError, PluginError, UsageError
from dcsvm.base.reporting import FinishedRun, Report, RunRecord
from dcsvm.drive.registry import KINDS, REPORT, default_registry
from dcsvm.experiments.recipe.component_reader import NoSuchKeyError, apply_cell
from dcsvm.experiments.run import folder as files
from dcsvm.experiments.run.folder import RunFolder
from dcsvm.experiments.run.run_messages import (
    RareClass,
    compute_nsv_ratios,
    describe_columns,
    describe_rare_classes,
)
from dcsvm.experiments.run.run_status import find_status
from dcsvm.experiments.run.runner import RunResult
from dcsvm.numeric import MappedRows
from dcsvm.persistence.atomic_write import write_atomically

#: Answers of test rows that a report of a run on rows on disk may hold in memory.
MOST_ANSWERS = 200_000
NO_PLUGIN = "no plugin that writes reports is installed"


def report_run(result: RunResult, folder: RunFolder) -> list[str]:
    """Write the reports of a finished run; return the errors as sentences."""
    reports = _load_reports()
    is_mapped = isinstance(result.dataset.X, MappedRows)
    if is_mapped and len(result.truth) > MOST_ANSWERS:
        return []
    if not reports:
        warnings.warn(f"there is no report: {NO_PLUGIN}", stacklevel=2)
    failures = []
    for report in reports:
        try:
            if not is_mapped:  # what it shows of the model needs rows in memory
                for name, value in report.gather(_build_finished_run(result)).items():
                    folder.write_json(name, value)
            missing = report.find_missing()
            if missing:  # `dcsvm report` can write it later, wherever the libraries are
                warnings.warn(f"there is no {report.file_name}: {missing}", stacklevel=2)
            else:
                _write(report, read_record(folder.path))
        except DiskFullError:  # the run can be resumed where there is room
            raise
        except Exception as error:  # a picture that fails must not cost a model that took hours
            failures.append(f"the report is incomplete: {error}")
            warnings.warn(failures[-1], stacklevel=2)
    return failures


def write_reports(folder: Path) -> list[Path]:
    """Write every installed report into a run folder, from its other files; return the paths."""
    record, reports = read_record(folder), _load_reports()
    if not reports:
        raise PluginError(f"cannot write a report: {NO_PLUGIN}")
    for report in reports:
        if missing := report.find_missing():
            raise UsageError(missing)
    return [_write(report, record) for report in reports]


def read_record(folder: Path) -> RunRecord:
    """Read what reports need from a run folder; a UsageError if it holds no finished run."""
    record = RunRecord(folder, {})
    result = record.read_json(files.RESULT)
    if result is None:
        raise UsageError(find_status(folder).sentence)
    models = result["models"]
    ratios = compute_nsv_ratios(models)
    models = [each | {"nsv_ratio": ratio} for each, ratio in zip(models, ratios, strict=True)]
    search = _find_last_search(record.read_json(files.SEARCH) or {}, models[0]["model"])
    recipe = _apply_chosen(_parse(record.read_text(files.RESOLVED)), search.get("values") or {})
    plan = record.read_json(files.PLAN) or {}
    return RunRecord(
        folder,
        {**result, "models": models},
        {key: _drop_defaults(key, value) for key, value in recipe.items()},
        search,
        tuple(describe_columns(plan.get("columns") or ())),
        describe_rare_classes([RareClass(**each) for each in result.get("rare_classes", ())]),
    )


def _load_reports() -> list[Report]:
    return [offer.what() for offer in default_registry().of_kind(REPORT)]


def _write(report: Report, record: RunRecord) -> Path:
    path = record.folder / report.file_name
    write_atomically(path, report.render(record))
    return path


def _build_finished_run(result: RunResult) -> FinishedRun:
    data, rows = result.dataset, np.arange(result.dataset.n_rows)
    learned = rows if result.n_train == len(rows) else np.setdiff1d(rows, result.test_rows)
    return FinishedRun(
        result.trained[0].model,
        data.X[result.test_rows],
        result.truth,
        result.trained[0].answers,
        data.X[learned],
        data.y[learned],
        data.features,
        result.trained[0].probabilities,
    )


def _find_last_search(searches: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """Return the search that the parameters of a model come from: with folds, the last one."""
    keys = [key for key in searches if key.rpartition("/")[0] == model]
    last = max(keys, key=lambda key: int(key.rpartition("/")[2]), default="")
    found: Mapping[str, Any] = searches.get(last, {})
    return found


def _parse(recipe: str) -> dict[str, Any]:
    try:
        return tomllib.loads(recipe)
    except tomllib.TOMLDecodeError:
        return {}


def _apply_chosen(recipe: dict[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Put the values that a search chose in place of those that it began with."""
    try:
        changed = apply_cell(recipe, chosen)
    except NoSuchKeyError:  # a searcher with keys of its own
        return recipe
    of_data = {key[5:]: value for key, value in chosen.items() if key.startswith("data.")}
    return {**changed, "data": {**changed.get("data", {}), **of_data}} if of_data else changed


def _drop_defaults(kind: str, table: Any) -> Any:
    """Leave out the settings of components, at any depth, that are at their defaults."""
    if not isinstance(table, dict):
        return table
    offer = default_registry().offers.get((kind, table.get("use", "")))
    known = settings_of(offer.what) if offer is not None and kind in KINDS else {}
    return {
        key: _drop_defaults(key, value)
        for key, value in table.items()
        if key not in known or known[key].default != value
    }
