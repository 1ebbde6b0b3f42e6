"""The command `dcsvm report`."""

from pathlib import Path
from typing import Annotated

import typer

from dcsvm.cli.app import app, echo, load_registry, report_errors
from dcsvm.cli.options import Debug, PluginFiles


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    plugin: PluginFiles = None,
    debug: Debug = False,
) -> None:
    """Write the reports of a run again, from the files of its folder, and print their paths."""
    with report_errors(debug):
        load_registry(plugin)
        from dcsvm.experiments.run.reports import write_reports

        for path in write_reports(run):
            echo(str(path))
