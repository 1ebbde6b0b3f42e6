"""Nested settings of components, also in lists: `learners__0__gamma`."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from dcsvm.base.errors import SettingError


def expand_components(params: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the components in `params`, as `learner__gamma`."""
    return {
        f"{name}__{key}": inner
        for name, value in params.items()
        if _has_settings(value)
        for key, inner in value.get_params(deep=True).items()
    }


def expand_lists(params: Mapping[str, Any]) -> dict[str, Any]:
    """The components in the lists in `params` and their settings, by name and number."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        for number, each in enumerate(value if isinstance(value, tuple | list) else ()):
            if _has_settings(each):
                found[f"{name}__{number}"] = each
                inner = each.get_params(deep=True)
                found |= {f"{name}__{number}__{key}": inner[key] for key in inner}
    return found


def merge_params(
    title: str, settings: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    """Replace parameters of components in a list by a new list.

    The existing list and its components are not modified.
    """
    plain: dict[str, Any] = {}
    changes: dict[str, dict[str, Any]] = {}
    for key, value in params.items():
        name, _, rest = key.partition("__")
        holder = params.get(name, settings.get(name))
        if rest and isinstance(holder, tuple | list):
            changes.setdefault(name, {})[rest] = value
        elif rest and name in settings and not _has_settings(holder):
            raise SettingError(f"{title}: {key} cannot be set: {name} is {holder!r}{_way(holder)}")
        else:
            plain[key] = value
    for name, inside in changes.items():
        plain[name] = _change(title, name, params.get(name, settings[name]), inside)
    return plain


def _change(title: str, name: str, given: Any, changes: Mapping[str, Any]) -> Any:
    """Copy a list with some components, or some of their settings, changed."""
    items, inner = list(given), {}  # type: tuple[list[Any], dict[int, dict[str, Any]]]
    for key, value in changes.items():
        place, _, rest = key.partition("__")
        if not place.isdecimal() or int(place) >= len(items):
            raise SettingError(
                f"{title} has no setting '{name}__{key}': {name} is a list of {len(items)}, whose "
                f"components are numbered from 0: '{name}__0', ..."
            )
        if rest:
            inner.setdefault(int(place), {})[rest] = value
        else:
            items[int(place)] = value
    for number, params in inner.items():
        item = items[number]
        if not _has_settings(item):
            raise SettingError(
                f"{title}: {name}__{number}__{next(iter(params))} cannot be set: {name} {number} "
                f"is {item!r}{_way(item)}"
            )
        items[number] = clone(item).set_params(**params)
    return type(given)(items)


def _has_settings(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _way(value: Any) -> str:
    return ", a name; give a component, made by build(...)" if isinstance(value, str) else ""
