"""Load the rows of the table [data], and build and fit pipelines."""

import shutil
import warnings
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from dcsvm.base.decomposer import Decomposer
from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.datasets.dataset import Dataset
from dcsvm.datasets.file_formats import NEED_TARGET, find_suffix
from dcsvm.datasets.loading import MAPPED_BYTES, measure_shape, open_table, read
from dcsvm.datasets.raw_table import Table
from dcsvm.drive.engine import Engine
from dcsvm.drive.memory_limit import MemoryLimit, check_division
from dcsvm.experiments.recipe import Data, Recipe
from dcsvm.experiments.recipe.applicability import SIZES, describe_mismatch
from dcsvm.numeric.mapped_rows import make_spill_folder
from dcsvm.toolbox.table_preparation import TablePreparation

#: Tables of more than this share of a limit of memory stay on disk: training takes a copy, and the
#: models may take several times as much.
MAPPED_SHARE = 1 / 16
#: Names of columns that are likely to hold the classes.
TARGETS = ("target", "class", "label")


def load(
    given: Data, memory: float | None = None, decomposers: Iterable[Decomposer] = ()
) -> Dataset:
    """Read what the table [data] names; large tables stay on disk while the result lives.

    A table is large if its numbers take more than a sixteenth of the memory limit in bytes, or
    than 1 GB where there is none. Raise before it is read if it is, and one of the decomposers
    would hold more of it in memory than there is.
    """
    source = Path(given.path) if given.path is not None else str(given.use)
    most = MAPPED_BYTES if memory is None else MAPPED_SHARE * memory
    is_file = isinstance(source, Path) and source.exists()
    n_rows, n_columns = measure_shape(source) if is_file else (0, 0)
    if 8 * n_rows * n_columns <= most:
        return _read(given, source, None)
    for decomposer in decomposers:
        limit = None if memory is None else MemoryLimit(memory)
        check_division(decomposer, (n_rows, max(1, n_columns - 1)), limit)
    spill = make_spill_folder()
    try:
        found = _read(given, source, spill)
    except BaseException:
        shutil.rmtree(spill, ignore_errors=True)
        raise
    weakref.finalize(found.X, shutil.rmtree, spill, ignore_errors=True)
    return found


def _read(given: Data, source: Path | str, spill: str | None) -> Dataset:
    return read(
        source,
        given.target,
        rows=given.rows,
        header=given.header,
        categorical=given.categorical or (),
        drop=given.drop or (),
        numeric=given.numeric or (),
        missing=given.missing,
        missing_values=given.missing_values,
        missing_target=given.missing_target,
        dates=given.dates or (),
        day_first=given.day_first,
        encoding=given.encoding,
        decimal=given.decimal,
        spill=spill,
    )


def guess_target(path: Path, section: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the column that is likely to hold the classes, and why; `section` is [data] so far.

    It is the only one called target, class or label, or else the last one; None where the file
    itself says which it is.
    """
    if not path.is_dir() and find_suffix(path) not in NEED_TARGET:
        return None, ""
    kept = {key: section[key] for key in ("header", "encoding", "decimal") if key in section}
    table = open_table(path, **kept)
    assert isinstance(table, Table)
    named = [name for name in table.names if name.strip().lower() in TARGETS]
    if len(named) == 1:
        return named[0], "by its name"
    return table.names[-1], "the last column"


def warn_of_unsuited(recipe: Recipe, data: Dataset) -> None:
    """Warn if a file does not suit the recipe; embedded sets always do."""
    if recipe.data.path is None:
        return
    sizes = {"rows": data.n_rows, "features": data.X.shape[1], "classes": len(np.unique(data.y))}
    ranges = {key: getattr(recipe.suits, key) for key in SIZES if getattr(recipe.suits, key)}
    sentence = describe_mismatch(recipe.name, ranges, sizes)
    if sentence:
        warnings.warn(sentence, stacklevel=2)


def build_pipeline(
    classifier: DivideAndConquerClassifier, given: Data, data: Dataset, cell: Mapping[str, Any]
) -> Pipeline:
    """A pipeline of the preparation of [data] and the classifier, for raw rows."""
    chosen = {
        name: cell.get(f"data.{name}", getattr(given, name))
        for name in ("scale", "encode", "missing", "min_frequency")
    }
    prepare = TablePreparation(**chosen, schema=data.schema)
    return Pipeline([("prepare", prepare), ("classify", classifier)])


def fit_pipeline(model: Pipeline, engine: Engine, X: Any, y: Any) -> Pipeline:
    """Fit both steps of a pipeline, the classifier on the engine of a run."""
    prepare, classifier = model
    rows = prepare.fit_transform(X)
    classifier.fit_with(engine, rows, y, names=list_feature_names(prepare))
    return model


def list_feature_names(prepare: TablePreparation) -> list[str] | None:
    """What a fitted preparation calls its features; None where columns have no names."""
    return None if prepare.names is None else prepare.get_feature_names_out().tolist()


def resolve_class_weight(
    classifier: DivideAndConquerClassifier, data: Dataset
) -> DivideAndConquerClassifier:
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
