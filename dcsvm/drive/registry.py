"""Registry of components, recipes and reports, loaded from plugins."""

import importlib.metadata
import inspect
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pluggy
from sklearn.base import ClassifierMixin, clone

from dcsvm.base.combiner import Combiner
from dcsvm.base.component import Component, check_names, settings_of
from dcsvm.base.decomposer import YIELDS, Decomposer
from dcsvm.base.errors import (
    ContractError,
    PluginError,
    SettingError,
    UnknownNameError,
    did_you_mean,
)
from dcsvm.base.learner import LocalLearner
from dcsvm.base.reporting import Report
from dcsvm.drive import hookspecs
from dcsvm.drive.plugin_discovery import (
    check_hooks,
    describe_error,
    find_distribution,
    find_installed,
    find_version,
    import_file,
    is_same_file,
)

RECIPE = "recipe"
REPORT = "report"
#: The name of the learner that wraps scikit-learn classifiers.
WRAPPER = "sklearn"
KINDS: dict[str, type] = {
    "decomposer": Decomposer,
    "learner": LocalLearner,
    "combiner": Combiner,
}
#: Where components say what they yield or accept.
WORDS = {"decomposer": "yields", "combiner": "accepts"}


@attrs.frozen
class Offer:
    """A component, recipe or report, and the distribution that it comes from."""

    kind: str
    name: str
    what: Any
    distribution: str
    version: str

    @property
    def summary(self) -> str:
        """The first line of the docstring, or the `about` of a recipe."""
        if self.kind == RECIPE:
            return _read_about(self.what)
        return (inspect.getdoc(self.what) or "").partition("\n")[0]


@attrs.frozen
class Broken:
    """A plugin that could not be loaded, with the reason."""

    plugin: str
    distribution: str
    reason: str


