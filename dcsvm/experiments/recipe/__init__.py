"""Recipes: a TOML file that names data, a pipeline, a search, and what to compare it with."""

from dcsvm.experiments.recipe.layers import Layered, find_text, layered, override
from dcsvm.experiments.recipe.reader import QUICKSTART, Candidate, Recipe, find_recipe, parse, read
from dcsvm.experiments.recipe.sections import Data, Measure, Search, Split, Suits
from dcsvm.experiments.recipe.serialize import resolved, toml

__all__ = [
    "QUICKSTART",
    "Candidate",
    "Data",
    "Layered",
    "Measure",
    "Recipe",
    "Search",
    "Split",
    "Suits",
    "find_recipe",
    "find_text",
    "layered",
    "override",
    "parse",
    "read",
    "resolved",
    "toml",
]
