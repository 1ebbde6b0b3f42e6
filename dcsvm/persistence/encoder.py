"""Encoding of fitted models as JSON and arrays, field by field."""

import json
import math
from functools import cache
from typing import Any, TypeAlias

import attrs
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from dcsvm.base.component import Component, settings_of
from dcsvm.base.errors import ModelFileError
from dcsvm.base.stored_fields import stored_fields
from dcsvm.persistence.array_codec import ArrayPacker, is_storable
from dcsvm.persistence.model_file_format import Pieces
from dcsvm.persistence.sklearn_estimators import dump_estimator
from dcsvm.persistence.stored_types import Catalogue

OBJECTS = "objects.json"
#: Sparse matrix types that can be stored, by name.
SPARSE_TYPES = {
    cls.__name__: cls
    for cls in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}
#: The owner and the name of a field, for error messages.
Where: TypeAlias = tuple[str, str]


@cache
def _list_stored_names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in stored_fields(cls))


class Encoder:
    """Encodes values as JSON that refers to tables of arrays, matrices, estimators and objects.

    A shared value is stored once. An object comes after everything that it refers to.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.used: set[str] = set()
        self.arrays = ArrayPacker()
        self.types: dict[type, int] = {}
        self.objects: list[list[Any]] = []
        self.texts: list[list[Any]] = []
        self.matrices: list[list[Any]] = []
        self.estimators: list[bytes] = []
        self._seen: dict[int, Any] = {}
        self._alive: list[Any] = []  # so that no id is reused

    def entries(self) -> dict[str, Pieces]:
        """Return everything that the values refer to, as entries of a model file."""
        tables = {
            "types": [
                {"name": self.catalogue.type_names[cls], "fields": _list_stored_names(cls)}
                for cls in self.types
            ],
            "objects": self.objects,
            "matrices": self.matrices,
            "estimators": len(self.estimators),
            "texts": self.texts,
            "arrays": self.arrays.places,
        }
        text = json.dumps(tables, separators=(",", ":"), allow_nan=False)
        return {
            OBJECTS: [text.encode()],
            **self.arrays.entries(),
            **{f"estimators/{n}.skops": [data] for n, data in enumerate(self.estimators)},
        }

    def encode(self, value: Any, where: Where) -> Any:
        """Encode one value; raise ModelFileError if it cannot be stored."""
        cls = type(value)
        if value is None or cls in (bool, int, str):
            return value
        if cls is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if cls is list:
            return [self.encode(each, where) for each in value]
        if cls is tuple:
            return {"tuple": [self.encode(each, where) for each in value]}
        if cls is dict:
            pairs = value.items()
            return {"dict": [[self.encode(k, where), self.encode(v, where)] for k, v in pairs]}
        if isinstance(value, np.generic):
            return {"scalar": self._add_array(np.asarray(value), where)}
        if isinstance(value, Component):
            return self.encode_component(value, where)
        return self._encode_shared(value, where)

    def encode_component(self, component: Component, where: Where) -> dict[str, Any]:
        """Encode a component as its registered name and settings."""
        cls = type(component)
        name = self.catalogue.component_names.get(cls)
        if name is None:
            raise ModelFileError(
                f"cannot save {cls.__name__}: no loaded plugin offers it, so it could not be "
                "loaded again; offer it from an installed plugin, or from a plugin file "
                "(dcsvm.load_plugin)"
            )
        self.used.add(name)
        title = component.name or cls.__name__
        settings = {}
        for key, field in settings_of(cls).items():
            if not field.metadata.get("stored", True):  # used in training only
                continue
            given = getattr(component, key)
            settings[key] = self.encode(given, (title, key))
            if field.metadata.get("kind") and isinstance(given, str):
                self.used.add(f"{field.metadata['kind']}:{given}")
        return {"component": name, "settings": settings}

    def _encode_shared(self, value: Any, where: Where) -> Any:
        """Return a reference to a value that is stored once."""
        reference = self._seen.get(id(value))
        if reference is not None:
            return reference
        if id(value) in self._seen:
            raise ModelFileError(f"cannot save {where[0]}: {where[1]} refers to itself")
        self._seen[id(value)] = None
        self._alive.append(value)
        self._seen[id(value)] = reference = self._store(value, where)
        return reference

    def _store(self, value: Any, where: Where) -> dict[str, Any]:
        cls = type(value)
        if cls in self.catalogue.type_names:
            return {"object": self._add_object(value)}
        if cls in (np.ndarray, np.memmap):
            if value.dtype == object:
                self.texts.append([list(value.shape), *_list_strings(value, where)])
                return {"texts": len(self.texts) - 1}
            return {"array": self._add_array(value, where)}
        if cls.__name__ in SPARSE_TYPES and cls is SPARSE_TYPES[cls.__name__]:
            parts = [
                self.encode(part, where) for part in (value.data, value.indices, value.indptr)
            ]
            self.matrices.append([cls.__name__, list(map(int, value.shape)), *parts])
            return {"matrix": len(self.matrices) - 1}
        if cls is np.random.RandomState:
            name, *state = value.get_state(legacy=True)
            if name == "MT19937":
                return {"random_state": [self.encode(each, where) for each in state]}
        if isinstance(value, BaseEstimator):
            self.estimators.append(dump_estimator(value, where))
            return {"estimator": len(self.estimators) - 1}
        raise _explain_refusal(value, where)

    def _add_object(self, value: Any) -> int:
        cls = type(value)
        self.used.add(self.catalogue.type_names[cls])
        if not attrs.has(cls):
            raise ModelFileError(
                f"cannot save {cls.__name__}: a plugin lists it in stored_types, but it is not an "
                "attrs class"
            )
        owner = cls.__name__
        fields = [self.encode(getattr(value, n), (owner, n)) for n in _list_stored_names(cls)]
        kind = self.types.setdefault(cls, len(self.types))
        self.objects.append([kind, *fields])
        return len(self.objects) - 1

    def _add_array(self, array: Any, where: Where) -> int:
        if not is_storable(array.dtype):
            raise ModelFileError(
                f"cannot save {where[0]}: {where[1]} is an array of dtype {array.dtype}, but a "
                "model file holds arrays of numbers, booleans and strings only"
            )
        return self.arrays.add(array)


def _list_strings(array: Any, where: Where) -> list[str]:
    strings: list[Any] = array.ravel().tolist()
    if not all(type(each) is str for each in strings):
        raise ModelFileError(
            f"cannot save {where[0]}: {where[1]} is an object array with values that are not "
            "strings; convert it to an array of numbers or strings"
        )
    return strings


def _explain_refusal(value: Any, where: Where) -> ModelFileError:
    owner, field = where
    title = type(value).__name__
    if attrs.has(type(value)):
        return ModelFileError(
            f"cannot save {owner}: {field} holds a {title}, which no registered component lists; "
            "add it to the stored_types of the component that makes it"
        )
    if callable(value):
        name = getattr(value, "__name__", title)
        return ModelFileError(
            f"cannot save {owner}: {field} is a function ({name}), and a model file holds no "
            "code; choose a function that has a registered name"
        )
    return ModelFileError(
        f"cannot save {owner}: {field} holds a {title}, but a model file holds arrays, "
        "CSR and CSC matrices, numbers, strings, lists, tuples, dicts and stored types only"
    )
