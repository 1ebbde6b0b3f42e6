"""Rendering of facts as one self-contained HTML page."""

import functools
import importlib.util
import math
import re
from statistics import median
from typing import Any

from dcsvm.drawing import class_colour, shorten
from dcsvm.toolbox import UsageError
from dcsvm_report.facts import ClassRow, Contender, Facts
from dcsvm_report.stage_bars import draw_stages
from dcsvm_report.svg_theme import Drawing

#: The libraries of the extra `report`.
NEEDED = ("jinja2", "matplotlib")
#: The lines of the table of results: title, metric, format.
LINES = (
    ("test accuracy", "test_accuracy", "share"),
    ("always the largest class", "baseline_accuracy", "share"),
    ("training accuracy", "train_accuracy", "share"),
    ("kernel evaluations per row, mean", "kernel_evaluations_mean", "count"),
    ("times fewer than undivided", "nsv_ratio", "times"),
    ("kernel evaluations per row, most", "kernel_evaluations_max", "count"),
    ("each kernel value once, mean", "unique_kernel_evaluations_mean", "count"),
    ("hyperplanes per row, mean", "hyperplanes_mean", "count"),
    ("support vectors", "n_unique_support_vectors", "count"),
    ("parts", "n_parts", "count"),
    ("parts of one class", "homogeneous_share", "share"),
    ("seconds to train", "fit_seconds", "seconds"),
    ("seconds to predict", "predict_seconds", "seconds"),
)
#: Parts listed as the slowest.
SLOWEST = 10
#: Pixels of a column on a wide screen.
COLUMN = 500
#: Up to so many other classes have their recall on a card.
FEW_CLASSES = 3
#: Classes listed one by one.
MOST_ROWS = 120


def find_missing() -> str:
    """Say in a sentence which libraries are missing; empty if there are none."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if not missing:
        return ""
    return (
        f"a report needs {' and '.join(missing)}, not installed here: pip install 'dcsvm[report]'"
    )


def check_installed() -> None:
    """Raise if a library of the extra `report` is missing."""
    if missing := find_missing():
        raise UsageError(missing)


def render_page(facts: Facts) -> str:
    """Render the report as HTML; the same facts give the same bytes."""
    check_installed()
    from dcsvm_report import figures
    from dcsvm_report.feature_figures import draw_features
    from dcsvm_report.gantt_chart import draw_workers
    from dcsvm_report.probability_curves import draw_probabilities
    from dcsvm_report.search_curves import draw_search

    parts = facts.list_learned_parts()
    plane = facts.evidence.plane
    k = len(facts.classes)
    page: str = _load_template().render(
        facts=facts,
        cards=_cards(facts),
        verdict=_verdict(facts),
        lines=[line for line in _all_lines(facts) if _is_known(facts, line)],
        significance=[(each.name, facts.compare(each)) for each in facts.rivals],
        cost=figures.draw_accuracy(facts),
        confusion=facts.confusion() if 0 < k <= figures.TABLE_CLASSES else None,
        heat=figures.draw_confusion(facts),
        mixed_up=facts.find_confusions() if k > 2 else [],
        class_rows=_list_classes(facts),
        probabilities=draw_probabilities(facts.evidence.probabilities, facts.classes),
        features=draw_features(facts.evidence.features, facts.classes, facts.evidence.has_learned),
        errors=figures.draw_errors(facts.evidence),
        worst=_worst(facts),
        counted=facts.evidence.counted if len(facts.evidence.parts) != 1 else "",
        map=None if plane is None else figures.draw_map(plane),
        stages=_stages(facts),
        pictures=[(each, _is_wide(each.svg)) for each in facts.evidence.pictures],
        undivided=_suggest_reference(facts),
        legend=[(name, class_colour(label)) for label, name in enumerate(facts.classes[:10])],
        sizes=figures.draw_sizes(parts),
        times=figures.draw_times(parts),
        workers=draw_workers(parts),
        slowest=sorted(parts, key=lambda each: -float(each.get("seconds") or 0))[:SLOWEST],
        n_parts=len(parts),
        search=draw_search(facts.trials, facts.scored_by),
        best_trials=sorted(facts.trials, key=lambda each: -each.score)[:5],
    )
    return page


@functools.cache
def _load_template() -> Any:
    """Compile the template of the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dcsvm_report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        share=_share, count=_count, seconds=_seconds, written=_format, number=format_number
    )
    return environment.get_template("page.html.jinja")


def format_number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _all_lines(facts: Facts) -> list[tuple[str, str, str]]:
    """The lines of the table of results; with folds, mean and deviation below each score."""
    scores = [key for key in facts.own.metrics if key.startswith("test_") and "_fold_" not in key]
    scores = [key for key in scores if key not in ("test_accuracy", "test_error")]
    rated = [(key.removeprefix("test_").replace("_", " "), key, "score") for key in scores]
    first = [*LINES[:2], *rated]
    lines = []
    for line in (*first, *LINES[2:]):
        lines.append(line)
        form = "share" if line[2] == "share" else "score"
        lines.append(("mean of the folds", f"{line[1]}_fold_mean", form))
        lines.append(("deviation among folds", f"{line[1]}_fold_std", form))
    return lines


def _stages(facts: Facts) -> Drawing | None:
    """Draw how many rows each stage had and kept, if there are several."""
    stages = facts.stages()
    if not stages:
        return None
    words = (
        "Bars show the rows of each stage; the filled part was kept for the next stage or, in the "
        "last one, for the model. A row in several parts counts in each."
    )
    return Drawing("Rows kept by each stage", words, draw_stages(stages))


def _is_wide(svg: str) -> bool:
    """Whether a picture is too wide for one of two columns."""
    width = re.search(r'<svg[^>]*\swidth="([\d.]+)"', svg)
    return width is not None and float(width[1]) > COLUMN


