"""What a model file may hold, by name: the core's types, and those that plugins offer."""

from __future__ import annotations

from typing import Any

from dcsvm.base.component import Component, settings_of
from dcsvm.base.decomposer import Repeat, Sum
from dcsvm.base.feature_views import Chain, Columns, LinearMap, Scaling
from dcsvm.base.member import Member
from dcsvm.base.models import STORED_TYPES
from dcsvm.base.problem import Seed, Task
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.committee.committee import Committee, Group
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.drive.registry import KINDS, Offer, Registry
from dcsvm.persistence.archive import Flaw, NeedsPlugin
from dcsvm.toolbox.regions import Regions
from dcsvm.toolbox.subspaces import BlockSum
from dcsvm.toolbox.table_preparation import Preparation, Prepared
from dcsvm.toolbox.table_schema import Column, Layout

CORE_TYPES: tuple[type, ...] = (
    *STORED_TYPES,
    *(BlockSum, Chain, Columns, LinearMap, Scaling),
    Regions,
    *(Committee, FittedStrategy, Group, Member),
    *(Seed, Task),
    *(Column, Layout, Preparation),
)
CORE_COMPONENTS: dict[str, type[Component]] = {
    "learner:divide_and_conquer": DivideAndConquerClassifier,
    "decomposer:sum": Sum,
    "decomposer:repeat": Repeat,
    "decomposer:prepared": Prepared,
}


class Catalogue:
    """Names for the types and components that a model file may hold, and the way back.

    Nothing is imported: a name stands for what the core lists or a loaded plugin offers, or for
    nothing. A type of the core is called `dcsvm:KernelExpansion`, a component `decomposer:tree`,
    and a type that this component lists in its `stored_types` `decomposer:tree/TreeRouter`.
    """

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.types: dict[str, type] = {f"dcsvm:{cls.__qualname__}": cls for cls in CORE_TYPES}
        self.components: dict[str, type[Component]] = dict(CORE_COMPONENTS)
        self.offers: dict[str, Offer] = {}
        for (kind, name), offer in sorted(registry.offers.items(), key=lambda item: item[0]):
            if kind in KINDS and f"{kind}:{name}" not in CORE_COMPONENTS:
                self.offers[f"{kind}:{name}"] = offer
                self.components[f"{kind}:{name}"] = offer.what
                for cls in offer.what.stored_types:
                    self.types.setdefault(f"{kind}:{name}/{cls.__qualname__}", cls)
        self.type_names = _first_names(self.types)
        self.component_names = _first_names(self.components)

    def plugins(self, used: set[str]) -> list[dict[str, Any]]:
        """The distributions that offer the names used, for the manifest."""
        offered: dict[tuple[str, str], set[str]] = {}
        for name in used:
            component = name.partition("/")[0]
            if component in self.offers:
                offer = self.offers[component]
                offered.setdefault((offer.distribution, offer.version), set()).add(component)
        return [
            {"distribution": distribution, "version": version, "offers": sorted(names)}
            for (distribution, version), names in sorted(offered.items())
        ]

    def type_called(self, name: str, plugins: list[dict[str, Any]]) -> type:
        """The type of that name; if there is none, a Flaw that says who offered it."""
        if name not in self.types:
            raise NeedsPlugin(self._missing(f"the type {name!r}", name, plugins))
        return self.types[name]

    def build(self, name: str, settings: dict[str, Any], plugins: list[dict[str, Any]]) -> Any:
        """The component of that name with these settings."""
        if name not in self.components:
            kind, _, rest = name.partition(":")
            raise NeedsPlugin(self._missing(f"the {kind} {rest!r}", name, plugins))
        cls = self.components[name]
        unknown = settings.keys() - settings_of(cls).keys()
        if unknown:
            raise Flaw(
                f"needs the setting {min(unknown)!r} of {name}, which the installed version of "
                f"{self._source(name)} does not have{_offered(name, plugins)}"
            )
        return cls(**settings)

    def _missing(self, what: str, name: str, plugins: list[dict[str, Any]]) -> str:
        broken = ", ".join(
            f"{each.plugin} of {each.distribution}" for each in self.registry.broken
        )
        return f"needs {what}, which no loaded plugin offers{_offered(name, plugins)}" + (
            f" (plugins that failed to load: {broken})" if broken else ""
        )

    def _source(self, name: str) -> str:
        return self.offers[name].distribution if name in self.offers else "dcsvm"


def _first_names(named: dict[str, Any]) -> dict[type, str]:
    names: dict[type, str] = {}
    for name, cls in named.items():
        names.setdefault(cls, name)
    return names


def _offered(name: str, plugins: list[dict[str, Any]]) -> str:
    for plugin in plugins:
        if name.partition("/")[0] in plugin["offers"]:
            title = f"{plugin['distribution']} {plugin['version']}".strip()
            how = ", name it with --plugin or load_plugin" if title.endswith(".py") else ""
            return f"; {title} offered it when the file was saved{how}"
    return ""
