"""Scikit-learn estimators in model files, written and read by skops with trusted types only."""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dcsvm.base.errors import ModelFileError
from dcsvm.persistence.model_file_format import FormatError, check_uncompressed, zip_entries
from dcsvm.persistence.sklearn_arrays import check_estimator

SCHEMA = "schema.json"
#: Packages that the types of an estimator may come from, whatever skops itself trusts.
TRUSTED_PACKAGES = frozenset({"builtins", "collections", "numpy", "scipy", "sklearn"})
#: Types trusted in addition to those that skops trusts. None of them runs code from the file;
#: trees index memory unchecked, so their content is checked after loading.
TRUSTED_TYPES = (
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn._loss._loss.CyHalfBinomialLoss",
    "sklearn._loss._loss.CyHalfMultinomialLoss",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.DotProduct",
    "sklearn.gaussian_process.kernels.Matern",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.gaussian_process.kernels.RationalQuadratic",
    "sklearn.gaussian_process.kernels.Sum",
    "sklearn.gaussian_process.kernels.WhiteKernel",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)


def dump_estimator(estimator: Any, where: tuple[str, str]) -> bytes:
    """Write an estimator with skops, always as the same bytes."""
    title = type(estimator).__name__
    try:
        content = make_canonical(_import_skops().dumps(estimator))
    except ModuleNotFoundError as error:
        raise ModelFileError(
            f"cannot save {where[0]}: {where[1]} holds a {title}, which {error}"
        ) from error
    except Exception as error:  # skops raises many kinds of errors for unknown types
        raise ModelFileError(
            f"cannot save {where[0]}: {where[1]} holds a {title}, which skops cannot write "
            f"({error})"
        ) from error
    foreign = _find_untrusted(content)
    if foreign:
        raise ModelFileError(
            f"cannot save {where[0]}: {where[1]} holds a {title} with {', '.join(foreign)}, but a "
            "model file holds estimators made of types of scikit-learn, numpy and scipy only; "
            "write a learner plugin with stored_types for it"
        )
    return content


def load_estimator(content: bytes) -> Any:
    """Read an estimator that `dump_estimator` wrote; raise if a type is not trusted."""
    _check_all_uncompressed(content)
    try:
        skops = _import_skops()
    except ModuleNotFoundError as error:
        raise FormatError(f"has an estimator of scikit-learn, which {error}") from error
    foreign = _find_untrusted(content)
    if foreign:
        raise FormatError(f"has an estimator with untrusted types: {', '.join(foreign)}")
    _check_arguments(content)
    estimator = skops.loads(content, trusted=list(TRUSTED_TYPES))
    check_estimator(estimator)
    return estimator


def _import_skops() -> Any:
    try:
        from skops import io
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("needs skops: pip install 'dcsvm[sklearn]'") from error
    return io


def make_canonical(content: bytes) -> bytes:
    """Replace memory addresses and random names in a skops file by numbers."""
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        schema = json.loads(zipped.read(SCHEMA))
        numbers: dict[int, int] = {}
        files: dict[str, str] = {}
        for node in _walk_nodes(schema):
            _renumber(node, numbers, files)
        entries = {new: _normalize(zipped.read(old)) for old, new in files.items()}
    return zip_entries({SCHEMA: json.dumps(schema).encode(), **entries})


def _renumber(node: dict[str, Any], numbers: dict[int, int], files: dict[str, str]) -> None:
    if node.get("__module__") == "_loss":  # the name that scikit-learn before 1.9 gives
        node["__module__"] = "sklearn._loss._loss"
    if "__id__" in node:
        # Whether numbers and strings are shared is arbitrary: they have no identity here.
        if node.get("__loader__") == "JsonNode":
            del node["__id__"]
        else:
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers) + 1)
    if "file" in node:
        suffix = node["file"].rpartition(".")[2]
        node["file"] = files.setdefault(node["file"], f"{len(files)}.{suffix}")


def _walk_nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object description in a skops schema, outer ones first."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield node
            waiting.extend(reversed(list(node.values())))
        elif isinstance(node, list):
            waiting.extend(reversed(node))


def _normalize(content: bytes) -> bytes:
    """Make the content of an entry reproducible."""
    if content.startswith(b"\x93NUMPY"):
        return _clear_padding(content)
    if not content.startswith(b"PK\x03\x04"):
        return content
    # A sparse matrix is a nested zip: it is stored uncompressed, too.
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.load_npz(io.BytesIO(content)), compressed=False)
    with zipfile.ZipFile(buffer) as zipped:
        return zip_entries({name: zipped.read(name) for name in zipped.namelist()})


def _clear_padding(content: bytes) -> bytes:
    """Zero the padding between the fields of structured arrays, such as tree nodes."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if array.dtype.names is None or array.ndim != 1:
        return content
    clean = np.zeros(array.nbytes, dtype=np.uint8)
    for name in array.dtype.names:
        clean.view(array.dtype)[name] = array[name]
    return bytes(content[: len(content) - array.nbytes] + clean.tobytes())


def _check_all_uncompressed(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        check_uncompressed(zipped, len(content))
        for name in zipped.namelist():
            inner = zipped.read(name)
            if zipfile.is_zipfile(io.BytesIO(inner)):
                with zipfile.ZipFile(io.BytesIO(inner)) as matrix:
                    check_uncompressed(matrix, len(inner))


def _check_arguments(content: bytes) -> None:
    """Raise if the constructor of a decision tree would read beyond its array of classes."""
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        nodes = list(_walk_nodes(json.loads(zipped.read(SCHEMA))))
        known: dict[Any, Any] = {}
        for node in nodes:
            if node["__loader__"] == "TreeNode":
                given = node["__reduce__"]["args"]
                _, classes, outputs = given["content"]
                n_outputs = len(np.load(io.BytesIO(zipped.read(classes["file"]))))
                if json.loads(outputs["content"]) != n_outputs:
                    raise FormatError("is damaged: a decision tree has a wrong number of outputs")
                known |= {each.get("__id__"): each for each in (given, classes)}
    # skops takes the first object with a number for all.
    if any(node != known.get(node.get("__id__"), node) for node in nodes):
        raise FormatError("is damaged: it has two objects with the number of a tree's arguments")


def _find_untrusted(content: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        schema = json.loads(zipped.read(SCHEMA))
    named = {f"{node['__module__']}.{node['__class__']}" for node in _walk_nodes(schema)}
    foreign = {name for name in named if name.partition(".")[0] not in TRUSTED_PACKAGES}
    unknown = set(_import_skops().get_untrusted_types(data=content)) - set(TRUSTED_TYPES)
    return sorted(foreign | unknown)
