"""Options and arguments that several commands have."""

import math
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

ModelPath = Annotated[
    Path, typer.Argument(help="A model file, or a run's folder.", metavar="MODEL")
]
Header = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether a text file begins with names.")
]
PluginFiles = Annotated[
    list[Path] | None,
    typer.Option("--plugin", metavar="FILE.py", help="Load this file as a plugin; repeatable."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on this cluster of Dask: tcp://HOST:8786, or local:4 for processes here.",
    ),
]
Tls = Annotated[
    Path | None,
    typer.Option(
        "--cluster-tls",
        metavar="FOLDER",
        help="With --cluster: certificates ca.pem, cert.pem and key.pem; default: Dask's own.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw", help="Leave control characters and formulas in texts from the data as they are."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", help="Of text files, such as utf-8; default: that of the training file."
    ),
]
Decimal = Annotated[
    Literal[".", ","] | None,
    typer.Option("--decimal", help="Of numbers in text files; default: that of training."),
]


def parse_seconds(text: str) -> float:
    """The number of --seconds, or an error of the command line."""
    with suppress(ValueError):
        number = float(text)
        if 0 < number < math.inf:
            return number
    raise typer.BadParameter(f"must be a number above 0, got {text!r}")


Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        parser=parse_seconds,
        metavar="FLOAT",
        help="The time for a search: search.seconds.",
    ),
]
