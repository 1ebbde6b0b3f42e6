"""The recipes of the portfolio, and the pipelines that they make for a table."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from dcsvm.base.errors import RecipeError, did_you_mean
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.registry import RECIPE, Registry
from dcsvm.experiments.recipe import Candidate, Recipe, Search, parse
from dcsvm.experiments.recipe.applicability import SIZES, find_unsuitable
from dcsvm.experiments.recipe.reader import PORTFOLIO
from dcsvm.experiments.recipe.sections import change_search
from dcsvm.experiments.recipe.toml_writer import serialize_learner
from dcsvm.experiments.run.load_data import build_pipeline, resolve_class_weight
from dcsvm.toolbox.table_schema import TableSchema

#: The keys of [data] that each recipe brings.
DATA_KEYS = ("scale", "encode", "min_frequency")
#: Where fewer recipes suit the data, those for other numbers of rows are tried after them.
MIN_SUITED = 2


@attrs.frozen(eq=False)
class PortfolioRecipe:
    """A recipe of the portfolio, for one table.

    `missing` and `class_weight` are those of the recipe that searches the portfolio.
    """

    recipe: Recipe
    data: Dataset
    missing: str
    class_weight: Any
    seed: int
    n_jobs: int | None

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def candidate(self) -> Candidate:
        return self.recipe.candidates[0]

    def build(self, cell: Mapping[str, Any], probable: bool = True) -> Pipeline:
        """The recipe's pipeline with these values, not fitted."""
        classifier = clone(self.candidate.build_classifier(cell))
        if self.class_weight is not None:
            classifier.set_params(class_weight=self.class_weight)
        classifier = resolve_class_weight(classifier, self.data)
        method = classifier.probability if probable else "off"
        classifier.set_params(
            random_state=self.seed,
            n_jobs=self.n_jobs,
            probability="auto" if probable and method == "off" else method,
        )
        cell = {**cell, "data.missing": self.missing}
        return build_pipeline(classifier, self.recipe.data, self.data, cell)

    def adapt_search(self, score: str, n_rows: int, seconds: float) -> Search:
        """The recipe's own search, by a score and on so many rows at the most."""
        own = self.recipe.search
        return change_search(
            own,
            score=score,
            # With a number of rows, a division that was judged on a sample stays as it is.
            rows=min(own.rows or n_rows, n_rows),
            seconds=min(own.seconds or seconds, seconds),
        )

    def describe(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The pipeline with these values as a cell of the recipe that searches the portfolio."""
        table = serialize_learner(self.build(values)[-1])
        return {**table, **self._describe_data(values)}

    def describe_member(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The pipeline with these values as a member of a blend: learner and preparation."""
        data = self._describe_data(values)
        preparation = {key: data[f"data.{key}"] for key in DATA_KEYS}
        return serialize_learner(self.build(values)[-1]), preparation

    def _describe_data(self, values: Mapping[str, Any]) -> dict[str, Any]:
        own = self.recipe.data
        return {f"data.{key}": values.get(f"data.{key}", getattr(own, key)) for key in DATA_KEYS}


def find_portfolio(registry: Registry, settings: Search, sizes: Mapping[str, int]) -> list[Recipe]:
    """The recipes to try, in their order: those that are named, or that join and suit the data."""
    names = settings.recipes or _list_joined_names(registry)
    for name in (*names, *(settings.exclude or ())):
        if (RECIPE, name) not in registry.offers:
            hint = did_you_mean(name, registry.names(RECIPE))
            raise RecipeError(f"[search]: no registered recipe is called {name!r}; {hint}")
    recipes = [_read(name, registry) for name in names if name not in (settings.exclude or ())]
    if not recipes:
        raise RecipeError("[search]: no recipe is left in the portfolio")
    suited = [each for each in recipes if not find_unsuitable(_list_ranges(each), sizes)]
    if settings.recipes or len(suited) >= MIN_SUITED:
        return recipes if settings.recipes else suited
    others = [each for each in recipes if find_unsuitable(_list_ranges(each), sizes) == ["rows"]]
    return suited + others or recipes


def count_sizes(data: Dataset, rows: Any) -> dict[str, int]:
    """The numbers of rows, features and classes that recipes are chosen by."""
    return {"rows": len(rows), "features": data.X.shape[1], "classes": len(np.unique(data.y))}


def count_levels(schema: TableSchema | None) -> list[int]:
    """How many levels each column has, 0 for numbers; empty if no column has any."""
    columns: Iterable[Any] = () if schema is None else schema.features
    levels = [len(each.levels or ()) for each in columns]
    return levels if any(levels) else []


def _list_joined_names(registry: Registry) -> Sequence[str]:
    places = {
        offer.name: tomllib.loads(offer.what).get(PORTFOLIO) for offer in registry.of_kind(RECIPE)
    }
    joining = {name: place for name, place in places.items() if place is not None}
    return sorted(joining, key=lambda name: (joining[name], name))


def _read(name: str, registry: Registry) -> Recipe:
    return parse(registry.offers[RECIPE, name].what, name, Path(), registry)


def _list_ranges(recipe: Recipe) -> dict[str, Sequence[float]]:
    return {key: getattr(recipe.suits, key) for key in SIZES if getattr(recipe.suits, key)}
