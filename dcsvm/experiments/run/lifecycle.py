"""Runs with a folder: start, resume and write the results."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import attrs
import joblib
import numpy as np

from dcsvm.base.component import settings_of
from dcsvm.base.errors import DcsvmError, ModelFileError
from dcsvm.base.row_splitting import TrainTestRows
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.digest import digest
from dcsvm.drive.observers import ObserverGroup
from dcsvm.drive.registry import Registry
from dcsvm.drive.subproblem import FitResult
from dcsvm.experiments.recipe import Data, Recipe, parse, serialize_recipe
from dcsvm.experiments.run import folder as files
from dcsvm.experiments.run.folder import RunFolder, choose_run_folder, format_json
from dcsvm.experiments.run.load_data import warn_of_unsuited
from dcsvm.experiments.run.reports import report_run
from dcsvm.experiments.run.run_status import FINISHED, RUNNING
from dcsvm.experiments.run.runner import Observer, RunContext, RunResult, run_recipe
from dcsvm.experiments.run.search_result import SearchResult
from dcsvm.model_selection.path_job import PathOutcome
from dcsvm.persistence.checkpoints import CheckpointLog

LIBRARIES = ("dcsvm", "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "skops")


@attrs.frozen(eq=False)
class CompletedRun:
    """What a run with a folder came to; `missing` says what could not be written, and why.

    `taken_over` is how many parts had been finished before.
    """

    result: RunResult
    folder: Path
    missing: tuple[str, ...] = ()
    taken_over: int = 0


@attrs.frozen(eq=False)
class RunRequest:
    """What was asked: the recipe as given and as checked, and the words of the command line."""

    recipe: Recipe
    text: str
    seed: int
    n_jobs: int
    overrides: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    command: tuple[str, ...] = ()

    def begin(self, out: Path | None, registry: Registry) -> RunFolder:
        """Make the folder of the run, with all that was asked."""
        wanted = serialize_recipe(self.recipe)
        asked = {
            "recipe": self.recipe.title,
            "overrides": list(self.overrides),
            "seed": self.seed,
            "jobs": self.n_jobs,
            "plugins": list(self.plugins),
            "asked_in": os.getcwd(),
            "command": list(self.command),
        }
        folder = RunFolder.make(
            choose_run_folder(self.recipe.name, digest(wanted, self.seed)) if out is None else out,
            {
                files.RECIPE: self.text,
                files.RESOLVED: _serialize_anchored(wanted, self.recipe),
                files.ENVIRONMENT: format_json(describe_environment(registry)),
                files.REQUEST: format_json(asked),
            },
        )
        folder.set_state(RUNNING)
        return folder


def read_request(folder: RunFolder, registry: Registry, n_jobs: int | None) -> RunRequest:
    """The request of a run that was begun; `n_jobs` may differ, since results do not."""
    asked = folder.read_json(files.REQUEST)
    text = (folder.path / files.RESOLVED).read_text(encoding="utf-8")
    recipe = parse(text, str(folder.path / files.RESOLVED), Path(), registry)
    recipe = attrs.evolve(recipe, title=str(asked["recipe"]))
    return RunRequest(
        recipe,
        (folder.path / files.RECIPE).read_text(encoding="utf-8"),
        int(asked["seed"]),
        n_jobs or int(asked["jobs"]),
        tuple(asked["overrides"]),
        tuple(asked["plugins"]),
        tuple(asked["command"]),
    )


def find_plugin_files(folder: RunFolder) -> list[Path]:
    """The plugin files that a run was begun with; a model file names them as they were given."""
    asked = folder.read_json(files.REQUEST)
    given = [Path(each) for each in asked["plugins"]]
    if Path(asked["asked_in"]) == Path.cwd():
        return given
    return [Path(asked["asked_in"]) / each for each in given]


def execute(
    request: RunRequest, folder: RunFolder, observer: Observer, *, again: bool = False
) -> CompletedRun:
    """Run what was asked, taking finished parts from the folder, and write all that comes out.

    `again` says that the run was begun before.
    """
    log = CheckpointLog(folder.path / FINISHED, kinds=(FitResult, PathOutcome))
    taken_over = len(log)
    if taken_over:
        folder.log("resumed", parts=taken_over)
    if again:
        folder.remove_partial_files()
        folder.set_state(RUNNING)
    session = _FolderContext(
        request.seed,
        request.n_jobs,
        ObserverGroup(observer, folder),
        log,
        _read_searches(folder),
        folder,
    )
    try:
        result = run_recipe(request.recipe, session=session)
        observer.on_step_begin("writing the run folder")
        missing = _write(result, folder)
        folder.set_state("partial" if missing else "done", missing=missing)
        log.discard()
    except DcsvmError as error:
        folder.set_state("failed", error=str(error))
        raise
    except Exception as error:
        folder.set_state("failed", error=f"{type(error).__name__}: {error}")
        raise
    finally:
        log.close()
    return CompletedRun(result, folder.path, tuple(missing), taken_over)


def describe_environment(registry: Registry) -> dict[str, Any]:
    """Describe the environment of a run: versions, plugins, cores."""
    plugins = sorted({(each.distribution, each.version) for each in registry.offers.values()})
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": joblib.cpu_count(),
        "versions": {name: found for name in LIBRARIES if (found := _find_version(name))},
        "plugins": [{"distribution": name, "version": number} for name, number in plugins],
        "broken_plugins": [attrs.asdict(each) for each in registry.broken],
        "executable": sys.executable,
    }


@attrs.frozen(eq=False)
class _FolderContext(RunContext):
    folder: Any = None

    def record_plan(self, recipe: Recipe, data: Dataset, splits: list[TrainTestRows]) -> None:
        warn_of_unsuited(recipe, data)
        facts = {
            "data": data.title,
            "rows": data.n_rows,
            "features": data.X.shape[1],
            "classes": [str(label) for label in np.unique(data.y)],
            "columns": [attrs.asdict(fact) for fact in data.facts],
            "folds": len(splits),
            "n_train": [len(rows.train) for rows in splits],
            "n_test": [len(rows.test) for rows in splits],
            "models": [
                {
                    "model": each.name,
                    "pipeline": str(each.classifier),
                    "combinations": math.prod(map(len, each.grid.values())) if each.grid else 0,
                }
                for each in recipe.candidates
            ],
        }
        self.folder.write_json(files.PLAN, facts)

    def record_search(self, key: str, found: SearchResult) -> None:
        self.found[key] = found.as_dict()
        self.folder.write_json(files.SEARCH, self.found)


def _read_searches(folder: RunFolder) -> dict[str, Any]:
    return dict(folder.read_json(files.SEARCH)) if folder.has(files.SEARCH) else {}


def _write(result: RunResult, folder: RunFolder) -> list[str]:
    """Write all that came out; what could not be written is returned as sentences."""
    from dcsvm.persistence.model_file import MODEL, save

    missing = []
    folder.write(files.PREDICTIONS, format_predictions(result))
    folder.write(files.PARTS, format_parts(result))
    if any(each.found for each in result.trained):
        folder.write(files.TRIALS, format_trials(result))
    folder.write_json(files.METRICS, result.metrics())
    folder.write_json(files.RESULT, result.as_dict())
    try:
        save(result.model, folder.path / MODEL)
    except ModelFileError as error:
        missing.append(f"the model is not kept: {error}")
    return missing + report_run(result, folder)


def format_predictions(result: RunResult) -> str:
    """The test rows as CSV: row number (the first is 0), fold, truth, and every model's answer."""
    names = [each.measures.model for each in result.trained]
    columns = [each.answers.tolist() for each in result.trained]
    rows = zip(
        result.test_rows.tolist(),
        result.folds.tolist(),
        result.truth.tolist(),
        *columns,
        strict=True,
    )
    return _format_csv(("row", "fold", "truth", *names), rows)


