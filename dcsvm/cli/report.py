"""`dcsvm report`: what a run was asked and what came out, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dcsvm.cli.app import Debug, PluginFiles, app, registry_with, speaking


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    plugin: PluginFiles = None,
    debug: Debug = False,
) -> None:
    """Write a run's report.html anew, from the files of its folder, and print where it is."""
    with speaking(debug):
        registry_with(plugin)
        from dcsvm_report import write_report

        typer.echo(write_report(run))
