"""Arrays of stored types: their axes, dtypes and ranges, checked when a model file is loaded."""

from functools import cache
from typing import Any

import attrs
import numpy as np
from scipy import sparse

#: Kinds of dtype that are accepted for an abstract dtype, and its name in messages.
ABSTRACT = {np.floating: ("iuf", "numbers"), np.integer: ("iu", "integers up to int64")}


@attrs.frozen
class ArrayRule:
    """What an array must look like; see `axes`."""

    shape: tuple[int | str, ...]
    dtype: Any = np.floating
    at_least: float | None = None
    at_most: float | None = None
    below: int | str | None = None
    finite: bool = True

    def check_shape(self, title: str, value: Any, sizes: dict[str, int]) -> None:
        """Raise for another dtype or shape; add the lengths of named axes to `sizes`."""
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{title} is a {type(value).__name__}, but must be an array")
        self._check_dtype(title, value)
        wanted = [axis if isinstance(axis, int) else sizes.get(axis) for axis in self.shape]
        if value.ndim != len(wanted) or any(
            length not in (None, actual)
            for length, actual in zip(wanted, value.shape, strict=True)
        ):
            axes = ", ".join(
                str(axis) if length in (None, axis) else f"{axis}={length}"
                for axis, length in zip(self.shape, wanted, strict=True)
            )
            raise ValueError(f"{title} has shape {value.shape}, but must have shape ({axes})")
        sizes.update(
            (axis, length)
            for axis, length in zip(self.shape, value.shape, strict=True)
            if isinstance(axis, str)
        )

    def _check_dtype(self, title: str, value: Any) -> None:
        if self.dtype in ABSTRACT:
            kinds, name = ABSTRACT[self.dtype]
            if value.dtype.kind not in kinds or (
                self.dtype is np.integer and not np.can_cast(value.dtype, np.int64)
            ):
                raise ValueError(f"{title} has dtype {value.dtype}, but must hold {name}")
        elif value.dtype != self.dtype or not value.flags.c_contiguous:
            name = np.dtype(self.dtype).name
            raise ValueError(f"{title} has dtype {value.dtype}, but must be C-ordered {name}")

    def check_values(self, title: str, value: Any, sizes: dict[str, int]) -> None:
        """Raise for values out of range."""
        if self.finite and value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError(f"{title} holds NaN or infinity, but must be finite")
        below = sizes.get(self.below) if isinstance(self.below, str) else self.below
        limit = self.at_most if below is None else below - 1
        if not value.size or (self.at_least is None and limit is None):
            return
        least, most = value.min(), value.max()
        if self.at_least is not None and least < self.at_least:
            raise ValueError(f"{title} holds {least}, but must be at least {self.at_least}")
        if limit is not None and most > limit:
            named = f" ({self.below} = {below})" if isinstance(self.below, str) else ""
            raise ValueError(f"{title} holds {most}, but must be at most {limit}{named}")


def axes(
    *shape: int | str,
    dtype: Any = np.floating,
    at_least: float | None = None,
    at_most: float | None = None,
    below: int | str | None = None,
    finite: bool = True,
) -> dict[str, Any]:
    """Describe the array in a field of a stored type, as `metadata` of `attrs.field`.

    The shape is the length or the name of each axis; axes of one name have one length. `features`,
    `columns` (of a model), `members` (of a router), `width` (of a view) and `classes` (of a
    combination) are those of the object's place in the classifier. The dtype `np.floating` accepts
    all real numbers, `np.integer` all integers that int64 holds. Any other type, such as
    `np.float32`, must be met exactly, with the array in C order, as compiled code needs it. Values
    are finite unless `finite` is False, from `at_least` to `at_most`, and less than `below`, a
    number or the name of an axis.

    Examples
    --------
    >>> import attrs
    >>> import numpy as np
    >>> @attrs.frozen
    ... class Planes:
    ...     weights: np.ndarray = attrs.field(metadata=axes("features", "columns"))
    ...     biases: np.ndarray = attrs.field(metadata=axes("columns"))
    >>> check_arrays(Planes(np.ones((4, 3)), np.ones(2)))
    Traceback (most recent call last):
    ...
    ValueError: Planes.biases has shape (2,), but must have shape (columns=3)
    """
    return {"axes": ArrayRule(shape, dtype, at_least, at_most, below, finite)}


class Stored:
    """Base of stored types whose values are checked when they are loaded or saved."""

    __slots__ = ()

    def check_stored(self, **sizes: int) -> dict[str, int]:
        """Raise ValueError if a value is not allowed; return the lengths of named axes.

        Called once for each object of a file, and again with the `sizes` of its place in the
        classifier: `features` and `columns` for a model, `features` and `members` for a router,
        `features` for a view, `classes` and `members` for a combination. The default checks the
        fields that are described by `axes`; override it to check more.
        """
        return check_arrays(self, **sizes)


def check_arrays(owner: Any, **sizes: int) -> dict[str, int]:
    """Raise if a field of an attrs object is not as its `axes` say; return all lengths."""
    cls: Any = type(owner)
    given = [(f"{cls.__name__}.{name}", rule, getattr(owner, name)) for name, rule in _rules(cls)]
    given = [each for each in given if each[2] is not None]
    for name, rule, value in given:
        rule.check_shape(name, value, sizes)
    for name, rule, value in given:
        rule.check_values(name, value, sizes)
    return sizes


def check_array(title: str, value: Any, *shape: int | str, **rule: Any) -> None:
    """Raise if a single array is not as `axes(*shape, **rule)` says."""
    found = ArrayRule(shape, **rule)
    found.check_shape(title, value, {})
    found.check_values(title, value, {})


def check_matrix(title: str, X: Any, features: int | str = "features") -> None:
    """Raise unless X is a dense or sparse matrix of finite numbers with so many columns."""
    if sparse.issparse(X):
        check_array(f"{title}.data", X.data, "entries")
        if features not in ("features", X.shape[1]):
            raise ValueError(f"{title} has {X.shape[1]} features, but must have {features}")
    else:
        check_array(title, X, "rows", features)


@cache
def _rules(cls: Any) -> tuple[tuple[str, ArrayRule], ...]:
    fields = attrs.fields(cls) if attrs.has(cls) else ()
    return tuple((each.name, each.metadata["axes"]) for each in fields if "axes" in each.metadata)
