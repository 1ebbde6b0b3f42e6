"""Facts for a report from the files of a run folder, and from nothing else."""

from __future__ import annotations

import csv
import json
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dcsvm.base.component import settings_of
from dcsvm.base.errors import DcsvmError, UsageError
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.experiments.recipe.overrides import NoSuchKeyError, with_cell
from dcsvm.experiments.run.run_status import standing
from dcsvm.experiments.run.text import RareClass, columns_told, nsv_ratios, rare_told
from dcsvm_report.evidence import Evidence
from dcsvm_report.facts import Contender, Facts, Trial, encoded

#: The keys of [data] that say what was done to the columns.
PREPARATION = ("target", "categorical", "drop", "numeric", "scale", "encode", "missing")


def facts_from(folder: Path) -> Facts:
    """Gather what a report tells from a run folder; a UsageError where there is no such run."""
    result = _json(folder, "result.json")
    if result is None:
        raise UsageError(standing(folder).sentence)
    names, truth, answers, folds = _predictions(folder)
    classes, (truth_places, *places) = encoded(truth, *answers)
    assert truth_places is not None
    said = dict(zip(names, places, strict=True))
    models = {str(each.pop("model")): each for each in result["models"]}
    contenders = tuple(
        Contender(name, measures | {"nsv_ratio": ratio}, said.get(name))
        for (name, measures), ratio in zip(
            models.items(), nsv_ratios([*models.values()]), strict=True
        )
    )
    own = contenders[0].name
    found = _chosen(_json(folder, "search.json") or {}, own)
    evidence = Evidence.from_dict(_json(folder, "evidence.json") or {})
    resolved = _text(folder, "resolved.toml")
    return Facts(
        title=str(result["recipe"]).replace("\\", "/").rpartition("/")[2].removesuffix(".toml"),
        about=str(result.get("about") or ""),
        contenders=contenders,
        classes=classes,
        truth=truth_places,
        asked=tuple(_asked(result, resolved, folds, found, _json(folder, "plan.json") or {})),
        texts=tuple(_texts(folder, resolved)),
        ledger=tuple(_ledger(folder, own)),
        evidence=evidence,
        trials=tuple(Trial(each["values"], float(each["score"])) for each in found["tried"]),
        search_ended=str(found["stopped"]),
        environment=tuple(_environment(_json(folder, "environment.json") or {})),
        again=tuple(_again(_json(folder, "request.json") or {})),
        has_budget=bool(found["tried"]) and _has_budget(resolved),
        scored_by=str(found.get("scored_by", "accuracy")),
        columns=tuple(
            (str(each["column"]), str(each["kind"]), str(each.get("about", "")))
            for each in (_json(folder, "plan.json") or {}).get("columns", ())
        ),
        notes=tuple(_notes(folder, folds, result)),
    )


def _json(folder: Path, name: str) -> Any:
    """The content of a JSON file; None if the run has not written it."""
    path = folder / name
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error


