"""Rows read as [data] asks, and a pipeline that is ready for them: prepared and weighed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.datasets.loading import Dataset, read
from dcsvm.experiments.recipe import Data, Recipe
from dcsvm.experiments.recipe.applicability import SIZES, unsuited
from dcsvm.toolbox.table_preparation import Prepared


def load(given: Data) -> Dataset:
    """Read what the table [data] names."""
    source = Path(given.path) if given.path is not None else str(given.use)
    return read(
        source,
        given.target,
        rows=given.rows,
        header=given.header,
        categorical=given.categorical or (),
        drop=given.drop or (),
        numeric=given.numeric or (),
        missing=given.missing,
    )


def warn_of_unsuited(recipe: Recipe, data: Dataset) -> None:
    """Warn of a file that the recipe is not meant for; embedded sets are there to try it."""
    if recipe.data.path is None:
        return
    sizes = {"rows": data.n_rows, "features": data.X.shape[1], "classes": len(np.unique(data.y))}
    ranges = {key: getattr(recipe.suits, key) for key in SIZES if getattr(recipe.suits, key)}
    sentence = unsuited(recipe.name, ranges, sizes)
    if sentence:
        warnings.warn(sentence, stacklevel=2)


def prepared(
    pipeline: DivideAndConquerClassifier, given: Data, data: Dataset, cell: Mapping[str, Any]
) -> DivideAndConquerClassifier:
    """The pipeline behind a preparation that it keeps, so that the model answers raw rows."""
    asked = {
        name: cell.get(f"data.{name}", getattr(given, name))
        for name in ("scale", "encode", "missing")
    }
    if data.layout is None and asked["scale"] == "none" and asked["missing"] == "error":
        return pipeline
    inner = clone(pipeline).set_params(class_weight=None)  # rows are weighed once, at the door
    return DivideAndConquerClassifier(
        Prepared(data.layout, **asked), inner, class_weight=pipeline.class_weight
    )


def weighed(classifier: DivideAndConquerClassifier, data: Dataset) -> DivideAndConquerClassifier:
    """The pipeline with the weights of classes by label, where a recipe gives them by name."""
    given = classifier.class_weight
    if not isinstance(given, Mapping):
        return classifier
    labels = {str(label): label for label in np.unique(data.y).tolist()}
    for name in given:
        if name not in labels:
            hint = did_you_mean(name, labels)
            raise DataError(f"class_weight: {data.title} has no class {name!r}; {hint}")
    weights = {label: float(given.get(name, 1.0)) for name, label in labels.items()}
    changed: DivideAndConquerClassifier = clone(classifier).set_params(class_weight=weights)
    return changed
