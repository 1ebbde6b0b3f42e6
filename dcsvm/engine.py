"""Running parts through joblib: one engine for every depth of nesting."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

import attrs
import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from dcsvm.digest import digest
from dcsvm.interfaces import LocalLearner, Steps, together
from dcsvm.models import Constant, LocalModel
from dcsvm.numeric.matrix import FloatArray, IntArray
from dcsvm.problem import Part, Problem, Seed
from dcsvm.views import Chain, Columns, View

Result = TypeVar("Result")

#: Rounds with fewer jobs than this may leave cores idle.
FEW_JOBS = 32


@attrs.frozen(eq=False)
class Job:
    """A part to be trained: everything that decides its outcome, and nothing else."""

    problem: Problem
    part: Part
    learner: LocalLearner
    seed: Seed

    def cut(self) -> Cut:
        """Cut the part's own problem out of the whole: rows, task, view, weights, classes."""
        rows, start, signs = self.part.rows, self.part.start, None
        weights = _product(self.problem.weights, rows, self.part.weights)
        y = self.problem.y[rows]
        if self.part.task is not None:
            signs = self.part.task.code(self.problem.n_classes)[y]
            asked = np.flatnonzero(signs)
            if len(asked) < len(rows):
                rows, y, signs = rows[asked], y[asked], signs[asked]
                weights = None if weights is None else weights[asked]
                start = None if start is None else start[asked]
        present, y = np.unique(y, return_inverse=True)
        code = self._code(present)
        if signs is not None:
            y = (signs > 0).astype(np.intp)
        whole = len(rows) == self.problem.n_rows and bool((np.diff(rows) == 1).all())
        X = self.problem.X if whole else self.problem.X[rows]
        view = self._view(rows)
        if view is not None:
            view = view.fit(X)
            X = view.apply(X)
        sides = len(present) if signs is None else len(np.unique(y))
        local = Problem(X, y, sides, self.seed, weights, start, _threads.get())
        return Cut(local, rows, view, code)

    @property
    def is_made_of_others(self) -> bool:
        """Whether the learner can hand its work to the engine in steps."""
        return type(self.learner).fit_in_steps is not LocalLearner.fit_in_steps

    def key(self) -> str:
        """The name of this job's outcome: the same exactly when all that decides it is."""
        part = self.part
        described = (part.rows, part.view, part.task, part.weights, part.start)
        return digest(_problem_key(self.problem), *described, self.learner, self.seed)

    def run(self) -> Outcome:
        """Train the part; called in a worker."""
        started = time.perf_counter()
        cut = self.cut()
        model = cut.constant() or self.learner.fit(cut.problem)
        return cut.outcome(model, time.perf_counter() - started)

    def _view(self, rows: IntArray) -> View | None:
        if not self.learner.pairwise:
            return self.part.view
        between = Columns(rows)
        return between if self.part.view is None else Chain((between, self.part.view))

    def _code(self, present: IntArray) -> IntArray:
        """What the columns of the model will mean for each class of the problem."""
        k = self.problem.n_classes
        if self.part.task is not None:
            code = np.zeros((1, k), dtype=np.int8)
            code[0, present] = self.part.task.code(k)[present]
            return code
        if len(present) == 2:
            code = np.zeros((1, k), dtype=np.int8)
            code[0, present] = (-1, 1)
            return code
        code = np.zeros((len(present), k), dtype=np.int8)
        code[np.arange(len(present)), present] = 1
        return code


@attrs.frozen(eq=False)
class Cut:
    """A part's own problem, and what leads back from it to the problem it was cut from."""

    problem: Problem
    rows: IntArray
    view: View | None
    code: IntArray

    def constant(self) -> LocalModel | None:
        """The answer to a part with one class, or with one side of its task, only."""
        if self.problem.n_classes > 1:
            return None
        return Constant(float(self.code[0].sum() > 0) * 2.0 - 1.0)

    def outcome(self, model: LocalModel, seconds: float) -> Outcome:
        kept = model.support
        support = np.zeros(0, dtype=np.intp) if kept is None else self.rows[kept]
        return Outcome(model, self.view, self.code, support, len(self.rows), seconds)


@attrs.frozen(eq=False)
class Outcome:
    """What comes back from a worker: the model, and what a Member needs beside it."""

    model: LocalModel
    view: View | None
    code: IntArray
    support: IntArray
    n_rows: int
    seconds: float


class Done(Protocol):
    """What comes back from any kind of work on a part."""

    @property
    def n_rows(self) -> int: ...

    @property
    def seconds(self) -> float: ...


class Runnable(Protocol):
    """Work that the engine can run: a Job, or any other kind of work on a part."""

    @property
    def learner(self) -> LocalLearner: ...

    @property
    def is_made_of_others(self) -> bool: ...

    def key(self) -> str: ...

    def run(self) -> Any: ...


