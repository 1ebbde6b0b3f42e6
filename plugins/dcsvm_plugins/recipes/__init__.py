"""The built-in recipes, one TOML file each in this folder."""

from importlib.resources import files

from dcsvm import hookimpl


@hookimpl
def dcsvm_recipes() -> dict[str, str]:
    found = (each for each in files(__name__).iterdir() if each.name.endswith(".toml"))
    return {
        each.name.removesuffix(".toml"): each.read_text(encoding="utf-8")
        for each in sorted(found, key=lambda each: each.name)
    }
