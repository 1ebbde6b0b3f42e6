"""The page of results: the paper's tables with what was measured beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import global_svm
import measured
import paper
import rivals
import td
from births import describe
from data import NAMES, SEED
from words import ASKED, BEYOND, BOUNDS, BUDGETS, CEILINGS, FOREST, INTRODUCTION, LEAVES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction" / "tree_decomposition.md"
TRAININGS = ("1A1", "1AO")
TITLES = {"td": "TD", "bagging": "bagging", "cbd": "CBD", "global": "gSVM"}


def write() -> None:
    """Write the page from what was measured so far."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(page()) + "\n", encoding="utf-8")
    print(f"written: {PAGE.name}")


def page() -> Iterable[str]:
    yield INTRODUCTION
    yield from asked()
    for training, numbers in zip(TRAININGS, ((2, 3, 4, 5, 6), (7, 8, 9, 10, 11)), strict=True):
        yield f"\n## {training}: tables {numbers[0]} to {numbers[-1]}\n"
        yield from by_method(f"Table {numbers[0]}: seconds of the search", "seconds", training)
        yield from by_method(f"Table {numbers[1]}: speed-up over gSVM", "speed_up", training)
        yield from by_method(f"Table {numbers[2]}: test accuracy", "accuracy", training)
        yield from by_method(f"Table {numbers[3]}: NSV", "nsv", training)
        yield from by_method(f"Table {numbers[4]}: NSV ratio", "nsv_ratio", training)
    yield from budgets()
    yield from ceilings()
    yield from by_ceiling()
    yield from forest()
    yield from error_bounds()
    yield from beyond()
    yield from leaves()
    yield "\n" + describe("reproduce_td")


WITH_VALIDATION = "test_accuracy_with_validation_rows"


def asked() -> Iterable[str]:
    """The table to judge by: accuracy within 0.2 points, speed-up at least twice the paper's."""
    yield ASKED
    heads = ["data", "the paper's accuracy", f"seed {SEED}", "all seeds", "learned again"]
    rows = []
    for training in TRAININGS:
        for name in paper.SETS:
            told = paper.ACCURACY[training][name]["td"]
            twice = 2 * paper.SPEED_UP[training][name]["td"]
            mark = bound(name, training)
            for variant, found in by_seed(name, training):
                own = [100 * one["test_accuracy"] for one in found]
                again = [100 * one[WITH_VALIDATION] for one in found if WITH_VALIDATION in one]
                columns = dict(zip(heads[2:5], (own[:1], own, again), strict=True))
                gain = speed_up(name, training, found[0]["cpu_seconds"])
                title = "" if variant == "paper" else f", {variant}"
                rows.append(
                    [
                        f"{NAMES[name]}, {training}{title}",
                        f"{told:.2f}",
                        *(judged(each, told - 0.2) for each in columns.values()),
                        f"{shown(twice / 2)} / {mark}{shown(gain)}",
                        met_by(columns, told - 0.2),
                        verdict(gain, twice, lower=bool(mark)),
                    ]
                )
    yield from table([*heads, "speed-up", "accuracy is met by", "twice the speed-up is"], rows)


def by_seed(name: str, training: str) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    """The paper's search, and others measured on several random splits, in the order of seeds."""
    training = trained_as(name, training)
    for variant in td.VARIANTS:
        asked_for = {"data_set": name, "training": training, "variant": variant, "jobs": 1}
        found = sorted(measured.read("td", **asked_for, rows=None), key=lambda one: one["seed"])
        if found and found[0]["seed"] == SEED and (variant == "paper" or len(found) > 1):
            yield variant, found


def judged(values: Sequence[float], needed: float) -> str:
    """The mean and how far single ones are from it; bold where it is not what is needed."""
    if not values:
        return "—"
    text = f"{mean(values):.2f}" + (
        f" ± {stdev(values):.2f} ({len(values)})" if len(values) > 1 else ""
    )
    return text if suffices(values, needed) else f"**{text}**"


