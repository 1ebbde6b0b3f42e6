"""The search of a portfolio: what it tries, when it stops, and what it leaves."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dcsvm.base.errors import RecipeError
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import Observer
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.portfolio.blending import HeldOutScorer, blend, select_members
from dcsvm.experiments.portfolio.budget import Budget, TimeModel, forecast_report
from dcsvm.experiments.portfolio.portfolio_recipes import find_portfolio
from dcsvm.experiments.portfolio.portfolio_search import choose_first_rows
from dcsvm.experiments.portfolio.recipe_trials import TrialContext, TrialRows
from dcsvm.experiments.portfolio.winner_selection import compare_speed
from dcsvm.experiments.recipe import parse
from dcsvm.experiments.run.run_messages import list_leaderboard
from dcsvm.experiments.run.runner import run_recipe

pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")

AUTO = """
data = { use = "DATA", missing = "mark" }
decomposer = "blend"
learner = "majority"
combiner = "mean"
probability = "auto"
[search]
use = "portfolio"
recipes = ["global_svm", "kernel_logistic"]
seconds = 60.0
"""


def read(*overrides, data="iris"):
    text = AUTO.replace("DATA", data)
    return parse(text, "auto.toml", Path(), default_registry(), overrides)


class Clock:
    """A clock that a test moves on."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_run_chooses_among_recipes_and_tells_why():
    result = run_recipe(read())
    (found,) = result.trained[0].found
    names = {each.recipe for each in found.leaderboard}
    assert names == {"global_svm", "kernel_logistic"}
    assert sum(each.weight for each in found.leaderboard) == pytest.approx(1.0)
    assert {each.folds for each in found.leaderboard} == {5}
    told = re.search(r"(\w+) alone has accuracy (0\.\d{4})", found.stopped)
    ratings = {each.recipe: f"{each.rating:.4f}" for each in found.leaderboard}
    assert ratings[told[1]] == told[2]  # though folds are of 22 and 23 rows
    assert "on 112 held-out rows" in found.stopped
    assert result.measures[0].test_accuracy > 0.9
    header, lines = list_leaderboard(found)
    assert header[:2] == ("tried", "accuracy")
    assert {line[0] for line in lines} == names


def test_probabilities_agree_with_labels():
    trained = run_recipe(read()).trained[0]
    labels = trained.model.classes_[trained.probabilities.argmax(axis=1)]
    assert (labels == trained.answers).all()


def test_what_was_chosen_is_a_recipe_that_needs_no_search():
    trained = run_recipe(read("search.recipes=['global_svm']")).trained[0]
    values = trained.found[0].values
    assert values["decomposer"] == {"use": "whole"}
    assert values["learner"]["use"] == "kernel_svm"


def test_names_that_no_recipe_has_are_refused():
    with pytest.raises(RecipeError, match="no registered recipe is called 'global_smv'; did you"):
        run_recipe(read("search.recipes=['global_smv']"))
    with pytest.raises(RecipeError, match="no recipe is left in the portfolio"):
        run_recipe(read("search.exclude=['global_svm', 'kernel_logistic']"))


def test_recipes_join_by_a_key_and_are_tried_in_its_order():
    sizes = {"rows": 8000, "features": 10, "classes": 2}
    settings = read().search
    joining = type(settings)(use="portfolio", seconds=1.0, **dict.fromkeys(OTHERS))
    recipes = find_portfolio(default_registry(), joining, sizes)
    assert [each.auto for each in recipes] == sorted(each.auto for each in recipes)
    assert len(recipes) > 2
    few = find_portfolio(default_registry(), joining, sizes | {"rows": 30})
    assert few[0].suits.rows is None or few[0].suits.rows[0] <= 30
    assert len(few) > 1
    many = find_portfolio(default_registry(), joining, sizes | {"classes": 2000})
    assert "metric_krr" in [each.name for each in many]
    assert "global_svm" not in [each.name for each in many]


OTHERS = ("recipes", "exclude")


def test_a_budget_keeps_time_for_what_comes_after():
    clock = Clock()
    budget = Budget(60.0, clock, overhead=5.0)
    assert budget.left == pytest.approx(60 - 1.8 - 5)
    clock.now = 50.0
    budget.before = 3.0
    assert budget.left == pytest.approx(60 - 1.8 - 5 - 53)
    assert Budget(9.0, clock, overhead=5.0).left == pytest.approx(9 - 0.27 - 3)


def test_all_rows_are_learned_again_only_if_the_budget_lasts():
    clock = Clock()
    budget = Budget(20.0, clock, overhead=2.0)
    clock.now = 10.0
    assert budget.can_learn_again(5.0, 4 / 3)
    with pytest.warns(UserWarning, match=r"to learn all rows, which takes about 9 s: "):
        assert not budget.can_learn_again(6.0, 4 / 3)
    clock.now = 30.0  # late already, but it takes next to nothing
    assert budget.can_learn_again(0.3, 4 / 3)


def test_small_tables_keep_less_time_for_their_report():
    assert forecast_report(1000) == pytest.approx(2.05)
    assert forecast_report(10**7) == 5.0


def test_little_time_begins_with_few_rows():
    assert [choose_first_rows(each) for each in (1.0, 10.0, 20.0, 40.0, 3600.0)] == [
        *(500, 500, 1000, 2000, 2000)
    ]