class Watcher(Protocol):
    """Who is told how training goes on: a progress bar, a log, scikit-learn's callbacks."""

    def round_begins(self, n_jobs: int) -> None: ...

    def part_done(self, job: Runnable, outcome: Done) -> None: ...

    def round_ends(self) -> None: ...


class Checkpoints(Protocol):
    """Where outcomes are kept, so that a run that was cut short need not train them again."""

    def get(self, key: str) -> Outcome | None: ...

    def put(self, key: str, outcome: Outcome) -> None: ...


@attrs.define
class Engine:
    """Runs work in steps: every round's jobs at the same time, results as they come.

    A job whose learner is made of others is taken apart, and its own jobs join the round, where a
    round would else leave cores idle (fewer than FEW_JOBS jobs) or where finished jobs are kept.
    The same bits come out for any `n_jobs` and any joblib backend: a job's seed is its place in
    the division, BLAS has one thread per job, and outcomes are put back in the order of the jobs.
    """

    n_jobs: int | None = None
    watchers: tuple[Watcher, ...] = ()
    checkpoints: Checkpoints | None = None

    def run(self, steps: Generator[list[Any], list[Any], Result]) -> Result:
        """Drive `steps` to its end, with one BLAS thread per job, and return what it returns."""
        with threadpool_limits(limits=1, user_api="blas"):
            return self.drive(steps)

    def drive(self, steps: Generator[list[Any], list[Any], Result]) -> Result:
        """Drive `steps` to its end with BLAS as it is: for work that already runs in a worker."""
        try:
            jobs = next(steps)
            while True:
                jobs = steps.send(self._round(jobs))
        except StopIteration as stop:
            result: Result = stop.value
        return result

    def _round(self, jobs: list[Runnable]) -> list[Any]:
        few = len(jobs) < FEW_JOBS or self.checkpoints is not None
        if few and any(job.is_made_of_others for job in jobs):
            return self.drive(together(_steps_of(job) for job in jobs))
        for watcher in self.watchers:
            watcher.round_begins(len(jobs))
        outcomes: dict[int, Any] = {}
        for number, outcome in self._stream(list(enumerate(jobs))):
            outcomes[number] = outcome
            for watcher in self.watchers:
                watcher.part_done(jobs[number], outcome)
        for watcher in self.watchers:
            watcher.round_ends()
        return [outcomes[number] for number in range(len(jobs))]

    def _stream(self, jobs: list[tuple[int, Runnable]]) -> Iterator[tuple[int, Any]]:
        if self.checkpoints is None:
            yield from self._train(jobs)
            return
        keys = {number: job.key() for number, job in jobs}
        missing = []
        for number, job in jobs:
            kept = self.checkpoints.get(keys[number])
            if kept is None:
                missing.append((number, job))
            else:
                yield number, kept
        for number, outcome in self._train(missing):
            self.checkpoints.put(keys[number], outcome)
            yield number, outcome

    def _train(self, jobs: list[tuple[int, Runnable]]) -> Iterator[tuple[int, Any]]:
        cores = joblib.effective_n_jobs(self.n_jobs)
        if len(jobs) < 2 or cores == 1:
            with _lent(cores):
                yield from (_numbered(number, job) for number, job in jobs)
            return
        for prefer, releases in (("threads", True), ("processes", False)):
            mine = [(number, job) for number, job in jobs if job.learner.releases_gil is releases]
            if mine:
                parallel = joblib.Parallel(
                    self.n_jobs, prefer=prefer, return_as="generator_unordered"
                )
                yield from parallel(joblib.delayed(_numbered)(number, job) for number, job in mine)


#: How many cores the job that runs in this thread may use: more than one only if it runs alone.
_threads: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def _lent(cores: int) -> Iterator[None]:
    token = _threads.set(cores)
    try:
        yield
    finally:
        _threads.reset(token)


def _steps_of(job: Any) -> Generator[list[Runnable], list[Any], Any]:
    """One job as work in steps: a learner made of others is taken apart, any other is one step."""
    if job.is_made_of_others:
        cut = job.cut()
        started = time.perf_counter()
        model = cut.constant()
        nested = None if model else job.learner.fit_in_steps(cut.problem)
        if nested is not None:
            model = yield from nested
        if model is not None:
            return cut.outcome(model, time.perf_counter() - started)
    (outcome,) = yield [job]
    return outcome


def in_one_go(steps: Steps) -> LocalModel:
    """Run steps in the calling thread: how a nested learner fits when nobody takes it apart."""
    return Engine(n_jobs=1).drive(steps)


_problem_keys: WeakKeyDictionary[Problem, str] = WeakKeyDictionary()


def _problem_key(problem: Problem) -> str:
    if problem not in _problem_keys:
        _problem_keys[problem] = digest(problem)
    return _problem_keys[problem]


def _numbered(number: int, job: Runnable) -> tuple[int, Any]:
    return number, job.run()


def _product(weights: FloatArray | None, rows: IntArray, more: FloatArray | None) -> Any:
    mine = None if weights is None else weights[rows]
    if mine is None or more is None:
        return more if mine is None else mine
    return mine * more
