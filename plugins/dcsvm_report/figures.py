"""The figures of a report."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dcsvm.drawing import shorten
from dcsvm_report.decision_plane import Plane
from dcsvm_report.evidence import Evidence
from dcsvm_report.facts import Contender, Facts
from dcsvm_report.svg_theme import (
    ACCENT,
    INK,
    MUTED,
    WARN,
    WIDTH,
    Drawing,
    class_ink,
    make_logarithmic,
    render_svg,
)

#: The maximum number of bars.
BARS = 12
#: With more classes, the confusion matrix is a figure instead of a table.
TABLE_CLASSES = 15
#: The maximum number of classes in that figure.
MOST_CLASSES = 100
#: The maximum number of dots or steps; of more, an even selection is drawn.
MOST_DOTS = 800


def draw_accuracy(facts: Facts) -> Drawing | None:
    """Draw accuracy against the cost of predicting a row, as the papers do."""
    known = [each for each in facts.contenders if each.work > 0 and not math.isnan(each.accuracy)]
    if len(known) < 2:
        return None
    n_test = len(facts.truth)
    words = "; ".join(f"{each.name}: {each.accuracy:.2%} at {each.work:,.0f}" for each in known)
    unknown = [each.name for each in facts.contenders if each not in known]
    if unknown:
        words += f"; not shown, with no cost that is known: {', '.join(unknown)}"

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        works = [each.work for each in known]
        make_logarithmic(axes.xaxis, works)
        for contender in known:
            own = contender is facts.own
            low, high = _interval(contender.accuracy, n_test)
            axes.plot([contender.work] * 2, [100 * low, 100 * high], color=MUTED, lw=1)
            colour = ACCENT if own else INK
            marker = "o" if own else "s"
            axes.plot(contender.work, 100 * contender.accuracy, marker, color=colour, ms=7)
        axes.set_xlim(min(works) / 3, max(works) * 3)
        _label_points(axes, facts, known)
        axes.set_xlabel("kernel evaluations and hyperplanes per row")
        axes.set_ylabel("test accuracy, %")

    title = "Accuracy against the cost of an answer"
    words = f"{words}. Lines are 95% intervals; up and to the left is better."
    return Drawing(title, words, render_svg("cost", f"{title}: {words}", draw, 3.2))


def draw_confusion(facts: Facts) -> Drawing | None:
    """Draw the confusion matrix of many classes; None for few, which are shown as a table."""
    k = len(facts.classes)
    if not TABLE_CLASSES < k <= MOST_CLASSES or facts.own.answers is None:
        return None
    counts = facts.confusion().astype(float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)

    def draw(figure: Any) -> None:
        from matplotlib.patches import Rectangle

        axes = figure.add_subplot()
        axes.grid(False)
        for i, j in zip(*np.nonzero(shares), strict=True):
            colour, alpha = (ACCENT, 0.15 + 0.6 * shares[i, j]) if i == j else (WARN, 1.0)
            if i != j:
                alpha = min(1.0, 0.2 + 3 * shares[i, j])
            axes.add_patch(
                Rectangle((j - 0.5, i - 0.5), 1, 1, color=colour, alpha=round(alpha, 2), lw=0)
            )
        axes.set_xlim(-0.5, k - 0.5)
        axes.set_ylim(k - 0.5, -0.5)
        axes.set_aspect("equal")
        step = max(1, math.ceil(k / 26))
        ticks = range(0, k, step)
        names = [shorten(facts.classes[tick], 8) for tick in ticks]
        size = 8 if k < 30 else 6
        long = max(map(len, names)) > 2
        axes.set_xticks(ticks, names, fontsize=size, rotation=90 if long else 0)
        axes.set_yticks(ticks, names, fontsize=size)
        axes.set_xlabel("answered")
        axes.set_ylabel("true")

    worst = facts.find_confusions(3)
    pairs = ", ".join(f"{each.truth} taken for {each.answer} ({each.rows})" for each in worst)
    words = f"{k} classes, errors in red. Most often confused: {pairs or 'none'}."
    title = "Confusion"
    return Drawing(title, words, render_svg("confusion", f"{title}: {words}", draw, WIDTH))


def draw_errors(evidence: Evidence) -> Drawing | None:
    """Errors by part: the parts that hold most of them."""
    parts = [part for part in evidence.parts if part.tested]
    missed = sum(part.wrong for part in parts)
    if len(parts) < 2 or not missed:
        return None
    guilty = [part for part in parts if part.wrong]
    worst = sorted(guilty, key=lambda part: (-part.wrong, part.part))[:BARS]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        places = range(len(worst))
        axes.barh(places, [100 * each.wrong / missed for each in worst], color=WARN, height=0.7)
        rows = sum(part.tested for part in parts)
        axes.plot(
            [100 * each.tested / rows for each in worst], places, "|", color=INK, ms=11, mew=2
        )
        axes.set_yticks(places, [each.title for each in worst])
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.set_xlabel("share of all errors, % (line: share of test rows)")

    if evidence.routed:
        half = _fewest_with_half([part.wrong for part in parts])
        words = f"Half of the errors are in {half} of the {len(parts)} parts with test rows."
    else:
        words = "Every part predicts all rows of its classes; these are its own errors."
    title = "Errors by part"
    height = 1.2 + 0.24 * len(worst)
    return Drawing(title, words, render_svg("errors", f"{title}: {words}", draw, height))


def draw_sizes(parts: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Draw the sizes of the parts, largest first."""
    if len(parts) < 2:
        return None
    sizes = np.sort([int(part["rows"]) for part in parts])[::-1]
    steps = _spread(len(sizes))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        make_logarithmic(axes.yaxis, [0.8, sizes[0]])
        axes.fill_between(
            np.r_[steps, len(sizes)],
            np.r_[sizes[steps], sizes[-1]],
            0.8,
            step="post",
            color=ACCENT,
            alpha=0.75,
            lw=0,
        )
        axes.set_ylim(0.8, sizes[0] * 1.4)
        axes.set_xlim(0, len(sizes))
        axes.locator_params(axis="x", nbins=6, integer=True)
        axes.set_xlabel("parts, largest first")
        axes.set_ylabel("rows")

    words = (
        f"{len(sizes)} parts of {sizes[-1]:,} to {sizes[0]:,} rows, "
        f"the median has {np.median(sizes):,.0f}."
    )
    title = "Sizes of the parts"
    return Drawing(title, words, render_svg("sizes", f"{title}: {words}", draw, 2.6))


