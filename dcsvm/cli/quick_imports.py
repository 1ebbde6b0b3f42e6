"""Importing scikit-learn without the packages that it seldom uses."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: Modules that scikit-learn imports and seldom uses, with the classes that it takes from them at
#: once. Importing them takes longer than the rest.
POSTPONED: dict[str, tuple[str, ...]] = {
    "asyncio": (),
    "numpy.f2py": (),
    "pandas": (),
    "scipy.stats": (),
    "scipy.interpolate": ("BSpline",),
    "scipy.linalg": (),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.sparse.linalg": ("LinearOperator", "cg"),
    "scipy.special": ("boxcox", "comb", "inv_boxcox"),
}


class PostponedModule(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        _remove(self)
        return getattr(import_module(self.__name__), name)


class PostponedClass:
    """A placeholder for a class, which is imported when it is first used."""

    def __init__(self, module: str, name: str) -> None:
        self._find: Callable[[], Any] = lambda: getattr(import_module(module), name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._find()(*arguments, **named)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self._find())


@contextmanager
def import_quickly() -> Iterator[None]:
    """Import scikit-learn without garbage collection, and freeze what was imported."""
    gc.disable()
    try:
        import_sklearn()
        yield
    finally:
        gc.freeze()
        gc.enable()


def import_sklearn() -> None:
    """Import `sklearn.pipeline`; postponed packages are loaded when they are first used."""
    if sys.modules.get("sklearn"):
        return
    stand_ins: list[PostponedModule] = []
    try:
        for name in POSTPONED:  # each before the next one's parent is imported
            spec = None if name in sys.modules else find_spec(name)
            if spec is not None and _is_found_later(spec):
                stand_ins.append(_place(spec))
        import_module("sklearn.pipeline")
    finally:
        for each in stand_ins:
            _remove(each)


def _is_found_later(spec: ModuleSpec) -> bool:
    """Whether a module is not imported yet, and its parent imports it when it is asked for."""
    parent = sys.modules.get(spec.name.rpartition(".")[0])
    return spec.name not in sys.modules and (parent is None or hasattr(parent, "__getattr__"))


def _place(spec: ModuleSpec) -> PostponedModule:
    stand_in = PostponedModule(spec.name)
    stand_in.__spec__, stand_in.__path__ = spec, spec.submodule_search_locations or []
    for each in POSTPONED[spec.name]:
        setattr(stand_in, each, PostponedClass(spec.name, each))
    sys.modules[spec.name] = stand_in
    parent, _, name = spec.name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], name, stand_in)
    return stand_in


def _remove(stand_in: PostponedModule) -> None:
    """Remove the stand-in of a module that was never imported."""
    if sys.modules.get(stand_in.__name__) is stand_in:
        del sys.modules[stand_in.__name__]
    parent, _, name = stand_in.__name__.rpartition(".")
    if parent and vars(sys.modules[parent]).get(name) is stand_in:
        delattr(sys.modules[parent], name)
