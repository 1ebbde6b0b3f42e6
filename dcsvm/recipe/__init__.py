"""Recipes: a TOML file that names data, a pipeline, a search, and what to compare it with."""

from dcsvm.recipe.layers import Layered, find_text, layered, override
from dcsvm.recipe.reader import QUICKSTART, Candidate, Recipe, find_recipe, parse, read
from dcsvm.recipe.tables import Data, Measure, Search, Split
from dcsvm.recipe.written import resolved, toml

__all__ = [
    "QUICKSTART",
    "Candidate",
    "Data",
    "Layered",
    "Measure",
    "Recipe",
    "Search",
    "Split",
    "find_recipe",
    "find_text",
    "layered",
    "override",
    "parse",
    "read",
    "resolved",
    "toml",
]
