"""Decoding of model files: builds registered types only and imports nothing."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from dcsvm.base.stored_fields import stored_fields
from dcsvm.numeric.stored_arrays import Stored, check_arrays
from dcsvm.persistence.array_codec import unpack_arrays
from dcsvm.persistence.encoder import OBJECTS, SPARSE_TYPES
from dcsvm.persistence.field_types import check_types
from dcsvm.persistence.model_file_format import FormatError, ModelArchive
from dcsvm.persistence.sklearn_estimators import load_estimator
from dcsvm.persistence.stored_types import Catalogue


class Decoder:
    """Builds the objects of a model file, then decodes values that refer to them."""

    def __init__(self, archive: ModelArchive, catalogue: Catalogue) -> None:
        stored = archive.read_json(OBJECTS)
        self.catalogue = catalogue
        self.plugins: list[dict[str, Any]] = archive.manifest["plugins"]
        #: What references point to: lists by kind.
        self.tables: dict[str, list[Any]] = {
            "array": unpack_arrays(stored["arrays"], archive.read),
            "object": [],
        }
        self.tables["texts"] = [_build_strings(*row) for row in stored["texts"]]
        self.tables["matrix"] = [self._build_matrix(*row) for row in stored["matrices"]]
        self.tables["estimator"] = [
            load_estimator(archive.read(f"estimators/{number}.skops"))
            for number in range(stored["estimators"])
        ]
        builders = [self._choose_builder(**each) for each in stored["types"]]
        for kind, *fields in stored["objects"]:
            built = builders[kind]([self.decode(each) for each in fields])
            _check_object(built)
            self.tables["object"].append(built)

    def decode(self, encoded: Any) -> Any:
        """Decode one JSON value."""
        if type(encoded) is list:
            return [self.decode(each) for each in encoded]
        if type(encoded) is not dict:
            return encoded
        (kind, content), *more = encoded.items()
        if kind == "component":
            settings = {key: self.decode(each) for key, each in encoded["settings"].items()}
            return self.catalogue.build(content, settings, self.plugins)
        if more:
            raise FormatError(f"is damaged: {kind!r} has unknown keys")
        if kind in self.tables:
            return _look_up(self.tables[kind], content)
        return self._decode_tagged(kind, content)

    def _decode_tagged(self, kind: str, content: Any) -> Any:
        if kind == "tuple":
            return tuple([self.decode(each) for each in content])
        if kind == "dict":
            return {self.decode(key): self.decode(each) for key, each in content}
        if kind == "float":
            return float(content)
        if kind == "scalar":
            return _look_up(self.tables["array"], content)[()]
        if kind == "random_state":
            return _restore_random_state(self.decode(content[0]), *content[1:])
        raise FormatError(f"is damaged: it has a value of the unknown kind {kind!r}")

    def _build_matrix(self, name: str, shape: list[int], *parts: Any) -> Any:
        data, indices, indptr = map(self.decode, parts)
        if len(indptr) != shape[0 if name.startswith("csr") else 1] + 1:
            raise FormatError("is damaged: the shape of a sparse matrix does not match its data")
        matrix = SPARSE_TYPES[name](tuple(shape))
        # The constructor would change the dtype of the indices.
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        # Compiled code does not check the indices.
        matrix.check_format(full_check=True)
        return matrix

    def _choose_builder(self, name: str, fields: list[str]) -> Callable[[list[Any]], Any]:
        """Return a function that builds a stored type from the fields in the file."""
        cls: Any = self.catalogue.find_type(name, self.plugins)
        known = {field.name: field for field in stored_fields(cls)}
        required = {name for name, field in known.items() if field.default is attrs.NOTHING}
        advice = "; load it with the versions that its manifest names"
        if unknown := [field for field in fields if field not in known]:
            raise FormatError(
                f"has a {name} with a field {unknown[0]!r}, which the installed version does not "
                f"have{advice}"
            )
        if missing := sorted(required - {*fields}):
            raise FormatError(
                f"has a {name} without the field {missing[0]!r}, which the installed version "
                f"needs{advice}"
            )
        given = [known[field].alias or field for field in fields if known[field].init]
        if len(given) == len(fields):
            return lambda values: cls(**dict(zip(given, values, strict=True)))

        def build(values: list[Any]) -> Any:
            by_name = dict(zip(fields, values, strict=True))
            built = cls(**{known[f].alias or f: v for f, v in by_name.items() if known[f].init})
            for field, value in by_name.items():
                if not known[field].init:
                    object.__setattr__(built, field, value)
            return built

        return build


def _check_object(built: Any) -> None:
    """Raise FormatError if a stored object holds what its class does not allow."""
    try:
        check_types(built)
        if isinstance(built, Stored):
            built.check_stored()
        else:
            check_arrays(built)
    except ValueError as error:
        raise FormatError(f"is damaged or was altered: {error}") from error


def _look_up(table: list[Any], number: Any) -> Any:
    if type(number) is not int or not 0 <= number < len(table):
        raise FormatError(f"is damaged: it refers to number {number!r} of {len(table)}")
    return table[number]


def _build_strings(shape: list[int], *texts: str) -> Any:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(shape)


def _restore_random_state(keys: Any, place: Any, has_gauss: Any, gauss: Any) -> Any:
    """A RandomState; NumPy reads wherever `place` points, so it is checked."""
    are_keys = isinstance(keys, np.ndarray) and keys.dtype == np.uint32 and keys.shape == (624,)
    is_place = type(place) is int and 0 <= place <= 624
    if not (are_keys and is_place and has_gauss in (0, 1) and type(gauss) is float):
        raise FormatError("is damaged: a random state must have 624 keys and a place among them")
    state = np.random.RandomState()
    state.set_state(("MT19937", keys, place, has_gauss, gauss))
    return state
