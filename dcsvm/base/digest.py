"""Digests of values: equal if and only if the values are equal."""

import hashlib
from typing import Any

import attrs
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from dcsvm.base.errors import ContractError


def digest(*values: Any) -> str:
    """Return the digest of numbers, strings, arrays, matrices, components and attrs classes.

    Components are identified by class and settings, other attrs classes by stored fields.
    """
    hasher = hashlib.blake2b(digest_size=16)
    for value in values:
        _feed(hasher, value)
    return hasher.hexdigest()


def _feed(hasher: Any, value: Any) -> None:
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        _feed_text(hasher, f"{type(value).__name__}={value!r}")
    elif isinstance(value, np.ndarray):
        _feed_text(hasher, f"array {value.dtype.str} {value.shape}")
        _feed_array(hasher, value)
    elif sparse.issparse(value):
        _feed_text(hasher, f"sparse {value.format} {value.shape}")
        for array in (value.data, value.indices, value.indptr):
            _feed(hasher, array)
    elif isinstance(value, list | tuple):
        _feed_text(hasher, f"list of {len(value)}")
        for each in value:
            _feed(hasher, each)
    elif isinstance(value, dict):
        _feed(hasher, sorted(value.items()))
    elif isinstance(value, BaseEstimator):
        _feed_text(hasher, f"component {type(value).__module__}.{type(value).__qualname__}")
        _feed(hasher, value.get_params(deep=False))
    elif attrs.has(type(value)):
        _feed_text(hasher, f"attrs {type(value).__module__}.{type(value).__qualname__}")
        for field in attrs.fields(type(value)):
            if field.metadata.get("stored", True):
                _feed(hasher, [field.name, getattr(value, field.name)])
    elif callable(value):
        _feed_text(hasher, f"function {value.__module__}.{value.__qualname__}")
    else:
        raise ContractError(f"a {type(value).__name__} has no digest: {value!r}")


def _feed_text(hasher: Any, text: str) -> None:
    encoded = text.encode()
    hasher.update(len(encoded).to_bytes(8, "little") + encoded)


def _feed_array(hasher: Any, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.hasobject:
        _feed(hasher, array.tolist())
    else:
        hasher.update(np.ascontiguousarray(array).data if array.size else b"")
