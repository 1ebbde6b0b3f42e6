"""`dcsvm run`: run a recipe and write the results to a folder."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from dcsvm.base.errors import CompositionError, DataError, SettingError, UsageError
from dcsvm.cli.app import app, echo_json, load_registry, report_errors, say, use_cluster
from dcsvm.cli.completion import complete_recipes_and_files
from dcsvm.cli.data_hints import suggest_options
from dcsvm.cli.options import AsJson, Cluster, Debug, PluginFiles, Raw, Seconds, Tls
from dcsvm.cli.text_tables import print_result
from dcsvm.experiments.run.run_status import IfChanged

if TYPE_CHECKING:
    from dcsvm.drive.registry import Registry
    from dcsvm.experiments.progress import TerminalProgress
    from dcsvm.experiments.recipe import Recipe
    from dcsvm.experiments.run.folder import RunFolder
    from dcsvm.experiments.run.resumable_run import CompletedRun, RunRequest

#: The recipe that searches others: a log begins before it has read anything.
AUTO = "auto"
MODEL_FILE = ".dcsvm"
#: When the command began.
STARTED = time.monotonic()
UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
RecipeName = Annotated[
    str | None,
    typer.Argument(
        help="A recipe file, or the name of a registered recipe.",
        metavar="RECIPE",
        autocompletion=complete_recipes_and_files,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PLACE",
        help="The run folder, in place of runs/NAME/TIME-HASH; "
        "or a name that ends in .dcsvm: a copy of the model.",
    ),
]

Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="What the run may take in all, such as 4GB."),
]

Checkpoints = Annotated[
    str | None,
    typer.Option(
        "--checkpoints",
        metavar="URL",
        help="Copy finished parts to this folder, such as s3://BUCKET/RUN, and take over those "
        "that are there.",
    ),
]
Score = Annotated[
    str | None, typer.Option("--score", metavar="NAME", help="What it chooses by: search.score.")
]


@attrs.frozen
class _Options:
    """The words of the command line, put in order."""

    recipe: str | None
    overrides: tuple[str, ...]
    out: Path | None
    resume: Path | None
    jobs: int | None
    seed: int | None
    plugins: tuple[Path, ...]
    if_changed: IfChanged = "stop"
    memory: float | None = None
    checkpoints: str | None = None

    @property
    def is_quickstart(self) -> bool:
        """Whether the run only shows what dcsvm does."""
        has_data = any(each.startswith("--data ") for each in self.overrides)
        return self.recipe in (None, "quickstart") and self.resume is None and not has_data

    @property
    def copy(self) -> Path | None:
        """The path for a copy of the model."""
        return self.out if self.out is not None and self.out.suffix == MODEL_FILE else None

    @property
    def folder(self) -> Path | None:
        """The path of the run folder, if it is not the default."""
        return self.out if self.copy is None else None


@app.command()
def run(
    recipe: RecipeName = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="DATA", help="A data file or embedded set in its place."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COLUMN", help="The column that holds the classes."),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Such as learner.C=10; repeatable."),
    ] = None,
    seconds: Seconds = None,
    score: Score = None,
    out: Out = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Parts trained at the same time; default: all cores."),
    ] = None,
    cluster: Cluster = None,
    cluster_tls: Tls = None,
    memory: Memory = None,
    checkpoints: Checkpoints = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="In place of the recipe's seed.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FOLDER", help="Go on with the run in this folder."),
    ] = None,
    if_changed: Annotated[
        IfChanged,
        typer.Option(
            "--if-changed",
            help="With --resume, where data, plugins or dcsvm changed since the run began: stop, "
            "restart (drop what is finished), or keep (go on, unless the data changed).",
        ),
    ] = "stop",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the plan: parts, rows, memory and time; then stop."),
    ] = False,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    raw: Raw = False,
    debug: Debug = False,
) -> None:
    """Run a recipe: read data, train, measure on held-out rows. Without RECIPE: the quickstart."""
    with report_errors(debug, raw=raw):
        overrides = (*_list_overrides(data, target, seconds, score), *(values or []))
        most = None if memory is None else _parse_size(memory)
        asked = (recipe, overrides, out, resume, jobs, seed, tuple(plugin or ()), if_changed, most)
        wanted = _Options(*asked, checkpoints)
        _announce(recipe, data, seconds)
        if dry_run:
            _print_plan(wanted, as_json)
            return
        from rich.console import Console

        from dcsvm.experiments.progress import TerminalProgress

        with (
            TerminalProgress(Console(stderr=True), STARTED) as progress,
            use_cluster(cluster, jobs, cluster_tls, most),
        ):
            progress.on_step_begin("starting")
            kept = _execute(wanted, progress)
        _print_completed(kept, wanted, as_json)


def _announce(recipe: str | None, data: str | None, seconds: float | None) -> None:
    """Write the first line of the log of a search before anything slow is imported."""
    is_search = recipe == AUTO or seconds is not None
    if is_search and data is not None and Path(data).exists() and not sys.stderr.isatty():
        say(f"{time.monotonic() - STARTED:.0f} s: reading {data}")


def _print_completed(kept: CompletedRun, wanted: _Options, as_json: bool) -> None:
    if as_json:
        found = {**kept.result.as_dict(), "folder": str(kept.folder)}
        echo_json(found)
    else:
        print_result(kept.result)
    plugins = wanted.plugins
    if wanted.resume is not None or kept.taken_over:
        say(_describe_resumed(kept.taken_over))
    if wanted.resume is not None:
        plugins = (*_find_plugins_before(wanted.resume), *plugins)
    for sentence in kept.missing:
        say(f"warning: {sentence}")
    say(f"kept in {kept.folder}")
    if kept.missing:
        raise typer.Exit(5)
    if kept.result.trained[0].refitted is not None:
        say(
            f"this model was trained on all {kept.result.n_kept:,} rows; the figures are those of "
            f"the same strategy trained on {kept.result.n_train:,}"
        )
    say(_suggest_next(kept, plugins, wanted.is_quickstart))


def _parse_size(text: str) -> float:
    """The bytes of a size such as 4GB or 500MB."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kmgt]?)b?", text.strip().lower())
    if found is None or not float(found[1]):
        raise UsageError(f"--memory must be a size such as 4GB or 500MB, got {text!r}")
    return float(found[1]) * UNITS[found[2]]


