"""The command line: it parses and prints, and leaves the work to others."""

from __future__ import annotations

import json
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcsvm import __version__
from dcsvm.errors import DcsvmError, UnknownNameError, did_you_mean
from dcsvm.tables import print_described, print_result, print_table

# Importing scikit-learn takes a second: whatever needs it is imported inside the commands.
if TYPE_CHECKING:
    from dcsvm.progress import TerminalProgress
    from dcsvm.registry import Registry
    from dcsvm.run import Result

app = typer.Typer(
    name="dcsvm",
    help="Divide-and-conquer kernel classifiers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would double the time that --help takes
)
plugins_app = typer.Typer(
    rich_markup_mode=None, help="List the components and recipes that plugins offer."
)
app.add_typer(plugins_app, name="plugins")

PluginFiles = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE.py", help="Load this file as a plugin; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def main() -> None:
    """Run the command line; the console script `dcsvm` starts here."""
    app(prog_name="dcsvm")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"dcsvm {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None: ...


@app.command()
def run(
    recipe: Annotated[
        str | None,
        typer.Argument(
            help="A recipe file, or the name of a registered recipe.", metavar="RECIPE"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.dcsvm", help="Save the model here.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Parts trained at the same time; default: all cores."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="In place of the recipe's seed.")
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Run a recipe: read data, train, measure on held-out rows. Without RECIPE: the quickstart."""
    with _speaking(debug):
        from rich.console import Console

        from dcsvm.progress import TerminalProgress

        with TerminalProgress(Console(stderr=True)) as progress:
            progress.step_begins("starting")
            result = _run(recipe, out, jobs, seed, plugin, progress)
        if as_json:
            typer.echo(json.dumps(result.as_dict(), indent=2))
        else:
            print_result(result)
        _say(_what_next(out, is_quickstart=recipe in (None, "quickstart")))


@plugins_app.callback(invoke_without_command=True)
def plugins(
    context: typer.Context,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """List the components and recipes that plugins offer."""
    if context.invoked_subcommand is not None:
        context.obj = plugin
        return
    with _speaking(debug):
        registry = _registry(plugin)
        offers = [offer for kind in _kinds() for offer in registry.of_kind(kind)]
        fields = ("kind", "name", "distribution", "version", "summary")
        rows = [{field: getattr(offer, field) for field in fields} for offer in offers]
        if as_json:
            broken = [
                {"plugin": each.plugin, "distribution": each.distribution, "reason": each.reason}
                for each in registry.broken
            ]
            typer.echo(json.dumps({"offers": rows, "broken": broken}, indent=2))
        else:
            print_table(fields, [list(row.values()) for row in rows])


@plugins_app.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A component or recipe.", metavar="NAME")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="decomposer, learner, combiner or recipe; default: any."),
    ] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the settings of a component, or the text of a recipe."""
    with _speaking(debug):
        registry = _registry([*(context.obj or []), *(plugin or [])])
        from dcsvm.describe import describe

        kinds = _kinds() if kind is None else [kind]
        offers = [registry.offers[each, name] for each in kinds if (each, name) in registry.offers]
        if not offers:
            names = {known for each, known in registry.offers if each in kinds}
            what = "component or recipe" if kind is None else kind
            raise UnknownNameError(f"no {what} is called {name!r}; {did_you_mean(name, names)}")
        described = [describe(offer) for offer in offers]
        if as_json:
            typer.echo(json.dumps(described, indent=2))
            return
        for each in described:
            print_described(each)


def _run(
    recipe: str | None,
    out: Path | None,
    jobs: int | None,
    seed: int | None,
    files: list[Path] | None,
    progress: TerminalProgress,
) -> Result:
    from joblib import cpu_count

    from dcsvm.interruption import interruptible
    from dcsvm.recipe import find_recipe
    from dcsvm.run import check_writable, run_recipe

    found = find_recipe(recipe, _registry(files))
    if out is not None:
        check_writable(out)
    result = interruptible(
        lambda: run_recipe(found, seed=seed, n_jobs=jobs or cpu_count(), audience=progress)
    )
    if out is not None:
        from dcsvm.store import save

        progress.step_begins("saving the model")
        save(result.model, out)
    return result


def _kinds() -> list[str]:
    from dcsvm.registry import KINDS, RECIPE

    return [*KINDS, RECIPE]


def _registry(files: list[Path] | None) -> Registry:
    """Everything installed and these files; what is broken is reported and skipped."""
    from dcsvm.registry import default_registry

    registry = default_registry()
    for file in files or []:
        registry.add_file(file)
    for each in registry.broken:
        _say(
            f"warning: plugin {each.plugin!r} of {each.distribution} is broken and was skipped: "
            f"{each.reason}"
        )
    return registry


@contextmanager
def _speaking(debug: bool) -> Iterator[None]:
    """Turn whatever goes wrong into a sentence on standard error and an exit code."""
    said: set[str] = set()

    def warn(message: Warning | str, *where: Any, **more: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            _say(f"warning: {message}")

    try:
        with warnings.catch_warnings():
            warnings.showwarning = warn
            yield
    except KeyboardInterrupt:
        from dcsvm.interruption import leave

        _say("interrupted: nothing was written")
        leave(130)
    except typer.Exit:
        raise
    except Exception as error:
        if debug:
            traceback.print_exc()
        ours = isinstance(error, DcsvmError)
        hint = "" if debug else " (--debug shows where)"
        _say(f"error: {error}" if ours else f"error: {type(error).__name__}: {error}{hint}")
        raise typer.Exit(error.exit_code if isinstance(error, DcsvmError) else 1) from error


def _say(message: str) -> None:
    typer.echo(message, err=True)


def _what_next(out: Path | None, is_quickstart: bool) -> str:
    if is_quickstart:
        return (
            "next: dcsvm plugins show quickstart > mine.toml, "
            "put your CSV file there, then: dcsvm run mine.toml"
        )
    if out is None:
        return "next: --out model.dcsvm keeps the model"
    return f"next: in Python, dcsvm.load({str(out)!r}).predict(X) answers new rows"