class Registry:
    """All components, recipes and reports of the loaded plugins.

    Without `entry_points`, the plugins are the installed entry points of the group `dcsvm`,
    restricted to the comma-separated distributions or entry points in the environment variable
    DCSVM_LOAD_PLUGINS, if it is set.
    """

    def __init__(
        self, entry_points: Iterable[importlib.metadata.EntryPoint] | None = None
    ) -> None:
        self.offers: dict[tuple[str, str], Offer] = {}
        self.broken: list[Broken] = []
        self._files: set[Path] = set()
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        for point in find_installed() if entry_points is None else entry_points:
            self._load(point)

    def add_module(self, module: ModuleType, distribution: str, version: str = "") -> None:
        """Register a plugin module; if anything in it is invalid, raise and register nothing."""
        if self._manager.is_registered(module):
            return
        check_hooks(module)
        before = dict(self.offers)
        try:
            self._manager.register(module, f"{distribution}:{module.__name__}")
            self._manager.check_pending()
            for caller in self._manager.get_hookcallers(module) or []:
                for hook in caller.get_hookimpls():
                    if hook.plugin is module:
                        self._register(caller.name, hook.function(), distribution, version)
        except BaseException:
            self.offers = before
            if self._manager.is_registered(module):
                self._manager.unregister(module)
            raise

    def add_file(self, path: str | Path) -> None:
        """Load a single .py file as a plugin, unless it, or an installed copy, is loaded."""
        path = Path(path)
        if not path.is_file():
            raise PluginError(f"plugin file {str(path)!r} does not exist")
        place = path.resolve()
        plugins = self._manager.get_plugins()
        if place in self._files or any(is_same_file(each, place) for each in plugins):
            return
        with import_file(path) as module:
            self.add_module(module, str(path))
        self._files.add(place)

    def get(self, kind: str, name: str) -> type[Component]:
        """The component class of that kind and name."""
        offer = self.offers.get((kind, name))
        if offer is not None:
            return offer.what  # type: ignore[no-any-return]
        hint = did_you_mean(name, self.names(kind))
        message = f"no {kind} is called {name!r}; {hint}"
        if not self.broken and self.names(kind):
            raise UnknownNameError(message)
        failed = "; ".join(f"{each.plugin} of {each.distribution}" for each in self.broken)
        raise PluginError(
            message + (f" (plugins that failed to load: {failed})" if failed else "")
        )

    def names(self, kind: str) -> list[str]:
        """The names of all components of a kind."""
        return sorted(name for each, name in self.offers if each == kind)

    def of_kind(self, kind: str) -> list[Offer]:
        """All offers of a kind, by name."""
        return [self.offers[kind, name] for name in self.names(kind)]

    def build(self, kind: str, name: str, **settings: Any) -> Any:
        """Make a component of that kind and name with these settings."""
        if kind not in KINDS:
            raise UnknownNameError(self._explain_kind(kind, name))
        cls = self.get(kind, name)
        check_names(cls, settings)
        for key, field in settings_of(cls).items():
            if field.default is attrs.NOTHING and key not in settings:
                raise SettingError(f"{name} needs the setting {key!r}")
        return cls(**settings)

    def resolve(self, kind: str, given: Any, where: str = "") -> Any:
        """Turn a name, or a component whose own settings hold names, into a component.

        `where` names the setting in error messages.
        """
        if isinstance(given, str):
            return self.resolve(kind, self.build(kind, given))
        if not isinstance(given, KINDS[kind]):
            raise SettingError(
                f"{where or kind} must be a {KINDS[kind].__name__} or the name of one, got "
                f"{given!r}" + self._suggest_wrapper(kind, given)
            )
        title = getattr(given, "name", "") or type(given).__name__
        nested = {
            key: self._resolve_all(field.metadata["kind"], getattr(given, key), f"{title}: {key}")
            for key, field in settings_of(type(given)).items()
            if field.metadata.get("kind") and getattr(given, key) is not None
        }
        if all(value is getattr(given, key) for key, value in nested.items()):
            return given
        return clone(given).set_params(**nested)

    def _suggest_wrapper(self, kind: str, given: Any) -> str:
        """A hint for a scikit-learn classifier that was given as a learner."""
        cls = given if isinstance(given, type) else type(given)
        wraps = kind == "learner" and (kind, WRAPPER) in self.offers
        if not wraps or not issubclass(cls, ClassifierMixin):
            return ""
        return (
            f"; wrap a scikit-learn classifier by its name: "
            f'build("learner", "{WRAPPER}", classifier="{cls.__name__}")'
        )

    def _explain_kind(self, kind: str, name: str) -> str:
        """The message for an unknown kind, with a hint if the arguments are swapped."""
        message = f"build: the kind must be decomposer, learner or combiner, got {kind!r}"
        if name in KINDS:
            return f'{message}; it comes first: build("{name}", "{kind}")'
        meant = [each for each in KINDS if f"{each}s" == kind]
        return message + "".join(f'; did you mean build("{each}", "{name}")?' for each in meant)

    def _resolve_all(self, kind: str, given: Any, where: str) -> Any:
        if not isinstance(given, tuple | list):
            return self.resolve(kind, given, where)
        resolved = tuple(
            self.resolve(kind, each, f"{where} {number}") for number, each in enumerate(given)
        )
        same = all(new is old for new, old in zip(resolved, given, strict=True))
        return given if same else resolved

    def _load(self, point: importlib.metadata.EntryPoint) -> None:
        distribution = find_distribution(point)
        version = find_version(point)
        try:
            self.add_module(point.load(), distribution, version)
        except PluginError:
            raise
        except (Exception, SystemExit) as error:
            self.broken.append(Broken(point.name, distribution, describe_error(error)))

    def _register(self, hook: str, what: Any, distribution: str, version: str) -> None:
        kind = hook.removeprefix("dcsvm_").removesuffix("s")
        if isinstance(what, Mapping) != (kind == RECIPE) or not isinstance(what, Iterable):
            needed = "a dict of texts by name" if kind == RECIPE else "a list of classes"
            raise ContractError(f"{hook} of {distribution} must return {needed}, got {what!r}")
        listed = [] if isinstance(what, Mapping) else list(what)
        for each in listed:
            if not isinstance(each, type):
                raise ContractError(
                    f"{hook} of {distribution} lists {each!r}: offer the class, not an instance"
                )
        named = [(getattr(each, "name", ""), each) for each in listed]
        items = what.items() if isinstance(what, Mapping) else named
        for name, each in items:
            if kind in KINDS:
                _check_class(kind, each, distribution)
            elif kind == REPORT:
                _check_report(each, distribution)
            taken = self.offers.get((kind, name))
            if taken is not None and taken.what is not each:
                raise PluginError(
                    _describe_collision(kind, name, taken.distribution, distribution)
                )
            self.offers[kind, name] = Offer(kind, name, each, distribution, version)