def _suggest_reference(facts: Facts) -> str:
    """The option that adds the undivided model, if it was not compared."""
    if facts.own.undivided or facts.reference is not None:
        return ""
    return '--set \'compare.undivided={decomposer="whole", combiner="route"}\''


def _cards(facts: Facts) -> list[tuple[str, str, str]]:
    """The numbers at the top: value, title, comparison with the undivided model."""
    own, reference = facts.own, facts.reference
    cards = [
        (_share(own.accuracy), "of test rows correct", _points(own, reference)),
        *_recall_card(facts),
        (_count(own.work), _describe_work(own), _ratio(own, reference, "work")),
        (_count(own.number("n_parts")), "parts", ""),
        (_seconds(own.number("fit_seconds")), "to train", _ratio(own, reference, "fit_seconds")),
    ]
    return [card for card in cards if card[0] != "unknown"]


def _recall_card(facts: Facts) -> list[tuple[str, str, str]]:
    """The lowest recall of a class, and what the others have."""
    rows = [] if facts.own.answers is None else facts.class_rows()
    rows = [row for row in rows if row.rows]
    if len(rows) < 2:
        return []
    worst = min(rows, key=lambda row: row.recall)
    others = [row for row in rows if row is not worst]
    if len(others) <= FEW_CLASSES:
        compared = ", ".join(f"{shorten(row.name, 20)} {_share(row.recall)}" for row in others)
    else:
        compared = f"median of the classes {_share(median(row.recall for row in rows))}"
    return [(_share(worst.recall), f"recall of {shorten(worst.name, 20)}, the lowest", compared)]


def _describe_work(own: Contender) -> str:
    if not own.number("hyperplanes_mean"):
        return "kernel evaluations per answer"
    if not own.number("kernel_evaluations_mean"):
        return "hyperplanes per answer"
    return "kernel evaluations and hyperplanes per answer"


def _points(own: Contender, reference: Contender | None) -> str:
    if reference is None or math.isnan(own.accuracy - reference.accuracy):
        return ""
    return f"{100 * (own.accuracy - reference.accuracy):+.2f} points against {reference.name}"


def _ratio(own: Contender, reference: Contender | None, what: str) -> str:
    if reference is None:
        return ""
    mine, other = (each.work if what == "work" else each.number(what) for each in (own, reference))
    if not mine > 0 or not other > 0:
        return ""
    factor = other / mine
    if 0.95 < factor < 1.05:
        return f"about as much as {reference.name}"
    than = f"than {reference.name}"
    return (
        f"{factor:.3g} times less {than}" if factor >= 1 else f"{1 / factor:.3g} times more {than}"
    )


def _verdict(facts: Facts) -> str:
    """Summarize the results in a sentence."""
    own, n = facts.own, len(facts.truth)
    if not n and math.isnan(own.accuracy):
        return "No rows were held out (test = 0), so nothing says how good the model is."
    if facts.wrong is None:
        return f"{_share(own.accuracy)} of {n:,} test rows were classified correctly."
    right = n - int(facts.wrong.sum())
    sentence = f"{right:,} of {n:,} test rows were classified correctly"
    if n:
        sentence += f", {_share(right / n)}"
        most = max(facts.confusion().sum(axis=1)) / n
        sentence += f"; always predicting the largest class would be correct for {_share(most)}"
    reference = facts.reference
    if reference is not None and reference.answers is not None:
        gap = 100 * (own.accuracy - reference.accuracy)
        how = "as accurate as" if abs(gap) < 0.005 else f"{abs(gap):.2f} points "
        if abs(gap) >= 0.005:
            how += "above" if gap > 0 else "below"
        called = "" if reference.name == "undivided" else f", {reference.name}"
        sentence += f". That is {how} the undivided model{called}"
    return sentence + "."


def _worst(facts: Facts) -> list[Any]:
    if len(facts.evidence.parts) < 2:
        return []  # a part that is alone has all errors, and there is nothing to tell
    parts = [part for part in facts.evidence.parts if part.wrong]
    return sorted(parts, key=lambda part: (-part.wrong, part.part))[:8]


def _list_classes(facts: Facts) -> list[ClassRow]:
    """All classes in order; of very many, the worst."""
    if facts.own.answers is None:
        return []
    rows = facts.class_rows()
    if len(rows) <= MOST_ROWS:
        return rows
    return sorted(rows, key=lambda row: (math.isnan(row.f1), row.f1, row.name))[:MOST_ROWS]


def _is_known(facts: Facts, line: tuple[str, str, str]) -> bool:
    """Whether a model has the metric of a line; lines of zero counts are left out."""
    _, key, form = line
    known = [each.number(key) for each in facts.contenders if not math.isnan(each.number(key))]
    return bool(known) and (form != "count" or any(known))


def _share(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    # What only rounds to all or nothing is neither.
    if 0 < value < 1 and f"{value:.2%}" in ("0.00%", "100.00%"):
        return "under 0.01%" if value < 0.5 else "over 99.99%"
    return f"{value:.2%}"


def _count(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    return f"{value:,.0f}" if value == round(value) or value >= 100 else f"{value:.1f}"


def _seconds(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    if value < 0.0995:
        return f"{1000 * value:.2g} ms"
    return f"{value:.2f} s" if value < 120 else f"{value / 60:.1f} min"


def _format(contender: Contender, line: tuple[str, str, str]) -> str:
    _, key, form = line
    forms = {"share": _share, "count": _count, "seconds": _seconds}
    forms |= {"score": _score, "times": _times}
    return forms[form](contender.number(key))


def _times(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:,.2f}"


def _score(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.4f}"
