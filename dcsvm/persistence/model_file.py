"""Model files: `save` and `load` a fitted classifier without pickle.

The archive, its checksum and its version are checked in `model_file_format.py`.
"""

import os
from itertools import pairwise
from typing import Any

import numpy as np
import sklearn
from sklearn.pipeline import Pipeline

import dcsvm
from dcsvm.base.errors import ModelFileError, ModelPluginError
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.drive.registry import default_registry
from dcsvm.persistence.decoder import Decoder
from dcsvm.persistence.encoder import Encoder
from dcsvm.persistence.model_file_format import (
    FormatError,
    MissingPluginError,
    ModelArchive,
    open_archive,
    write_archive,
)
from dcsvm.persistence.stored_types import Catalogue
from dcsvm.toolbox.table_preparation import FITTED, TablePreparation
from dcsvm.toolbox.unwrap import find_best, is_search

__all__ = ["load", "save"]

#: Name of the model file in a run folder.
MODEL = "model.dcsvm"
#: Kinds of dtype that class labels may have: bool, int, uint, float, str, object.
LABEL_KINDS = frozenset("biufUO")
#: Characters that a dtype of labels may have, even if no label has as many.
LABEL_LENGTH = 256


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to one file.

    The file is written atomically. The same model gives the same bytes, whatever its `n_jobs`.
    The training ledger is not stored.

    Parameters
    ----------
    model : DivideAndConquerClassifier or Pipeline
        Fitted. Everything in it must have a name: registered components, no functions. Before the
        classifier a Pipeline may hold a TablePreparation, and nothing else. Of a search its
        `best_estimator_` is written.
    path : str or path
        An existing file is replaced.

    Raises
    ------
    ModelFileError
        Part of the model cannot be stored, or the file cannot be written.

    Examples
    --------
    >>> import tempfile, os
    >>> from sklearn.datasets import load_iris
    >>> import dcsvm
    >>> X, y = load_iris(return_X_y=True)
    >>> model = dcsvm.DivideAndConquerClassifier("tree", "kernel_svm", "route").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dcsvm.save(model, os.path.join(folder, "iris.dcsvm"))
    ...     again = dcsvm.load(os.path.join(folder, "iris.dcsvm"))
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    name = os.fspath(path)
    model = find_best(model)
    if isinstance(model, Pipeline):
        model = _flatten(model)
    named = model.steps if isinstance(model, Pipeline) else [("", model)]
    classifier = find_best(named[-1][1])
    if not isinstance(classifier, DivideAndConquerClassifier):
        advice = ""
        if is_search(classifier):
            advice = ", and this search has no best_estimator_: fit it, with refit=True"
        raise ModelFileError(
            f"cannot save a {type(model).__name__}: a model file holds a fitted "
            f"DivideAndConquerClassifier{advice}"
        )
    _check_steps(named[:-1])
    if not hasattr(classifier, "model_"):
        raise ModelFileError("cannot save a classifier that is not fitted: call fit first")
    encoder = Encoder(Catalogue(default_registry()))
    try:
        manifest = _build_manifest(classifier, encoder)
        if isinstance(model, Pipeline):
            before = [[name, _encode_preparation(step, encoder)] for name, step in named[:-1]]
            manifest["steps"] = [*before, [named[-1][0], None]]
        entries = encoder.entries()
    except RecursionError as error:
        raise ModelFileError("cannot save the classifier: it is nested too deeply") from error
    try:  # what could not be loaded is not written
        _check_place(classifier.model_, classifier.n_features_in_, len(classifier.classes_))
    except (ValueError, IndexError) as error:
        raise ModelFileError(f"cannot save the classifier: {error}") from error
    try:
        write_archive(name, manifest, entries)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"cannot write the model file {name!r}: {reason}") from error


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Read a classifier that `save` wrote.

    Only types that dcsvm or a loaded plugin registers are built; nothing is imported and no code
    is run. Scikit-learn estimators are read by skops if all their types are trusted.

    Parameters
    ----------
    path : str or path
        A model file, or a run folder with a saved model.
    max_bytes : int, optional
        Raise if the file is larger. Model files are not compressed, so this bounds memory, too.

    Returns
    -------
    DivideAndConquerClassifier or Pipeline
        Predicts the same bits as the saved one. Its ledger is empty.

    Raises
    ------
    ModelFileError
        The file is missing, damaged, altered, not a model file, or has a newer format.
    ModelPluginError
        A plugin is missing; this is a ModelFileError, too.
    """
    name = os.fspath(path)
    if os.path.isdir(name) and os.path.exists(inside := os.path.join(name, MODEL)):
        name = inside
    try:
        with open_archive(name, max_bytes) as archive:
            return _build_model(archive)
    except FormatError as flaw:
        kind = ModelPluginError if isinstance(flaw, MissingPluginError) else ModelFileError
        raise kind(f"model file {name!r} {flaw}") from flaw
    except Exception as error:  # a damaged file can raise anything
        raise ModelFileError(
            f"model file {name!r} is damaged or was altered: {type(error).__name__}: {error}"
        ) from error


def _build_manifest(model: DivideAndConquerClassifier, encoder: Encoder) -> dict[str, Any]:
    pipeline = encoder.encode_component(model, ("the classifier", "pipeline"))
    names = getattr(model, "feature_names_in_", None)
    fitted = encoder.encode(model.model_, ("the classifier", "model_"))
    return {
        "dcsvm_version": dcsvm.__version__,
        "sklearn_version": sklearn.__version__,
        "plugins": encoder.catalogue.list_plugins(encoder.used),
        "pipeline": pipeline,
        "classes": _encode_labels(model.classes_),
        "n_rows": getattr(model, "n_rows_", None),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(each) for each in names],
        "model": fitted,
    }


def _encode_preparation(prepare: TablePreparation, encoder: Encoder) -> dict[str, Any]:
    where = ("TablePreparation", "fitted")
    fitted = {name: getattr(prepare, name) for name in FITTED if hasattr(prepare, name)}
    return {
        "settings": encoder.encode(prepare.get_params(), where),
        "fitted": encoder.encode(fitted, where),
    }


def _build_model(archive: ModelArchive) -> Any:
    decoder = Decoder(archive, Catalogue(default_registry()))
    classifier = _build_classifier(archive.manifest, decoder)
    if "steps" not in archive.manifest:
        return classifier
    steps: list[tuple[str, Any]] = []
    for name, encoded in archive.manifest["steps"][:-1]:
        prepare = TablePreparation(**decoder.decode(encoded["settings"]))
        fitted = decoder.decode(encoded["fitted"])
        for attribute in FITTED:
            if attribute in fitted:
                setattr(prepare, attribute, fitted[attribute])
        steps.append((name, prepare))
    model = Pipeline([*steps, (archive.manifest["steps"][-1][0], classifier)])
    for (_, prepare), (_, following) in pairwise(model.steps):
        if not prepare.is_sound() or len(prepare.features()) != following.n_features_in_:
            raise FormatError("is damaged: its preparation is not the one of its classifier")
    return model


def _build_classifier(manifest: dict[str, Any], decoder: Decoder) -> DivideAndConquerClassifier:
    classifier = decoder.decode(manifest["pipeline"])
    model = decoder.decode(manifest["model"])
    classes = _decode_labels(**manifest["classes"])
    names, n_features = manifest["feature_names"], manifest["n_features"]
    n_rows = manifest.get("n_rows")  # missing in the oldest files
    if not isinstance(classifier, DivideAndConquerClassifier) or not isinstance(
        model, FittedStrategy
    ):
        raise FormatError("is damaged: it does not hold a fitted classifier")
    if classes.shape != (model.committee.n_classes,) or type(n_features) is not int:
        raise FormatError("is damaged: its classes or features do not match its model")
    if len(np.unique(classes)) < len(classes):
        raise FormatError("is damaged: it has a class twice")
    if n_rows is not None and type(n_rows) is not int:
        raise FormatError("is damaged: n_rows is not an integer")
    if names is not None and not (
        len(names) == n_features and all(type(each) is str for each in names)
    ):
        raise FormatError("is damaged: its feature names do not match its model")
    try:
        _check_place(model, n_features, len(classes))
    except (ValueError, IndexError) as error:
        raise FormatError(f"is damaged or was altered: {error}") from error
    classifier.classes_ = classes
    classifier.model_ = model
    classifier.ledger_ = model.ledger
    classifier.n_features_in_ = n_features
    if n_rows is not None:
        classifier.n_rows_ = n_rows
    if names is not None:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    return classifier


def _flatten(model: Pipeline) -> Pipeline:
    """The pipeline with the steps of its last one, where that came to a pipeline itself."""
    name, last = model.steps[-1]
    last = find_best(last)
    if not isinstance(last, Pipeline):
        return model
    inner = [(f"{name}_{step}", each) for step, each in _flatten(last).steps]
    return Pipeline([*model.steps[:-1], *inner])


def _check_steps(steps: list[tuple[str, Any]]) -> None:
    """Raise if there is something else than a preparation before the classifier."""
    for _, step in steps:
        if not isinstance(step, TablePreparation):
            raise ModelFileError(
                f"cannot save a Pipeline with a {type(step).__name__}: before the classifier a "
                "model file holds a TablePreparation only, which fills in missing values, encodes "
                "categories and rescales; or save the last step and keep the others yourself"
            )


def _check_place(model: FittedStrategy, n_features: int, n_classes: int) -> None:
    """Raise if a model does not fit its features and classes."""
    model.check_stored(features=n_features, columns=1 if n_classes == 2 else n_classes)


def _encode_labels(classes: Any) -> dict[str, Any]:
    """Encode class labels as readable JSON with their dtype."""
    values = classes.tolist()
    if classes.dtype.kind not in LABEL_KINDS or not all(
        isinstance(each, bool | int | float | str) for each in values
    ):
        raise ModelFileError(
            f"cannot save class labels of dtype {classes.dtype}: labels must be numbers, booleans "
            "or strings"
        )
    dtype = classes.dtype
    if dtype.kind == "U" and dtype.itemsize > _widest_label(values):
        dtype = np.array(values).dtype
    return {"dtype": dtype.str, "values": values}


def _decode_labels(dtype: str, values: list[Any]) -> Any:
    kind = np.dtype(dtype)
    if kind.kind not in LABEL_KINDS or kind.itemsize > _widest_label(values):
        raise FormatError(f"is damaged: class labels have the invalid dtype {dtype!r}")
    return np.array(values, dtype=kind)


def _widest_label(values: list[Any]) -> int:
    """Return the bytes that a label may take: little, or as much as the longest one needs."""
    return 4 * max(LABEL_LENGTH, *(len(each) for each in values if isinstance(each, str)), 0)