def suffices(values: Sequence[float], needed: float) -> bool:
    """Whether there are values, and their mean to two digits is what is needed."""
    return bool(values) and round(mean(values), 2) >= round(needed, 2)


def met_by(columns: Mapping[str, Sequence[float]], needed: float) -> str:
    """The columns whose accuracy is what is needed."""
    good = [title for title, values in columns.items() if suffices(values, needed)]
    return ", ".join(good) or "**not met**"


def verdict(found: float | None, needed: float, lower: bool = False) -> str:
    if found is None:
        return "—"
    if found >= needed:
        return "met"
    return "not shown by the lower bound" if lower else "**not met**"


def by_method(title: str, key: str, training: str) -> Iterable[str]:
    told = {
        "seconds": paper.SECONDS,
        "speed_up": paper.SPEED_UP,
        "accuracy": paper.ACCURACY,
        "nsv": paper.NSV,
        "nsv_ratio": paper.NSV_RATIO,
    }[key][training]
    digits = 2 if key == "accuracy" else None
    methods = list(next(iter(told.values())))
    rows = []
    for name in paper.SETS:
        row = [NAMES[name]]
        for method in methods:
            found = value(key, name, training, method)
            mark = (
                bound(name, training)
                if key == "speed_up"
                else cut_off(key, name, training, method)
            )
            row.append(f"{shown(told[name][method], digits)} / {mark}{shown(found, digits)}")
        rows.append(row)
    yield f"\n{title}:\n"
    yield from table(["data", *(TITLES[method] for method in methods)], rows)


def record_of(name: str, training: str, method: str) -> dict[str, Any] | None:
    """The measurement of a method, or None."""
    training = trained_as(name, training)
    if method == "td":
        found = td.found(data_set=name, training=training, variant="paper", jobs=1)
    elif method == "global":
        best = global_svm.chosen(name, training) or {}
        cell = {key: best.get(key) for key in ("C", "gamma")}
        found = measured.read("global_test", data_set=name, training=training, **cell)
    else:
        found = measured.read("rivals", data_set=name, training=training, rival=method)
    return found[-1] if found else None


def trained_as(name: str, training: str) -> str:
    """Two classes are the same problem one against one and one against the others."""
    return "1A1" if name == "adult" else training


def value(key: str, name: str, training: str, method: str) -> float | None:
    """A measured figure, or None."""
    if key == "speed_up":
        return speed_up(name, training, value("seconds", name, training, method))
    if key == "nsv_ratio":
        whole, mine = (value("nsv", name, training, each) for each in ("global", method))
        return whole / mine if whole and mine else None
    if key == "seconds" and method == "global":
        found = global_svm.search_seconds(name, training)
        return found["seconds"] if found else None
    record = record_of(name, training, method)
    if key == "nsv" and method == "global" and record is None:
        record = global_svm.chosen(name, training)
    if record is None:
        return None
    if key == "seconds":
        return record["cpu_seconds"] if method == "td" else rivals.search_seconds(record)
    if key == "accuracy":
        return 100 * record["test_accuracy"] if "test_accuracy" in record else None
    return record.get("nsv")


def speed_up(name: str, training: str, seconds: float | None) -> float | None:
    """How many times as long the global SVM's search takes."""
    whole = value("seconds", name, training, "global")
    return whole / seconds if whole and seconds else None


def bound(name: str, training: str) -> str:
    """The mark of a global search of which cells were cut off."""
    found = global_svm.search_seconds(name, training)
    return "≥ " if found and found["capped"] else ""


def cut_off(key: str, name: str, training: str, method: str) -> str:
    if key != "seconds":
        return ""
    if method == "global":
        return bound(name, training)
    record = record_of(name, training, method)
    return "≥ " if record and record.get("capped") else ""


