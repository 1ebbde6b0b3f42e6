"""The fields of a fitted model that model files, copies and pickles contain."""

from __future__ import annotations

from typing import Any

import attrs


def stored_fields(cls: type) -> tuple[attrs.Attribute[Any], ...]:
    """Return the fields of a stored type that are written to a file."""
    return tuple(field for field in attrs.fields(cls) if field.metadata.get("stored", True))


class PlainState:
    """A base of attrs classes (with `slots=False`) that prepare something and cache it.

    Copies and pickles hold stored fields only. Cached properties and fields with the metadata
    `stored: False` are dropped, since they may hold pointers: they start from their defaults.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in stored_fields(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for field in attrs.fields(type(self)):  # type: ignore[arg-type]
            value = state[field.name] if field.name in state else _make_default(field)
            object.__setattr__(self, field.name, value)


def _make_default(field: attrs.Attribute[Any]) -> Any:
    # What attrs.Factory returns, although it looks like a function to type checkers.
    factory = getattr(field.default, "factory", None)
    return field.default if factory is None else factory()
