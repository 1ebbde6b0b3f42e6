"""Types of stored fields: values from a file are compared with the annotations of their class."""

import numbers
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

from dcsvm.base.stored_fields import stored_fields


def check_types(built: Any) -> None:
    """Raise ValueError if a field of a stored object is not what its annotation says."""
    for name, hint in _find_hints(type(built)):  # type: ignore[arg-type]
        value = getattr(built, name)
        if not fits(value, hint):
            wanted = getattr(hint, "__name__", None) or str(hint)
            raise ValueError(
                f"{type(built).__name__}.{name} is a {type(value).__name__}, but must be {wanted}"
            )


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of an annotated type, as far as that can be decided."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in inside)
    if origin is typing.Literal:
        return any(type(value) is type(each) and value == each for each in inside)
    if origin is tuple:
        return isinstance(value, tuple) and _fit_items(value, inside)
    kind = origin or hint
    if kind is float:
        return isinstance(value, numbers.Real)
    if kind is int:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if kind is Any or not isinstance(kind, type):
        return True
    if not isinstance(value, kind):
        return False
    if isinstance(value, Mapping) and inside:
        return all(fits(k, inside[0]) and fits(v, inside[1]) for k, v in value.items())
    if isinstance(value, list | tuple) and inside:
        return all(fits(each, inside[0]) for each in value)
    return True


def _fit_items(value: tuple[Any, ...], inside: tuple[Any, ...]) -> bool:
    if len(inside) == 2 and inside[1] is Ellipsis:
        return all(fits(each, inside[0]) for each in value)
    return len(value) == len(inside) and all(map(fits, value, inside))


@cache
def _find_hints(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Return the resolved annotations of stored fields; none if a name cannot be resolved."""
    try:
        hints = typing.get_type_hints(cls)
    except NameError:
        return ()
    return tuple(
        (each.name, hints[each.name]) for each in stored_fields(cls) if each.name in hints
    )
