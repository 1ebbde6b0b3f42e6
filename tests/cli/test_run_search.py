"""Searches of a recipe: by validation rows, by folds, within a time budget."""

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from dcsvm.base.errors import DataError, RecipeError
from dcsvm.base.row_splitting import deal_folds, hold_out
from dcsvm.base.subproblem import FitResult
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import Split, parse, serialize_recipe
from dcsvm.experiments.run.runner import RunContext, load, run_recipe
from dcsvm.experiments.run.search_result import SearchContext
from dcsvm.experiments.run.train_test_splits import split_rows
from dcsvm.model_selection.named_scores import Answered, compute_score
from dcsvm.model_selection.path_job import PathJob, PathOutcome
from dcsvm.numeric.probability_scores import OWN_SCORES
from dcsvm.persistence.checkpoints import CheckpointLog

RECIPE = """
data = { use = "iris" }
decomposer = "DECOMPOSER"
learner = "kernel_svm"
combiner = "route"

[search]
learner.C = [10.0, 0.0001]
learner.gamma = [1.0, 1000.0]
"""


def found(more="", decomposer="whole", overrides=(), **session):
    text = RECIPE.replace("DECOMPOSER", decomposer) + more
    recipe = parse(text, "recipe.toml", Path(), default_registry(), overrides)
    kept = RunContext(0, **session)
    return run_recipe(recipe, session=kept).trained[0], kept


def test_the_best_values_are_found_and_used():
    trained, _ = found()
    (chosen,) = trained.found
    assert chosen.values == {"learner.C": 10.0, "learner.gamma": 1.0}
    assert trained.model[-1].learner.C == 10.0
    assert len(chosen.tried) == 4
    assert chosen.score == max(each.score for each in chosen.tried)
    assert chosen.stopped == "all 4 combinations were tried"


@pytest.mark.slow
def test_the_way_of_scaling_can_be_searched_for():
    trained, _ = found('data.scale = ["none", "standard"]\n')
    scale = trained.found[0].values["data.scale"]
    assert len(trained.found[0].tried) == 8
    assert getattr(trained.model[0], "scale", "none") == scale


@pytest.mark.parametrize(
    "searched",
    [
        "decomposer.learners.0.C = [1.0, 2.0]",
        "learner.C = [1.0, 2.0]\ndecomposer.learners = [[], ['krr']]",
    ],
)
def test_settings_of_learners_that_some_part_asks_can_be_searched_for(searched):
    text = (
        RECIPE.partition("[search]")[0]
        .replace("route", "mean")
        .replace('"DECOMPOSER"', "{ use = 'rd_subspaces', learners = [{ use = 'kernel_svm' }] }")
    )
    text += f"[search]\n{searched}\n"
    (own,) = parse(text, "recipe.toml", Path(), default_registry()).candidates
    assert set(own.grid) == {line.partition(" ")[0] for line in searched.splitlines()}


def test_a_rival_that_brings_its_learners_may_end_the_search_for_others():
    spaces = "decomposer = { use = 'rd_subspaces', learners = ['krr'] }\ncombiner = 'mean'\n"
    text = RECIPE.replace("DECOMPOSER", "whole") + f"[compare.spaces]\n{spaces}"
    with pytest.raises(RecipeError) as caught:
        parse(text, "recipe.toml", Path(), default_registry())
    told = "decomposer brings the learners of all its parts, so that learner.C in [search] changes"
    assert str(caught.value).startswith(f"recipe.toml:11: {told} nothing; ")
    text += "learner = 'kernel_svm'\n"
    _, rival = parse(text, "recipe.toml", Path(), default_registry()).candidates
    assert rival.grid == {}


def test_a_random_search_tries_as_many_as_it_was_told():
    trained, _ = found('use = "random"\ntries = 3\n')
    assert len(trained.found[0].tried) == 3


def test_a_time_budget_ends_a_search_after_what_was_begun():
    trained, _ = found("seconds = 1e-9\n")
    (chosen,) = trained.found
    assert len(chosen.tried) == 1
    assert chosen.stopped == (
        "the time budget of 1e-09 s was used up after 1 of 4 combinations; "
        "--set search.seconds=4e-09 gives it more"
    )


@pytest.mark.parametrize("use", ["grid", "granularity"])
@pytest.mark.parametrize(
    ("values", "told"),
    [
        ("[1.0, 1e3, 1e4]", "; learner.gamma is the smallest that was listed, one beyond it may"),
        ("[1e3, 1.0, 1e4]", "; learner.gamma is the smallest that was listed, one beyond it may"),
        ("[1.0, 1e3]", ""),
    ],
)
def test_a_value_at_the_end_of_its_list_is_told(use, values, told):
    trained, _ = found(overrides=[f"search.learner.gamma={values}", f"search.use={use}"])
    (chosen,) = trained.found
    assert chosen.values["learner.gamma"] == 1.0
    assert told in chosen.stopped
    assert ("that was listed" in chosen.stopped) == bool(told)


