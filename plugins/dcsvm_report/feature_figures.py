"""Figures of the importances and the effects of features."""

from collections.abc import Sequence
from typing import Any

from dcsvm.drawing import shorten
from dcsvm.toolbox import FeatureEffect, FeatureReport
from dcsvm_report.svg_theme import ACCENT, INK, MUTED, Drawing, class_ink, render_svg

#: Features that are drawn.
BARS = 15
#: Inches for a row of effects, and how many stand in one.
ROW, ACROSS = 1.9, 2


def draw_features(
    found: FeatureReport | None, classes: Sequence[str], learned: bool
) -> list[Drawing]:
    """Draw the importance of each feature, and the effects of the most important ones.

    `learned` says that the model has learned the rows that it was asked.
    """
    if found is None or not found.importances:
        return []
    drawings = [_draw_importances(found, learned)]
    if found.effects:
        drawings.append(_draw_effects(found, classes))
    return drawings


def _draw_importances(found: FeatureReport, learned: bool) -> Drawing:
    shown = found.importances[:BARS]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        places = range(len(shown))
        losses = [100 * each.loss for each in shown]
        axes.barh(places, losses, color=ACCENT, alpha=0.75, height=0.7)
        for place, each in zip(places, shown, strict=True):
            ends = [100 * (each.loss - each.spread), 100 * (each.loss + each.spread)]
            axes.plot(ends, [place] * 2, color=INK, lw=1.2)
        axes.axvline(0, color=MUTED, lw=0.8)
        axes.set_yticks(places, [shorten(each.name, 22) for each in shown])
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.locator_params(axis="x", nbins=6)
        axes.set_xlabel(f"{found.score} lost, points")

    rows = "training rows" if learned else "test rows"
    words = (
        f"The {found.score} that is lost, in percent, where the values of a feature are "
        f"shuffled among {found.n_rows:,} {rows}; "
        "lines are the deviation over five shuffles."
    )
    measured = len(found.importances)
    if measured < found.n_features:
        words += (
            f" Of {found.n_features:,} features, the {measured:,} whose means differ most "
            "between classes were measured."
        )
    if measured > len(shown):
        words += f" The largest {len(shown)} are shown."
    title = "What the answers depend on"
    height = 1.0 + 0.24 * len(shown)
    return Drawing(title, words, render_svg("features", f"{title}: {words}", draw, height))


def _draw_effects(found: FeatureReport, classes: Sequence[str]) -> Drawing:
    effects = found.effects
    lines = -(-len(effects) // ACROSS)

    def draw(figure: Any) -> None:
        plots = figure.subplots(lines, ACROSS, squeeze=False).ravel()
        for axes, effect in zip(plots, effects, strict=False):
            _draw_effect(axes, effect, classes)
        for axes in plots[len(effects) :]:
            axes.set_axis_off()

    names = "; ".join(dict.fromkeys(name for each in effects for name in each.classes))
    words = (
        f"The share of rows answered {names}, in percent, where a feature has the same value in "
        "all rows; lines are two standard errors."
    )
    title = "Effects of the features"
    return Drawing(title, words, render_svg("effects", f"{title}: {words}", draw, ROW * lines))


def _draw_effect(axes: Any, effect: FeatureEffect, classes: Sequence[str]) -> None:
    is_number = not isinstance(effect.values[0], str)
    places = list(effect.values) if is_number else list(range(len(effect.values)))
    for name, shares, errors in zip(effect.classes, effect.shares, effect.errors, strict=True):
        colour = class_ink(list(classes).index(name)) if name in classes else ACCENT
        style = "o-" if is_number else "o"
        axes.plot(places, [100 * each for each in shares], style, color=colour, ms=3, lw=1.2)
        if len(effect.classes) > 1:
            axes.text(
                places[-1], 100 * shares[-1], f" {shorten(name, 8)}", fontsize=7, va="center"
            )
        for place, share, error in zip(places, shares, errors, strict=True):
            ends = [100 * max(share - 2 * error, 0), 100 * min(share + 2 * error, 1)]
            axes.plot([place] * 2, ends, color=colour, lw=0.8)
    if is_number:
        whole = all(float(each).is_integer() for each in effect.values)
        axes.locator_params(axis="x", nbins=4, integer=whole)  # a year is no 2023.5
    else:
        long = max(len(str(each)) for each in effect.values) > 3 or len(places) > 5
        names = [shorten(str(each), 10) for each in effect.values]
        axes.set_xticks(places, names, rotation=60 if long else 0, fontsize=8)
    axes.set_title(shorten(effect.name, 24), fontsize=9)
    axes.tick_params(labelsize=8)
