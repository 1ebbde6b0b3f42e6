"""Writes docs/accuracy.md from measured/suite.jsonl: tables by set, mean ranks, paired tests."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from budgets import KEPT as BUDGETS
from budgets import write_table as write_budgets
from portfolio_ablation import KEPT as ABLATION
from portfolio_ablation import write_table as write_portfolio_ablation
from scipy.stats import binomtest, rankdata
from suite import AUTO, HERE, LONG_AUTO, ROOT, WITHOUT_TREES, read_kept

PAGE = ROOT / "docs" / "accuracy.md"
VALIDATED = HERE / "measured" / "suite_validation.jsonl"
NOTES = HERE / "measured" / "accuracy_notes.md"
#: What rows of the tables are called, in their order.
NAMES = {
    AUTO: "auto, 60 s",
    LONG_AUTO: "auto, 300 s",
    WITHOUT_TREES: "auto without boosted trees, 60 s",
    "svm_forest": "svm_forest",
    "td_svm": "td_svm",
    "global_svm": "global_svm",
    "metric_svm": "metric_svm",
    "metric_krr": "metric_krr",
    "boosted_trees": "boosted_trees",
    "lightgbm": "LightGBM",
    "lightgbm_es": "LightGBM, stopped early",
    "hgb": "HistGradientBoosting",
    "svc": "SVC, tuned",
    "xrfm": "xRFM",
}
SHIPPED = (
    *(AUTO, LONG_AUTO, WITHOUT_TREES),
    "svm_forest",
    "td_svm",
    "global_svm",
    "metric_svm",
    "metric_krr",
    "boosted_trees",
)
RIVALS = ("lightgbm", "lightgbm_es", "hgb", "svc", "xrfm")
#: A method that lacks more than this share of the sets has no mean rank.
MOST_GAPS = 0.1
#: The level of the paired tests.
LEVEL = 0.05
#: By set and method, the records of all splits.
Cells = dict[tuple[str, str], list[dict[str, Any]]]

BY_VALIDATION = (
    "Accuracies, then log-losses, of 4,000 rows learned and one split, judged by the rows that "
    "recipes were chosen by: more sets, but a little kinder to recipes than test rows are. "
    "Searches judged by one fifth of the rows, before folds did."
)
#: Title, explanation, the two states compared, and the rows learned.
ABLATIONS = (
    (
        "Ranks and Laplacian kernels",
        'Searches that also try ranks in place of scaled numbers (`scale = "quantile"`) and, in '
        "`td_svm` and `global_svm`, Laplacian kernels, beside the searches before. 4,000 rows "
        "learned, one split, judged by validation rows. `boosted_trees` gained L2 regularization, "
        "without which it had diverged on kropt.",
        *("before", "ranks and Laplacian", 4000),
    ),
    (
        "Folds",
        "One fifth of the rows judges a search, or every fifth in turn. 1,500 rows learned.",
        *("one split", "folds", 1500),
    ),
)


def collect() -> Cells:
    """The finished cells judged by test rows."""
    found: Cells = defaultdict(list)
    for record in read_kept():
        if record["judge"] == "test" and "accuracy" in record and not record["tag"]:
            found[record["set"], record["method"]].append(record)
    return found


def mean(cells: Cells, name: str, method: str, key: str) -> float:
    values = [record[key] for record in cells.get((name, method), ()) if key in record]
    return float(np.mean(values)) if values else float("nan")


def write_table(cells: Cells, methods: Sequence[str], key: str, shown: str) -> list[str]:
    """Rows by set, and mean ranks over the sets that all methods but those of a few sets have."""
    sets = list(dict.fromkeys(name for name, _ in cells))
    values = np.array([[mean(cells, name, each, key) for each in methods] for name in sets])
    methods = [m for m, used in zip(methods, ~np.isnan(values).all(axis=0), strict=True) if used]
    values = values[:, ~np.isnan(values).all(axis=0)]
    better = -values if key in ("accuracy", "balanced_accuracy") else values
    lines = [
        "| set | " + " | ".join(NAMES[each] for each in methods) + " |",
        "|---|" + "---:|" * len(methods),
    ]
    for name, row, order in zip(sets, values, better, strict=True):
        texts = ["" if np.isnan(value) else format(value, shown) for value in row]
        texts = [
            f"**{text}**" if text and value == np.nanmin(order) else text
            for text, value in zip(texts, order, strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    ranked = np.isnan(values).mean(axis=0) <= MOST_GAPS
    whole = ~np.isnan(values[:, ranked]).any(axis=1)
    if whole.any():
        ranks = np.full(len(methods), np.nan)
        rows = better[whole][:, ranked]
        ranks[ranked] = np.array([rankdata(row) for row in rows]).mean(axis=0)
        lines.append(
            f"| mean rank, {int(whole.sum())} sets | "
            + " | ".join("" if np.isnan(rank) else f"{rank:.2f}" for rank in ranks)
            + " |"
        )
    return lines


def compare(cells: Cells, ours: str, theirs: str) -> tuple[int, int, int]:
    """Wins, ties and losses over sets by McNemar's exact test of the rows of all splits."""
    counts = [0, 0, 0]
    for name in dict.fromkeys(name for name, _ in cells):
        a = {record["split"]: record for record in cells.get((name, ours), ())}
        b = {record["split"]: record for record in cells.get((name, theirs), ())}
        both = sorted(a.keys() & b.keys())
        if not both:
            continue
        pairs = [(unpack(a[split]), unpack(b[split])) for split in both]
        won = sum(int((mine > other).sum()) for mine, other in pairs)
        lost = sum(int((mine < other).sum()) for mine, other in pairs)
        sure = won + lost > 0 and binomtest(won, won + lost).pvalue < LEVEL
        counts[0 if sure and won > lost else 2 if sure else 1] += 1
    return counts[0], counts[1], counts[2]


