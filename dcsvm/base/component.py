"""Component: what a plugin offers, an attrs class whose fields are its hyper-parameters."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from dcsvm.base.nested_params import gathered, nested, numbered
from dcsvm.base.settings import settings_of


class Component(BaseEstimator, ABC):
    """What a plugin offers: an attrs class whose fields are its hyper-parameters.

    Decorate every subclass with `@component`. `get_params`, `set_params` and `clone` come from
    the fields, so nested keys such as `decomposer__ceiling` work in a `GridSearchCV`; components
    in a list go by their numbers, as in `decomposer__learners__0__gamma`.
    """

    name: ClassVar[str] = ""
    #: attrs classes that this component leaves in a fitted model: saved and loaded by the core.
    stored_types: ClassVar[tuple[type, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; with `deep`, those of components in settings and lists too."""
        own = {name: getattr(self, name) for name in sorted(settings_of(type(self)))}
        return own | (nested(own) | numbered(own) if deep else {})

    def set_params(self, **params: Any) -> Any:
        """Change settings by name; a list is replaced where one of its components changes."""
        title = self.name or type(self).__name__
        return super().set_params(**gathered(title, self.get_params(deep=False), params))

    def check(self) -> None:
        """Refuse settings that cannot work together; called before anything is trained."""
        return
