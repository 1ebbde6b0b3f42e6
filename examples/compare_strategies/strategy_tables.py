"""Tables and a picture of measured strategies: Markdown, LaTeX and SVG."""

from html import escape
from pathlib import Path
from statistics import median
from typing import Any

Record = dict[str, Any]
#: The records of one strategy by data set; strategies are named by all three components.
Strategies = dict[tuple[str, str, str], dict[str, Record]]

LEVEL = 0.05
MISSING = "\N{EN DASH}"
NAMES = ("decomposer", "learner", "combiner")
TITLES = (*NAMES, "accuracy", "p", "fit s", "predict s", "kernels", "parts")


def write_tables(records: list[Record], out: Path, against: str) -> None:
    """Write `table.md`, `table.tex` and `table.svg` into a folder."""
    check_reference(records, against)
    out.mkdir(parents=True, exist_ok=True)
    strategies = sort_strategies(records)
    (out / "table.md").write_text("\n".join(markdown(records, strategies, against)) + "\n")
    (out / "table.tex").write_text("\n".join(latex(strategies)) + "\n")
    (out / "table.svg").write_text(picture(strategies))


def write_page(records: list[Record], remarks: Path, page: Path, against: str) -> None:
    """Write a page: its remarks, in place of `TABLE` there one table over all data sets."""
    check_reference(records, against)
    table = "\n".join(summarize(sort_strategies(records), against))
    page.write_text(remarks.read_text().replace("TABLE", table))


def check_reference(records: list[Record], against: str) -> None:
    """Stop unless every record was compared with a strategy that is there, too."""
    measured = {(r["data"], r["learner"], r["decomposer"]) for r in records if "accuracy" in r}
    for record in records:
        place = (record["data"], record["learner"])
        if record.get("against", against) != against or (*place, against) not in measured:
            raise SystemExit(
                f"--against {against}: the records of {' with '.join(place)} are not against it"
            )


def sort_strategies(records: list[Record]) -> Strategies:
    """The last record of each strategy and data set, the most accurate strategies first."""
    found: Strategies = {}
    for record in records:
        key = (record["decomposer"], record["learner"], record["combiner"])
        found.setdefault(key, {})[record["data"]] = record

    def total(key: tuple[str, str, str]) -> float:
        return sum(record.get("accuracy", 0.0) for record in found[key].values())

    return {key: found[key] for key in sorted(found, key=total, reverse=True)}


def names_of_data(strategies: Strategies) -> list[str]:
    return sorted({data for records in strategies.values() for data in records})


def summarize(strategies: Strategies, against: str) -> list[str]:
    """One line for each strategy: accuracy by data set, wins, losses, seconds and kernels."""
    data = names_of_data(strategies)
    head = [*NAMES, *data, f"+ / - `{against}`", "fit s", "kernels"]
    lines = [[*key, *summary_cells(mine, data)] for key, mine in strategies.items()]
    return [row_of(head), "|---|---|---|" + (len(data) + 3) * "---:|", *map(row_of, lines)]


def row_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def summary_cells(records: dict[str, Record], data: list[str]) -> list[str]:
    accuracies = [accuracy_of(records.get(name)) for name in data]
    done = [record for record in records.values() if "accuracy" in record]
    if not done:
        return [*accuracies, *3 * [MISSING]]
    signs = "".join(accuracies)
    kernels = [record["kernel_evaluations"] for record in done]
    return [
        *accuracies,
        f"{signs.count('+')} / {signs.count('-')}",
        f"{median(record['fit_seconds'] for record in done):.2f}",
        "unknown" if None in kernels else f"{median(kernels):.0f}",
    ]


def accuracy_of(record: Record | None) -> str:
    """Accuracy in percent with the sign of a significant difference; a dash without one."""
    if record is None or "accuracy" not in record:
        return MISSING
    sign = "" if record["p"] >= LEVEL else "+" if record["wins"] > record["losses"] else "-"
    return f"{100 * record['accuracy']:.2f}{sign}"