def _list_overrides(
    data: str | None, target: str | None, seconds: float | None, score: str | None
) -> list[str]:
    """The short options as overrides; a file is seen from where the command is."""
    given = (
        *(("--data", data), ("--target", target)),
        *(("--seconds", seconds), ("--score", score)),
    )
    return [f"{option} {value}" for option, value in given if value is not None]


def _build_request(wanted: _Options, registry: Registry) -> RunRequest:
    """Build the request, checking everything that can be checked before reading data."""
    from joblib import cpu_count

    from dcsvm.experiments.recipe import QUICKSTART, find_recipe, find_text
    from dcsvm.experiments.run.resumable_run import RunRequest

    found: Recipe = find_recipe(wanted.recipe, registry, wanted.overrides)
    text = find_text(wanted.recipe or QUICKSTART, Path(), registry)
    return RunRequest(
        found,
        "" if text is None else text[0],
        found.split.seed if wanted.seed is None else wanted.seed,
        wanted.jobs or cpu_count(),
        wanted.overrides,
        tuple(map(str, wanted.plugins)),
        tuple(sys.argv[1:]),
        wanted.memory,
        wanted.checkpoints,
    )


def _execute(wanted: _Options, progress: TerminalProgress) -> CompletedRun:
    from dcsvm.cli.interruption import run_interruptible
    from dcsvm.experiments.run.folder import RunFolder
    from dcsvm.experiments.run.resumable_run import (
        execute,
        find_plugin_files,
        read_request,
        update_software,
    )
    from dcsvm.experiments.run.run_status import STATUS, has_finished, resume_command

    if wanted.resume is not None:
        _check_resume_options(wanted)
        folder = RunFolder.find(wanted.resume)
        registry = load_registry([*find_plugin_files(folder), *wanted.plugins])
        request = read_request(folder, registry, wanted.jobs, wanted.memory, wanted.checkpoints)
        if folder.has(STATUS) and folder.read_json(STATUS).get("state") == "done":
            raise UsageError(f"the run in {str(folder.path)!r} is done: nothing is left to resume")
        anew = update_software(request, folder, registry, wanted.if_changed)
    else:
        anew = False
        registry = load_registry(list(wanted.plugins))
        request = _build_request(wanted, registry)
        if wanted.copy is not None:
            check_writable(wanted.copy)
        folder = request.begin(wanted.folder, registry)
    try:
        kept = run_interruptible(
            lambda: execute(
                *(request, folder, progress),
                again=wanted.resume is not None,
                anew=anew,
                if_changed=wanted.if_changed,
                began=STARTED,
            )
        )
    except KeyboardInterrupt as interrupt:
        interrupt.args = (_describe_interrupted(folder),)
        folder.try_state("interrupted")
        raise
    except DataError as error:
        if wanted.resume is None:
            folder.remove()
        by_option = any(each.startswith("--data ") for each in wanted.overrides)
        raise (suggest_options(error) if by_option else DataError(str(error))) from error
    except (CompositionError, SettingError):  # it would be so again
        raise
    except Exception:
        if has_finished(folder.path):
            say(f"finished parts are kept: {resume_command(folder.path)} goes on from there")
        raise
    if wanted.copy is not None:
        from dcsvm.persistence.model_file import save

        progress.on_step_begin("saving the model")
        save(kept.result.model, wanted.copy)
    return kept


