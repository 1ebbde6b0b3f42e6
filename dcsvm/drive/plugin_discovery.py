"""Discovery of plugins: entry points of installed distributions, and single files."""

import importlib.metadata
import importlib.util
import inspect
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from dcsvm.base.errors import ContractError, PluginError, did_you_mean
from dcsvm.drive import hookspecs

GROUP = "dcsvm"


def find_installed() -> list[importlib.metadata.EntryPoint]:
    """The entry points to load: all of them, or those that DCSVM_LOAD_PLUGINS names."""
    points = sorted(
        importlib.metadata.entry_points(group=GROUP),
        key=lambda point: (find_distribution(point), point.name),
    )
    wanted = os.environ.get("DCSVM_LOAD_PLUGINS")
    if wanted is None:
        return points
    titles = {title for point in points for title in (point.name, find_distribution(point))}
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if name not in titles:
            raise PluginError(
                f"DCSVM_LOAD_PLUGINS names {name!r}, but no plugin and no distribution of "
                f"plugins is called that; {did_you_mean(name, titles)}"
            )
    return [point for point in points if point.name in names or find_distribution(point) in names]


def find_distribution(point: importlib.metadata.EntryPoint) -> str:
    """The name of the distribution that an entry point belongs to."""
    return read_distribution(point.dist)[0] if point.dist else "an unknown distribution"


def find_version(point: importlib.metadata.EntryPoint) -> str:
    """The version of the distribution that an entry point belongs to."""
    return read_distribution(point.dist)[1] if point.dist else ""


@lru_cache(maxsize=64)
def read_distribution(distribution: importlib.metadata.Distribution) -> tuple[str, str]:
    """Name and version; reading the metadata takes a millisecond, and each plugin needs it."""
    metadata = distribution.metadata
    return metadata["Name"], metadata["Version"]


@contextmanager
def import_file(path: Path) -> Iterator[ModuleType]:
    """Import a .py file as a module; forget it if the `with` block raises."""
    name = f"dcsvm_plugin_file_{path.stem}_{zlib.crc32(bytes(path.resolve())):08x}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise PluginError(f"plugin file {str(path)!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        _register_by_value(module)
        yield module
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, PluginError):
            raise
        raise PluginError(
            f"plugin file {str(path)!r} cannot be loaded: {describe_error(error)}"
        ) from error


def is_same_file(module: Any, path: Path) -> bool:
    """Whether a module was loaded from this file, or from an installed copy of it."""
    loaded = Path(getattr(module, "__file__", None) or "")
    same_name = loaded.name == path.name and loaded.is_file()
    return same_name and loaded.read_bytes() == path.read_bytes()


def check_hooks(module: ModuleType) -> None:
    """Raise if a hook is unknown or not marked; pluggy would ignore it."""
    known = [name for name in vars(hookspecs) if name.startswith("dcsvm_")]
    for name, function in vars(module).items():
        is_marked = getattr(function, f"{hookspecs.PROJECT}_impl", None) is not None
        if is_marked and name not in known:
            raise ContractError(f"no hook is called {name!r}; {did_you_mean(name, known)}")
        if name in known and inspect.isfunction(function) and not is_marked:
            raise ContractError(f"{name} is not marked with @dcsvm.hookimpl")


def describe_error(error: BaseException) -> str:
    """Why a plugin could not be loaded."""
    return f"{type(error).__name__}: {error}"


def _register_by_value(module: ModuleType) -> None:
    """Pickle the classes of a single-file plugin by value: workers cannot import it."""
    try:
        from joblib.externals import cloudpickle
    except ImportError:  # joblib without a copy of its own
        import cloudpickle

    cloudpickle.register_pickle_by_value(module)
