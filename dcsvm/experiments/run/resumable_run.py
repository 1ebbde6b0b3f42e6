"""Runs with a folder: start, resume and write the results."""

import math
import os
import platform
import sys
import time
import warnings
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import attrs
import joblib
import numpy as np
from sklearn.pipeline import Pipeline

from dcsvm.base.component import settings_of
from dcsvm.base.digest import digest
from dcsvm.base.errors import DataError, DcsvmError, ModelFileError, UsageError
from dcsvm.base.row_splitting import TrainTestRows
from dcsvm.base.subproblem import FitResult
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.observers import ObserverGroup
from dcsvm.drive.registry import Registry
from dcsvm.experiments.portfolio.recipe_trials import Trial
from dcsvm.experiments.recipe import Data, Recipe, parse, serialize_recipe
from dcsvm.experiments.run import folder as files
from dcsvm.experiments.run.changed_inputs import (
    describe_file_change,
    describe_rows,
    describe_software,
    find_data_changes,
    find_software_changes,
)
from dcsvm.experiments.run.folder import RunFolder, choose_run_folder, format_json
from dcsvm.experiments.run.load_data import warn_of_unsuited
from dcsvm.experiments.run.reports import report_run
from dcsvm.experiments.run.run_context import RunContext
from dcsvm.experiments.run.run_status import FINISHED, RUNNING, IfChanged
from dcsvm.experiments.run.run_tables import (
    format_leaderboard,
    format_parts,
    format_predictions,
    format_trials,
)
from dcsvm.experiments.run.runner import Observer, RunResult, run_recipe
from dcsvm.experiments.run.search_result import SearchResult
from dcsvm.model_selection.path_job import PathOutcome
from dcsvm.numeric import native
from dcsvm.persistence.checkpoint_mirror import CheckpointMirror
from dcsvm.persistence.checkpoints import CheckpointLog

DROP = "drop the finished searches and parts with --if-changed restart"
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
    """The input of a run: the recipe as given and as checked, and the command line."""

    recipe: Recipe
    text: str
    seed: int
    n_jobs: int
    overrides: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    memory: float | None = None
    checkpoints: str | None = None

    def begin(self, out: Path | None, registry: Registry) -> RunFolder:
        """Make the folder of the run and write its inputs."""
        wanted = serialize_recipe(self.recipe)
        request = {
            "recipe": self.recipe.title,
            "overrides": list(self.overrides),
            "seed": self.seed,
            "jobs": self.n_jobs,
            "memory": self.memory,
            "checkpoints": self.checkpoints,
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
                files.INPUTS: format_json({"software": describe_software(self.recipe, registry)}),
                files.REQUEST: format_json(request),
            },
        )
        folder.set_state(RUNNING)
        return folder


def read_request(
    folder: RunFolder,
    registry: Registry,
    n_jobs: int | None,
    memory: float | None = None,
    checkpoints: str | None = None,
) -> RunRequest:
    """The request of a run; what does not change results may differ from what it was at first."""
    request = folder.read_json(files.REQUEST)
    text = (folder.path / files.RESOLVED).read_text(encoding="utf-8")
    recipe = parse(text, str(folder.path / files.RESOLVED), Path(), registry)
    recipe = attrs.evolve(recipe, title=str(request["recipe"]))
    return RunRequest(
        recipe,
        (folder.path / files.RECIPE).read_text(encoding="utf-8"),
        int(request["seed"]),
        n_jobs or int(request["jobs"]),
        tuple(request["overrides"]),
        tuple(request["plugins"]),
        tuple(request["command"]),
        memory or request.get("memory"),
        checkpoints or request.get("checkpoints"),
    )


def find_plugin_files(folder: RunFolder) -> list[Path]:
    """The plugin files that a run was begun with; a model file names them as they were given."""
    request = folder.read_json(files.REQUEST)
    given = [Path(each) for each in request["plugins"]]
    if Path(request["asked_in"]) == Path.cwd():
        return given
    return [Path(request["asked_in"]) / each for each in given]


def update_software(
    request: RunRequest, folder: RunFolder, registry: Registry, if_changed: IfChanged
) -> bool:
    """Check that dcsvm and the plugins are those that a run was begun with.

    Return whether the run has to start anew. If it goes on, the software of today is written down.
    """
    now = describe_software(request.recipe, registry)
    before = folder.read_json(files.INPUTS) if folder.has(files.INPUTS) else None
    changes = ["it does not say what it was begun with"]
    if before is not None:
        changes = list(find_software_changes(before["software"], now))
    if not changes:
        return False
    sentence = f"{folder.path} was begun with something else: {'; '.join(changes)}"
    if if_changed == "stop" or (before is None and if_changed == "keep"):
        ways = "install what it was begun with, or " if before is not None else ""
        kept = "" if before is None else "; --if-changed keep goes on with them nevertheless"
        raise UsageError(f"{sentence}; {ways}{DROP}{kept}")
    if if_changed == "keep":
        warnings.warn(sentence, stacklevel=2)
    folder.write_json(files.INPUTS, {**(before or {}), "software": now})
    return if_changed == "restart"


