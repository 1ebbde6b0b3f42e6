"""Engine: trains parts in parallel on an executor, at any depth of nesting.

The loop that divides, trains and combines is in `dcsvm/classifier.py`.
"""

from __future__ import annotations

import gc
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs
import joblib

from dcsvm.base.errors import ContractError
from dcsvm.base.learner import Steps
from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Problem
from dcsvm.base.stages import together
from dcsvm.base.subproblem import FitResult, Subproblem
from dcsvm.base.threads import CORES, find_blas
from dcsvm.drive.executor import CHOSEN, Executor, Numbered, Runnable
from dcsvm.drive.observers import Observer
from dcsvm.drive.row_runs import gather_runs
from dcsvm.drive.task_batch import TaskBatch
from dcsvm.drive.validation import check_jobs

if TYPE_CHECKING:
    from dcsvm.drive.memory_limit import MemoryLimit

Result = TypeVar("Result")

#: The largest numbers of small jobs and of their rows in one call, and the least calls per core.
TOGETHER, ROWS_TOGETHER, CALLS = 256, 20_000, 4
#: During a fit, garbage is looked for among so many new objects: most are parts of the model.
NEW_OBJECTS = 500_000
#: In rounds with fewer jobs, nested strategies are split to keep all cores busy.
FEW_JOBS = 32


class Checkpoints(Protocol):
    """Stores results, so that an interrupted run can be resumed.

    A result is what the `run` of a Runnable returns: a FitResult or another attrs class.
    """

    def get(self, key: str) -> Any: ...

    def put(self, key: str, outcome: Any) -> None: ...


