"""`dcsvm init`: a recipe or a plugin to start from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from dcsvm.base.errors import UsageError
from dcsvm.cli.app import Debug, app, say, speaking
from dcsvm.cli.recipes import write_new

init_app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Start a recipe or a plugin of your own."
)
app.add_typer(init_app, name="init")

RECIPE = """\
about = "what this recipe is good for"

[data]
path = "mine.csv"            # .csv, .npz, ...; or, for an embedded set: use = "iris"
target = "class"             # the column that holds the classes
scale = "standard"           # or minmax, robust, none
missing = "error"            # or impute, mark

[split]
test = 0.25                  # share of the rows held out; or: use = "folds", folds = 5
seed = 0

[decomposer]                 # dcsvm plugins lists what there is
use = "tree"
ceiling = 1500

[learner]
use = "kernel_svm"

[combiner]
use = "route"

[search]                     # values to choose from, by rows that are held out for that
rows = 3000
seconds = 30.0
learner.C = [1.0, 10.0, 100.0]
learner.gamma = [0.1, 1.0, 10.0]

[compare.undivided]          # the same learner without a division
decomposer = "whole"
"""


@init_app.command()
def recipe(
    file: Annotated[Path, typer.Argument(help="Where to put it.", metavar="FILE")] = Path(
        "recipe.toml"
    ),
    debug: Debug = False,
) -> None:
    """Write a recipe with comments; a file that is there is never replaced."""
    with speaking(debug):
        write_new(file, RECIPE)
        say(f"next: put your file and its target there, then: dcsvm run {file}")


@init_app.command()
def plugin(
    name: Annotated[str, typer.Argument(help="In lower case: halves.", metavar="NAME")],
    kind: Annotated[
        Literal["decomposer", "learner", "combiner"],
        typer.Option("--kind", help="What it offers."),
    ] = "decomposer",
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to put it; default: ./dcsvm-NAME.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a plugin with tests that pass at once: a module, its tests, a pyproject.toml."""
    with speaking(debug):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise UsageError(
                f"a plugin's name is lower case letters, digits and underscores, not {name!r}"
            )
        from dcsvm.drive.registry import default_registry
        from dcsvm.experiments.scaffold import scaffold

        taken = default_registry().offers.get((kind, name))
        if taken is not None:
            raise UsageError(
                f"there is a {kind} called {name!r} already, from {taken.distribution}; "
                "choose another name"
            )

        place = folder or Path(f"dcsvm-{name.replace('_', '-')}")
        for file, text in scaffold(name, kind).items():
            write_new(place / file, text)
        here = place if place.is_absolute() else f"./{place}"
        say(f"next: python -m pytest {here}, then: pip install {here}")
