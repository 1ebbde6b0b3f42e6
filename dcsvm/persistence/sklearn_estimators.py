"""Scikit-learn estimators in model files, written and read by skops with trusted types only."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dcsvm.base.errors import ModelFileError
from dcsvm.persistence.model_file_format import FormatError, check_uncompressed, zip_entries
from dcsvm.persistence.sklearn_trees import check_trees

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
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
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
    from skops import io as skops

    title = type(estimator).__name__
    try:
        content = make_canonical(skops.dumps(estimator))
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
    from skops import io as skops

    _check_all_uncompressed(content)
    foreign = _find_untrusted(content)
    if foreign:
        raise FormatError(f"has an estimator with untrusted types: {', '.join(foreign)}")
    estimator = skops.loads(content, trusted=list(TRUSTED_TYPES))
    check_trees(estimator)
    return estimator


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


def _find_untrusted(content: bytes) -> list[str]:
    from skops import io as skops

    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        schema = json.loads(zipped.read(SCHEMA))
    named = {f"{node['__module__']}.{node['__class__']}" for node in _walk_nodes(schema)}
    foreign = {name for name in named if name.partition(".")[0] not in TRUSTED_PACKAGES}
    return sorted(foreign | (set(skops.get_untrusted_types(data=content)) - set(TRUSTED_TYPES)))