def format_parts(result: RunResult) -> str:
    """The ledgers as CSV: one line for every part that was trained, nested ones included.

    `kept` is how many of its rows a next stage would be given: all, where it has one class.
    """
    header = (
        *("model", "path", "rows", "classes", "support_vectors", "kept", "seconds"),
        *("learner", "kind", "parameters", "about"),
    )
    lines = (
        (
            each.measures.model,
            ".".join(map(str, record.path)),
            record.rows,
            record.classes,
            record.support_vectors,
            record.kept,
            f"{record.seconds:.6f}",
            record.learner,
            record.model,
            _format_settings(record.parameters),
            _format_settings(record.about),
        )
        for each in result.trained
        for record in each.model[-1].ledger_
    )
    return _format_csv(header, lines)


def format_trials(result: RunResult) -> str:
    """What the searches tried as CSV: a line for each combination, a column for each value."""
    found = [
        (each.measures.model, number, search)
        for each in result.trained
        for number, search in enumerate(each.found)
    ]
    names = list(
        dict.fromkeys(name for *_, s in found for each in s.tried for name in each.values)
    )
    lines = (
        (
            *(model, number, search.scored_by, f"{each.score:.6f}", f"{each.seconds:.6f}"),
            *(each.values.get(name, "") for name in names),
        )
        for model, number, search in found
        for each in search.tried
    )
    return _format_csv(("model", "search", "scored_by", "score", "seconds", *names), lines)


def _format_csv(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _format_settings(table: Any) -> str:
    plain = {key: _plain(value) for key, value in dict(table).items()}
    return json.dumps(plain, default=str)


def _plain(value: Any) -> Any:
    """Return a setting for display; nested components are shown by name."""
    return getattr(value, "name", value) if hasattr(value, "get_params") else value


def _serialize_anchored(text: str, recipe: Recipe) -> str:
    """Serialize the recipe with an absolute data path, so that it can be resumed from anywhere."""
    if recipe.data.path is None:
        return text
    settings = {name: getattr(recipe.data, name) for name in settings_of(Data)}
    anchored = Data(**{**settings, "path": os.path.abspath(recipe.data.path)})
    return serialize_recipe(attrs.evolve(recipe, data=anchored))


def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
