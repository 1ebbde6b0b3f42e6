"""Figure of a search: the score against each parameter."""

import math
import re
from collections.abc import Sequence
from typing import Any

from dcsvm.drawing import shorten
from dcsvm_report.facts import TrialScore
from dcsvm_report.svg_theme import ACCENT, GRID, MUTED, WARN, Drawing, make_logarithmic, render_svg

#: The maximum number of parameters that are drawn.
PANELS = 4


def draw_search(trials: Sequence[TrialScore], scored_by: str = "score") -> Drawing | None:
    """Draw the score of all trials against each parameter that was searched."""
    names = [
        name for name in _names(trials) if len({repr(t.parameters.get(name)) for t in trials}) > 1
    ]
    # How finely to divide comes first, then what is tried for the learner.
    names = sorted(names, key=lambda name: not name.startswith("decomposer"))[:PANELS]
    if len(trials) < 2 or not names:
        return None
    best = max(trials, key=lambda trial: trial.score)

    def draw(figure: Any) -> None:
        columns = 1 if len(names) == 1 else 2
        for place, name in enumerate(names):
            axes = figure.add_subplot(math.ceil(len(names) / columns), columns, place + 1)
            _curve(axes, name, [t for t in trials if name in t.parameters], best)
            axes.set_ylabel(scored_by.replace("_", " "))

    chosen = ", ".join(f"{name} = {best.parameters.get(name)}" for name in _names([best]))
    words = f"{len(trials)} trials; the best scored {best.score:.4f} with {chosen}."
    title = "Trials of the search"
    height = 2.6 * math.ceil(len(names) / 2)
    return Drawing(title, words, render_svg("search", f"{title}: {words}", draw, height))


def _names(trials: Sequence[TrialScore]) -> list[str]:
    return list(dict.fromkeys(name for trial in trials for name in trial.parameters))


def _curve(axes: Any, name: str, trials: Sequence[TrialScore], best: TrialScore) -> None:
    values = [trial.parameters[name] for trial in trials]
    plain = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if plain:
        places = [float(value) for value in values]
        if min(places) > 0 and max(places) / min(places) >= 20:
            make_logarithmic(axes.xaxis, places)
    else:
        kinds = sorted({_format(value) for value in values}, key=_by_size)
        places = [float(kinds.index(_format(value))) for value in values]
        axes.set_xticks(range(len(kinds)), [shorten(kind, 12) for kind in kinds])
    axes.plot(places, [trial.score for trial in trials], "o", color=MUTED, ms=3, alpha=0.6, mew=0)
    tops = {
        place: max(t.score for t, p in zip(trials, places, strict=True) if p == place)
        for place in sorted(set(places))
    }
    axes.plot(list(tops), list(tops.values()), "-o" if plain else "o", color=ACCENT, ms=4, lw=1.4)
    at = [place for trial, place in zip(trials, places, strict=True) if trial is best]
    axes.plot(at, [best.score] * len(at), "o", mfc="none", mec=WARN, ms=9, mew=1.5)
    if plain and axes.get_xscale() == "linear":
        axes.locator_params(axis="x", nbins=3)
    axes.set_xlabel(shorten(re.split(r"__|\.", name)[-1], 24))
    axes.spines["left"].set_color(GRID)


def _format(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _by_size(text: str) -> tuple[bool, float, str]:
    """Numbers by their size, then texts."""
    try:
        return False, float(text), text
    except ValueError:
        return True, 0.0, text