def _text(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _predictions(folder: Path) -> tuple[list[str], list[str], list[list[str]], int]:
    """The models' names, the truth, each model's answers, and how many folds there were."""
    path = folder / "predictions.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = csv.reader(file)
            _, _, _, *names = next(lines)
            columns = [list(column) for column in zip(*lines, strict=True)]
    except (OSError, ValueError, StopIteration, csv.Error) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error
    if len(columns) != len(names) + 3:
        raise UsageError(f"{str(path)!r} has no rows")
    return names, columns[2], columns[3:], len(set(columns[1]))


def _chosen(searches: Mapping[str, Any], own: str) -> Mapping[str, Any]:
    """The last search for the recipe's own model: the one that its parameters come from."""
    keys = [key for key in searches if key.rpartition("/")[0] == own]
    if not keys:
        return {"tried": (), "stopped": ""}
    found: Mapping[str, Any] = searches[max(keys, key=lambda key: int(key.rpartition("/")[2]))]
    return found


def _asked(
    result: Mapping[str, Any],
    resolved: str,
    folds: int,
    found: Mapping[str, Any],
    plan: Mapping[str, Any],
) -> Iterator[tuple[str, str]]:
    yield "data", str(result["data"])
    yield "rows learned", f"{result['n_train']:,}"
    yield (
        (f"rows held out, in {folds} folds" if folds > 1 else "rows held out"),
        (f"{result['n_test']:,}"),
    )
    yield "features", f"{result['n_features']:,}"
    yield "classes", f"{result['n_classes']:,}"
    for sentence in columns_told(plan.get("columns") or ()):
        what, _, value = sentence.partition(": ")
        yield what, value
    chosen = found.get("values") or {}
    table = _with_chosen(_table(resolved), chosen)
    prepared = {key: table["data"][key] for key in PREPARATION if key in table.get("data", {})}
    if prepared:
        yield "preparation", _settings(prepared)
    for key, value in table.items():
        if key in KINDS:
            yield key, _component(key, value)
        elif key == "class_weight":
            yield "class weights", value if isinstance(value, str) else _settings(value)
        elif key == "split":
            yield key, _settings(value)
    if chosen:
        tried = "; ".join(_searched(table.get("search", {})))
        yield "searched", tried or "as the searcher does by itself"
        by = str(found.get("scored_by", "accuracy")).replace("_", " ")
        yield f"chosen by {by}", _settings(chosen)
    for name, rival in table.get("compare", {}).items():
        kinds = [kind for kind in rival if kind in KINDS]
        yield f"compared: {name}", "; ".join(_component(kind, rival[kind]) for kind in kinds)
    yield "seed", str(result["seed"])


def _with_chosen(table: dict[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe with what the search chose in place of what it began with."""
    try:
        changed = with_cell(table, chosen)
    except NoSuchKeyError:  # a searcher with keys of its own
        return table
    of_data = {
        key.removeprefix("data."): value for key, value in chosen.items() if key[:5] == "data."
    }
    return {**changed, "data": {**changed.get("data", {}), **of_data}} if of_data else changed


def _searched(table: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """The keys of a search that list values to try, at any depth."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _searched(value, f"{at}{key}.")
        elif isinstance(value, list):
            yield f"{at}{key} in {', '.join(_value(key, each) for each in value)}"


def _component(kind: str, table: Any) -> str:
    """A component by its name, with the settings that are not as always."""
    if not isinstance(table, dict):
        return str(table)
    if "use" not in table:  # a pipeline within a pipeline
        return "; ".join(f"{key}: {_component(key, value)}" for key, value in table.items())
    given = {key: value for key, value in table.items() if key != "use"}
    try:
        known = settings_of(default_registry().get(kind, table["use"]))
    except DcsvmError:
        known = {}
    changed = {
        key: value
        for key, value in given.items()
        if key not in known or known[key].default != value
    }
    said = _settings(changed)
    return f"{table['use']} ({said})" if said else str(table["use"])


def _settings(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_value(key, value)}" for key, value in table.items())


def _value(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return _component(key, value)
    return json.dumps(value, default=str, ensure_ascii=False)


def _texts(folder: Path, resolved: str) -> Iterator[tuple[str, str]]:
    given = _text(folder, "recipe.toml")
    if given:
        yield "The recipe as it was given", given
    if resolved:
        yield "The recipe with everything filled in", resolved


def _ledger(folder: Path, own: str) -> Iterator[dict[str, Any]]:
    path = folder / "parts.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                if line["model"] == own:
                    yield {
                        "path": tuple(map(int, line["path"].split("."))),
                        "rows": int(line["rows"]),
                        "classes": int(line["classes"]),
                        "support_vectors": int(line["support_vectors"]),
                        "seconds": float(line["seconds"]),
                        "model": line["kind"],
                        "step": _step(line.get("about") or "{}"),
                    }
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}") from error


def _step(about: str) -> str:
    """What a decomposer calls the stage of a part, where it says so."""
    found = json.loads(about)
    return str(found.get("step", "")) if isinstance(found, dict) else ""


def _environment(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, title in (("python", "Python"), ("platform", "system"), ("cores", "cores")):
        if key in table:
            yield title, str(table[key])
    yield from ((str(name), str(number)) for name, number in table.get("versions", {}).items())
    for plugin in table.get("plugins", ()):
        if plugin["distribution"] not in table.get("versions", {}):
            yield f"plugin {plugin['distribution']}", str(plugin["version"])


def _again(request: Mapping[str, Any]) -> Iterator[str]:
    command = [str(word) for word in request.get("command", ())]
    if command:
        program = [] if command[0] == "dcsvm" else ["dcsvm"]
        yield f"$ {shlex.join([*program, *_without_place(command)])}"
    seed = request.get("seed")
    yield "$ dcsvm run resolved.toml" + (f" --seed {seed}" if seed is not None else "")
    yield "$ dcsvm predict model.dcsvm NEW_ROWS"


def _without_place(command: list[str]) -> Iterator[str]:
    """The words of a command but for `--out`: a folder that holds a run takes no other."""
    words = iter(command)
    for word in words:
        if word == "--out":
            next(words, None)
        elif not word.startswith("--out="):
            yield word


def _has_budget(resolved: str) -> bool:
    return _table(resolved).get("search", {}).get("seconds") is not None


def _table(resolved: str) -> dict[str, Any]:
    try:
        return tomllib.loads(resolved)
    except tomllib.TOMLDecodeError:
        return {}


def _notes(folder: Path, folds: int, result: Mapping[str, Any]) -> Iterator[str]:
    rare = rare_told([RareClass(**each) for each in result.get("rare_classes", ())])
    if rare:
        yield f"{rare[:1].upper()}{rare[1:]}."
    status = _json(folder, "status.json") or {}
    for sentence in status.get("missing") or ():
        yield f"Not complete: {sentence}."
    if folds > 1:
        yield (
            f"Accuracy and errors come from {folds} folds: every row was answered by a model that "
            "had not seen it. Parts and pictures are those of the model learned from all rows."
        )