def draw_times(parts: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Draw the training time of each part against its size."""
    timed = [part for part in parts if float(part.get("seconds") or 0) > 0]
    if len(timed) < 2:
        return None
    seconds = np.array([float(part["seconds"]) for part in timed])
    rows = np.array([int(part["rows"]) for part in timed])

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        make_logarithmic(axes.xaxis, rows)
        make_logarithmic(axes.yaxis, seconds)
        some = np.argsort(rows, kind="stable")[_spread(len(rows))]
        axes.plot(rows[some], seconds[some], "o", color=ACCENT, ms=4, alpha=0.6, mew=0)
        axes.set_xlabel("rows of the part")
        axes.set_ylabel("seconds to train")

    share = np.sort(seconds)[::-1][: max(1, len(seconds) // 10)].sum() / seconds.sum()
    words = (
        f"{seconds.sum():.3g} s of training in all; the slowest tenth of the parts took "
        f"{share:.0%} of it."
    )
    title = "Training time by size"
    return Drawing(title, words, render_svg("times", f"{title}: {words}", draw, 2.6))


def draw_map(plane: Plane) -> Drawing:
    """Draw predictions over two features, borders of parts, test rows and errors."""
    answers = plane.grid(plane.answers)
    sides = [np.linspace(plane.low[axis], plane.high[axis], answers.shape[1]) for axis in (0, 1)]
    points = np.array(plane.points)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.grid(False)
        for label in np.unique(answers):
            region = np.pad((answers == label).astype(float), 0)
            axes.contourf(*sides, region, [0.5, 1.5], colors=[class_ink(label)], alpha=0.28)
        if plane.parts:
            _draw_borders(axes, plane.grid(plane.parts), sides)
        right = points[:, 2] == points[:, 3]
        for label in np.unique(points[:, 2]).astype(int):
            mine = points[:, 2] == label
            axes.plot(*points[mine, :2].T, "o", color=class_ink(max(label, 0)), ms=3, mew=0)
        if (~right).any():
            axes.plot(*points[~right, :2].T, "o", mfc="none", mec=INK, ms=7, mew=1.1)
        axes.set_xlabel(shorten(plane.names[0], 40))
        axes.set_ylabel(shorten(plane.names[1], 40))

    missed = int(np.count_nonzero(points[:, 2] != points[:, 3]))
    n_parts = len(np.unique(plane.grid(plane.parts))) if plane.parts else 0
    borders = f" Lines are the borders of {n_parts} parts." if n_parts > 1 else ""
    words = (
        f"Areas are predictions, dots are {len(points)} test rows in the colour of their class, "
        f"rings the {missed} misclassified ones.{borders}"
    )
    title = "Map of the predictions"
    return Drawing(title, words, render_svg("map", f"{title}: {words}", draw, 4.2))


def _interval(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share of n rows."""
    if n == 0:
        return share, share
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


def _label_points(axes: Any, facts: Facts, known: Sequence[Contender]) -> None:
    """Label each point where the label overlaps neither points nor other labels."""
    axes.autoscale_view()
    box = axes.figure.bbox
    left, right = np.log10(axes.get_xlim())
    low, high = axes.get_ylim()
    # Rough places in points: the axes take about four fifths of the figure.
    spots = [
        (
            0.8 * box.width * (math.log10(each.work) - left) / (right - left),
            0.75 * box.height * (100 * each.accuracy - low) / (high - low),
        )
        for each in known
    ]
    taken = [(x - 5, x + 5, y - 5, y + 5) for x, y in spots]
    for each, (x, y) in zip(known, spots, strict=True):
        name = shorten(each.name)
        length = 6.0 * len(name)
        choices = [
            (across, up, aligned)
            for up in (5, -12, 16, -23, 27, -34)
            for across, aligned in ((7, "left"), (-7, "right"))
        ]

        def measure_overlap(
            choice: tuple[int, int, str], x: float = x, y: float = y, length: float = length
        ) -> float:
            across, up, aligned = choice
            start = x + across - (length if aligned == "right" else 0)
            mine = (start, start + length, y + up - 2, y + up + 9)
            outside = max(0.0, -start) + max(0.0, mine[1] - 0.8 * box.width)
            return float(outside + sum(_overlap(mine, other) for other in taken))

        across, up, aligned = min(choices, key=measure_overlap)
        start = x + across - (length if aligned == "right" else 0)
        taken.append((start, start + length, y + up - 2, y + up + 9))
        axes.annotate(
            name,
            (each.work, 100 * each.accuracy),
            xytext=(across, up),
            textcoords="offset points",
            ha=aligned,
            fontsize=9,
            fontweight="bold" if each is facts.own else "normal",
        )


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    wide = min(one[1], other[1]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[2], other[2])
    return wide * high if wide > 0 and high > 0 else 0.0


def _draw_borders(axes: Any, parts: Any, sides: Sequence[Any]) -> None:
    """Draw lines between neighboring grid points of different parts."""
    from matplotlib.collections import LineCollection

    middles = [(side[1:] + side[:-1]) / 2 for side in sides]
    edges = [np.r_[side[0], middle, side[-1]] for side, middle in zip(sides, middles, strict=True)]
    lines = []
    for j in range(parts.shape[1] - 1):
        for first, last in _stretches(parts[:, j] != parts[:, j + 1]):
            lines.append([(middles[0][j], edges[1][first]), (middles[0][j], edges[1][last])])
    for i in range(parts.shape[0] - 1):
        for first, last in _stretches(parts[i] != parts[i + 1]):
            lines.append([(edges[0][first], middles[1][i]), (edges[0][last], middles[1][i])])
    axes.add_collection(LineCollection(lines, colors=[INK], linewidths=0.7, alpha=0.55))


def _stretches(flags: Any) -> list[tuple[int, int]]:
    """The runs of True, as (first, last + 1)."""
    steps = np.flatnonzero(np.diff(np.r_[0, flags.astype(int), 0]))
    return list(zip(steps[::2].tolist(), steps[1::2].tolist(), strict=True))


def _spread(n: int) -> Any:
    """Indices below n: all, or an even selection with the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_DOTS)).astype(np.intp))


def _fewest_with_half(counts: Sequence[int]) -> int:
    most_first = np.sort(np.asarray(counts))[::-1]
    return int(np.searchsorted(np.cumsum(most_first), most_first.sum() / 2) + 1)