def execute(
    request: RunRequest,
    folder: RunFolder,
    observer: Observer,
    *,
    again: bool = False,
    anew: bool = False,
    if_changed: IfChanged = "stop",
    began: float | None = None,
) -> CompletedRun:
    """Run the recipe, reuse finished parts from the folder, and write the results.

    `again` says that the run was begun before, `anew` that nothing finished may be used, and
    `if_changed` what to do with data that changed. Time is counted from `began`.
    """
    kinds = (FitResult, PathOutcome, Trial)
    mirror = _find_mirror(request)
    with closing(CheckpointLog(folder.path / FINISHED, kinds=kinds, mirror=mirror)) as log:
        session = _FolderContext(
            request.seed,
            request.n_jobs,
            ObserverGroup(observer, folder),
            log,
            _read_searches(folder),
            request.memory,
            folder,
            if_changed,
            began=time.monotonic() if began is None else began,
        )
        if anew:
            session.drop_finished()
        if log.n_before:
            folder.log("resumed", parts=log.n_before)
        if again:
            folder.remove_partial_files()
            folder.set_state(RUNNING)
        return _run(request, session, log)


def _find_mirror(request: RunRequest) -> CheckpointMirror | None:
    """The folder for copies of finished parts, of this version of the code."""
    if request.checkpoints is None:
        return None
    software = describe_software(request.recipe, request.recipe.candidates[0].registry)
    return CheckpointMirror(f"{request.checkpoints.rstrip('/')}/{digest(software)}")


def _run(request: RunRequest, session: "_FolderContext", log: CheckpointLog) -> CompletedRun:
    """Run the request, and write its final status."""
    folder = session.folder
    try:
        result = run_recipe(request.recipe, session=session)
        session.observer.on_step_begin("writing the run folder")
        missing = _write(result, folder)
        folder.set_state("partial" if missing else "done", missing=missing)
        log.discard()
    except DcsvmError as error:
        folder.try_state("failed", error=str(error))
        raise
    except Exception as error:
        folder.try_state("failed", error=f"{type(error).__name__}: {error}")
        raise
    return CompletedRun(result, folder.path, tuple(missing), log.n_before)


def describe_environment(registry: Registry) -> dict[str, Any]:
    """Describe the environment of a run: versions, plugins, cores, numeric implementation."""
    plugins = sorted({(each.distribution, each.version) for each in registry.offers.values()})
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": joblib.cpu_count(),
        "numeric": {
            "implementation": native.implementation(),
            "instruction_set": native.instruction_set(),
        },
        "versions": {name: found for name in LIBRARIES if (found := _find_version(name))},
        "plugins": [{"distribution": name, "version": number} for name, number in plugins],
        "broken_plugins": [attrs.asdict(each) for each in registry.broken],
        "executable": sys.executable,
    }


@attrs.frozen(eq=False)
class _FolderContext(RunContext):
    folder: Any = None
    if_changed: IfChanged = "stop"
    keeps_model = True

    def drop_finished(self) -> None:
        """Forget the searches and parts that were finished before."""
        cast(CheckpointLog, self.checkpoints).clear()
        self.found.clear()
        self.folder.delete(files.SEARCH)

    def _record_rows(self, recipe: Recipe, data: Dataset) -> None:
        """Record the data; if the run was started with other data, raise or restart."""
        inputs = self.folder.read_json(files.INPUTS)
        before, now = inputs.get("data"), describe_rows(data, recipe.data.path)
        changes = [] if before is None else list(find_data_changes(before, now))
        if changes:
            what = f"{'; '.join(changes)}{describe_file_change(before, now)}"
            sentence = f"{data.title} is not what the run was begun with: {what}"
            if self.if_changed != "restart":
                raise DataError(f"{sentence}; bring the old data back, or {DROP}")
            warnings.warn(sentence, stacklevel=2)
            self.drop_finished()
        self.folder.write_json(files.INPUTS, {**inputs, "data": now})

    def record_plan(self, recipe: Recipe, data: Dataset, splits: list[TrainTestRows]) -> None:
        self._record_rows(recipe, data)
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
                    "strategy": str(each.classifier),
                    "combinations": math.prod(map(len, each.grid.values())) if each.grid else 0,
                }
                for each in recipe.candidates
            ],
        }
        self.folder.write_json(files.PLAN, facts)

    def record_search(self, key: str, found: SearchResult) -> None:
        self.found[key] = found.as_dict()
        self.folder.write_json(files.SEARCH, self.found)

    def record_best(self, model: Pipeline) -> None:
        from dcsvm.persistence.model_file import MODEL, save

        with suppress(ModelFileError):
            save(model, self.folder.path / MODEL)


def _read_searches(folder: RunFolder) -> dict[str, Any]:
    return dict(folder.read_json(files.SEARCH)) if folder.has(files.SEARCH) else {}


def _write(result: RunResult, folder: RunFolder) -> list[str]:
    """Write the results; return errors as sentences."""
    from dcsvm.persistence.model_file import MODEL, save

    missing = []
    folder.write(files.PREDICTIONS, format_predictions(result))
    folder.write(files.PARTS, format_parts(result))
    if any(each.found for each in result.trained):
        folder.write(files.TRIALS, format_trials(result))
    for found in result.trained[0].found[-1:]:
        if found.leaderboard:
            folder.write(files.LEADERBOARD, format_leaderboard(found))
    folder.write_json(files.METRICS, result.metrics())
    folder.write_json(files.RESULT, result.as_dict())
    try:
        save(result.model, folder.path / MODEL)
    except ModelFileError as error:
        missing.append(f"the model is not kept: {error}")
    return missing + report_run(result, folder)


def _serialize_anchored(text: str, recipe: Recipe) -> str:
    """Serialize the recipe with an absolute data path, so that it can be resumed from anywhere."""
    if recipe.data.path is None:
        return text
    settings = {name: getattr(recipe.data, name) for name in settings_of(Data)}
    anchored = Data(**{**settings, "path": os.path.abspath(recipe.data.path)})
    return serialize_recipe(attrs.evolve(recipe, data=anchored))


@cache
def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
