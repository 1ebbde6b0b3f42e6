"""Searches of a recipe: by validation rows, by folds, within a time budget."""

from pathlib import Path

import numpy as np
import pytest

from dcsvm.errors import DataError
from dcsvm.recipe import Split, parse
from dcsvm.registry import default_registry
from dcsvm.run import Session, load, run_recipe
from dcsvm.run.splitting import folds_of, held_out, rows_of

RECIPE = """
data = { use = "iris" }
decomposer = "DECOMPOSER"
learner = "kernel_svm"
combiner = "route"

[search]
learner.C = [0.0001, 10.0]
learner.gamma = [1.0, 1000.0]
"""


def found(more="", decomposer="whole", **session):
    text = RECIPE.replace("DECOMPOSER", decomposer) + more
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    kept = Session(0, **session)
    return run_recipe(recipe, session=kept).trained[0], kept


def test_the_best_values_are_found_and_used():
    trained, _ = found()
    (chosen,) = trained.found
    assert chosen.values == {"learner.C": 10.0, "learner.gamma": 1.0}
    assert trained.model.learner.learner.C == 10.0
    assert len(chosen.tried) == 4
    assert chosen.score == max(each.score for each in chosen.tried)
    assert chosen.stopped == "all 4 combinations were tried"


def test_the_way_of_scaling_can_be_searched_for():
    trained, _ = found('data.scale = ["none", "standard"]\n')
    scale = trained.found[0].values["data.scale"]
    assert len(trained.found[0].tried) == 8
    assert getattr(trained.model.decomposer, "scale", "none") == scale


def test_a_random_search_tries_as_many_as_it_was_told():
    trained, _ = found('use = "random"\ntries = 3\n')
    assert len(trained.found[0].tried) == 3


def test_a_time_budget_ends_a_search_after_what_was_begun():
    trained, _ = found("seconds = 1e-9\n")
    (chosen,) = trained.found
    assert len(chosen.tried) == 1
    assert chosen.stopped == ("the time budget of 1e-09 s was used up after 1 of 4 combinations")


def test_folds_judge_by_every_row():
    trained, _ = found("folds = 4\nrows = 60\n")
    assert trained.found[0].n_rows == 60
    assert trained.found[0].values["learner.C"] == 10.0


def test_the_granularity_search_chooses_a_level_too():
    trained, _ = found('use = "granularity"\n', decomposer="tree")
    assert {"decomposer.ceiling", "learner.C"} <= trained.found[0].values.keys()
    assert trained.model.learner.learner.C == 10.0


def test_a_rival_without_levels_has_a_grid_in_place_of_a_granularity_search():
    more = '[compare.all]\ndecomposer = "whole"\n'
    text = RECIPE.replace("DECOMPOSER", "tree") + 'use = "granularity"\n' + more
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    _, rival = run_recipe(recipe, session=Session(0)).trained
    assert rival.found[0].stopped == "all 4 combinations were tried"


def test_a_search_that_was_made_before_is_not_made_again():
    _, kept = found()
    before = dict(kept.found)
    before["recipe/0"] = {**before["recipe/0"], "values": {"learner.C": 0.0001}}
    trained, _ = found(found=before)
    assert trained.model.learner.learner.C == 0.0001


def test_the_number_of_jobs_changes_nothing():
    one, two = (found(n_jobs=jobs)[0].found[0] for jobs in (1, 2))
    assert [(each.values, each.score) for each in one.tried] == [
        (each.values, each.score) for each in two.tried
    ]


def test_rows_are_held_out_of_every_class_alike():
    y = np.repeat([0, 1, 2], [60, 30, 1])
    stay, drawn = held_out(y, 0.2, True, 0)
    assert np.bincount(y[drawn], minlength=3).tolist() == [12, 6, 0]
    assert sorted([*stay, *drawn]) == list(range(91))
    fold = folds_of(y, 3, True, 0)
    assert np.bincount(fold).max() - np.bincount(fold).min() <= 1
    assert {tuple(np.bincount(fold[y == label])) for label in (0, 1)} == {(20,) * 3, (10,) * 3}


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"use": "published"}, "iris comes without test rows of its own"),
        ({"use": "folds", "folds": 500}, "150 rows cannot be dealt into 500 folds"),
    ],
)
def test_a_split_that_cannot_be(asked, sentence):
    data = load(parse(RECIPE.replace("DECOMPOSER", "whole"), "r", Path(), default_registry()).data)
    with pytest.raises(DataError, match=sentence):
        rows_of(data, Split(**asked), 0)