def test_a_search_begins_in_the_middle_of_every_list():
    more = 'seconds = 1e-9\ndata.scale = ["none", "minmax", "standard"]\n'
    trained, _ = found(more, overrides=["search.learner.C=[1.0, 2.0, 3.0, 4.0]"])
    (first,) = trained.found[0].tried
    assert first.values == {"data.scale": "minmax", "learner.C": 2.0, "learner.gamma": 1.0}


@pytest.mark.slow
def test_folds_judge_by_every_row():
    trained, _ = found("folds = 4\nrows = 60\n")
    assert trained.found[0].n_rows == 60
    assert trained.found[0].values["learner.C"] == 10.0


def test_the_granularity_search_chooses_a_level_too():
    trained, _ = found('use = "granularity"\n', decomposer="tree")
    assert {"decomposer.ceiling", "learner.C"} <= trained.found[0].values.keys()
    assert trained.model[-1].learner.C == 10.0


def test_a_level_that_was_judged_on_some_of_the_rows_is_told_as_such():
    trained, _ = found('use = "granularity"\nrows = 60\n', decomposer="tree")
    assert trained.found[0].stopped.endswith(
        "; decomposer.ceiling was judged on 60 of 112 rows and may divide all of them further"
    )
    trained, _ = found('use = "granularity"\n', decomposer="tree")
    assert "may divide" not in trained.found[0].stopped
    pairs = {"decomposer": "class_pairs", "overrides": ["combiner=vote"]}
    trained, _ = found('use = "granularity"\nrows = 60\n', **pairs)
    assert trained.found[0].stopped == "all 4 combinations were tried"


def test_a_rival_without_levels_has_a_grid_in_place_of_a_granularity_search():
    more = '[compare.all]\ndecomposer = "whole"\n'
    text = RECIPE.replace("DECOMPOSER", "tree") + 'use = "granularity"\n' + more
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    _, rival = run_recipe(recipe, session=RunContext(0)).trained
    assert rival.found[0].stopped == "all 4 combinations were tried"


def test_a_search_that_was_made_before_is_not_made_again():
    _, kept = found()
    before = dict(kept.found)
    before["recipe/0"] = {**before["recipe/0"], "values": {"learner.C": 0.0001}}
    trained, _ = found(found=before)
    assert trained.model[-1].learner.C == 0.0001
    assert trained.measures.search_seconds == before["recipe/0"]["seconds"] > 0
    del before["recipe/0"]["seconds"]  # as it was before seconds were kept
    trained, _ = found(found=before)
    assert trained.measures.search_seconds == 0


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing():
    one, two = (found(n_jobs=jobs)[0].found[0] for jobs in (1, 2))
    assert [(each.values, each.score) for each in one.tried] == [
        (each.values, each.score) for each in two.tried
    ]


def test_rows_are_held_out_of_every_class_alike():
    y = np.repeat([0, 1, 2], [60, 30, 1])
    rows = hold_out(y, 0.2, True, 0)
    stay, drawn = rows.train, rows.test
    assert np.bincount(y[drawn], minlength=3).tolist() == [12, 6, 0]
    assert sorted([*stay, *drawn]) == list(range(91))
    fold = deal_folds(y, 3, True, 0)
    assert np.bincount(fold).max() - np.bincount(fold).min() <= 1
    assert {tuple(np.bincount(fold[y == label])) for label in (0, 1)} == {(20,) * 3, (10,) * 3}


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"use": "published"}, "iris comes without test rows of its own"),
        ({"use": "folds", "folds": 500}, "150 rows cannot be split into 500 folds"),
    ],
)
def test_a_split_that_cannot_be(asked, sentence):
    data = load(parse(RECIPE.replace("DECOMPOSER", "whole"), "r", Path(), default_registry()).data)
    with pytest.raises(DataError, match=sentence):
        split_rows(data, Split(**asked), 0)


def test_a_granularity_search_that_is_resumed_trains_no_finished_part_again(tmp_path, monkeypatch):
    trained = []
    run = PathJob.run
    monkeypatch.setattr(PathJob, "run", lambda job: trained.append(job.key()) or run(job))
    outcomes = []
    for _ in range(2):
        log = CheckpointLog(tmp_path / "parts.log", kinds=(FitResult, PathOutcome))
        outcome, _ = found('use = "granularity"\n', "tree", checkpoints=log)
        log.close()
        outcomes.append(outcome)
    first, second = (each.found[0] for each in outcomes)
    assert len(trained) == len(set(trained)) > 0
    assert first == second