class LocalExecutor(Executor):
    """Runs jobs with joblib: in threads where their learner releases the GIL, or in processes.

    With a limit of memory, jobs wait until they fit, and one that never can raises.
    """

    def __init__(self, memory: MemoryLimit | None = None) -> None:
        self.memory = memory

    def count_cores(self, n_jobs: int | None) -> int:
        return int(joblib.effective_n_jobs(n_jobs))

    def stream(self, jobs: list[Numbered], n_jobs: int | None) -> Iterator[tuple[int, Any]]:
        cores = self.count_cores(n_jobs)
        if self.memory is not None and jobs:
            self.memory.count_fitting(jobs, cores)
        if len(jobs) < 2 or cores == 1:
            for bundle in bundle_jobs(jobs, TOGETHER):
                yield from run_bundle(bundle, cores)
            return
        for prefer, releases in (("threads", True), ("processes", False)):
            mine = [(number, job) for number, job in jobs if job.learner.releases_gil is releases]
            if len(mine) == 1:  # it may use all cores, and needs no worker
                yield from run_bundle(mine, cores)
            elif mine:
                at_a_time, run = self._fit_in(mine, n_jobs, cores, releases)
                parallel = joblib.Parallel(
                    at_a_time, prefer=prefer, return_as="generator_unordered"
                )
                bundles = bundle_jobs(sort_jobs(mine), min(TOGETHER, len(mine) // (CALLS * cores)))
                sent: dict[int, float] = {}
                outcomes = parallel(
                    joblib.delayed(run)(bundle) for bundle in _note_times(bundles, sent)
                )
                with _close_quietly(outcomes):
                    for done in outcomes:
                        spent = time.perf_counter() - sent.pop(done[0][0])
                        yield from add_waiting(done, spent)

    def _fit_in(
        self, jobs: list[Numbered], n_jobs: int | None, cores: int, in_threads: bool
    ) -> tuple[int | None, Callable[[Sequence[Numbered]], Any]]:
        """How many jobs run at a time, and the function that runs some of them."""
        if self.memory is None:
            return n_jobs, run_bundle
        if in_threads:
            return n_jobs, self.memory.guard(run_bundle)
        return self.memory.count_fitting(jobs, cores, workers=cores), run_bundle


def _note_times(
    bundles: Iterator[list[Numbered]], sent: dict[int, float]
) -> Iterator[list[Numbered]]:
    """Yield bundles, and note when each was sent, by the number of its first job."""
    for bundle in bundles:
        sent[bundle[0][0]] = time.perf_counter()
        yield bundle


@contextmanager
def _close_quietly(outcomes: Any) -> Iterator[None]:
    """Stop the remaining jobs without joblib's warning."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.close()


LOCAL = LocalExecutor()


def choose_executor() -> Executor:
    """The executor of the enclosing `with cluster(...)` block, or the local one."""
    return CHOSEN.get() or LOCAL


@attrs.define
class Engine:
    """Runs the jobs of each round in parallel.

    In rounds of fewer than FEW_JOBS jobs, and with checkpoints, the jobs of nested strategies
    join the round. Results do not depend on `n_jobs` or the executor, to the last bit: a job's
    seed is its path in the division, and BLAS has one thread per job.
    """

    n_jobs: int | None = attrs.field(
        default=None, validator=lambda _, __, n_jobs: check_jobs(n_jobs)
    )
    observers: tuple[Observer, ...] = ()
    checkpoints: Checkpoints | None = None
    executor: Executor = attrs.field(factory=choose_executor)

    def run(self, steps: Generator[list[Any], list[Any], Result]) -> Result:
        """Run `steps` to the end, with one BLAS thread per job, and return its result."""
        with find_blas(len(sys.modules)).limit(limits=1, user_api="blas"), _collect_rarely():
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

    def count_cores(self) -> int:
        """How many jobs run at the same time."""
        return self.executor.count_cores(self.n_jobs)

    def _cores(self) -> int:
        """The cores of this process, for a division; all of them, if the jobs run elsewhere."""
        elsewhere = self.n_jobs is None and not isinstance(self.executor, LocalExecutor)
        return int(joblib.effective_n_jobs(-1 if elsewhere else self.n_jobs))

    def _round(self, jobs: list[Runnable]) -> list[Any]:
        few = len(jobs) < FEW_JOBS or self.checkpoints is not None
        if few and any(job.is_nested for job in jobs):
            return self.drive(together(_steps_of(job) for job in jobs))
        for observer in self.observers:
            observer.on_round_begin(len(jobs))
        outcomes: dict[int, Any] = {}
        numbered, limit = list(enumerate(jobs)), self.executor.memory
        spill = None if limit is None else limit.plan_spill(numbered)
        for number, outcome in self._stream(numbered):
            outcomes[number] = outcome if spill is None else spill(outcome)
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
        read = {number: count for number, job in jobs if (count := job.bytes_read)}
        moved = gather_runs(jobs, self.executor.memory) if read else jobs
        for number, outcome in self.executor.stream(moved, self.n_jobs):
            if number in read:
                outcome = add_account(outcome, bytes_read=read[number])
            yield number, outcome


@contextmanager
def _collect_rarely() -> Iterator[None]:
    """Visit new objects rarely, and count those of the fit as old ones at its end."""
    new, *old = gc.get_threshold()
    if new:
        gc.set_threshold(max(new, NEW_OBJECTS), *old)
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(new, *old)


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
    return Engine(n_jobs=1, executor=LOCAL).drive(steps)


def sort_jobs(jobs: list[Numbered]) -> list[Numbered]:
    """Largest first, so that no large part is left for the end."""
    return sorted(jobs, key=lambda numbered: -numbered[1].n_rows)


def bundle_jobs(jobs: list[Numbered], size: int) -> Iterator[list[Numbered]]:
    """Yield jobs in order: up to `size` small ones of one learner together, others alone."""
    bundle: list[Numbered] = []
    rows = 0
    for number, job in jobs:
        joins = job.can_be_batched and size > 1
        rows += job.n_rows
        fits = joins and len(bundle) < size and rows <= ROWS_TOGETHER
        if bundle and not (fits and job.learner is bundle[0][1].learner):
            yield bundle
            bundle, rows = [], job.n_rows
        bundle.append((number, job))
        if not joins:
            yield bundle
            bundle, rows = [], 0
    if bundle:
        yield bundle


def run_bundle(bundle: Sequence[Numbered], cores: int = 1) -> list[tuple[int, Any]]:
    """Run the jobs of a bundle, each with `cores`; called in a worker."""
    numbers, jobs = zip(*bundle, strict=True)
    began = time.time()
    before = CORES.set(cores)
    try:
        outcomes = run_batch(jobs) if len(jobs) > 1 else [jobs[0].run()]
    except Exception as error:
        more = f" or one of {len(jobs) - 1} trained with it" if len(jobs) > 1 else ""
        error.add_note(f"in part {jobs[0].title} of {jobs[0].n_rows:,} rows{more}")
        raise
    finally:
        CORES.reset(before)
    done = []
    for number, outcome in zip(numbers, outcomes, strict=True):
        done.append((number, add_account(outcome, began=began, waited=0.0)))
        began += outcome.seconds
    return done


def run_batch(jobs: Sequence[Subproblem]) -> list[FitResult]:
    """Train several parts with the same learner; called in a worker."""
    started = time.perf_counter()
    tasks = TaskBatch.of(jobs) if jobs[0].part.is_plain_task else None
    if tasks is not None:
        models = train_together(jobs[0], tasks.stack())
        return tasks.results(iter(models), (time.perf_counter() - started) / len(jobs))
    cuts = [job.extract() for job in jobs]
    models = train_together(jobs[0], [cut.problem for cut in cuts if cut.n_classes > 1])
    rest, seconds = iter(models), (time.perf_counter() - started) / len(jobs)
    return [cut.result(cut.constant() or next(rest), seconds) for cut in cuts]


def train_together(job: Subproblem, problems: Sequence[Problem]) -> Sequence[LocalModel]:
    """The models of several problems by the learner of a job; raise if some are missing."""
    models = job.learner.fit_together(problems) if len(problems) else []
    if len(models) != len(problems):
        raise ContractError(
            f"{job.title}: fit_together returned {len(models)} models of {len(problems)} problems"
        )
    return models


def add_waiting(done: Sequence[tuple[int, Any]], spent: float) -> Iterator[tuple[int, Any]]:
    """Yield the outcomes of jobs that were away together, each with its share of the waiting."""
    waited = max(0.0, spent - sum(outcome.seconds for _, outcome in done))
    n_rows = max(1, sum(outcome.n_rows for _, outcome in done))
    for number, outcome in done:
        yield number, add_account(outcome, waited=waited * outcome.n_rows / n_rows)


def add_account(outcome: Any, **account: Any) -> Any:
    """Add facts on how its job was run to an outcome, if it is the result of a part."""
    if isinstance(outcome, FitResult):
        outcome.account.update(account)
    return outcome
