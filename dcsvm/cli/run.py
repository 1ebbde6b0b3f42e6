"""`dcsvm run`: a recipe from data to a folder with all that came out."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
import typer

from dcsvm.base.errors import CompositionError, DataError, SettingError, UsageError
from dcsvm.cli.app import AsJson, Debug, PluginFiles, app, load_registry, report_errors, say
from dcsvm.cli.text_tables import print_result

if TYPE_CHECKING:
    from dcsvm.drive.registry import Registry
    from dcsvm.experiments.progress import TerminalProgress
    from dcsvm.experiments.recipe import Recipe
    from dcsvm.experiments.run.lifecycle import CompletedRun, RunRequest

MODEL_FILE = ".dcsvm"
RecipeName = Annotated[
    str | None,
    typer.Argument(help="A recipe file, or the name of a registered recipe.", metavar="RECIPE"),
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

    @property
    def copy(self) -> Path | None:
        """Where a copy of the model goes."""
        return self.out if self.out is not None and self.out.suffix == MODEL_FILE else None

    @property
    def folder(self) -> Path | None:
        """Where the run folder goes, if not to its usual place."""
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
    out: Out = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Parts trained at the same time; default: all cores."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="In place of the recipe's seed.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FOLDER", help="Go on with the run in this folder."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the plan: parts, rows, memory and time; then stop."),
    ] = False,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Run a recipe: read data, train, measure on held-out rows. Without RECIPE: the quickstart."""
    with report_errors(debug):
        overrides = (*_list_data_overrides(data, target), *(values or []))
        plugins = tuple(plugin or ())
        wanted = _Options(recipe, overrides, out, resume, jobs, seed, plugins)
        if dry_run:
            _print_plan(wanted, as_json)
            return
        from rich.console import Console

        from dcsvm.experiments.progress import TerminalProgress

        with TerminalProgress(Console(stderr=True)) as progress:
            progress.on_step_begin("starting")
            kept = _execute(wanted, progress)
        if as_json:
            found = {**kept.result.as_dict(), "folder": str(kept.folder)}
            typer.echo(json.dumps(found, indent=2))
        else:
            print_result(kept.result)
        if resume is not None:
            say(_describe_resumed(kept.taken_over))
        for sentence in kept.missing:
            say(f"warning: {sentence}")
        say(f"kept in {kept.folder}")
        if resume is not None:
            plugins = (*_find_plugins_before(resume), *plugins)
        shown = recipe in (None, "quickstart") and resume is None and data is None
        say(_suggest_next(kept, plugins, shown))
        if kept.missing:
            raise typer.Exit(5)


def _list_data_overrides(data: str | None, target: str | None) -> list[str]:
    """`--data` and `--target` as overrides; a file is seen from where the command is."""
    given = (("--data", data), ("--target", target))
    return [f"{option} {value}" for option, value in given if value is not None]


def _build_request(wanted: _Options, registry: Registry) -> RunRequest:
    """Build the request, checking everything that can be checked before reading data."""
    from joblib import cpu_count

    from dcsvm.experiments.recipe import QUICKSTART, find_recipe, find_text
    from dcsvm.experiments.run.lifecycle import RunRequest

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
    )


def _execute(wanted: _Options, progress: TerminalProgress) -> CompletedRun:
    from dcsvm.cli.interruption import run_interruptible
    from dcsvm.experiments.run.folder import RunFolder
    from dcsvm.experiments.run.lifecycle import execute, find_plugin_files, read_request
    from dcsvm.experiments.run.run_status import FINISHED, STATUS, resume_command

    if wanted.resume is not None:
        _check_resume_options(wanted)
        folder = RunFolder.find(wanted.resume)
        registry = load_registry([*find_plugin_files(folder), *wanted.plugins])
        request = read_request(folder, registry, wanted.jobs)
        if folder.has(STATUS) and folder.read_json(STATUS).get("state") == "done":
            raise UsageError(f"the run in {str(folder.path)!r} is done: nothing is left to resume")
    else:
        registry = load_registry(list(wanted.plugins))
        request = _build_request(wanted, registry)
        if wanted.copy is not None:
            check_writable(wanted.copy)
        folder = request.begin(wanted.folder, registry)
    try:
        kept = run_interruptible(
            lambda: execute(request, folder, progress, again=wanted.resume is not None)
        )
    except KeyboardInterrupt:
        folder.set_state("interrupted")
        raise KeyboardInterrupt(f"{resume_command(folder.path)} goes on from here") from None
    except DataError as error:
        if wanted.resume is None:
            folder.remove()
        raise DataError(f"{error}{_suggest_option(str(error), wanted)}") from error
    except (CompositionError, SettingError):  # it would be so again
        raise
    except Exception:
        if folder.has(FINISHED) and (folder.path / FINISHED).stat().st_size:
            say(f"finished parts are kept: {resume_command(folder.path)} goes on from there")
        raise
    if wanted.copy is not None:
        from dcsvm.persistence.model_file import save

        progress.on_step_begin("saving the model")
        save(kept.result.model, wanted.copy)
    return kept


def _suggest_option(sentence: str, wanted: _Options) -> str:
    """Suggest the --set option that solves a data error, if the file was given by --data."""
    if not any(each.startswith("--data ") for each in wanted.overrides):
        return ""
    if sentence.endswith('`missing = "impute"`'):
        return " (--set data.missing=impute)"
    if "`header = false`" in sentence:
        return " (--set data.header=false)"
    column = re.search(r"column '([^']+)'.*`drop`", sentence)
    if column is None:
        return ""
    from dcsvm.experiments.recipe import parse_override

    said = f"data.drop={column[1]}"
    if (
        parse_override(said).table["data"]["drop"] != column[1]
    ):  # what reads as a number, or has spaces
        said = f"data.drop=[{json.dumps(column[1], ensure_ascii=False)}]"
    return f" (--set {shlex.quote(said)})"


def _find_plugins_before(folder: Path) -> list[Path]:
    from dcsvm.experiments.run.folder import RunFolder
    from dcsvm.experiments.run.lifecycle import find_plugin_files

    return find_plugin_files(RunFolder.find(folder))


def _check_resume_options(wanted: _Options) -> None:
    for word, given in (
        ("a recipe", wanted.recipe),
        ("--set or --data", wanted.overrides),
        ("--seed", wanted.seed),
        ("--out", wanted.folder),
    ):
        if given not in (None, ()):
            raise UsageError(f"--resume goes on with what was asked before: leave out {word}")


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
    from dcsvm.experiments.run.plan import plan_run

    request = _build_request(wanted, load_registry(list(wanted.plugins)))
    planned = plan_run(request.recipe, request.seed, request.n_jobs)
    if as_json:
        typer.echo(json.dumps(planned.as_dict(), indent=2))
    else:
        print_plan(planned)


def _describe_resumed(parts: int) -> str:
    if parts == 0:
        return "no part had been finished before: all were trained now"
    from dcsvm.experiments.run.text import format_count

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
