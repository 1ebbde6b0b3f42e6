"""Engine: trains parts in parallel with joblib, at any depth of nesting."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar

import attrs
import joblib
from threadpoolctl import threadpool_limits

from dcsvm.base.learner import LocalLearner, Steps
from dcsvm.base.models import LocalModel
from dcsvm.base.stages import together
from dcsvm.base.threads import CORES, ONE_BLAS_THREAD
from dcsvm.drive.observers import Observer
from dcsvm.drive.subproblem import run_batch
from dcsvm.drive.validation import check_jobs

Result = TypeVar("Result")

#: The largest number of small jobs in one call, and the least number of calls per core.
TOGETHER, CALLS = 64, 4
#: In rounds with fewer jobs, nested strategies are split to keep all cores busy.
FEW_JOBS = 32


class Done(Protocol):
    """The result of a Runnable."""

    @property
    def n_rows(self) -> int: ...

    @property
    def seconds(self) -> float: ...


class Runnable(Protocol):
    """A job that the engine can run: a Subproblem, or other work on a part."""

    @property
    def learner(self) -> LocalLearner: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def can_be_batched(self) -> bool: ...

    @property
    def is_nested(self) -> bool: ...

    def key(self) -> str: ...

    def run(self) -> Any: ...


Numbered: TypeAlias = tuple[int, Runnable]


class Checkpoints(Protocol):
    """Stores results, so that an interrupted run can be resumed.

    A result is what the `run` of a Runnable returns: a FitResult or another attrs class.
    """

    def get(self, key: str) -> Any: ...

    def put(self, key: str, outcome: Any) -> None: ...


@attrs.define
class Engine:
    """Runs the jobs of each round in parallel.

    In rounds of fewer than FEW_JOBS jobs, and with checkpoints, the jobs of nested strategies
    join the round. Results do not depend on `n_jobs` or the joblib backend, to the last bit: a
    job's seed is its path in the division, and BLAS has one thread per job.
    """

    n_jobs: int | None = attrs.field(
        default=None, validator=lambda _, __, n_jobs: check_jobs(n_jobs)
    )
    observers: tuple[Observer, ...] = ()
    checkpoints: Checkpoints | None = None

    def run(self, steps: Generator[list[Any], list[Any], Result]) -> Result:
        """Run `steps` to the end, with one BLAS thread per job, and return its result."""
        with threadpool_limits(**ONE_BLAS_THREAD):
            return self.drive(steps)

    def drive(self, steps: Generator[list[Any], list[Any], Result]) -> Result:
        """Like `run`, but leave BLAS as it is: for work inside a worker."""
        outcomes: Any = None
        while True:
            # Between rounds no job runs, so the division may use the cores.
            before = CORES.set(self._cores())
            try:
                jobs = steps.send(outcomes)
            except StopIteration as stop:
                result: Result = stop.value
                return result
            finally:
                CORES.reset(before)
            outcomes = self._round(jobs)

    def _cores(self) -> int:
        return int(joblib.effective_n_jobs(self.n_jobs))

    def _round(self, jobs: list[Runnable]) -> list[Any]:
        few = len(jobs) < FEW_JOBS or self.checkpoints is not None
        if few and any(job.is_nested for job in jobs):
            return self.drive(together(_steps_of(job) for job in jobs))
        for observer in self.observers:
            observer.on_round_begin(len(jobs))
        outcomes: dict[int, Any] = {}
        for number, outcome in self._stream(list(enumerate(jobs))):
            outcomes[number] = outcome
            for observer in self.observers:
                observer.on_part_done(jobs[number], outcome)
        for observer in self.observers:
            observer.on_round_end()
        return [outcomes[number] for number in range(len(jobs))]

    def _stream(self, jobs: list[Numbered]) -> Iterator[tuple[int, Any]]:
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

    def _train(self, jobs: list[Numbered]) -> Iterator[tuple[int, Any]]:
        cores = self._cores()
        if len(jobs) < 2 or cores == 1:
            for bundle in _bundles(jobs, TOGETHER):
                before = CORES.set(cores)
                try:
                    done = _run(bundle)
                finally:
                    CORES.reset(before)
                yield from done
            return
        for prefer, releases in (("threads", True), ("processes", False)):
            mine = [(number, job) for number, job in jobs if job.learner.releases_gil is releases]
            # Largest first, so that no large part is left for the end.
            mine.sort(key=lambda numbered: -numbered[1].n_rows)
            if mine:
                parallel = joblib.Parallel(
                    self.n_jobs, prefer=prefer, return_as="generator_unordered"
                )
                bundles = _bundles(mine, min(TOGETHER, len(mine) // (CALLS * cores)))
                for done in parallel(joblib.delayed(_run)(bundle) for bundle in bundles):
                    yield from done


def _steps_of(job: Any) -> Generator[list[Runnable], list[Any], Any]:
    """Turn a job into steps: those of a nested strategy, or a single one."""
    if job.is_nested:
        cut = job.extract()
        started = time.perf_counter()
        model = cut.constant()
        nested = None if model else job.learner.fit_in_steps(cut.problem)
        if nested is not None:
            model = yield from nested
        if model is not None:
            return cut.result(model, time.perf_counter() - started)
    (outcome,) = yield [job]
    return outcome


def run_inline(steps: Steps) -> LocalModel:
    """Run steps in the calling thread, for a nested strategy inside a worker."""
    return Engine(n_jobs=1).drive(steps)


def _bundles(jobs: list[Numbered], size: int) -> Iterator[list[Numbered]]:
    """Yield jobs in order: up to `size` small ones of one learner together, others alone."""
    bundle: list[Numbered] = []
    for number, job in jobs:
        joins = job.can_be_batched and size > 1
        if bundle and not (joins and len(bundle) < size and job.learner is bundle[0][1].learner):
            yield bundle
            bundle = []
        bundle.append((number, job))
        if not joins:
            yield bundle
            bundle = []
    if bundle:
        yield bundle


def _run(bundle: list[Numbered]) -> list[tuple[int, Any]]:
    numbers, jobs = zip(*bundle, strict=True)
    outcomes = run_batch(jobs) if len(jobs) > 1 else [jobs[0].run()]
    return list(zip(numbers, outcomes, strict=True))