def test_a_time_budget_ends_a_granularity_search_between_levels():
    more = 'use = "granularity"\nmin_gain = -1.0\n'
    fine = {"overrides": ["decomposer.ceiling=20"], "decomposer": "tree"}
    long = found(more, **fine)[0].found[0]
    short = found(more + "seconds = 1e-9\n", **fine)[0].found[0]
    assert len(short.tried) == 4 < len(long.tried)
    assert short.stopped == (
        "the time budget of 1e-09 s was used up; --set search.seconds=4e-09 gives it more"
    )


def test_a_granularity_search_of_one_level_leaves_the_division_as_it_is():
    more = 'use = "granularity"\nlevels = 1\nmin_gain = -1.0\nrows = 100\n'
    trained, _ = found(more, "tree", ["decomposer.ceiling=24"])
    (chosen,) = trained.found
    assert set(chosen.values) == {"learner.C", "learner.gamma"}
    assert chosen.stopped == "all 4 combinations were tried"
    assert trained.measures.n_parts > 1


def test_where_it_was_best_not_to_divide_all_training_rows_are_left_undivided():
    # 89 rows are one part at four times 24; 112 are not.
    more = 'use = "granularity"\nmin_gain = -1.0\n'
    trained, _ = found(more, "tree", ["decomposer.ceiling=24"])
    assert trained.found[0].stopped == "one part is left"
    assert trained.found[0].values["decomposer.ceiling"] == 384
    assert trained.measures.n_parts == 1


def test_a_granularity_search_of_one_level_says_how_many_combinations_it_tried():
    more = 'use = "granularity"\ndata.scale = ["none", "standard"]\n'
    (chosen,) = found(more, "tree", overrides=["decomposer.ceiling=1000"])[0].found
    assert len(chosen.tried) == 8
    assert chosen.stopped == "all 8 combinations were tried"


RARE = """
data = { path = "rare.csv", target = "kind" }
decomposer = "DECOMPOSER"
learner = { use = "kernel_svm", C = 1.0, gamma = 1.0 }
combiner = "route"
split = { test = 0.4 }
"""


@pytest.fixture
def rare_class(tmp_path):
    """Write a file of two classes that overlap, one of them nine times as frequent."""
    generator = np.random.default_rng(0)
    x = np.r_[generator.normal(0, 1, 360), generator.normal(1.5, 1, 40)]
    lines = [f"{value:.3f},{'rare' if row >= 360 else 'common'}" for row, value in enumerate(x)]
    (tmp_path / "rare.csv").write_text("\n".join(["x,kind", *lines, ""]))


def weighed(more, decomposer="whole"):
    text = RARE.replace("DECOMPOSER", decomposer) + more
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    return run_recipe(recipe, session=RunContext(0)).trained


@pytest.mark.parametrize("weights", ['"balanced"', "{ rare = 9.0 }"])
def test_class_weights_find_more_of_a_rare_class(rare_class, weights):
    own, plain = weighed(f'class_weight = {weights}\n[compare.plain]\nclass_weight = "none"\n')
    assert own.measures.more["recall.rare"] > plain.measures.more["recall.rare"] + 0.2
    assert own.measures.test_accuracy < plain.measures.test_accuracy


def test_a_weight_for_a_class_that_is_not_there_names_those_that_are(rare_class):
    with pytest.raises(DataError, match=r"class_weight: .*rare.csv has no class 'rar'; did you "):
        weighed("class_weight = { rar = 2.0 }\n")


def test_classes_that_are_numbers_have_weights_by_their_digits():
    text = RECIPE.replace("DECOMPOSER", "whole").replace("iris", "digits")
    recipe = parse(
        "class_weight = { 3 = 2.5 }\n" + text.partition("[search]")[0],
        *("recipe.toml", Path(), default_registry()),
    )
    (trained,) = run_recipe(recipe, session=RunContext(0)).trained
    assert trained.model[-1].class_weight[3] == 2.5
    assert trained.model[-1].class_weight[4] == 1.0


@pytest.mark.parametrize(("decomposer", "use"), [("whole", "grid"), ("tree", "granularity")])
def test_what_a_search_chooses_by_decides_what_it_chooses(rare_class, decomposer, use):
    def chosen(score):
        more = f'[search]\nuse = "{use}"\nscore = "{score}"\nlearner.gamma = [1e-4, 1e4]\n'
        return weighed(more + "learner.C = [1000.0]\n", decomposer)[0]

    by_rows, by_class = chosen("accuracy"), chosen("balanced_accuracy")
    assert by_class.found[0].scored_by == "balanced_accuracy"
    assert by_rows.found[0].values != by_class.found[0].values
    assert by_class.measures.more["test_balanced_accuracy"] > 0.5
    assert "test_balanced_accuracy" not in by_rows.measures.more


