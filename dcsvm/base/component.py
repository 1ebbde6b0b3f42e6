"""Components: attrs classes whose fields are validated settings."""

from __future__ import annotations

import functools
import numbers
import sys
import types
import typing
from abc import ABC
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

import attrs
import numpy as np
from sklearn.base import BaseEstimator

from dcsvm.base.errors import ContractError, SettingError, did_you_mean
from dcsvm.base.nested_params import expand_components, expand_lists, merge_params

if TYPE_CHECKING:
    from dcsvm.classifier import DivideAndConquerClassifier

T = TypeVar("T")

WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    dict: "a table",
    list: "a list",
    tuple: "a list",
    type(None): "none",
}


@attrs.frozen
class ModelFact:
    """A number about a fitted classifier: its name, its value and what it means."""

    name: str
    value: float
    meaning: str


class Component(BaseEstimator, ABC):
    """Base class of decomposers, learners and combiners: fields are hyper-parameters.

    Decorate every subclass with `@component`. `get_params`, `set_params` and `clone` come from
    the fields, so nested keys such as `decomposer__ceiling` work in a `GridSearchCV`. Components
    in a list are numbered, as in `decomposer__learners__0__gamma`.
    """

    name: ClassVar[str] = ""
    #: attrs classes of this component that may be part of a fitted model; needed to load it. Their
    #: fields hold numbers, strings, None, arrays, sparse matrices, other stored types and models,
    #: components, and tuples, lists and dictionaries of these.
    stored_types: ClassVar[tuple[type, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name; with `deep`, also those of nested components.

        Called by `clone`, searches and recipes.
        """
        own = {name: getattr(self, name) for name in sorted(settings_of(type(self)))}
        return own | (expand_components(own) | expand_lists(own) if deep else {})

    def set_params(self, **params: Any) -> Any:
        """Change settings by name; a list is replaced if one of its components changes.

        Called by searches, and by `clone` through the constructor.
        """
        title = self.name or type(self).__name__
        return super().set_params(**merge_params(title, self.get_params(deep=False), params))

    def check(self) -> None:
        """Raise a SettingError if settings conflict; called before training."""
        return

    def facts(self, classifier: DivideAndConquerClassifier, X: Any, y: Any) -> Iterable[ModelFact]:
        """Numbers about a fitted classifier with this component, such as a paper's error bound.

        Called by `collect_facts` for the report of a run, with the training rows X (n, d) and
        labels y (n,). Return nothing if it would take longer than a few seconds.
        """
        return ()


def setting(
    default: Any = attrs.NOTHING,
    *,
    help: str = "",  # noqa: A002 - the usual word
    kind: str | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Any:
    """Declare one hyper-parameter of a component.

    The annotation says what is allowed: `int`, `float`, `bool`, `str`, lists of these, their
    unions with `|`, and `Literal["one", "other"]` for a choice. Other values raise a SettingError.

    Parameters
    ----------
    default : object
        The default value. Without one, the setting is required.
    help : str
        One line for `dcsvm plugins show`.
    kind : {"decomposer", "learner", "combiner"}, optional
        For a setting that holds a component of that kind, or its name.
    at_least, at_most, above, below : float, optional
        The allowed range of a number; `above` and `below` exclude the limit.
    """
    limits = {"at_least": at_least, "above": above, "at_most": at_most, "below": below}
    limits = {word: value for word, value in limits.items() if value is not None}
    metadata = {"help": help, "kind": kind, "limits": limits}
    return attrs.field(default=default, validator=_check, metadata=metadata)


@dataclass_transform(field_specifiers=(setting, attrs.field))
def component(cls: type[T]) -> type[T]:
    """Make a class a component: its attrs fields become scikit-learn parameters.

    Components stay hashable (no `__eq__`), can have fitted attributes (no slots), and keep
    scikit-learn's `repr`.
    """
    try:
        return attrs.define(eq=False, slots=False, repr=False, order=False, auto_attribs=True)(cls)
    except attrs.exceptions.UnannotatedAttributeError as error:
        names = str(error).rpartition(": ")[2].rstrip(".")
        raise ContractError(
            f"{cls.__name__}: a setting needs an annotation, which says what is allowed, as in "
            f"`{names.partition(',')[0]}: int = setting(...)`; without one: {names}"
        ) from None


def settings_of(cls: Any) -> dict[str, attrs.Attribute[Any]]:
    """The settings of a component class by name."""
    return _fields(cls)


@functools.cache
def _fields(cls: Any) -> dict[str, attrs.Attribute[Any]]:
    return {field.name: field for field in attrs.fields(cls) if field.init}


def check_names(cls: type, given: typing.Iterable[str]) -> None:
    """Raise if the component does not have one of the given settings."""
    known = settings_of(cls)
    for name in given:
        if name not in known:
            raise SettingError(
                f"{_title(cls)} has no setting {name!r}; {did_you_mean(name, known)}"
            )


def check_value(cls: Any, name: str, value: Any) -> None:
    """Raise if the value is not allowed for this setting."""
    field = settings_of(cls)[name]
    if field.metadata.get("kind"):
        fits = takes_several(cls, name) == isinstance(value, tuple | list)
    else:
        fits = any(_is_a(value, option) for option in _options(cls, name))
        fits = fits and _within(value, field.metadata.get("limits", {}))
    if not fits:
        raise SettingError(
            f"{_title(cls)}: {name} must be {describe_allowed(cls, name)}, got {value!r}"
        )


def describe_allowed(cls: type, name: str) -> str:
    """Describe the allowed values of a setting, such as `a whole number of at least 2`."""
    field = settings_of(cls)[name]
    hint = type_hints(cls).get(name, Any)
    kind = field.metadata.get("kind")
    if kind:
        several = takes_several(cls, name)
        return f"a list of {kind}s or their names" if several else f"a {kind} or the name of one"
    words = [_in_words(option) for option in options_of(hint)]
    limits = field.metadata.get("limits", {})
    phrases = {
        "at_least": "of at least {:g}",
        "above": "above {:g}",
        "at_most": "at most {:g}",
        "below": "below {:g}",
    }
    bounds = " and ".join(phrases[word].format(value) for word, value in limits.items())
    words = [f"{word} {bounds}" if bounds and "number" in word else word for word in words]
    return " or ".join(words)


@functools.cache
def _options(cls: Any, name: str) -> list[Any]:
    return options_of(type_hints(cls).get(name, Any))


@functools.cache
def type_hints(cls: Any) -> dict[str, Any]:
    """The resolved annotations of a component class."""
    return typing.get_type_hints(cls)


def takes_several(cls: Any, name: str) -> bool:
    """Whether a setting takes a list of components."""
    kind = settings_of(cls)[name].metadata.get("kind")
    return bool(kind) and typing.get_origin(type_hints(cls).get(name)) is tuple


def wrap_single_value(cls: Any, name: str, value: Any) -> Any:
    """Wrap a single name, number or component in a list if the setting takes only lists."""
    if takes_several(cls, name):
        return value if isinstance(value, tuple | list) else [value]
    options = options_of(type_hints(cls).get(name, Any))
    single = isinstance(value, str | int) and not isinstance(value, bool)
    return [value] if single and list[str] in options and str not in options else value


def _check(instance: Any, field: attrs.Attribute[Any], value: Any) -> None:
    check_value(type(instance), field.name, value)


def _title(cls: type) -> str:
    return getattr(cls, "name", "") or cls.__name__


def options_of(hint: Any) -> list[Any]:
    """The types that an annotation allows; each value of a Literal is a separate option."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return [option for part in typing.get_args(hint) for option in options_of(part)]
    if typing.get_origin(hint) is typing.Literal:
        return [typing.Literal[value] for value in typing.get_args(hint)]
    return [hint]


def _in_words(option: Any) -> str:
    if typing.get_origin(option) is typing.Literal:
        return repr(typing.get_args(option)[0])
    if option == list[str]:
        return 'a text or a list such as ["a", "b"]'
    origin = typing.get_origin(option) or option
    if origin is Callable or origin is typing.get_origin(Callable[..., Any]):
        return "a function"
    return WORDS.get(origin, getattr(origin, "__name__", str(origin)))


def _is_a(value: Any, option: Any) -> bool:
    if option is Any:
        return True
    if typing.get_origin(option) is typing.Literal:
        return type(value) is type(typing.get_args(option)[0]) and value in typing.get_args(option)
    origin = typing.get_origin(option) or option
    if origin is typing.get_origin(Callable[..., Any]):
        return callable(value)
    if origin in (int, float) and isinstance(value, bool | np.bool_):
        return False
    if origin is float:
        return isinstance(value, numbers.Real) and _is_finite(value)
    if origin is int:
        return isinstance(value, numbers.Integral) and abs(int(value)) <= sys.maxsize
    if origin is tuple:
        return isinstance(value, tuple | list)
    return isinstance(value, origin)


def _is_finite(value: Any) -> bool:
    # A Python int may be too large for a float.
    number = value if isinstance(value, int) else float(value)
    return bool(abs(number) <= sys.float_info.max)


def _within(value: Any, limits: dict[str, float]) -> bool:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return True
    number = float(value)
    return (
        number >= limits.get("at_least", -np.inf)
        and number <= limits.get("at_most", np.inf)
        and ("above" not in limits or number > limits["above"])
        and ("below" not in limits or number < limits["below"])
    )
