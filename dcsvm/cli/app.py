"""The application, common options and error reporting of all commands."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcsvm import __version__
from dcsvm.base.errors import DcsvmError

# Importing scikit-learn takes a second: whatever needs it is imported inside the commands.
if TYPE_CHECKING:
    from dcsvm.drive.registry import Registry

app = typer.Typer(
    name="dcsvm",
    help="Divide-and-conquer kernel classifiers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would double the time that --help takes
)

PluginFiles = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE.py", help="Load this file as a plugin; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


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


def load_registry(files: list[Path] | None) -> Registry:
    """Everything installed and these files; what is broken is reported and skipped."""
    from dcsvm.drive.registry import default_registry

    registry = default_registry()
    for file in files or []:
        registry.add_file(file)
    for each in registry.broken:
        say(
            f"warning: plugin {each.plugin!r} of {each.distribution} is broken and was skipped: "
            f"{each.reason}"
        )
    return registry


@contextmanager
def report_errors(debug: bool, interrupted: str = "nothing was written") -> Iterator[None]:
    """Print errors and warnings to standard error and set the exit code."""
    said: set[str] = set()

    def warn(message: Warning | str, *where: Any, **more: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            say(f"warning: {message}")

    try:
        with warnings.catch_warnings():
            warnings.showwarning = warn
            yield
    except KeyboardInterrupt as interrupt:
        from dcsvm.cli.interruption import leave

        say(f"interrupted: {str(interrupt) or interrupted}")
        leave(130)
    except typer.Exit:
        raise
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if debug:
            traceback.print_exc()
        ours = isinstance(error, DcsvmError)
        hint = "" if debug else " (--debug shows where)"
        say(f"error: {error}" if ours else f"error: {type(error).__name__}: {error}{hint}")
        raise typer.Exit(error.exit_code if isinstance(error, DcsvmError) else 1) from error


def say(message: str) -> None:
    """Print a message to standard error; standard output is for data."""
    typer.echo(message, err=True)
