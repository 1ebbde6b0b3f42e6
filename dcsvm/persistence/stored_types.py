"""The types that a model file may hold: those of the core and those that plugins register."""

from typing import Any

from dcsvm.base.component import Component, settings_of
from dcsvm.base.decomposer import Repeat, Sum
from dcsvm.base.feature_views import Chain, Columns, LinearMap, Scaling
from dcsvm.base.mapped_hyperplanes import MappedHyperplanes
from dcsvm.base.member import Member
from dcsvm.base.models import Constant, Hyperplanes, KernelExpansion, Points
from dcsvm.base.problem import Task
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Record
from dcsvm.base.wrapped_sklearn import Wrapped
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.calibration import Calibration
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.committee.group import Group
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.drive.registry import KINDS, Offer, Registry, default_registry
from dcsvm.numeric.additive_curves import AdditiveCurves
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.persistence.model_file_format import FormatError, MissingPluginError
from dcsvm.toolbox.boosted_trees import BoostedTrees
from dcsvm.toolbox.lazy_model import NeighbourModel
from dcsvm.toolbox.regions import Regions
from dcsvm.toolbox.subspaces import BlockSum
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.table_schema import Column, TableSchema
from dcsvm.toolbox.table_view import TableView

CORE_TYPES: tuple[type, ...] = (
    *(Constant, Hyperplanes, Kernel, KernelExpansion, MappedHyperplanes, Points),
    Wrapped,
    *(BlockSum, Chain, Columns, LinearMap, Scaling, TableView),
    *(BoostedTrees, NeighbourModel, Regions),
    *(AdditiveCurves, Calibration, Committee, FittedStrategy, Group, Member),
    *(Seed, Task),
    *(Column, TableSchema),
)
#: Types that are part of a fitted classifier, but not of a model file.
LEDGER_TYPES: tuple[type, ...] = (Record,)
#: Types of the steps before the classifier in the `Pipeline` of a recipe.
PIPELINE_TYPES: tuple[type, ...] = (TablePreparation,)
#: What searches of scikit-learn keep beside classifiers: scorers and splitters.
SEARCH_TYPES = (
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    *(
        f"sklearn.model_selection._split.{name}"
        for name in (
            *("GroupKFold", "KFold", "LeaveOneOut", "RepeatedKFold", "RepeatedStratifiedKFold"),
            *("ShuffleSplit", "StratifiedGroupKFold", "StratifiedKFold"),
            *("StratifiedShuffleSplit", "TimeSeriesSplit"),
        )
    ),
)
CORE_COMPONENTS: dict[str, type[Component]] = {
    "learner:divide_and_conquer": DivideAndConquerClassifier,
    "decomposer:sum": Sum,
    "decomposer:repeat": Repeat,
}


class Catalogue:
    """Maps types and components that a model file may hold to names and back.

    Nothing is imported. Core types are named like `dcsvm:KernelExpansion`, components like
    `decomposer:tree`, and the `stored_types` of a component like `decomposer:tree/TreeRouter`.
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
        self.type_names = _invert(self.types)
        self.component_names = _invert(self.components)

    def list_plugins(self, used: set[str]) -> list[dict[str, Any]]:
        """Return the distributions that offer the used names, for the manifest."""
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

    def find_type(self, name: str, plugins: list[dict[str, Any]]) -> type:
        """Return the type with this name; raise an error that names its plugin if missing."""
        if name not in self.types:
            raise MissingPluginError(self._explain_missing(f"the type {name!r}", name, plugins))
        return self.types[name]

    def build(self, name: str, settings: dict[str, Any], plugins: list[dict[str, Any]]) -> Any:
        """Build the component with this name and these settings."""
        if name not in self.components:
            kind, _, rest = name.partition(":")
            raise MissingPluginError(self._explain_missing(f"the {kind} {rest!r}", name, plugins))
        cls = self.components[name]
        unknown = settings.keys() - settings_of(cls).keys()
        if unknown:
            source = self.offers[name].distribution if name in self.offers else "dcsvm"
            raise FormatError(
                f"needs the setting {min(unknown)!r} of {name}, which the installed version of "
                f"{source} does not have{_name_plugin(name, plugins)}"
            )
        return cls(**settings)

    def _explain_missing(self, what: str, name: str, plugins: list[dict[str, Any]]) -> str:
        broken = ", ".join(
            f"{each.plugin} of {each.distribution}" for each in self.registry.broken
        )
        return f"needs {what}, which no loaded plugin offers{_name_plugin(name, plugins)}" + (
            f" (plugins that failed to load: {broken})" if broken else ""
        )


def trusted_types(registry: Registry | None = None) -> list[str]:
    """Return the names of all types in fitted classifiers, for `trusted` of `skops.io.load`.

    These are the types of dcsvm, recipe pipelines included, and of the loaded plugins, and those
    that searches of scikit-learn keep: splitters, scorers and metrics. `TRUSTED_TYPES` of
    `dcsvm.persistence.sklearn_estimators` names those of wrapped scikit-learn estimators.

    Examples
    --------
    >>> from dcsvm.persistence.stored_types import trusted_types
    >>> "dcsvm.classifier.DivideAndConquerClassifier" in trusted_types()
    True
    """
    from sklearn.metrics import get_scorer, get_scorer_names  # slow, and needed here only

    catalogue = Catalogue(registry or default_registry())
    kept = {*catalogue.types.values(), *catalogue.components.values()}
    kept |= {*LEDGER_TYPES, *PIPELINE_TYPES}
    named = [*kept, *(get_scorer(name)._score_func for name in get_scorer_names())]
    return sorted({f"{each.__module__}.{each.__qualname__}" for each in named} | {*SEARCH_TYPES})


def _invert(named: dict[str, Any]) -> dict[type, str]:
    return {cls: name for name, cls in reversed(named.items())}


def _name_plugin(name: str, plugins: list[dict[str, Any]]) -> str:
    for plugin in plugins:
        if name.partition("/")[0] in plugin["offers"]:
            title = f"{plugin['distribution']} {plugin['version']}".strip()
            how = ", load it with --plugin or load_plugin" if title.endswith(".py") else ""
            return f"; {title} offered it when the file was saved{how}"
    return ""
