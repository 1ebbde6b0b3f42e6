"""Curves and histograms of the probabilities of test rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from dcsvm.drawing import shorten
from dcsvm.numeric import BoolArray, FloatArray
from dcsvm_report.svg_theme import ACCENT, MUTED, WARN, Drawing, class_ink, render_svg

#: Bins of equally many rows of a reliability diagram, and bins of a histogram.
BINS, BARS = 10, 20
#: Classes with a curve, the rarest ones, and points of a curve.
MOST_CURVES, MOST_POINTS = 6, 150


@attrs.frozen
class ClassCurves:
    """One class against the rest: points of its curves, and the areas below them."""

    name: str
    roc: list[list[float]]
    roc_area: float
    precision_recall: list[list[float]]
    average_precision: float
    share: float


@attrs.frozen
class ProbabilityFacts:
    """Probabilities of the test rows, as plain data.

    They are those of `about`, the rarer of two classes, or else of the predicted class (""), which
    may be right or wrong. `bins` are mean probability and observed share, `inside` and `outside`
    counts of rows by probability, of the class (or right) and not.
    """

    about: str
    bins: list[list[float]]
    error: float
    inside: list[int]
    outside: list[int]
    curves: tuple[ClassCurves, ...]

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> ProbabilityFacts:
        curves = tuple(ClassCurves(**each) for each in table["curves"])
        return cls(**{**table, "curves": curves})


def summarize_probabilities(
    probabilities: FloatArray | None, truth: Any, classes: Sequence[Any]
) -> ProbabilityFacts | None:
    """Summarize probabilities (n, classes) of rows of the classes `truth` (n,)."""
    if probabilities is None:
        return None
    hits = np.asarray(truth)[:, None] == np.asarray(classes)
    counts = hits.sum(axis=0)
    met = [place for place in np.argsort(counts, kind="stable") if 0 < counts[place] < len(hits)]
    if not met:
        return None
    if len(classes) == 2:
        rarer = met[0]
        about, sure, right = str(classes[rarer]), probabilities[:, rarer], hits[:, rarer]
        met = met[:1]
    else:
        about, sure = "", probabilities.max(axis=1)
        right = hits[np.arange(len(hits)), probabilities.argmax(axis=1)]
    groups = np.array_split(np.argsort(sure, kind="stable"), min(BINS, len(sure)))
    bins = [[float(sure[rows].mean()), float(right[rows].mean())] for rows in groups]
    gaps = [abs(x - y) * len(rows) for (x, y), rows in zip(bins, groups, strict=True)]
    inside, outside = (
        np.histogram(sure[rows], BARS, (0.0, 1.0))[0].tolist() for rows in (right, ~right)
    )
    curves = tuple(
        _trace_curves(str(classes[place]), hits[:, place], probabilities[:, place])
        for place in met[:MOST_CURVES]
    )
    return ProbabilityFacts(about, bins, sum(gaps) / len(sure), inside, outside, curves)


def _trace_curves(name: str, hits: BoolArray, probabilities: FloatArray) -> ClassCurves:
    false, true, _ = roc_curve(hits, probabilities)
    precision, recall, _ = precision_recall_curve(hits, probabilities)
    return ClassCurves(
        name,
        _thin(false, true),
        float(roc_auc_score(hits, probabilities)),
        _thin(recall, precision),
        float(average_precision_score(hits, probabilities)),
        float(hits.mean()),
    )


def _thin(x: FloatArray, y: FloatArray) -> list[list[float]]:
    """Points of a curve, an even selection of very many."""
    some = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).astype(np.intp))
    points: list[list[float]] = np.column_stack([x[some], y[some]]).round(5).tolist()
    return points


def draw_probabilities(found: ProbabilityFacts | None, classes: Sequence[str]) -> list[Drawing]:
    """Draw the reliability diagram, the histogram, and the curves of the rarest classes."""
    if found is None:
        return []
    return [
        _draw_reliability(found),
        _draw_histogram(found),
        _draw_roc(found.curves, classes),
        _draw_precision_recall(found.curves, classes),
    ]


def _draw_reliability(found: ProbabilityFacts) -> Drawing:
    def draw(figure: Any) -> None:
        axes = _unit_square(figure)
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--")
        axes.plot(*zip(*found.bins, strict=True), "-o", color=ACCENT, ms=4, lw=1.4)
        axes.set_xlabel("mean probability")
        axes.set_ylabel("share of rows")

    what = f"class {found.about}" if found.about else "the predicted class"
    words = (
        f"Test rows in {len(found.bins)} bins of equal size by the probability of {what}, and the "
        f"share of them that is of it. Calibration error {found.error:.3f}; on the dashed line "
        "probabilities are right."
    )
    return _finish("reliability", "Reliability", words, draw)


def _draw_histogram(found: ProbabilityFacts) -> Drawing:
    titles = (found.about, "other rows") if found.about else ("right", "wrong")

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        edges = np.arange(BARS) / BARS
        shown = ((found.outside, WARN, titles[1]), (found.inside, ACCENT, titles[0]))
        for counts, colour, title in shown:
            share = np.array(counts) / max(sum(counts), 1)
            axes.bar(
                *(edges, 100 * share, 1 / BARS),
                align="edge", color=colour, alpha=0.55, lw=0, label=shorten(title, 20),
            )  # fmt: skip
        axes.legend()
        axes.set_xlim(0, 1)
        axes.set_xlabel("probability")
        axes.set_ylabel("% of these rows")

    what = f"class {found.about}" if found.about else "the predicted class"
    words = (
        f"Probabilities of {what}: {sum(found.inside):,} rows of {titles[0]}, "
        f"{sum(found.outside):,} {titles[1]}, each as shares of their own."
    )
    if not found.about:
        words = (
            f"Probabilities of {what}: {sum(found.inside):,} right answers, "
            f"{sum(found.outside):,} wrong ones, each as shares of their own."
        )
    return _finish("probabilities", "Probabilities", words, draw)


def _draw_roc(curves: Sequence[ClassCurves], classes: Sequence[str]) -> Drawing:
    def draw(figure: Any) -> None:
        axes = _unit_square(figure)
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--")
        for each in curves:
            axes.plot(*zip(*each.roc, strict=True), color=_colour(each, classes), lw=1.4)
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("recall")

    areas = ", ".join(f"{shorten(each.name, 20)} {each.roc_area:.3f}" for each in curves)
    words = f"Each class against the rest. Area below the curve: {areas}."
    return _finish("roc", "ROC curves", words, draw)


def _draw_precision_recall(curves: Sequence[ClassCurves], classes: Sequence[str]) -> Drawing:
    def draw(figure: Any) -> None:
        axes = _unit_square(figure)
        for each in curves:
            colour = _colour(each, classes)
            axes.plot(*zip(*each.precision_recall, strict=True), color=colour, lw=1.4)
            axes.axhline(each.share, color=colour, lw=0.8, ls=":")
        axes.set_xlabel("recall")
        axes.set_ylabel("precision")

    found = ", ".join(f"{shorten(each.name, 20)} {each.average_precision:.3f}" for each in curves)
    words = f"Average precision: {found}. Dotted lines are answers at random."
    return _finish("precision-recall", "Precision and recall by threshold", words, draw)


def _unit_square(figure: Any) -> Any:
    axes = figure.add_subplot()
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    return axes


def _colour(curves: ClassCurves, classes: Sequence[str]) -> str:
    return class_ink(classes.index(curves.name) if curves.name in classes else 0)


def _finish(name: str, title: str, words: str, draw: Any) -> Drawing:
    return Drawing(title, words, render_svg(name, f"{title}: {words}", draw))
