"""Estimators of scikit-learn in a model file: written and read by skops, of trusted types only."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dcsvm.base.errors import ModelFileError
from dcsvm.persistence.archive import Flaw, check_plain, zipped_bytes
from dcsvm.persistence.sklearn_trees import check_trees

SCHEMA = "schema.json"
#: Where every type in an estimator must come from, whatever skops itself would trust.
TRUSTED_PACKAGES = frozenset({"builtins", "collections", "numpy", "scipy", "sklearn"})
#: Types of scikit-learn and scipy that skops does not trust by itself. None of them runs what a
#: file says; trees index memory unchecked, so their content is checked after loading.
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


def dumped(estimator: Any, where: tuple[str, str]) -> bytes:
    """The estimator as skops writes it, but the same bytes every time."""
    from skops import io as skops

    title = type(estimator).__name__
    try:
        content = canonical(skops.dumps(estimator))
    except Exception as error:  # skops meets what it does not know in many ways
        raise ModelFileError(
            f"cannot save {where[0]}: {where[1]} holds a {title}, which skops cannot write "
            f"({error})"
        ) from error
    foreign = _untrusted(content)
    if foreign:
        raise ModelFileError(
            f"cannot save {where[0]}: {where[1]} holds a {title} with {', '.join(foreign)}, but a "
            "model file holds estimators made of scikit-learn's, numpy's and scipy's own types "
            "only; write a learner plugin with stored_types for it"
        )
    return content


def loaded(content: bytes) -> Any:
    """The estimator that `dumped` wrote, if every type in it is trusted."""
    from skops import io as skops

    _check_plain(content)
    foreign = _untrusted(content)
    if foreign:
        raise Flaw(f"holds an estimator with types that are not trusted: {', '.join(foreign)}")
    estimator = skops.loads(content, trusted=list(TRUSTED_TYPES))
    check_trees(estimator)
    return estimator


def canonical(content: bytes) -> bytes:
    """The same skops file with numbers in place of memory addresses and random names."""
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        schema = json.loads(zipped.read(SCHEMA))
        numbers: dict[int, int] = {}
        files: dict[str, str] = {}
        for node in _nodes(schema):
            _renumber(node, numbers, files)
        entries = {new: _plain(zipped.read(old)) for old, new in files.items()}
    return zipped_bytes({SCHEMA: json.dumps(schema).encode(), **entries})


def _renumber(node: dict[str, Any], numbers: dict[int, int], files: dict[str, str]) -> None:
    if "__id__" in node:
        # Python shares numbers and texts as it pleases: only what has parts keeps its identity.
        if node.get("__loader__") == "JsonNode":
            del node["__id__"]
        else:
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers) + 1)
    if "file" in node:
        suffix = node["file"].rpartition(".")[2]
        node["file"] = files.setdefault(node["file"], f"{len(files)}.{suffix}")


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every description of an object in a skops schema, outer ones first."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield node
            waiting.extend(reversed(list(node.values())))
        elif isinstance(node, list):
            waiting.extend(reversed(node))


def _plain(content: bytes) -> bytes:
    """The content of an entry without what differs from one time to the next."""
    if content.startswith(b"\x93NUMPY"):
        return _without_gaps(content)
    if not content.startswith(b"PK\x03\x04"):
        return content
    # A sparse matrix is a zip in the zip: uncompressed, too, and with the indices of its choice.
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.load_npz(io.BytesIO(content)), compressed=False)
    with zipfile.ZipFile(buffer) as zipped:
        return zipped_bytes({name: zipped.read(name) for name in zipped.namelist()})


def _without_gaps(content: bytes) -> bytes:
    """The nodes of a tree have gaps between their fields, with whatever was in memory there."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if array.dtype.names is None or array.ndim != 1:
        return content
    clean = np.zeros(array.nbytes, dtype=np.uint8)
    for name in array.dtype.names:
        clean.view(array.dtype)[name] = array[name]
    return bytes(content[: len(content) - array.nbytes] + clean.tobytes())


def _check_plain(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        check_plain(zipped, len(content))
        for name in zipped.namelist():
            inner = zipped.read(name)
            if zipfile.is_zipfile(io.BytesIO(inner)):
                with zipfile.ZipFile(io.BytesIO(inner)) as matrix:
                    check_plain(matrix, len(inner))


def _untrusted(content: bytes) -> list[str]:
    from skops import io as skops

    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        schema = json.loads(zipped.read(SCHEMA))
    named = {f"{node['__module__']}.{node['__class__']}" for node in _nodes(schema)}
    foreign = {name for name in named if name.partition(".")[0] not in TRUSTED_PACKAGES}
    return sorted(foreign | (set(skops.get_untrusted_types(data=content)) - set(TRUSTED_TYPES)))
