"""Model files: `save` and `load`, arrays and a JSON manifest in one file, and never a pickle."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import sklearn
from sklearn.pipeline import Pipeline

import dcsvm
from dcsvm.base.errors import ModelFileError, ModelPluginError
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.drive.registry import default_registry
from dcsvm.drive.unwrap import best_of, is_search
from dcsvm.persistence import archive
from dcsvm.persistence.archive import Archive, Flaw, NeedsPlugin
from dcsvm.persistence.decoder import Decoder
from dcsvm.persistence.encoder import Encoder
from dcsvm.persistence.stored_types import Catalogue

__all__ = ["load", "save"]

#: The model file in the folder of a run.
MODEL = "model.dcsvm"
#: Kinds of dtype that class labels may have: truth values, integers, floats, texts.
LABEL_KINDS = frozenset("biufUO")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to one file.

    The file appears under its name when it is complete, or not at all. The same model gives the
    same bytes, whatever its `n_jobs`. The ledger of the training is not written.

    Parameters
    ----------
    model : DivideAndConquerClassifier
        Fitted. Everything in it must have a name: registered components, no functions. Of a search
        its `best_estimator_` is written.
    path : str or path
        A file that is there already is replaced.

    Raises
    ------
    ModelFileError
        The model holds something that a file cannot, or the file cannot be written.

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
    model = best_of(model)
    if not isinstance(model, DivideAndConquerClassifier):
        raise ModelFileError(
            f"cannot save a {type(model).__name__}: a model file holds a fitted "
            f"DivideAndConquerClassifier{_instead(model)}"
        )
    if not hasattr(model, "model_"):
        raise ModelFileError("cannot save a classifier that is not fitted: call fit first")
    encoder = Encoder(Catalogue(default_registry()))
    try:
        manifest = _manifest(model, encoder)
        entries = encoder.entries()
    except RecursionError as error:
        raise ModelFileError("cannot save the classifier: it is nested too deeply") from error
    try:
        archive.write(name, manifest, entries)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"cannot write the model file {name!r}: {reason}") from error


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Read a classifier that `save` wrote.

    Only types that dcsvm itself or a loaded plugin lists are built; nothing that the file names is
    imported, and nothing in it is run. Scikit-learn's own models are read by skops, and only if
    all their types are among those that are trusted.

    Parameters
    ----------
    path : str or path
        A model file, or the folder of a run that kept its model.
    max_bytes : int, optional
        Refuse a file that is larger. Nothing in a model file is compressed, so this bounds what is
        read, too.

    Returns
    -------
    DivideAndConquerClassifier
        Its answers are those of the saved one, bit by bit. Its ledger is empty.

    Raises
    ------
    ModelFileError
        The file is missing, damaged, altered, not a model file, or of a newer format.
    ModelPluginError
        It needs a plugin that is not there; this is a ModelFileError, too.
    """
    name = os.fspath(path)
    if os.path.isdir(name) and os.path.exists(inside := os.path.join(name, MODEL)):
        name = inside
    try:
        with archive.opened(name, max_bytes) as opened:
            return _classifier(opened)
    except Flaw as flaw:
        kind = ModelPluginError if isinstance(flaw, NeedsPlugin) else ModelFileError
        raise kind(f"model file {name!r} {flaw}") from flaw
    except Exception as error:  # whatever a file makes go wrong is the file's fault
        raise ModelFileError(
            f"model file {name!r} is damaged or was altered: {type(error).__name__}: {error}"
        ) from error


def _instead(given: Any) -> str:
    """What to do with something of scikit-learn's that no model file holds."""
    if isinstance(given, Pipeline):
        return (
            "; let it prepare rows itself, as in DivideAndConquerClassifier(Prepared("
            "scale='standard'), classifier), or save the last step and keep the others yourself"
        )
    if is_search(given):
        return ", and this search has no best_estimator_: fit it, with refit=True"
    return ""


def _manifest(model: DivideAndConquerClassifier, encoder: Encoder) -> dict[str, Any]:
    pipeline = encoder.component(model, ("the classifier", "pipeline"))
    names = getattr(model, "feature_names_in_", None)
    content = {
        "pipeline": pipeline,
        "classes": _labels(model.classes_),
        "n_rows": getattr(model, "n_rows_", None),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(each) for each in names],
        "model": encoder.value(model.model_, ("the classifier", "model_")),
    }
    return {
        "dcsvm_version": dcsvm.__version__,
        "sklearn_version": sklearn.__version__,
        "plugins": encoder.catalogue.plugins(encoder.used),
        **content,
    }


def _classifier(opened: Archive) -> DivideAndConquerClassifier:
    manifest = opened.manifest
    decoder = Decoder(opened, Catalogue(default_registry()))
    classifier = decoder.value(manifest["pipeline"])
    model = decoder.value(manifest["model"])
    classes = _classes(**manifest["classes"])
    names, n_features = manifest["feature_names"], manifest["n_features"]
    n_rows = manifest.get("n_rows")  # the first files do not tell
    if not isinstance(classifier, DivideAndConquerClassifier) or not isinstance(
        model, FittedStrategy
    ):
        raise Flaw("is damaged: it does not hold a fitted classifier")
    if classes.shape != (model.committee.n_classes,) or type(n_features) is not int:
        raise Flaw("is damaged: its classes or features are not those of its model")
    if n_rows is not None and type(n_rows) is not int:
        raise Flaw("is damaged: the rows that were learned are no number")
    if names is not None and not (len(names) == n_features and all(map(_is_text, names))):
        raise Flaw("is damaged: its feature names are not those of its model")
    classifier.classes_ = classes
    classifier.model_ = model
    classifier.ledger_ = model.ledger
    classifier.n_features_in_ = n_features
    if n_rows is not None:
        classifier.n_rows_ = n_rows
    if names is not None:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    return classifier


def _labels(classes: Any) -> dict[str, Any]:
    """Class labels as readable JSON: numbers, truth values or texts, with their dtype."""
    values = classes.tolist()
    if classes.dtype.kind not in LABEL_KINDS or not all(
        isinstance(each, bool | int | float | str) for each in values
    ):
        raise ModelFileError(
            f"cannot save class labels of dtype {classes.dtype}: a model file holds labels that "
            "are numbers, truth values or texts"
        )
    return {"dtype": classes.dtype.str, "values": values}


def _classes(dtype: str, values: list[Any]) -> Any:
    kind = np.dtype(dtype)
    if kind.kind not in LABEL_KINDS or kind.itemsize > 2**20:
        raise Flaw(f"is damaged: class labels cannot be of dtype {dtype!r}")
    return np.array(values, dtype=kind)


def _is_text(value: Any) -> bool:
    return type(value) is str
