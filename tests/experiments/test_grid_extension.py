"""A search whose best value is the end of its list goes further by itself."""

from pathlib import Path

import pytest

from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import parse
from dcsvm.experiments.run.grid_extension import extend_grid, find_next, note_edges
from dcsvm.experiments.run.runner import run_recipe
from dcsvm.experiments.run.search_result import ScoredCell, SearchResult

pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")


@pytest.mark.parametrize(
    ("values", "chosen", "further"),
    [
        ([0.1, 1.0, 10.0], 10.0, 100.0),
        ([0.1, 1.0, 10.0], 0.1, 0.01),
        ([0.3, 1.0, 3.0, 10.0], 10.0, 33.33),
        ([0.1, 1.0, 10.0, "scale"], 10.0, 100.0),
        ([0.1, 1.0, 10.0, "scale"], "scale", None),
        ([0.1, 1.0, 10.0], 1.0, None),  # within the list
        ([1.0, 10.0], 10.0, None),  # too few to see a rule
        ([1, 2, 3], 3, None),  # not geometric
        ([0.0, 1.0, 10.0], 0.0, None),
        (["a", "b", "c"], "c", None),
    ],
)
def test_the_value_beyond_a_list_follows_its_factor(values, chosen, further):
    assert find_next(values, chosen) == further


def searched(best):
    """A search whose score is best at a value, and what it was asked for."""
    asked = []

    def run(grid):
        asked.append(list(grid["C"]))
        rated = [(-abs(value - best), value) for value in grid["C"]]
        score, value = max(rated)
        tried = tuple(ScoredCell({"C": value}, score, 0.0) for score, value in rated)
        return SearchResult({"C": value}, score, tried, "the end", 9)

    return run, asked


@pytest.mark.parametrize(
    ("best", "asked", "chosen", "note"),
    [
        (1.0, [], 1.0, "the end"),
        (90.0, [[100.0], [1000.0]], 100.0, "the end; C went beyond its list"),
        (8.0, [[100.0]], 10.0, "the end"),
        (1e9, [[1e2], [1e3], [1e4]], 1e4, "went beyond its list, one further may be better"),
    ],
)
def test_a_search_goes_on_while_that_is_better(best, asked, chosen, note):
    run, found = searched(best)
    grid = {"C": [0.1, 1.0, 10.0]}
    result, beyond = extend_grid(run(grid), grid, run, lambda: True)
    assert found[1:] == asked
    assert result.values["C"] == chosen
    assert len(result.tried) == 3 + len(asked)
    assert note_edges(result, grid, beyond).stopped.endswith(note)


def test_without_time_it_stays_and_says_so():
    run, _ = searched(1e9)
    grid = {"C": [0.1, 1.0, 10.0]}
    result, beyond = extend_grid(run(grid), grid, run, lambda: False)
    assert note_edges(result, grid, beyond).stopped.endswith("one beyond it may be better")


@pytest.mark.parametrize("use", ["grid", "granularity"])
def test_a_recipe_finds_what_its_list_lacks(use):
    text = f"""
    data = {{ use = "two_moons", rows = 400 }}
    decomposer = "whole"
    learner = "kernel_svm"
    combiner = "route"
    [search]
    use = "{use}"
    learner.gamma = [2e3, 2e4, 2e5]
    """
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    (found,) = run_recipe(recipe).trained[0].found
    assert found.values["learner.gamma"] < 2e3
    assert "learner.gamma went beyond its list" in found.stopped
