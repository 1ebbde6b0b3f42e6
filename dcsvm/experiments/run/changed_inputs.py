"""What a run was begun with: its data, dcsvm and the plugins; and what has changed since then."""

import hashlib
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

import dcsvm
from dcsvm.base.digest import digest
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.registry import KINDS, Offer, Registry
from dcsvm.experiments.recipe import Recipe
from dcsvm.experiments.run.run_messages import format_count, join_names
from dcsvm.numeric import MappedRows, native

#: Data with more columns than this have one digest of all values.
MOST_COLUMNS = 2000
#: Columns that are copied at the same time to be digested.
BLOCK = 64
CORE = "dcsvm"

Facts = Mapping[str, Any]


def describe_software(recipe: Recipe, registry: Registry) -> dict[str, Any]:
    """Describe dcsvm and the plugins that a recipe uses: their versions and sources."""
    used = set(_walk_types([[each.classifier, *each.grid.values()] for each in recipe.candidates]))
    offers = [each for each in registry.offers.values() if each.kind in KINDS]
    plugins = {each.distribution: each for each in offers if each.what in used}
    return {
        "numeric": native.implementation(),
        "sources": {
            CORE: {"version": dcsvm.__version__, "digest": _digest_sources(CORE)},
            **{
                f"the plugin {_name_plugin(each)}": {
                    "version": each.version,
                    "digest": _digest_sources(each.what.__module__),
                }
                for each in plugins.values()
            },
        },
    }


def describe_rows(data: Dataset, path: str | None) -> dict[str, Any]:
    """Describe data by the digests of their columns and labels; of a file, also size and time."""
    found = {
        "title": data.title,
        "rows": data.n_rows,
        "columns": dict(_digest_columns(data)),
        "labels": digest(data.y),
        "test_rows": digest(data.published_test),
    }
    if path is not None:
        file = Path(path).stat()
        found["file"] = {"bytes": file.st_size, "modified": _format_time(file.st_mtime)}
    return found


def find_software_changes(before: Facts, now: Facts) -> Iterator[str]:
    """Yield what changed in dcsvm and in the plugins that the recipe uses, as clauses."""
    for name, old in before["sources"].items():
        new = now["sources"].get(name)
        if new is None:
            yield f"{name} is not used any more"
        elif new["version"] != old["version"]:
            yield f"{name} had version {old['version']} and has {new['version']}"
        elif new["digest"] != old["digest"]:
            yield f"the source of {name} was edited"
    for name in now["sources"].keys() - before["sources"].keys():
        yield f"{name} is used, and was not"
    if before["numeric"] != now["numeric"]:
        yield f"the numeric implementation was {before['numeric']} and is {now['numeric']}"


def find_data_changes(before: Facts, now: Facts) -> Iterator[str]:
    """Yield what changed in the data, as clauses: rows, columns, values, labels, test rows."""
    old, new = before["columns"], now["columns"]
    if before["rows"] != now["rows"]:
        yield f"{format_count(before['rows'], 'row', 'rows')} then, {now['rows']:,} now"
    for names, what in ((old.keys() - new.keys(), "without"), (new.keys() - old.keys(), "with")):
        if names:
            yield f"{what} {_name_columns([name for name in (*old, *new) if name in names])}"
    if before["rows"] != now["rows"]:
        return
    changed = [name for name in old if name in new and old[name] != new[name]]
    if changed:
        yield f"other values in {_name_columns(changed)}"
    elif list(old) != list(new) and old.keys() == new.keys():
        yield "columns in another order"
    if before["labels"] != now["labels"]:
        yield "other labels"
    if before["test_rows"] != now["test_rows"]:
        yield "other test rows"


def describe_file_change(before: Facts, now: Facts) -> str:
    """Return when the file of the data was changed, and its sizes; empty if it looks the same."""
    old, new = before.get("file"), now.get("file")
    if old is None or new is None or old == new:
        return ""
    return f"; written {new['modified']} with {new['bytes']:,} bytes, before {old['bytes']:,}"


def _walk_types(value: Any) -> Iterator[type]:
    """Yield the classes of all components in a value, at any depth."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _walk_types(each)
    elif isinstance(value, Mapping):
        yield from _walk_types(list(value.values()))
    elif hasattr(value, "get_params"):
        yield type(value)
        yield from _walk_types(value.get_params(deep=False))


def _name_plugin(offer: Offer) -> str:
    """Return the distribution, or the file without its folder: it may be given from elsewhere."""
    if offer.distribution == CORE:
        return str(offer.what.__module__).partition(".")[0]
    return offer.distribution if offer.version else Path(offer.distribution).name


def _digest_sources(module: str) -> str:
    """Return the digest of the source files of the package that a module is in."""
    file = getattr(sys.modules.get(module.partition(".")[0]), "__file__", None)
    if file is None:
        return ""
    path = Path(file)
    files = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    hasher = hashlib.blake2b(digest_size=16)
    for each in files:
        hasher.update(each.name.encode() + hashlib.blake2b(each.read_bytes()).digest())
    return hasher.hexdigest()


def _digest_columns(data: Dataset) -> Iterator[tuple[str, str]]:
    """Yield each column's name and digest; of sparse, wide or mapped data, one digest of all."""
    schema = data.schema
    X, levels = data.X, {each.name: each.levels for each in (schema.features if schema else ())}
    names = data.features or tuple(map(str, range(X.shape[1])))
    if not isinstance(X, np.ndarray) or X.shape[1] > MOST_COLUMNS or isinstance(X, MappedRows):
        yield f"all {X.shape[1]} features", digest(list(levels.values()), X)
        return
    for start in range(0, X.shape[1], BLOCK):
        columns = np.ascontiguousarray(X[:, start : start + BLOCK].T)
        for name, column in zip(names[start : start + BLOCK], columns, strict=True):
            yield name, digest(levels.get(name), column)


def _name_columns(names: list[str]) -> str:
    quoted = [name if name.startswith("all ") else repr(name) for name in names]
    return f"the column{'s' if len(names) > 1 else ''} {join_names(quoted)}"


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="milliseconds")
