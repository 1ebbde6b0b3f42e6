"""Options and arguments that several commands have."""

from pathlib import Path
from typing import Annotated

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
