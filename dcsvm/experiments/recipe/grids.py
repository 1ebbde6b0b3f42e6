"""What a search cannot choose: settings beside a division's levels, and of learners not asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.experiments.recipe.layers import SEARCH
from dcsvm.experiments.recipe.toml_lines import Path as Key

if TYPE_CHECKING:
    from dcsvm.experiments.recipe.reader import Candidate

#: The keys that a mistake may lie at, and the mistake in a sentence.
Mistake: TypeAlias = tuple[tuple[Key, ...], str]


def find_level_mistakes(candidate: Candidate) -> Iterator[Mistake]:
    """Refuse a granularity search through a division without levels, or of other keys."""
    if candidate.lacks_levels:
        message = f'[search]: {candidate.lacks_levels}; for any other there is use = "grid"'
        yield ((SEARCH, "use"),), message
    for name in candidate.grid:
        if not name.startswith(("learner.", "data.")):
            known = "settings of the learner and of [data]"
            message = f"[search]: granularity tries {known}, not {name}"
            if name.startswith("decomposer."):
                message += (
                    ": levels begin with what [decomposer] says, each search.factor times coarser;"
                    ' try its other settings with use = "grid", or with one search each'
                )
            yield ((SEARCH, *name.split(".")), (SEARCH, "use")), message


def find_learner_mistakes(candidate: Candidate) -> Iterator[Mistake]:
    """Refuse to choose settings of a learner that no part asks, whatever is tried."""
    cells: list[dict[str, Any]] = [{}]
    for name, values in candidate.grid.items():
        cells += [{name: value} for value in values if "decomposer" in name.split(".")]
    pipelines = [candidate.build_classifier(cell) for cell in cells]
    for name in candidate.grid:
        unasked = [_find_unasked(pipeline, name.split(".")) for pipeline in pipelines]
        if all(unasked):
            sentence = (
                f"{unasked[0]} brings the learners of all its parts, so that {name} in [search] "
                "changes nothing; search for their settings, or leave it out"
            )
            yield (tuple(unasked[0].split(".")), (SEARCH, *name.split("."))), sentence


def _find_unasked(pipeline: Any, way: list[str]) -> str:
    """The key of the decomposer that keeps a learner at `way` from being asked, if any does."""
    at = ""
    while way[0] == "learner" and isinstance(pipeline, DivideAndConquerClassifier):
        if pipeline.decomposer.brings_learners:
            return f"{at}decomposer"
        at, way, pipeline = f"{at}learner.", way[1:], pipeline.learner
    return ""
