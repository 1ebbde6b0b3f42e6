"""Forecasts of a run: samples of rows and classes, growth, and runs that took as long."""

import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest

from dcsvm import Problem
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import find_recipe
from dcsvm.experiments.run import pilot, run_forecast
from dcsvm.experiments.run.pilot import StrategyPilot, find_power, sample_rows, time_samples
from dcsvm.experiments.run.runner import Observer, run_recipe

pytest.importorskip("dcsvm_plugins", reason="the recipes are made of the built-in plugins")


def make_problem(n_classes, rows):
    y = np.repeat(np.arange(n_classes), rows)
    return Problem(np.zeros((len(y), 2)), y, n_classes)


class Clock:
    """Time that passes by work alone."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(pilot, "time", clock)
    return clock


def test_a_sample_has_every_class_or_some_of_many():
    few = make_problem(4, 1000)
    assert np.bincount(few.y[sample_rows(few, 400)]).min() > 50
    many = make_problem(2000, 3)
    for n_rows in (400, 800):
        some = sample_rows(many, n_rows)
        assert n_rows * 0.9 <= len(some) <= n_rows
        assert np.unique(many.y[some]).size == pytest.approx(n_rows / 3, abs=1)


@pytest.mark.parametrize(("n_classes", "rows", "power"), [(2, 6000, 1.5), (2000, 3, 2.0)])
def test_a_forecast_follows_how_work_grows(clock, n_classes, rows, power):
    problem = make_problem(n_classes, rows)

    def work(n_rows):  # in pairs of classes, of rows where classes are few
        return 1e-7 * n_rows**power

    def fit(some):
        clock.now += work(len(some))

    timed = time_samples(fit, problem)
    assert find_power(timed, problem) == pytest.approx(power, rel=0.05)
    sample = sample_rows(problem, timed[-1][0])
    whole = StrategyPilot(timed, sample, find_power(timed, problem))
    forecast = whole.forecast(problem.n_rows, work)
    assert forecast == pytest.approx(work(problem.n_rows), rel=0.1)


def test_samples_stop_growing_once_they_are_slow(clock):
    def fit(some):
        clock.now += len(some)

    assert len(time_samples(fit, make_problem(2, 6000))) == 1


def plan_many(n_classes, tmp_path, division=("whole", "route")):
    generator = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 3)
    X = generator.normal(size=(n_classes, 4))[y] + 0.01 * generator.normal(size=(len(y), 4))
    lines = [f"{','.join(f'{v:.4f}' for v in x)},c{label}" for x, label in zip(X, y, strict=True)]
    path = tmp_path / f"{n_classes}.csv"
    path.write_text("\n".join(["a,b,c,d,label", *lines]) + "\n")
    text = (
        f'data = {{ path = "{path}", target = "label" }}\n'
        f'decomposer = "{division[0]}"\nlearner = "majority"\ncombiner = "{division[1]}"\n'
    )
    (tmp_path / "recipe.toml").write_text(text)
    recipe = find_recipe(str(tmp_path / "recipe.toml"), default_registry())
    return run_forecast.plan_run(recipe, 0, 1)


def test_thousands_of_classes_are_forecast_from_samples_of_them(tmp_path, monkeypatch):
    seen = []

    def watch(problem, n_rows):
        seen.append(len(sample_rows(problem, n_rows)))
        return sample_rows(problem, n_rows)

    monkeypatch.setattr(pilot, "sample_rows", watch)
    planned = plan_many(2000, tmp_path)
    (own,) = planned.candidates
    assert planned.classes == 2000
    assert own.seconds > 0
    assert max(seen) <= pilot.PILOT_ROWS << pilot.DOUBLINGS


def test_a_forecast_grows_with_the_classes(tmp_path, monkeypatch):
    """Time passes by pairs of classes that a learner is given."""
    from dcsvm_plugins.learners.majority import Majority

    clock, fit = Clock(), Majority.fit

    def learn(self, problem):
        clock.now += 1e-6 * problem.n_classes**2
        return fit(self, problem)

    monkeypatch.setattr(Majority, "fit", learn)
    monkeypatch.setattr(pilot, "time", clock)
    monkeypatch.setattr(run_forecast, "time", clock)
    few, many = (plan_many(n, tmp_path).candidates[0].seconds for n in (300, 1200))
    assert 8 < many / few < 32
    assert 1 < many / (2 * 1e-6 * 1200**2) < 2  # fitted, and again from all rows


def test_a_forecast_counts_what_is_kept_of_each_part(tmp_path):
    (own,) = plan_many(300, tmp_path, ("class_pairs", "vote")).candidates
    assert own.parts == pytest.approx(300 * 299 / 2, rel=0.01)  # some are looked at
    # Trained to be measured, and again from all rows.
    assert 2 * own.parts * run_forecast.KEEPING_SECONDS < own.seconds


RECIPES = [
    ("linear_svm", ()),
    ("global_svm", ("search.learner.C=[1.0, 10.0]",)),
    ("td_svm", ("search.seconds=1000", "search.learner.C=[1.0, 10.0]")),
    ("dagsvm", ()),
    ("bagging_svm", ()),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "changes"), RECIPES, ids=[name for name, _ in RECIPES])
def test_a_run_takes_about_as_long_as_it_was_told(name, changes, monkeypatch):
    """By the processor's time, which other programs change less."""
    processor = SimpleNamespace(perf_counter=time.process_time)
    monkeypatch.setattr(pilot, "time", processor)
    monkeypatch.setattr(run_forecast, "time", processor)
    recipe = find_recipe(name, default_registry(), changes)
    told = sum(each.seconds for each in run_forecast.plan_run(recipe, 0, 1).candidates)
    steps = []

    class Steps(Observer):
        def on_step_begin(self, title, n_rows=None):
            steps.append((title, time.process_time()))

    run_recipe(recipe, n_jobs=1, observer=Steps())
    steps.append(("end", time.process_time()))
    took = sum(
        end - begin
        for (title, begin), (_, end) in itertools.pairwise(steps)
        if title.startswith(("choosing", "training"))
    )
    assert told / 3 < took + 0.1, (told, took)
    assert took < 3 * told + 0.3, (told, took)
