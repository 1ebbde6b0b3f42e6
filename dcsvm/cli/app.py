"""The typer application and the error reporting of all commands.

The commands are listed in `cli/__init__.py`; shared options are in `options.py`. Exit codes are
in `base/errors.py`, but for 5, a run with missing results (`run.py`), and 128 + signal (here).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcsvm import __version__
from dcsvm.base.errors import DcsvmError, UsageError
from dcsvm.base.sanitized_text import escape_controls, write_raw
from dcsvm.cli.interruption import leave, raise_on_signals
from dcsvm.cli.quick_imports import import_sklearn

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


def _print_version(asked: bool) -> None:
    if asked:
        from dcsvm.numeric import describe_implementation

        typer.echo(f"dcsvm {__version__} ({describe_implementation()})")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and what runs: C or numpy.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None: ...


@contextmanager
def use_cluster(
    address: str | None, jobs: int | None, tls: Path | None, memory: float | None = None
) -> Iterator[None]:
    """Work on the cluster that --cluster names, if it does."""
    if address is None:
        if tls is not None:
            raise UsageError("--cluster-tls is for a cluster: name it with --cluster")
        yield
        return
    from dcsvm.drive.cluster_address import connect

    with connect(address, jobs, tls, memory):
        yield


def load_registry(files: list[Path] | None) -> Registry:
    """Load all installed plugins and these files; report broken ones and skip them."""
    import_sklearn()
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
def report_errors(
    debug: bool, interrupted: str = "nothing was written", *, raw: bool = False
) -> Iterator[None]:
    """Print errors and warnings to standard error and set the exit code.

    Within, texts from the data do nothing in a terminal or a spreadsheet, unless `raw`.
    """
    seen: set[str] = set()

    def warn(message: Warning | str, *where: Any, **more: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            say(f"warning: {message}")

    try:
        with warnings.catch_warnings(), raise_on_signals(), write_raw(raw):
            warnings.showwarning = warn
            # scikit-learn suspects a regression where a part has many classes of few rows.
            warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
            yield
    except KeyboardInterrupt as interrupt:
        with suppress(OSError):  # the terminal may be gone
            say(f"interrupted: {str(interrupt) or interrupted}")
        leave(128 + getattr(interrupt, "number", signal.SIGINT))
    except typer.Exit:
        raise
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if debug:
            say(traceback.format_exc())
        ours = isinstance(error, DcsvmError)
        where = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
        hint = "" if debug else " (--debug shows where)"
        sentence = f"{error}{where}" if ours else f"{type(error).__name__}: {error}{where}{hint}"
        say(f"error: {sentence}")
        raise typer.Exit(error.exit_code if isinstance(error, DcsvmError) else 1) from error


def say(message: str) -> None:
    """Print a message to standard error; standard output is for data."""
    typer.echo(escape_controls(message), err=True)


def echo(text: str = "") -> None:
    """Print a text to standard output, with its control characters spelled out."""
    typer.echo(escape_controls(text))


def echo_json(value: Any) -> None:
    """Print a value as JSON, in ASCII."""
    typer.echo(json.dumps(value, indent=2))
