"""The facts of a report, loaded from the files of a run folder."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from dcsvm.toolbox import RunRecord, UsageError
from dcsvm_report.evidence import EVIDENCE, Evidence
from dcsvm_report.facts import Contender, Facts, TrialScore, encode_labels

#: The keys of [data] that say what was done to the columns.
PREPARATION = (
    *("target", "categorical", "drop", "numeric"),
    *("scale", "encode", "min_frequency", "missing"),
)
LEADERBOARD = "leaderboard.csv"
KINDS = ("decomposer", "learner", "combiner")


def load_facts(record: RunRecord) -> Facts:
    """Load what a report shows of a run."""
    result, search = record.result, record.search
    truth, answers, folds = _predictions(record)
    classes, (truth_places, *places) = encode_labels(truth, *answers.values())
    assert truth_places is not None
    codes = dict(zip(answers, places, strict=True))
    contenders = tuple(
        Contender(each["model"], each, codes.get(each["model"])) for each in result["models"]
    )
    trials = tuple(
        TrialScore(each["values"], float(each["score"])) for each in search.get("tried", ())
    )
    plan = record.read_json("plan.json") or {}
    board = tuple(record.read_csv(LEADERBOARD))
    return Facts(
        title=str(result["recipe"]).replace("\\", "/").rpartition("/")[2].removesuffix(".toml"),
        about=str(result.get("about") or ""),
        contenders=contenders,
        classes=classes,
        truth=truth_places,
        asked=tuple(_describe_setup(record, folds)),
        texts=tuple(_texts(record)),
        ledger=tuple(_ledger(record, contenders[0].name)),
        evidence=Evidence.from_dict(record.read_json(EVIDENCE) or {}),
        trials=() if board else trials,
        leaderboard=board,
        search_ended=str(search.get("stopped", "")),
        environment=tuple(_environment(record.read_json("environment.json") or {})),
        again=tuple(_again(record.read_json("request.json") or {})),
        has_budget=bool(trials) and record.recipe.get("search", {}).get("seconds") is not None,
        scored_by=str(search.get("scored_by", "accuracy")),
        columns=tuple(
            (str(each["column"]), str(each["kind"]), str(each.get("about", "")))
            for each in plan.get("columns", ())
        ),
        notes=tuple(_notes(record, folds)),
    )


def _predictions(record: RunRecord) -> tuple[list[str], dict[str, list[str]], int]:
    """Return the truth, the answers by model, and the number of folds."""
    name = "predictions.csv"
    lines = record.read_csv(name)
    if not lines and not record.result["n_test"]:
        return [], {}, 1
    if not lines or not {"fold", "truth"} <= lines[0].keys():
        raise UsageError(f"{str(record.folder / name)!r} has no rows")
    models = [column for column in lines[0] if column not in ("row", "fold", "truth")]
    answers = {model: [line[model] for line in lines] for model in models}
    return [line["truth"] for line in lines], answers, len({line["fold"] for line in lines})


def _describe_setup(record: RunRecord, folds: int) -> Iterator[tuple[str, str]]:
    result, table = record.result, record.recipe
    yield "data", str(result["data"])
    yield "rows learned", f"{result['n_train']:,}"
    if result.get("n_kept", result["n_train"]) != result["n_train"]:
        yield "rows learned by model.dcsvm, after measuring", f"{result['n_kept']:,}"
    yield (
        (f"rows held out, in {folds} folds" if folds > 1 else "rows held out"),
        (f"{result['n_test']:,}"),
    )
    yield "features", f"{result['n_features']:,}"
    yield "classes", f"{result['n_classes']:,}"
    for sentence in record.columns:
        what, _, value = sentence.partition(": ")
        yield what, value
    prepared = {key: table["data"][key] for key in PREPARATION if key in table.get("data", {})}
    if prepared:
        yield "preparation", _settings(prepared)
    for key, value in table.items():
        if key in KINDS:
            yield key, _component(value)
        elif key == "class_weight":
            yield "class weights", value if isinstance(value, str) else _settings(value)
        elif key in ("split", "costs"):
            yield key, value if isinstance(value, str) else _settings(value)
        elif key in ("probability", "threshold"):
            yield key, str(value)
    chosen = record.search.get("values")
    weights = {each["recipe"]: each["weight"] for each in record.search.get("leaderboard", ())}
    if any(weights.values()):
        kept = [f"{weight:.2f} {name}" for name, weight in weights.items() if weight]
        yield "chosen from a portfolio", " + ".join(kept)
    elif chosen:
        tried = "; ".join(_list_searched(table.get("search", {})))
        yield "searched", tried or "as the searcher does by itself"
        by = str(record.search.get("scored_by", "accuracy")).replace("_", " ")
        yield f"chosen by {by}", _settings(chosen)
    for name, rival in table.get("compare", {}).items():
        kinds = [kind for kind in rival if kind in KINDS]
        yield f"compared: {name}", "; ".join(_component(rival[kind]) for kind in kinds)
    yield "seed", str(result["seed"])


def _list_searched(table: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """The keys of a search that list values to try, at any depth."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _list_searched(value, f"{at}{key}.")
        elif isinstance(value, list):
            yield f"{at}{key} in {', '.join(map(_value, value))}"


