"""Laws of running: results depend neither on workers nor on the order of completion."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import joblib

from dcsvm.base.decomposer import Decomposer
from dcsvm.base.learner import LocalLearner
from dcsvm.base.problem import Problem
from dcsvm.drive.engine import Engine
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.testing.checks import expect, for_any, law
from dcsvm.testing.problems import easy_problem, new_rows, problems
from dcsvm.testing.trials import Work, look_up, run_last_first, send_through_pickle, try_out


@law("decomposer")
@for_any(problems(), examples=6)
def is_the_same_in_two_threads(decomposer: Decomposer, problem: Problem) -> None:
    """the result does not depend on n_jobs"""
    _expect_same(decomposer, problem, _run_with("threading"), "with two threads")


@law("decomposer")
@for_any(problems(), examples=6)
def is_the_same_when_the_last_part_is_done_first(decomposer: Decomposer, problem: Problem) -> None:
    """the result does not depend on the order of completion"""
    _expect_same(decomposer, problem, run_last_first, "with the last part done first")


@law("decomposer")
def is_the_same_in_two_processes(decomposer: Decomposer) -> None:
    """the result does not depend on the joblib backend"""
    _expect_same(decomposer, easy_problem(), _run_with("loky"), "with two processes")


@law("learner")
def says_whether_threads_can_run_it(learner: LocalLearner) -> None:
    """releases_gil and pairwise are true or false"""
    for word in ("releases_gil", "pairwise"):
        value = getattr(learner, word)
        expect(isinstance(value, bool), f"{word} is {value!r}")


@law("learner")
def fits_in_two_threads_at_once(learner: LocalLearner) -> None:
    """fits that run at the same time give the models they give one after the other"""
    local = [easy_problem(gap=1.0, seed=seed) for seed in range(4)]
    X = new_rows(local[0])
    with ThreadPoolExecutor(2) as pool:
        side_by_side = list(pool.map(learner.fit, local))
    for model, problem in zip(side_by_side, local, strict=True):
        expect(
            model.scores(X).tobytes() == learner.fit(problem).scores(X).tobytes(),
            "a fit next to another one gave other scores than alone: keep nothing on self",
        )


@law("learner")
def comes_back_from_a_worker_process(learner: LocalLearner) -> None:
    """learner and model can be sent between processes, and the scores stay the same"""
    problem = easy_problem(gap=1.0)
    there = send_through_pickle(learner)
    back = send_through_pickle(there.fit(problem))
    expect(
        back.scores(problem.X).tobytes() == learner.fit(problem).scores(problem.X).tobytes(),
        "a model that went through another process gives other scores",
    )


def _run_with(backend: str) -> Callable[[Work], FittedStrategy]:
    def run(steps: Work) -> FittedStrategy:
        with joblib.parallel_config(backend=backend):
            return Engine(n_jobs=2).run(steps)

    return run


def _expect_same(
    decomposer: Decomposer, problem: Problem, run: Callable[[Work], FittedStrategy], how: str
) -> None:
    X = new_rows(problem)
    alone = look_up(decomposer, problem).bits(X)
    expect(
        try_out(decomposer, problem, run).bits(X) == alone,
        f"{how} the parts or the scores differ from those of one worker",
    )
