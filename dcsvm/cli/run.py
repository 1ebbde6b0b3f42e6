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
from dcsvm.cli.app import AsJson, Debug, PluginFiles, app, registry_with, say, speaking
from dcsvm.cli.text_tables import print_result

if TYPE_CHECKING:
    from dcsvm.drive.registry import Registry
    from dcsvm.experiments.progress import TerminalProgress
    from dcsvm.experiments.recipe import Recipe
    from dcsvm.experiments.run.lifecycle import Kept, Request

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
class _Wanted:
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
    with speaking(debug):
        overrides = (*_data_given(data, target), *(values or []))
        plugins = tuple(plugin or ())
        wanted = _Wanted(recipe, overrides, out, resume, jobs, seed, plugins)
        if dry_run:
            _print_plan(wanted, as_json)
            return
        from rich.console import Console

        from dcsvm.experiments.progress import TerminalProgress

        with TerminalProgress(Console(stderr=True)) as progress:
            progress.on_step_begin("starting")
            kept = _carried_out(wanted, progress)
        if as_json:
            found = {**kept.result.as_dict(), "folder": str(kept.folder)}
            typer.echo(json.dumps(found, indent=2))
        else:
            print_result(kept.result)
        if resume is not None:
            say(_taken_over(kept.taken_over))
        for sentence in kept.missing:
            say(f"warning: {sentence}")
        say(f"kept in {kept.folder}")
        if resume is not None:
            plugins = (*_plugins_before(resume), *plugins)
        shown = recipe in (None, "quickstart") and resume is None and data is None
        say(_what_next(kept, plugins, shown))
        if kept.missing:
            raise typer.Exit(5)


def _data_given(data: str | None, target: str | None) -> list[str]:
    """`--data` and `--target` as overrides; a file is seen from where the command is."""
    given = (("--data", data), ("--target", target))
    return [f"{option} {value}" for option, value in given if value is not None]


def _checked(wanted: _Wanted, registry: Registry) -> Request:
    """Everything that can be wrong with a request, found before anything is read or trained."""
    from joblib import cpu_count

    from dcsvm.experiments.recipe import QUICKSTART, find_recipe, find_text
    from dcsvm.experiments.run.lifecycle import Request

    found: Recipe = find_recipe(wanted.recipe, registry, wanted.overrides)
    text = find_text(wanted.recipe or QUICKSTART, Path(), registry)
    return Request(
        found,
        "" if text is None else text[0],
        found.split.seed if wanted.seed is None else wanted.seed,
        wanted.jobs or cpu_count(),
        wanted.overrides,
        tuple(map(str, wanted.plugins)),
        tuple(sys.argv[1:]),
    )


def _carried_out(wanted: _Wanted, progress: TerminalProgress) -> Kept:
    from dcsvm.cli.interruption import interruptible
    from dcsvm.experiments.run.folder import RunFolder
    from dcsvm.experiments.run.lifecycle import carry_out, plugin_files, resumed
    from dcsvm.experiments.run.run_status import FINISHED, STATUS, resume_command

    if wanted.resume is not None:
        _refuse_beside_resume(wanted)
        folder = RunFolder.find(wanted.resume)
        registry = registry_with([*plugin_files(folder), *wanted.plugins])
        request = resumed(folder, registry, wanted.jobs)
        if folder.has(STATUS) and folder.read_json(STATUS).get("state") == "done":
            raise UsageError(f"the run in {str(folder.path)!r} is done: nothing is left to resume")
    else:
        registry = registry_with(list(wanted.plugins))
        request = _checked(wanted, registry)
        if wanted.copy is not None:
            check_writable(wanted.copy)
        folder = request.begun(wanted.folder, registry)
    try:
        kept = interruptible(
            lambda: carry_out(request, folder, progress, again=wanted.resume is not None)
        )
    except KeyboardInterrupt:
        folder.state("interrupted")
        raise KeyboardInterrupt(f"{resume_command(folder.path)} goes on from here") from None
    except DataError as error:
        if wanted.resume is None:
            folder.withdraw()
        raise DataError(f"{error}{_on_the_command_line(str(error), wanted)}") from error
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


def _on_the_command_line(sentence: str, wanted: _Wanted) -> str:
    """The way out without writing a recipe, for those who gave a file by --data."""
    if not any(each.startswith("--data ") for each in wanted.overrides):
        return ""
    if sentence.endswith('`missing = "impute"`'):
        return " (--set data.missing=impute)"
    if "`header = false`" in sentence:
        return " (--set data.header=false)"
    column = re.search(r"column '([^']+)'.*`drop`", sentence)
    if column is None:
        return ""
    from dcsvm.experiments.recipe import override

    said = f"data.drop={column[1]}"
    if override(said).table["data"]["drop"] != column[1]:  # what reads as a number, or has spaces
        said = f"data.drop=[{json.dumps(column[1], ensure_ascii=False)}]"
    return f" (--set {shlex.quote(said)})"


def _plugins_before(folder: Path) -> list[Path]:
    from dcsvm.experiments.run.folder import RunFolder
    from dcsvm.experiments.run.lifecycle import plugin_files

    return plugin_files(RunFolder.find(folder))


def _refuse_beside_resume(wanted: _Wanted) -> None:
    for word, given in (
        ("a recipe", wanted.recipe),
        ("--set or --data", wanted.overrides),
        ("--seed", wanted.seed),
        ("--out", wanted.folder),
    ):
        if given not in (None, ()):
            raise UsageError(f"--resume goes on with what was asked before: leave out {word}")


def check_writable(path: Path) -> None:
    """Refuse, before anything is trained, a path that no model could be written to."""
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


def _print_plan(wanted: _Wanted, as_json: bool) -> None:
    from dcsvm.cli.text_tables import print_plan
    from dcsvm.experiments.run.plan import plan

    request = _checked(wanted, registry_with(list(wanted.plugins)))
    planned = plan(request.recipe, request.seed, request.n_jobs)
    if as_json:
        typer.echo(json.dumps(planned.as_dict(), indent=2))
    else:
        print_plan(planned)


def _taken_over(parts: int) -> str:
    if parts == 0:
        return "no part had been finished before: all were trained now"
    from dcsvm.experiments.run.text import counted

    return f"finished before and not trained again: {counted(parts, 'part', 'parts')}"


def _what_next(kept: Kept, plugins: Sequence[Path], is_quickstart: bool) -> str:
    """The command to go on with, ready for a shell."""
    if is_quickstart:
        return (
            "next: dcsvm recipes copy quickstart mine.toml, "
            "put your CSV file there, then: dcsvm run mine.toml"
        )
    options = [word for each in plugins for word in ("--plugin", str(each))]
    return f"next: {shlex.join(['dcsvm', 'predict', str(kept.folder), 'new_rows.csv', *options])}"