def _describe_interrupted(folder: RunFolder) -> str:
    """Describe what an interrupted run has written, and how to resume it."""
    from dcsvm.experiments.run.run_status import has_finished, resume_command
    from dcsvm.persistence.model_file import MODEL

    again = resume_command(folder.path)
    if not has_finished(folder.path):
        return f"nothing was finished yet: {again} begins again"
    best = "; the best model so far is kept there" if folder.has(MODEL) else ""
    return f"{again} goes on from here{best}"


def _find_plugins_before(folder: Path) -> list[Path]:
    from dcsvm.experiments.run.folder import RunFolder
    from dcsvm.experiments.run.resumable_run import find_plugin_files

    return find_plugin_files(RunFolder.find(folder))


def _check_resume_options(wanted: _Options) -> None:
    options = [each.split()[0] if each.startswith("--") else "--set" for each in wanted.overrides]
    for word, given in (
        ("a recipe", wanted.recipe),
        (" and ".join(dict.fromkeys(options)), wanted.overrides),
        ("--seed", wanted.seed),
        ("--out", wanted.folder),
    ):
        if given not in (None, ()):
            raise UsageError(f"--resume continues a run with its own options: leave out {word}")


def check_writable(path: Path) -> None:
    """Raise if a model cannot be written to this path."""
    import tempfile

    if path.is_dir():
        raise UsageError(f"cannot write the model to {str(path)!r}: it is a directory")
    if not path.parent.is_dir():
        raise UsageError(
            f"cannot write the model to {str(path)!r}: there is no directory {str(path.parent)!r}"
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(f"cannot write the model to {str(path)!r}: {error.strerror}") from error


def _print_plan(wanted: _Options, as_json: bool) -> None:
    from dcsvm.cli.text_tables import print_plan
    from dcsvm.experiments.run.run_forecast import plan_run

    request = _build_request(wanted, load_registry(list(wanted.plugins)))
    planned = plan_run(request.recipe, request.seed, request.n_jobs, request.memory)
    if as_json:
        echo_json(planned.as_dict())
    else:
        print_plan(planned)


def _describe_resumed(parts: int) -> str:
    if parts == 0:
        return "no part had been finished before: all were trained now"
    from dcsvm.experiments.run.run_messages import format_count

    return f"finished before and not trained again: {format_count(parts, 'part', 'parts')}"


def _suggest_next(kept: CompletedRun, plugins: Sequence[Path], is_quickstart: bool) -> str:
    """The command to go on with, ready for a shell."""
    if is_quickstart:
        return (
            "next: dcsvm recipes copy quickstart mine.toml, "
            "put your CSV file there, then: dcsvm run mine.toml"
        )
    options = [word for each in plugins for word in ("--plugin", str(each))]
    return f"next: {shlex.join(['dcsvm', 'predict', str(kept.folder), 'new_rows.csv', *options])}"