def _component(table: Any) -> str:
    """A component by its name, with the settings that are not at their defaults."""
    if not isinstance(table, dict):
        return str(table)
    if "use" not in table:  # a strategy within a strategy
        return "; ".join(f"{key}: {_component(value)}" for key, value in table.items())
    settings = _settings({key: value for key, value in table.items() if key != "use"})
    return f"{table['use']} ({settings})" if settings else str(table["use"])


def _settings(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_value(value)}" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return _component(value)
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return f"[{', '.join(map(_name, value))}]"
    return json.dumps(value, default=str, ensure_ascii=False)


def _name(value: Any) -> str:
    """A component or strategy of a list in few words: the resolved recipe has all of it."""
    if not isinstance(value, dict):
        return str(value)
    if {"decomposer", "learner"} <= value.keys():
        return f"{_name(value['decomposer'])} with {_name(value['learner'])}"
    return str(value["use"]) if "use" in value else f"({_settings(value)})"


def _texts(record: RunRecord) -> Iterator[tuple[str, str]]:
    if given := record.read_text("recipe.toml"):
        yield "The recipe as it was given", given
    if resolved := record.read_text("resolved.toml"):
        yield "The recipe with everything filled in", resolved


def _ledger(record: RunRecord, own: str) -> Iterator[dict[str, Any]]:
    name = "parts.csv"
    try:
        for line in record.read_csv(name):
            if line["model"] == own:
                yield {
                    "path": tuple(map(int, line["path"].split("."))),
                    "rows": int(line["rows"]),
                    "classes": int(line["classes"]),
                    "support_vectors": int(line["support_vectors"]),
                    "seconds": float(line["seconds"]),
                    "model": line["kind"],
                    "step": str(_read_object(line.get("about")).get("step", "")),
                    "account": _read_object(line.get("account")),
                }
    except (ValueError, KeyError, TypeError) as error:
        path = str(record.folder / name)
        raise UsageError(f"{path!r} cannot be read: {error}") from error


def _read_object(text: str | None) -> dict[str, Any]:
    """A column of JSON objects, which older runs may not have."""
    found = json.loads(text or "{}")
    return found if isinstance(found, dict) else {}


def _environment(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, title in (("python", "Python"), ("platform", "system"), ("cores", "cores")):
        if key in table:
            yield title, str(table[key])
    if "numeric" in table:
        yield "numeric", ", ".join(filter(None, table["numeric"].values()))
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


def _notes(record: RunRecord, folds: int) -> Iterator[str]:
    rare = record.rare_classes
    if rare:
        yield f"{rare[:1].upper()}{rare[1:]}."
    status = record.read_json("status.json") or {}
    for sentence in status.get("missing") or ():
        yield f"Not complete: {sentence}."
    if folds > 1:
        yield (
            f"Accuracy and errors come from {folds} folds: each row was predicted by a model that "
            "was not trained on it. Parts and pictures are those of the model trained on all rows."
        )
