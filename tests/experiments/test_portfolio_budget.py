"""A portfolio keeps its budget, on a clock that the test moves on."""

import warnings
from types import SimpleNamespace

import attrs
import numpy as np
import pytest

from dcsvm.base.errors import DataError
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import Observer
from dcsvm.experiments.portfolio import recipe_trials
from dcsvm.experiments.portfolio.budget import Budget, TimeUpError
from dcsvm.experiments.portfolio.portfolio_evaluation import PortfolioEvaluation
from dcsvm.experiments.portfolio.portfolio_search import PortfolioSearch
from dcsvm.experiments.portfolio.recipe_trials import PILOT, Trial, TrialContext, TrialRows
from dcsvm.experiments.run.search_result import SearchResult

N = 20_000


class Clock:
    """A clock that trials move on."""

    now = 0.0

    def __call__(self):
        return self.now


class PretendedContext(TrialContext):
    """Trials that take the seconds, and are right as often, as their recipe says."""

    def run(self, recipe, rows, given, grid, seconds):
        n = len(rows.train)
        fit = recipe.constant + recipe.each * n
        pilot = 0.0 if given else recipe.constant + recipe.each * n / PILOT
        self.budget.clock.now += fit + pilot
        generator = np.random.default_rng(len(recipe.name) + n)
        right = generator.random(len(rows.validation)) < recipe.quality
        second = np.where(right, self.y[rows.validation], 1 - self.y[rows.validation]) * 0.8 + 0.1
        probabilities = np.column_stack([1 - second, second])
        trial = Trial(recipe.name, n, rows.sample_size, rows.fold, probabilities, {"tried": True})
        return attrs.evolve(trial, fit_seconds=fit, pilot_seconds=pilot), None


def recipe(name, quality, each, constant=0.1):
    candidate = SimpleNamespace(grid={})
    return SimpleNamespace(
        name=name,
        quality=quality,
        each=each,
        constant=constant,
        candidate=candidate,
        data=SimpleNamespace(schema=None),
        describe=lambda values: {"chosen": name},
        describe_member=lambda values: ({"use": name}, {}),
    )


def search(recipes, seconds):
    """The result, and what the clock says after the last fits."""
    clock = Clock()
    y = np.arange(N) % 2
    context = PretendedContext(
        np.zeros((N, 1)), y, None, 0, Observer(), Budget(seconds, clock), "accuracy"
    )
    evaluation = PortfolioEvaluation(context, np.arange(N), [(N, 0), (N, 0)])
    found = PortfolioSearch(evaluation, recipes, members=1).run()
    (chosen,) = [each for each in recipes if found.values["chosen"] == each.name]
    fit = chosen.constant + chosen.each * N
    clock.now += fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return found, clock.now + fit * context.budget.can_learn_again(fit, 1.0)


GOOD, FAIR, POOR = recipe("good", 0.9, 2e-4), recipe("fair", 0.85, 5e-5), recipe("poor", 0.6, 1e-5)


def test_the_best_is_chosen_and_judged_by_all_folds_where_there_is_time():
    found, spent = search([POOR, FAIR, GOOD], 300.0)
    assert found.chosen == "good"
    board = {each.recipe: each for each in found.leaderboard}
    assert board["good"].folds == 5
    assert spent <= 300


@pytest.mark.parametrize("seconds", [10.0, 20.0, 40.0, 80.0])
def test_no_search_takes_more_than_it_has(seconds):
    _, spent = search([GOOD, FAIR, POOR], seconds)
    assert spent <= 1.1 * seconds


def test_what_could_not_learn_all_rows_in_time_is_left():
    slow = recipe("slow", 0.99, 1e-2)
    found, spent = search([slow, FAIR, POOR], 60.0)
    assert found.chosen == "fair"
    assert spent <= 60
    (told,) = [each.outcome for each in found.leaderboard if each.recipe == "slow"]
    assert "all rows" in told


def test_what_is_clearly_better_is_trained_once_where_the_time_lasts_for_that_only():
    far_better = recipe("slow", 0.99, 3e-4)  # 6 s for all rows
    found, spent = search([FAIR, far_better], 20.0)
    assert found.chosen == "slow"
    assert spent <= 1.1 * 20
    assert "too slow" in next(e.outcome for e in found.leaderboard if e.recipe == "slow")


def test_a_large_constant_is_not_taken_to_grow():
    steady = recipe("steady", 0.9, 1e-5, constant=2.0)
    found, spent = search([steady, POOR], 30.0)
    assert found.chosen == "steady"
    assert spent <= 30


def choose(monkeypatch, longest, n_rows=2000, lacking=0):
    """The sizes that a trial searched, and the one that chose.

    More rows than `longest` take too long, and `lacking` rows lack a class.
    """
    sizes = []

    def search(candidate, make, settings, *others):
        sizes.append(settings.rows)
        if settings.rows > longest:
            raise TimeUpError
        if settings.rows == lacking:
            raise DataError("a class is missing")
        return SearchResult({"learner.C": settings.rows}, 0.9, (), "", settings.rows)

    monkeypatch.setattr(recipe_trials, "search", search)
    searched = SimpleNamespace(
        recipe=SimpleNamespace(split=None),
        candidate=attrs.make_class("Pretended", ["grid"])({}),
        adapt_search=lambda score, n, seconds: SimpleNamespace(score=score, rows=n),
    )
    context = TrialContext(None, None, Engine(1), 0, Observer(), Budget(60.0, Clock()), "roc_auc")
    rows = TrialRows(np.arange(n_rows), np.arange(9), n_rows)
    return sizes, context._choose(searched, rows, {}, {"learner.C": [1, 2]}, 10.0)


def test_a_sample_chooses_where_a_search_of_all_rows_takes_too_long(monkeypatch):
    sizes, found = choose(monkeypatch, longest=1000)
    assert sizes == [500, 2000]
    assert found.values == {"learner.C": 500}


def test_all_rows_choose_where_there_is_time(monkeypatch):
    assert choose(monkeypatch, longest=9999)[1].values == {"learner.C": 2000}
    assert choose(monkeypatch, longest=9999, n_rows=300)[0] == [300]
    assert choose(monkeypatch, longest=9999, lacking=500)[1].values == {"learner.C": 2000}
    with pytest.raises(DataError):
        choose(monkeypatch, longest=9999, lacking=2000)


def test_a_trial_without_time_for_a_sample_fails(monkeypatch):
    with pytest.raises(TimeUpError):
        choose(monkeypatch, longest=100)