def budgets() -> Iterable[str]:
    """How many cells and members each method had, and the undivided SVM at TD's cell."""
    yield "\n" + BUDGETS
    rows = []
    for training in TRAININGS:
        for name in paper.SETS:
            searched = global_svm.search_seconds(name, training) or {}
            boundary, bags, divided, best = (
                record_of(name, training, method) or {}
                for method in ("cbd", "bagging", "td", "global")
            )
            same = measured.read("same_cell", data_set=name, training=training)
            undivided = next((one["test_accuracy"] for one in same if not one["capped"]), None)
            rows.append(
                [
                    f"{NAMES[name]}, {training}",
                    f"{shown(searched.get('cells'))} ({shown(searched.get('capped'))})",
                    shown(boundary.get("cells", 63)),
                    shown(bags.get("members")),
                    *(_percent(one.get("test_accuracy")) for one in (divided, best)),
                    _percent(undivided),
                ]
            )
    heads = ["data", "cells of gSVM (stopped)", "of CBD", "members of bagging", "TD", "gSVM"]
    yield from table([*heads, "gSVM at TD's cell"], rows)


def _percent(share: float | None) -> str:
    return shown(share and 100 * share, 2)


def ceilings() -> Iterable[str]:
    yield "\n## Table 12: the ceiling chosen, and training rows in leaves of one class\n"
    yield CEILINGS
    rows = []
    for name in paper.SETS:
        ceiling, share = paper.CEILING[name]
        row = [NAMES[name]]
        for training in TRAININGS:
            record = record_of(name, training, "td") or {}
            chosen = record.get("chosen", {}).get("decomposer__ceiling")
            row.append(f"{ceiling} / {shown(chosen)}")
        found = (record_of(name, "1A1", "td") or {}).get("homogeneous")
        row.append(f"{share:.2f}% / {shown(None if found is None else 100 * found, 2)}%")
        rows.append(row)
    yield from table(["data", "ceiling, 1A1", "ceiling, 1AO", "rows in leaves of one class"], rows)


def by_ceiling() -> Iterable[str]:
    yield "\n## Tables 13 and 14: Letter by ceiling\n"
    rows = []
    for training in TRAININGS:
        levels = (record_of("letter", training, "td") or {}).get("levels", [])
        by_size = {level["ceiling"]: level for level in levels}
        for ceiling, (seconds, accuracy) in paper.LETTER[training].items():
            level = by_size.get(ceiling, {})
            found = level.get("test_accuracy")
            rows.append(
                [
                    f"{training}, {ceiling}",
                    f"{seconds} / {shown(level.get('cpu_seconds'))}",
                    f"{accuracy:.2f} / {shown(found and 100 * found, 2)}",
                ]
            )
    yield from table(["training, ceiling", "seconds", "test accuracy"], rows)


def forest() -> Iterable[str]:
    yield "\n## Table 15: Forest (covertype), 581,012 rows\n"
    rows = []
    for record in measured.read("td", data_set="covertype"):
        seconds, nsv, accuracy = paper.FOREST[record["training"]]
        taken = record["cpu_seconds"] / record["wall_seconds"] / record["jobs"]
        rows.append(
            [
                f"{record['training']}, {record['variant']}, {record['jobs']} job(s)"
                + (f", {record['rows']} rows" if record["rows"] else ""),
                f"{seconds} / {shown(record['cpu_seconds'])}",
                shown(record["wall_seconds"]),
                f"{taken:.0%}",
                f"{nsv} / {shown(record['nsv'])}",
                f"{accuracy} / {100 * record['test_accuracy']:.2f}",
                str(record["peak_mb"]),
            ]
        )
    heads = ["search", "cpu seconds", "on the wall", "cores busy", "NSV", "accuracy", "peak MB"]
    yield from table(heads, rows)
    done = {(one["training"], one["variant"]) for one in measured.read("td", data_set="covertype")}
    left = [f"{each}, paper" for each in TRAININGS if (each, "paper") not in done]
    left += ["1AO, local scaling"] * (("1AO", "local scaling") not in done)
    if left:
        yield "\n" + FOREST.format(left="; ".join(left))


