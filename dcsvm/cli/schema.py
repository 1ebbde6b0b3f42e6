"""`dcsvm schema`: what a recipe may say, for editors."""

from __future__ import annotations

import json

import typer

from dcsvm.cli.app import Debug, PluginFiles, app, registry_with, speaking


@app.command()
def schema(plugin: PluginFiles = None, debug: Debug = False) -> None:
    """Print the JSON schema of recipes, with all that plugins offer."""
    with speaking(debug):
        registry = registry_with(plugin)
        from dcsvm.experiments.recipe.schema import recipe_schema

        typer.echo(json.dumps(recipe_schema(registry), indent=2))
