"""From JSON and arrays back to a model: only listed types are built, nothing is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from dcsvm.persistence.archive import Archive, Flaw
from dcsvm.persistence.array_codec import unpacked
from dcsvm.persistence.encoder import OBJECTS, SPARSE_TYPES, stored_fields
from dcsvm.persistence.sklearn_estimators import loaded
from dcsvm.persistence.stored_types import Catalogue


class Decoder:
    """Builds what the tables of a model file describe, then the values that refer to it."""

    def __init__(self, archive: Archive, catalogue: Catalogue) -> None:
        tables = archive.read_json(OBJECTS)
        self.catalogue = catalogue
        self.plugins: list[dict[str, Any]] = archive.manifest["plugins"]
        self.arrays = unpacked(tables["arrays"], archive.read)
        self.texts = [_texts(*row) for row in tables["texts"]]
        self.matrices = [self._matrix(*row) for row in tables["matrices"]]
        self.estimators = [
            loaded(archive.read(f"estimators/{number}.skops"))
            for number in range(tables["estimators"])
        ]
        makers = [self._maker(**each) for each in tables["types"]]
        self.objects: list[Any] = []
        for kind, *fields in tables["objects"]:
            self.objects.append(makers[kind]([self.value(each) for each in fields]))

    def value(self, encoded: Any) -> Any:
        """The value that a piece of JSON stands for."""
        if type(encoded) is list:
            return [self.value(each) for each in encoded]
        if type(encoded) is not dict:
            return encoded
        (kind, content), *more = encoded.items()
        if kind == "array":
            return _at(self.arrays, content)
        if kind == "object":
            return _at(self.objects, content)
        if kind == "component":
            settings = {key: self.value(each) for key, each in encoded["settings"].items()}
            return self.catalogue.build(content, settings, self.plugins)
        if more:
            raise Flaw(f"is damaged: {kind!r} is described in an unknown way")
        return self._plain(kind, content)

    def _plain(self, kind: str, content: Any) -> Any:
        if kind == "tuple":
            return tuple([self.value(each) for each in content])
        if kind == "dict":
            return {self.value(key): self.value(each) for key, each in content}
        if kind == "float":
            return float(content)
        if kind == "scalar":
            return _at(self.arrays, content)[()]
        if kind == "texts":
            return _at(self.texts, content)
        if kind == "matrix":
            return _at(self.matrices, content)
        if kind == "estimator":
            return _at(self.estimators, content)
        if kind == "random_state":
            keys, *others = content
            state = np.random.RandomState()
            state.set_state(("MT19937", self.value(keys), *others))
            return state
        raise Flaw(f"is damaged: it holds a value of the unknown kind {kind!r}")

    def _matrix(self, name: str, shape: list[int], *parts: Any) -> Any:
        data, indices, indptr = map(self.value, parts)
        if len(indptr) != shape[0 if name.startswith("csr") else 1] + 1:
            raise Flaw("is damaged: one of its sparse matrices does not have its shape")
        matrix = SPARSE_TYPES[name](tuple(shape))
        # Set one by one: the constructor would change the integers of the indices.
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        # Compiled code trusts these numbers, so a file must not be able to lie about them.
        matrix.check_format(full_check=True)
        return matrix

    def _maker(self, name: str, fields: list[str]) -> Callable[[list[Any]], Any]:
        """How to build one stored type from the values of the fields that the file has."""
        cls: Any = self.catalogue.type_called(name, self.plugins)
        known = {field.name: field for field in stored_fields(cls)}
        for field in fields:
            if field not in known:
                raise Flaw(
                    f"holds a {name} with a field {field!r}, which the installed version does "
                    "not have; load it with the versions that its manifest names"
                )
        for field, attribute in known.items():
            if field not in fields and attribute.default is attrs.NOTHING:
                raise Flaw(
                    f"holds a {name} without the field {field!r}, which the installed version "
                    "needs; load it with the versions that its manifest names"
                )
        given = [known[field].alias or field for field in fields if known[field].init]
        if len(given) == len(fields):
            return lambda values: cls(**dict(zip(given, values, strict=True)))

        def make(values: list[Any]) -> Any:
            by_name = dict(zip(fields, values, strict=True))
            made = cls(**{known[f].alias or f: v for f, v in by_name.items() if known[f].init})
            for field, value in by_name.items():
                if not known[field].init:
                    object.__setattr__(made, field, value)
            return made

        return make


def _at(table: list[Any], number: Any) -> Any:
    if type(number) is not int or not 0 <= number < len(table):
        raise Flaw(f"is damaged: it refers to number {number!r} of {len(table)}")
    return table[number]


def _texts(shape: list[int], *texts: str) -> Any:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(shape)