def error_bounds() -> Iterable[str]:
    yield "\n## Tables 16 and 17: terms of the error bounds (logarithms to base 10)\n"
    yield BOUNDS
    rows = []
    for training in TRAININGS:
        for name in paper.TERMS[training]:
            found = measured.read("bounds", data_set=name, training=trained_as(name, training))
            record = found[-1] if found else {}
            told = (*paper.TERMS[training][name], *paper.SLACK[training][name])
            keys = ("T1", "T2", "S", "R", "R_per_leaf")
            pairs = zip(told, keys, strict=True)
            row = [f"{old} / {shown(record.get(key))}" for old, key in pairs]
            rows.append([f"{NAMES[name]}, {training}", *row, *cells(name, training)])
    heads = ["data", "T1", "T2", "S", "R", "R / L", "TD's C, gamma", "gSVM's C, gamma"]
    yield from table(heads, rows)


def cells(name: str, training: str) -> list[str]:
    """The C and gamma that TD and the global machine chose."""
    own = (record_of(name, training, "td") or {}).get("chosen", {})
    whole = global_svm.chosen(name, trained_as(name, training)) or {}
    pairs = [
        (own.get("learner__C"), own.get("learner__gamma")),
        (whole.get("C"), whole.get("gamma")),
    ]
    return ["—" if None in pair else ", ".join(f"{number:g}" for number in pair) for pair in pairs]


def beyond() -> Iterable[str]:
    yield "\n## Beyond the paper: local scaling, soft borders, parameters by part, relevance\n"
    yield BEYOND
    rows = []
    for training in TRAININGS:
        for name in NAMES:
            found = [] if trained_as(name, training) != training else of_variants(name, training)
            best = max((one["validation_accuracy"] for one in found), default=None)
            for one in found:
                mark = "**" if len(found) > 1 and one["validation_accuracy"] == best else ""
                rows.append(
                    [
                        f"{NAMES[name]}, {training}",
                        one["variant"],
                        shown(td.ceiling_of(one["chosen"])),
                        f"{mark}{100 * one['validation_accuracy']:.2f}{mark}",
                        f"{100 * one['test_accuracy']:.2f}",
                        shown(one["nsv"]),
                        shown(one["cpu_seconds"]),
                    ]
                )
    heads = ["data", "setting", "ceiling", "validation", "test", "NSV", "seconds"]
    yield from table(heads, rows)


def leaves() -> Iterable[str]:
    """Trees with other learners in their leaves."""
    rows = [
        [
            *(NAMES[one["data_set"]], one["learner"], str(one["cells"])),
            ", ".join(f"{key} {number:g}" for key, number in one["chosen"].items()),
            *(_percent(one["validation_accuracy"]), _percent(one["test_accuracy"])),
            *(shown(one["nsv"]), shown(one["cpu_seconds"])),
        ]
        for one in measured.read("leaf_learners")
    ]
    if rows:
        yield LEAVES
        heads = ["data", "learner", "cells", "chosen", "validation", "test"]
        yield from table([*heads, "kernel evaluations", "seconds"], rows)


def of_variants(name: str, training: str) -> list[dict[str, Any]]:
    """What was measured with each setting, in one order."""
    found: dict[str, dict[str, Any]] = {}
    for each in TRAININGS:
        if trained_as(name, each) == training:
            for one in td.found(data_set=name, training=each, jobs=1):
                found.setdefault(one["variant"], one)
    return [found[variant] for variant in td.VARIANTS if variant in found]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def shown(number: float | None, digits: int | None = None) -> str:
    """A number as a reader wants it: three figures, or so many digits; — for none."""
    if number is None:
        return "—"
    if digits is not None:
        return f"{number:.{digits}f}"
    if number >= 1000 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.3g}"
