"""Names that the shell completes: recipes, their files, and components."""

from collections.abc import Iterator
from pathlib import Path


def complete_recipes(incomplete: str) -> list[str]:
    """Registered recipes whose names begin so."""
    from dcsvm.drive.registry import RECIPE

    return [
        name for kind, name in _list_offers() if kind == RECIPE and name.startswith(incomplete)
    ]


def complete_recipes_and_files(incomplete: str) -> list[str]:
    """Registered recipes and recipe files, and the folders on the way to some."""
    return [*complete_recipes(incomplete), *_list_files(incomplete)]


def complete_offers(incomplete: str) -> list[str]:
    """Registered components, recipes and reports whose names begin so."""
    return sorted({name for _, name in _list_offers() if name.startswith(incomplete)})


def _list_offers() -> list[tuple[str, str]]:
    from dcsvm.cli.quick_imports import import_sklearn

    import_sklearn()
    from dcsvm.drive.registry import default_registry

    return sorted(default_registry().offers)


def _list_files(incomplete: str) -> Iterator[str]:
    folder, _, start = incomplete.rpartition("/")
    place = Path(f"{folder}/" if "/" in incomplete else ".")
    for each in sorted(place.glob("*") if place.is_dir() else ()):
        if each.name.startswith(start) and not each.name.startswith("."):
            if each.is_dir():
                yield f"{each}/"
            elif each.suffix == ".toml":
                yield str(each)
