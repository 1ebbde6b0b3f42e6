"""Tables and a picture of measured strategies: Markdown, LaTeX and SVG."""

from pathlib import Path
from statistics import median
from typing import Any

LEVEL = 0.05
TITLES = ("decomposer", "combiner", "accuracy", "p", "fit s", "predict s", "kernels", "parts")


def write_tables(records: list[dict[str, Any]], out: Path, against: str) -> None:
    """Write `table.md`, `table.tex` and `table.svg` into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    data = sorted({record["data"] for record in records})
    pages = {name: sort_records(records, name) for name in data}
    (out / "table.md").write_text("\n".join(markdown(pages, against)) + "\n")
    (out / "table.tex").write_text("\n".join(latex(pages)) + "\n")
    (out / "table.svg").write_text(picture(pages))


def write_page(records: list[dict[str, Any]], remarks: Path, page: Path, against: str) -> None:
    """Write a page: its remarks, in place of `TABLE` there one table over all data sets."""
    table = "\n".join(summarize(records, against))
    page.write_text(remarks.read_text().replace("TABLE", table))


def summarize(records: list[dict[str, Any]], against: str) -> list[str]:
    """One line for each strategy: accuracy by data set, wins, losses, seconds and kernels."""
    data = sorted({record["data"] for record in records})
    mine: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if "accuracy" in record:
            mine.setdefault(record["decomposer"], []).append(record)
    order = sorted(mine, key=lambda name: -sum(each["accuracy"] for each in mine[name]))
    head = ["decomposer", "combiner", *data, f"+ / - `{against}`", "fit s", "kernels"]
    return [
        f"| {' | '.join(head)} |",
        "|---|---|" + (len(data) + 3) * "---:|",
        *(f"| {' | '.join(summary_cells(mine[name], data))} |" for name in order),
    ]


def summary_cells(records: list[dict[str, Any]], data: list[str]) -> list[str]:
    found = {record["data"]: cells(record)[2] for record in records}
    signs = "".join(found.values())
    kernels = [record["kernel_evaluations"] for record in records]
    return [
        records[0]["decomposer"],
        records[0]["combiner"],
        *(found.get(name, "") for name in data),
        f"{signs.count('+')} / {signs.count('-')}",
        f"{median(record['fit_seconds'] for record in records):.2f}",
        "unknown" if None in kernels else f"{median(kernels):.0f}",
    ]


def sort_records(records: list[dict[str, Any]], data: str) -> list[dict[str, Any]]:
    mine = [record for record in records if record["data"] == data and "accuracy" in record]
    return sorted(mine, key=lambda record: -record["accuracy"])


def cells(record: dict[str, Any]) -> list[str]:
    kernels = record["kernel_evaluations"]
    sign = "" if record["p"] >= LEVEL else "+" if record["wins"] > record["losses"] else "-"
    return [
        record["decomposer"],
        record["combiner"],
        f"{100 * record['accuracy']:.2f}{sign}",
        f"{record['p']:.2g}",
        f"{record['fit_seconds']:.2f}",
        f"{record['predict_seconds']:.2f}",
        "unknown" if kernels is None else f"{kernels:.0f}",
        str(record["parts"]),
    ]


def markdown(pages: dict[str, list[dict[str, Any]]], against: str) -> list[str]:
    lines = []
    for data, records in pages.items():
        first = records[0]
        settings = ", ".join(f"{key} = {value:.3g}" for key, value in first["settings"].items())
        lines += [
            *(f"## {data}", ""),
            f"{first['rows']} training and {first['tests']} test rows, `{first['learner']}` with "
            f"{settings or 'its defaults'} ({first['commit']}, {first['date']}). Accuracy in "
            f"percent; + and - are better and worse than `{against}` by McNemar's test, p < 0.05.",
            *("", f"| {' | '.join(TITLES)} |", "|---|---|" + 6 * "---:|"),
            *(f"| {' | '.join(cells(record))} |" for record in records),
            "",
        ]
    return lines[:-1]


def latex(pages: dict[str, list[dict[str, Any]]]) -> list[str]:
    """A tabular for `booktabs`: strategies by rows, accuracies of the data sets by columns."""
    names = list(dict.fromkeys(r["decomposer"] for records in pages.values() for r in records))
    found = {(r["decomposer"], data): cells(r)[2] for data in pages for r in pages[data]}
    head = " & ".join(["", *pages]).replace("_", r"\_")
    rows = [" & ".join([name, *(found.get((name, each), "") for each in pages)]) for name in names]
    return [
        rf"\begin{{tabular}}{{l{'r' * len(pages)}}}",
        *(r"\toprule", head + r" \\", r"\midrule"),
        *(row.replace("_", r"\_") + r" \\" for row in rows),
        *(r"\bottomrule", r"\end{tabular}"),
    ]


def picture(pages: dict[str, list[dict[str, Any]]]) -> str:
    """Accuracy of each strategy by data set, as points in rows."""
    names = list(dict.fromkeys(r["decomposer"] for records in pages.values() for r in records))
    width, step, left = 180, 18, 150
    parts = []
    for number, name in enumerate(names):
        y = 40 + step * number
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{name}</text>')
    for column, (data, records) in enumerate(pages.items()):
        x = left + width * column
        low, high = records[-1]["accuracy"], records[0]["accuracy"]
        parts.append(f'<text x="{x}" y="18">{data}, {100 * low:.0f} to {100 * high:.0f}%</text>')
        for record in records:
            place = x + 150 * (record["accuracy"] - low) / max(high - low, 1e-9)
            y = 40 + step * names.index(record["decomposer"])
            parts.append(f'<circle cx="{place:.1f}" cy="{y}" r="4" fill="currentColor"/>')
    size = f'width="{left + width * len(pages)}" height="{50 + step * len(names)}"'
    style = 'font-family="sans-serif" font-size="12" fill="currentColor"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>\n'
