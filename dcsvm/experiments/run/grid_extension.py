"""Extension of a grid: a search tries a few values beyond a list whose end was best."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs

from dcsvm.experiments.run.search_result import SearchResult

Grid = Mapping[str, list[Any]]
#: How many values beyond a list are tried, and what a list must be like for that: at least so many
#: numbers, each so many times the one before, by factors that differ this much at the most.
STEPS, FEWEST, LEAST_FACTOR, MOST_UNLIKE = 3, 3, 1.5, 1.25


def extend_grid(
    found: SearchResult,
    grid: Grid,
    run: Callable[[Grid], SearchResult],
    has_time: Callable[[], bool],
) -> tuple[SearchResult, dict[str, Any]]:
    """Try values beyond a list whose end was chosen, as long as the score improves.

    `run` searches a grid. Return the result and, by key, the first value beyond a list that was
    no better, or the last that was tried.
    """
    tried: dict[str, Any] = {}
    for name, values in grid.items():
        known = list(values)
        for _ in range(STEPS):
            further = find_next(known, found.values.get(name))
            if further is None or not has_time():
                break
            chosen = {key: [found.values.get(key, grid[key][0])] for key in grid}
            more = run(chosen | {name: [further]})
            tried[name] = further
            known.append(further)
            best = more if more.score > found.score else found
            whole = (*found.tried, *more.tried)
            found = attrs.evolve(best, tried=whole, stopped=found.stopped)
    return found, tried


def count_open_lists(grid: Grid) -> int:
    """How many lists of a grid a search can extend."""
    return sum(find_next(values, max(values, key=_order)) is not None for values in grid.values())


def _order(value: Any) -> float:
    return float(value) if type(value) in (int, float) else -float("inf")


def find_next(values: Sequence[Any], chosen: Any) -> float | None:
    """The value beyond the end of a list that was chosen; None within it, or of other lists."""
    numbers = sorted(value for value in values if type(value) in (int, float))
    if len(numbers) < FEWEST or type(chosen) not in (int, float) or numbers[0] <= 0:
        return None
    factors = [high / low for low, high in pairwise(numbers)]
    if min(factors) < LEAST_FACTOR or max(factors) / min(factors) > MOST_UNLIKE:
        return None
    if chosen == numbers[-1]:
        return float(f"{chosen * factors[-1]:.4g}")
    return float(f"{chosen / factors[0]:.4g}") if chosen == numbers[0] else None


def note_edges(found: SearchResult, grid: Grid, beyond: Mapping[str, Any]) -> SearchResult:
    """Note chosen values at the end of their list, and those beyond it."""
    note = found.stopped
    for name, values in grid.items():
        numbers = [value for value in values if isinstance(value, (int, float))]
        chosen = found.values.get(name)
        if name in beyond and chosen not in values:
            note += f"; {name} went beyond its list"
            note += ", one further may be better" if chosen == beyond[name] else ""
        elif name not in beyond and len(numbers) >= FEWEST:
            if chosen not in (min(numbers), max(numbers)):
                continue
            end = "largest" if chosen == max(numbers) else "smallest"
            note += f"; {name} is the {end} that was listed, one beyond it may be better"
    return attrs.evolve(found, stopped=note)
