"""Recipes: a TOML file that names data, a strategy, a search, and what to compare it with."""

from dcsvm.experiments.recipe.layers import LayeredRecipe, find_text, parse_layers, parse_override
from dcsvm.experiments.recipe.reader import QUICKSTART, Candidate, Recipe, find_recipe, parse, read
from dcsvm.experiments.recipe.sections import Data, Measure, Search, Split, Suits
from dcsvm.experiments.recipe.toml_writer import serialize_recipe, to_toml

__all__ = [
    "QUICKSTART",
    "Candidate",
    "Data",
    "LayeredRecipe",
    "Measure",
    "Recipe",
    "Search",
    "Split",
    "Suits",
    "find_recipe",
    "find_text",
    "parse",
    "parse_layers",
    "parse_override",
    "read",
    "serialize_recipe",
    "to_toml",
]