@pytest.mark.parametrize("name", sorted(OWN_SCORES))
def test_scores_are_those_of_scikit_learn(name):
    generator = np.random.default_rng(0)
    truth, answers = generator.choice(["a", "b", "c"], (2, 60), p=[0.6, 0.3, 0.1])
    more = {"average": "macro"} if name == "f1_macro" else {}
    theirs = getattr(metrics, OWN_SCORES[name])(truth, answers, **more)
    said = Answered(truth, answers, np.unique(truth))
    assert compute_score(name, said) == pytest.approx(theirs)
    strange = Answered(np.array(["a", "a"]), np.array(["a", "d"]), np.array(["a"]))
    assert compute_score("balanced_accuracy", strange) == 0.5


@pytest.mark.parametrize("use", ["grid", "granularity"])
def test_every_search_chooses_by_a_scorer_of_scikit_learn(rare_class, use):
    more = f'[search]\nuse = "{use}"\nscore = "f1"\nlearner.C = [1.0, 10.0]\n'
    more = 'class_weight = "balanced"\n' + more
    (own,) = weighed(more, decomposer="tree")
    assert own.found[0].scored_by == "f1"
    assert 0.0 < own.found[0].score <= 1.0
    assert own.measures.more["test_f1"] == pytest.approx(own.measures.more["f1.rare"])


def test_a_score_of_two_classes_is_refused_for_several_before_training():
    sentence = "the score 'f1' is one of two classes, and the data have 3: choose 'f1_macro'"
    with pytest.raises(RecipeError, match=sentence):
        found('score = "f1"\n')


def test_class_weights_can_be_searched_for(rare_class):
    more = '[search]\nscore = "balanced_accuracy"\nclass_weight = ["none", "balanced"]\n'
    (own,) = weighed(more)
    assert own.found[0].values == {"class_weight": "balanced"}
    assert own.model[-1].class_weight == "balanced"


def test_a_resolved_recipe_says_the_weights_of_every_pipeline(rare_class):
    text = RARE.replace("DECOMPOSER", "whole") + "class_weight = { rare = 3.0 }\n"
    text += '[compare.plain]\nclass_weight = "none"\n'
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    again = parse(serialize_recipe(recipe), "recipe.toml", Path(), default_registry())
    own, plain = (each.classifier.class_weight for each in again.candidates)
    assert own == {"rare": 3.0}
    assert plain is None


def test_folds_have_a_mean_and_a_spread_of_every_score(rare_class):
    text = RARE.replace("DECOMPOSER", "whole").replace("test = 0.4", 'use = "folds", folds = 4')
    text += 'class_weight = "balanced"\n[measure]\nscores = ["f1_macro"]\n'
    recipe = parse(text, "recipe.toml", Path(), default_registry())
    (own,) = run_recipe(recipe, session=RunContext(0)).trained
    found = own.measures.flatten()
    assert len(own.measures.by_fold["test_f1_macro"]) == 4
    assert found["test_accuracy_fold_mean"] == pytest.approx(found["test_accuracy"], abs=0.01)
    assert 0 < found["test_accuracy_fold_std"] < 0.1
    assert found["test_f1_macro_fold_std"] > 0


@pytest.mark.slow
def test_the_granularity_search_of_one_level_averages_folds():
    trained, _ = found('use = "granularity"\nlevels = 1\nfolds = 3\n')
    result = trained.found[0]
    assert len(result.tried) == 4
    assert {"learner.C", "learner.gamma"} == set(result.values)
    whole, _ = found('use = "grid"\nfolds = 3\n')
    tried = {tuple(sorted(each.values.items())): each.score for each in result.tried}
    for each in whole.found[0].tried:
        assert tried[tuple(sorted(each.values.items()))] == pytest.approx(each.score)


@pytest.mark.slow
def test_a_search_of_many_rows_takes_as_many_as_its_seconds_allow(monkeypatch):
    monkeypatch.setattr("dcsvm.experiments.run.parameter_search.FEW_ROWS", 40)
    searched = found("seconds = 100.0\n")[0].found[0]
    assert searched.n_rows == 112
    monkeypatch.setattr(SearchContext, "spent", property(lambda self: 33.0))
    searched = found("seconds = 100.0\n")[0].found[0]
    assert searched.n_rows == 81
    assert searched.stopped.endswith("judged on 81 of 112 rows, all that 100 s allow")
    monkeypatch.setattr(SearchContext, "spent", property(lambda self: 99.0))
    assert found("seconds = 100.0\n")[0].found[0].n_rows == 40