def test_a_trial_is_not_begun_if_a_few_rows_take_too_long(monkeypatch):
    recipe = SimpleNamespace(name="slow", build=lambda values: None)
    context = TrialContext(
        *(np.zeros((400, 1)), np.arange(400) % 2, Engine(1), 0, Observer()),
        *(Budget(60.0, Clock()), "accuracy"),
    )
    rows = TrialRows(np.arange(320), np.arange(320, 400), 320)
    monkeypatch.setattr(TrialContext, "_time_pilot", lambda *given: 1.0)
    trial, model = context.run(recipe, rows, {}, {"learner.C": [1.0, 2.0]}, 3.0)
    assert trial.error == "needs more than the 3.0 s it had"
    assert model is None
    assert context.forecast_fit(recipe, rows, {}, context.engine) > 3.0
    few = TrialRows(np.arange(100), np.arange(100, 200), 100)
    assert context.forecast_fit(recipe, few, {}, context.engine) == 0.0


def test_forecasts_grow_as_measured():
    assert math.isinf(TimeModel().forecast(100))
    once = TimeModel(power=1.0).add(1000, 1.0)
    assert once.forecast(3000) == pytest.approx(3.0)
    assert once.add(2000, 2.0).forecast(4000) == pytest.approx(4.0)
    # Half a second whatever the rows are, and as much for every 1,000 of them.
    assert once.add(2000, 1.5).forecast(4000) == pytest.approx(2.5)
    # At least half of what was measured last grows.
    assert once.add(2000, 1.0).forecast(4000) == pytest.approx(1.5)
    assert TimeModel(power=2.0).add(1000, 1.0).forecast(3000) == pytest.approx(9.0)


def make_models(n=400, n_models=3, seed=0):
    """Models of two classes with errors of their own, and their scorer."""
    generator = np.random.default_rng(seed)
    y = generator.integers(2, size=n)
    several = []
    for _ in range(n_models):
        odds = (2 * y - 1) * 1.0 + generator.normal(size=n) * 1.5
        second = 1 / (1 + np.exp(-odds))
        several.append(np.column_stack([1 - second, second]))
    return HeldOutScorer(y, np.array([0, 1]), "accuracy"), several


def test_models_with_errors_of_their_own_are_blended():
    scorer, several = make_models()
    weights = select_members(scorer, several, 0, [1.0] * 3, 10.0, 3)
    assert set(weights) == {0, 1, 2}
    mixed = blend(several, weights)
    assert scorer.rate_by("log_loss", mixed) > max(scorer.rate(each)[1] for each in several)
    assert scorer.accepts(mixed, several[0])


def test_a_blend_that_is_clearly_less_accurate_is_not_accepted():
    scorer, several = make_models()
    unsure = np.full_like(several[0], 0.5)
    assert not scorer.accepts(unsure, several[0])
    assert scorer.accepts(several[0], several[0])
    balanced = HeldOutScorer(scorer.y, scorer.classes, "balanced_accuracy")
    assert not balanced.accepts(unsure, several[0])
    assert balanced.accepts(several[0], several[0])


def test_a_little_better_is_not_clearly_better():
    scorer, several = make_models(n_models=1)
    better = several[0].copy()
    wrong = np.flatnonzero(several[0].argmax(axis=1) != scorer.y)
    better[wrong[0]] = better[wrong[0], ::-1]
    for score in ("accuracy", "balanced_accuracy"):
        judge = HeldOutScorer(scorer.y, scorer.classes, score)
        assert judge.rate(better) > judge.rate(several[0])
        assert not judge.is_clearly_better(better, several[0])
        assert judge.is_clearly_better(several[0], several[0][:, ::-1])


def test_a_member_that_adds_next_to_nothing_is_left_out():
    scorer, several = make_models(n_models=2)
    copy = several[0].copy()
    copy[0] = scorer.y[0] == np.arange(2)
    weights = select_members(scorer, [several[0], copy], 0, [1.0] * 2, 10.0, 2)
    assert len(weights) == 1


def test_a_blend_takes_no_more_members_and_seconds_than_there_are():
    scorer, several = make_models()
    assert len(select_members(scorer, several, 0, [1.0] * 3, 10.0, 2)) == 2
    assert len(select_members(scorer, several, 0, [1.0] * 3, 1.5, 3)) == 1
    assert set(select_members(scorer, several, 0, [9.0] * 3, 1.5, 3)) == {0}


def test_of_equal_models_the_fastest_is_chosen():
    scorer, several = make_models()
    assert scorer.choose([several[0], several[0]], [2.0, 1.0]) == 1


def test_the_reason_names_what_slower_answers_gained():
    y = np.arange(100) % 2
    scorer = HeldOutScorer(y, np.array([0, 1]), "accuracy")
    sure = np.column_stack([1.0 - y, y]) * 0.8 + 0.1
    worse = sure.copy()
    worse[:10] = worse[:10, ::-1]
    gained = round(0.1 * (np.log(0.9) - np.log(0.1)), 4)
    several, names = [sure, worse], ["slow", "quick"]
    assert compare_speed(scorer, several, names, [1e-3, 1e-5], {0: 1.0}) == (
        "; it answers 1,000 rows a second, quick 100,000: the price of a better accuracy by "
        f"0.1000 and log loss by {gained:.4f}"
    )
    assert compare_speed(scorer, several, names, [1e-5, 1e-5], {0: 1.0}) == ""
    assert "it answers 990 rows" in compare_speed(
        scorer, several, names, [1e-3, 1e-5], {0: 0.5, 1: 0.5}
    )