@cache
def default_registry() -> Registry:
    """The registry of all installed plugins, created at first use."""
    return Registry()


def load_plugin(path: str | Path) -> None:
    """Load a single .py file as a plugin, like `--plugin`, unless it is already loaded.

    Its components can then be used by name, and its models can be saved and loaded. The file has
    hooks such as `dcsvm_decomposers`. If it cannot be loaded, a PluginError is raised.
    """
    default_registry().add_file(path)


def build(kind: str, name: str, **settings: Any) -> Any:
    """Make a registered component: `build("decomposer", "tree", ceiling=500)`."""
    return default_registry().build(kind, name, **settings)


def refuse_class(name: str) -> None:
    """Raise an ImportError that says how to build a component, if `name` is its class.

    `from dcsvm import ...` would hide the message of an AttributeError.
    """
    for offer in default_registry().offers.values():
        if offer.kind in KINDS and offer.what.__name__ == name:
            raise ImportError(
                f"dcsvm has no class {name!r}: components come from plugins, by name; "
                f'make this one with build("{offer.kind}", "{offer.name}")'
            )


def _read_about(recipe: str) -> str:
    try:
        return str(tomllib.loads(recipe).get("about", ""))
    except tomllib.TOMLDecodeError:
        return ""


def _describe_collision(kind: str, name: str, first: str, second: str) -> str:
    if first == second:
        return f"{first} offers two different {kind}s called {name!r}; rename one"
    return (
        f"two plugins offer a {kind} called {name!r}: {first} and {second}; "
        "uninstall one, or name those to load in DCSVM_LOAD_PLUGINS"
    )


def check_words(cls: Any, attribute: str) -> None:
    """Raise unless `yields` or `accepts` of a class is a frozenset of words."""
    words = inspect.getattr_static(cls, attribute, None)
    if isinstance(words, property) or (isinstance(words, set | frozenset) and words):
        return
    told = "it has none" if words is None else f"got {words!r}"
    raise ContractError(
        f"{cls.__name__}.{attribute} must be a set of words, as in "
        f'{attribute} = frozenset({{"subsets"}}), {told}; the words are '
        f"{', '.join(sorted(YIELDS))}, and those of `declares`"
    )


def _check_class(kind: str, cls: Any, distribution: str) -> None:
    if not (isinstance(cls, type) and issubclass(cls, KINDS[kind])):
        raise ContractError(f"{distribution} offers {cls!r} as a {kind}, which is not one")
    if "__attrs_attrs__" not in vars(cls):
        raise ContractError(f"{cls.__name__} of {distribution} is not decorated with @component")
    if not getattr(cls, "name", ""):
        raise ContractError(f"{cls.__name__} of {distribution} has no name")
    _check_methods(cls, distribution)
    if kind in WORDS:
        check_words(cls, WORDS[kind])


def _check_report(cls: Any, distribution: str) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Report)):
        raise ContractError(f"{distribution} offers {cls!r} as a report, which is not one")
    for needed in ("name", "file_name"):
        if not getattr(cls, needed):
            raise ContractError(f"{cls.__name__} of {distribution} has no {needed}")
    _check_methods(cls, distribution)


def _check_methods(cls: type, distribution: str) -> None:
    missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
    if missing:
        raise ContractError(f"{cls.__name__} of {distribution} does not define {missing}")