def unpack(record: dict[str, Any]) -> Any:
    return np.unpackbits(np.frombuffer(base64.b64decode(record["hits"]), np.uint8)).astype(int)


def list_counts(cells: Cells) -> list[str]:
    there = {method for _, method in cells}
    rivals = [each for each in RIVALS if each in there]
    lines = [
        "| wins / ties / losses | " + " | ".join(NAMES[each] for each in rivals) + " |",
        "|---|" + "---:|" * len(rivals),
    ]
    for ours in (each for each in SHIPPED if each in there):
        counts = [" / ".join(map(str, compare(cells, ours, theirs))) for theirs in rivals]
        lines.append(f"| {NAMES[ours]} | " + " | ".join(counts) + " |")
    return lines


def write_ablation(before: str, after: str, rows: int) -> list[str]:
    """What a change is worth to the recipes on validation rows: means over the same sets."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for record in read_kept(VALIDATED):
        if record["asked"] == rows and record["tag"] in (before, after):
            found[record["method"].partition(";")[0], record["set"], record["tag"]] = record
    lines = [
        f"| recipe | sets | {before} | {after} | log-loss: {before} | {after} | seconds: {before} "
        f"| {after} |",
        "|---|" + "---:|" * 7,
    ]
    for recipe in (each for each in SHIPPED if each in {key[0] for key in found}):
        sets = [
            name
            for each, name, tag in found
            if each == recipe and tag == before and (recipe, name, after) in found
        ]
        texts = [
            format(np.mean([found[recipe, name, tag][key] for name in sets]), shown)
            for key, shown in (("accuracy", ".4f"), ("log_loss", ".4f"), ("fit_seconds", ".1f"))
            for tag in (before, after)
        ]
        lines.append(f"| {recipe} | {len(sets)} | " + " | ".join(texts) + " |")
    return lines


def collect_validated() -> Cells:
    """The cells judged by validation rows: recipes as they are now, and rivals."""
    found: Cells = defaultdict(list)
    for record in read_kept(VALIDATED):
        if record["tag"] in ("ranks and Laplacian", "rival") and record["method"] in NAMES:
            found[record["set"], record["method"]].append(record)
    return found


def write_page() -> None:
    cells = collect()
    records = [record for each in cells.values() for record in each]
    methods = [each for each in NAMES if any(method == each for _, method in cells)]
    sizes = sorted({record["asked"] for record in records})
    commits = sorted({(record["date"], record["commit"]) for record in records})
    splits = defaultdict(set)
    for record in records:
        splits[record["split"]].add(record["set"])
    lines = [
        "# Accuracy on ordinary tables",
        "",
        "Recipes with their defaults beside what a user would take instead, on the tabular suite. "
        "Written by `python tests/benchmarks/accuracy_page.py` from "
        "`tests/benchmarks/measured/suite.jsonl`, which `python tests/benchmarks/suite.py` "
        f"measured: {len(records)} cells of {len({name for name, _ in cells})} sets, at "
        + ", ".join(f"{commit} ({date})" for date, commit in commits)
        + ".",
        "",
        f"Up to {' or '.join(f'{size:,}' for size in sizes)} rows are learned, up to 4,000 others "
        f"judge; {len(splits)} split{'s' if len(splits) > 1 else ''} ("
        + ", ".join(f"split {number}: {len(names)} sets" for number, names in splits.items())
        + "). Recipes and settings were chosen by other rows of the part to learn from (`--judge "
        "validation`), over the suite. Classes with fewer than 10 rows to learn from are left "
        "out. Recipes answer with the labels of their probabilities, as they are shipped; SVC has "
        "no probabilities. Best in bold. Seconds are those of a processor, except that the budget "
        "of `auto` is one of the clock: on a machine that was shared it got a part of a core.",
    ]
    tables = [
        ("Accuracy", "accuracy", ".4f"),
        ("Log-loss", "log_loss", ".4f"),
        ("Balanced accuracy", "balanced_accuracy", ".4f"),
        ("Seconds to search and fit", "fit_seconds", ".1f"),
        ("Seconds to answer the rows that judge", "predict_seconds", ".2f"),
        ("Peak memory, MB", "peak_mb", ".0f"),
    ]
    lines += ["", "## Paired tests", "", *explain_tests(), "", *list_counts(cells)]
    for title, key, shown in tables:
        lines += ["", f"## {title}", "", *write_table(cells, methods, key, shown)]
        if key == "predict_seconds":
            lines += ["", list_speeds(cells, methods)]
    validated = collect_validated()
    there = [each for each in NAMES if any(method == each for _, method in validated)]
    lines += ["", "## By validation rows", "", BY_VALIDATION]
    lines += ["", *write_table(validated, there, "accuracy", ".4f")]
    lines += ["", *write_table(validated, there, "log_loss", ".4f")]
    for title, about, before, after, rows in ABLATIONS:
        lines += ["", f"## {title}", "", about, "", *write_ablation(before, after, rows)]
    lines += ["", *describe_portfolio_ablation(), "", *describe_budgets()]
    if NOTES.exists():
        lines += ["", NOTES.read_text().rstrip()]
    PAGE.write_text("\n".join(lines) + "\n")


def describe_portfolio_ablation() -> list[str]:
    """What the recipes of `auto` and its blends are worth."""
    records = read_kept(ABLATION)
    commits = sorted({(each["date"], each["commit"]) for each in records})
    sizes = " or ".join(f"{size:,}" for size in sorted({each["rows"] for each in records}))
    about = (
        "What `auto` would choose without some of its recipes, or without blends, with time "
        f"enough: differences from the whole portfolio, {sizes} rows learned, judged by "
        "validation rows. "
        "Seconds are those of the search and one fit of all recipes tried, on one core. "
        "`python tests/benchmarks/portfolio_ablation.py`, at "
        + ", ".join(f"{commit} ({date})" for date, commit in commits)
        + "."
    )
    return [
        "## What the parts of auto are worth",
        "",
        about,
        "",
        *write_portfolio_ablation(records),
    ]


def describe_budgets() -> list[str]:
    """How `auto` keeps its budgets, as far as that was measured."""
    measured = write_budgets(read_kept(BUDGETS)) if BUDGETS.exists() else ["Not measured yet."]
    about = (
        "`python tests/benchmarks/budgets.py` runs `dcsvm run auto --seconds S` 20 times, on the "
        "sets of the suite in turn and for 10 to 60 seconds, and compares the time of the clock "
        "from start to end with what was asked. It needs a machine of its own. Since the run "
        "that was late, half a second more is kept for what comes after the search: two more such "
        "runs took 9.4 and 10.2 s."
    )
    return ["## Budgets of auto", "", about, "", *measured]


def list_speeds(cells: Cells, methods: Sequence[str]) -> str:
    """The median of rows answered a second, over the sets of each method."""
    texts = []
    for method in methods:
        speeds = [
            len(unpack(record)) / max(record["predict_seconds"], 1e-3)
            for (_, each), records in cells.items()
            for record in records
            if each == method
        ]
        texts.append(f"{NAMES[method]} {round(float(np.median(speeds)), -2):,.0f}")
    return "Rows answered a second, the median over sets: " + "; ".join(texts) + "."


def explain_tests() -> list[str]:
    return [
        "A win is a set on which the recipe answers more rows right, with a p-value of McNemar's "
        f"exact test below {LEVEL}; a tie is a set without such a difference."
    ]


if __name__ == "__main__":
    write_page()
