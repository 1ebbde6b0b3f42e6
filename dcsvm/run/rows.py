"""Rows read as [data] asks, and a pipeline that is ready for them: prepared and weighed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.dataset import Dataset, read
from dcsvm.errors import DataError, did_you_mean
from dcsvm.preparation import Prepared
from dcsvm.recipe import Data


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
        missing=given.missing,
    )


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