def cells(record: Record) -> list[str]:
    if "accuracy" not in record:
        return 6 * [MISSING]
    kernels = record["kernel_evaluations"]
    return [
        accuracy_of(record),
        f"{record['p']:.2g}",
        f"{record['fit_seconds']:.2f}",
        f"{record['predict_seconds']:.2f}",
        "unknown" if kernels is None else f"{kernels:.0f}",
        str(record["parts"]),
    ]


def markdown(records: list[Record], strategies: Strategies, against: str) -> list[str]:
    """A section for each data set, its most accurate strategies first."""
    lines = []
    for data in names_of_data(strategies):
        mine = {key: found[data] for key, found in strategies.items() if data in found}
        order = sorted(mine, key=lambda key: -mine[key].get("accuracy", 0.0))
        first = mine[order[0]]
        learners = {r["learner"]: r["settings"] for r in records if r["data"] == data}
        lines += [
            *(f"## {data}", ""),
            f"{first['rows']} training and {first['tests']} test rows; "
            f"{' and '.join(describe(*each) for each in learners.items())} "
            f"({tell_version(first)}, {first['date']}). Accuracy in percent; + and - are better "
            f"and worse than `{against}` with the same learner by McNemar's test, p < 0.05.",
            *("", row_of(list(TITLES)), "|---|---|---|" + 6 * "---:|"),
            *(row_of([*key, *cells(mine[key])]) for key in order),
            "",
        ]
    return lines[:-1]


def tell_version(record: Record) -> str:
    """The commit of the sources, or the versions of what was installed."""
    told = [f"{name} {version}".strip() for name, version in record.get("versions", {}).items()]
    return record["commit"] or ", ".join(told)


def describe(learner: str, settings: dict[str, float]) -> str:
    told = ", ".join(f"{key} = {value:.3g}" for key, value in settings.items())
    return f"`{learner}` with {told or 'its defaults'}"


def latex(strategies: Strategies) -> list[str]:
    """A tabular for `booktabs`: strategies by rows, accuracies of the data sets by columns."""
    data = names_of_data(strategies)
    rows = [
        [*key, *(accuracy_of(mine.get(name)).replace(MISSING, "--") for name in data)]
        for key, mine in strategies.items()
    ]
    return [
        rf"\begin{{tabular}}{{lll{'r' * len(data)}}}",
        *(r"\toprule", tex_row([*NAMES, *data]), r"\midrule"),
        *map(tex_row, rows),
        *(r"\bottomrule", r"\end{tabular}"),
    ]


def tex_row(cells: list[str]) -> str:
    special = str.maketrans({each: f"\\{each}" for each in "_&%#$"})
    return " & ".join(cell.translate(special) for cell in cells) + r" \\"


def picture(strategies: Strategies) -> str:
    """Accuracy of each strategy by data set, as points in rows."""
    data = names_of_data(strategies)
    width, step, left = 180, 18, 330
    parts = []
    for number, key in enumerate(strategies):
        y = 40 + step * number
        name = escape(", ".join(key))
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{name}</text>')
    for column, name in enumerate(data):
        found = [strategies[key].get(name, {}).get("accuracy") for key in strategies]
        parts += column_of_points(left + width * column, name, found, step)
    size = f'width="{left + width * len(data)}" height="{50 + step * len(strategies)}"'
    style = 'font-family="sans-serif" font-size="12" fill="currentColor"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>\n'


def column_of_points(x: int, data: str, found: list[float | None], step: int) -> list[str]:
    """The points of one data set, from its least to its greatest accuracy; a dash for none."""
    known = [accuracy for accuracy in found if accuracy is not None]
    low, high = min(known), max(known)
    title = f"{escape(data)}, {100 * low:.0f} to {100 * high:.0f}%"
    parts = [f'<text x="{x}" y="18">{title}</text>']
    for number, accuracy in enumerate(found):
        y = 40 + step * number
        if accuracy is None:
            parts.append(f'<text x="{x}" y="{y + 4}">{MISSING}</text>')
        else:
            place = x + 150 * (accuracy - low) / max(high - low, 1e-9)
            parts.append(f'<circle cx="{place:.1f}" cy="{y}" r="4" fill="currentColor"/>')
    return parts
