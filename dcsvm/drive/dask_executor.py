"""Training on a Dask cluster: sends parcels of jobs to workers and collects the outcomes."""

from __future__ import annotations

import asyncio
import itertools
import queue
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent import futures
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import attrs
from distributed import Client, KilledWorker, get_worker, wait

from dcsvm.base.errors import ClusterError, UsageError
from dcsvm.base.malloc_thresholds import keep_memory
from dcsvm.base.problem import Problem
from dcsvm.base.threads import ONE_BLAS_THREAD
from dcsvm.drive.engine import add_account, add_waiting, run_bundle, sort_jobs
from dcsvm.drive.executor import Executor, Numbered
from dcsvm.drive.job_serialization import (
    Parcel,
    Sees,
    make_parcels,
    pack_outcomes,
    pack_shared,
    unpack,
)
from dcsvm.drive.memory_limit import MemoryLimit
from dcsvm.drive.nearby_rows import NearbyRows
from dcsvm.numeric.mapped_rows import MappedRows, is_visible

Made = TypeVar("Made")

#: A parcel is tried so many times before its workers are believed to die of it.
TRIES = 10
#: Parcels that wait at a worker for each of its threads, so that it need not wait for the client.
WAITING = 1
#: Seconds until the list of workers is asked for again, until a missing worker is noticed, and
#: until a cluster without workers is given up.
LIST_SECONDS, CHECK_SECONDS, PATIENCE = 0.5, 5.0, 60.0


class DaskExecutor(Executor):
    """Runs the jobs of a round on the workers of a Dask cluster.

    The client cuts the rows of each part and sends them straight to one worker, which returns the
    models straight to the client: the scheduler sees names only. Rows of a file that all workers
    see are not sent; where all workers are on the client's own machine, it writes the rows to
    one, in a temporary folder. A parcel that was at a lost worker is sent to another one.

    Parameters
    ----------
    client : distributed.Client
        Connected and synchronous. Its security is used for all connections.
    n_jobs : int, optional
        The largest number of parts in training at the same time, whatever a fit asks for.
    direct : bool
        Whether the client can reach the workers. If not, all goes through the scheduler.
    memory : MemoryLimit, optional
        What the client and all workers may take together.
    """

    def __init__(
        self,
        client: Client,
        n_jobs: int | None = None,
        direct: bool = True,
        memory: MemoryLimit | None = None,
    ) -> None:
        if client.asynchronous:
            raise UsageError("the client of a cluster must be synchronous: Client(address)")
        self.client, self.n_jobs, self.direct = client, n_jobs, direct
        self.memory = memory
        self._load: Counter[str] = Counter()
        self._threads: dict[str, int] = {}
        self._listed = -LIST_SECONDS
        self._shared: WeakKeyDictionary[Any, _SharedValue] = WeakKeyDictionary()
        self._visible: dict[tuple[Any, ...], bool] = {}
        self._nearby = NearbyRows(client)

    def count_cores(self, n_jobs: int | None) -> int:
        cores = sum(self._run(self._wait_for_workers()).result().values())
        limits = [each for each in (n_jobs, self.n_jobs) if each is not None and each > 0]
        return max(1, min(cores, *limits)) if limits else cores

    def stream(self, jobs: list[Numbered], n_jobs: int | None) -> Iterator[tuple[int, Any]]:
        if not jobs:
            return
        cores = self.count_cores(n_jobs)
        has_limit = any(each is not None and each > 0 for each in (n_jobs, self.n_jobs))
        at_a_time = cores if has_limit else cores * (1 + WAITING)
        if self.memory is not None:
            at_a_time = self.memory.count_fitting(jobs, cores, len(self._threads))
        nearby = self._nearby.place(jobs, self._threads)
        parcels = iter(make_parcels(sort_jobs(jobs), cores))
        done: queue.SimpleQueue[futures.Future[_Reply]] = queue.SimpleQueue()
        running: dict[futures.Future[_Reply], Parcel] = {}
        try:
            while True:
                for parcel in itertools.islice(parcels, at_a_time - len(running)):
                    begun = self._begin(parcel, nearby, alone=len(jobs) == 1)
                    begun.add_done_callback(done.put)
                    running[begun] = parcel
                if not running:
                    return
                finished = done.get()
                parcel = running.pop(finished)
                yield from finished.result().open(parcel)
        finally:
            for each in running:
                each.cancel()

    def ask(
        self, question: Callable[[Any, Any], Made], model: Any, blocks: Iterable[Any]
    ) -> Iterator[Made]:
        shared = [self._share(model)]
        at_a_time = self.count_cores(None) * (1 + WAITING)
        asked: deque[futures.Future[_Reply]] = deque()
        for number, X in enumerate(blocks):
            content = pack_shared((question, X), self._sees)
            task = _Task(f"predict {number}", X.shape[0], answer_rows, content, shared, False)
            asked.append(self._run(self._do(task)))
            if len(asked) >= at_a_time:
                yield unpack(asked.popleft().result().content)
        while asked:
            yield unpack(asked.popleft().result().content)

    def _begin(
        self, parcel: Parcel, nearby: dict[int, Problem], alone: bool
    ) -> futures.Future[_Reply]:
        far = partial(self._make_task, parcel, alone)
        if not nearby or not all(map(self._nearby.is_seen_by, self._threads)):
            return self._run(self._do(far()))
        moved = parcel.replace(nearby)
        read = {number: job.bytes_read for number, job in moved.jobs}
        return self._run(self._do(self._make_task(moved, alone, read), far))

    def _make_task(
        self, parcel: Parcel, alone: bool, bytes_read: dict[int, int] | None = None
    ) -> _Task:
        def sees(rows: MappedRows) -> bool:
            return bytes_read is not None or self._sees(rows)

        shared = [self._share(each, sees) for each in parcel.shared]
        content = parcel.pack(sees)
        known = parcel.title, parcel.n_rows, learn_parcel, content, shared, alone
        return _Task(*known, bytes_read)

    def _run(self, work: Coroutine[Any, Any, Made]) -> futures.Future[Made]:
        return asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop)

    def _sees(self, rows: MappedRows) -> bool:
        """Whether the workers see the file of mapped rows."""
        file = rows.file
        if file not in self._visible:
            self._visible[file] = all(self.client.run(is_visible, *file).values())
        return self._visible[file]

    def _share(self, value: Any, sees: Sees | None = None) -> _SharedValue:
        if value not in self._shared:
            content = pack_shared(value, sees or self._sees)
            self._shared[value] = _SharedValue(SharedContent(content))
        return self._shared[value]

    async def _do(self, task: _Task, far: Callable[[], _Task] | None = None) -> _Reply:
        """Send a task to workers until one has done it; `far` makes it with its rows."""
        for sent_again in range(TRIES):
            worker = await self._choose_worker()
            if far is not None and not self._nearby.is_seen_by(worker):
                task, far = far(), None
            self._load[worker] += task.n_rows
            try:
                return attrs.evolve(await self._do_at(worker, task), sent_again=sent_again)
            except _WorkerLostError:
                self._listed = -LIST_SECONDS
            finally:
                self._load[worker] -= task.n_rows
        raise ClusterError(
            f"{TRIES} workers were lost while they worked on {task.title} ({task.n_rows} rows); "
            "the logs of the workers may say why, such as too little memory"
        )

    async def _choose_worker(self) -> str:
        """The worker with the least rows to learn for each of its threads."""
        threads = await self._wait_for_workers()
        return min(threads, key=lambda each: (self._load[each] / threads[each], each))

    async def _wait_for_workers(self) -> dict[str, int]:
        """The threads of each running worker, of which there is one at least."""
        began = time.monotonic()
        while not (threads := await self._list_workers()):
            if time.monotonic() - began > PATIENCE:
                raise self._explain("it has no workers")
            await asyncio.sleep(LIST_SECONDS)
        return threads

    async def _list_workers(self) -> dict[str, int]:
        """The threads of each running worker."""
        if time.monotonic() - self._listed > LIST_SECONDS:
            try:
                self._threads = await self.client.scheduler.ncores_running(workers=None)
            except (OSError, AttributeError) as error:  # without a connection it has no scheduler
                raise self._explain(error) from error
            self._listed = time.monotonic()
        return self._threads

    async def _do_at(self, worker: str, task: _Task) -> _Reply:
        began = time.monotonic()
        there = {"workers": [worker], "direct": self.direct, "hash": False}
        try:
            arrived = await self.client.scatter(task.content, **there, timeout=CHECK_SECONDS)
            sent = len(task.content)
            for each in task.shared:
                sent += await each.bring(self.client, worker, there)
        except Exception as error:
            raise self._lose(error) from error
        future = self.client.submit(
            *(task.function, arrived, [each.future for each in task.shared], task.alone),
            key=f"{task.title.replace(' ', '-', 1)}-{uuid.uuid4().hex}",
            workers=[worker],
            allow_other_workers=task.bytes_read is None,
            pure=False,
        )
        returned = await self._wait_for(future, worker)
        return _Reply(returned, sent, time.monotonic() - began, task.bytes_read or {})

    async def _wait_for(self, future: Any, worker: str) -> Any:
        """The result of a task; its error, unless it is that of a lost worker."""
        try:
            while future.status == "pending":
                with suppress(TimeoutError, asyncio.TimeoutError):
                    await wait([future], timeout=CHECK_SECONDS)
                if future.status == "pending" and worker not in await self._list_workers():
                    raise self._lose(None)
            if future.status == "error":
                error = await future.exception()
                if not isinstance(error, KilledWorker):
                    raise _JobError(error)
            return await self.client.gather(future, direct=self.direct)
        except (_JobError, _WorkerLostError, ClusterError) as error:
            raise getattr(error, "error", error) from None
        except Exception as error:
            raise self._lose(error) from error

    def _lose(self, error: Exception | None) -> Exception:
        """What to raise if a task was lost: an error that ends the round, or one to try again."""
        if self.client.status != "running":
            return self._explain(error)
        return _WorkerLostError()

    def _explain(self, why: object) -> ClusterError:
        where = getattr(self.client.scheduler, "addr", None) or "unknown address"
        return ClusterError(
            f"the cluster of Dask at {where} cannot be used: {why or 'the connection is lost'}; "
            "check that its scheduler and its workers run (a run with a folder goes on with "
            "--resume, on any cluster)"
        )


@attrs.frozen(eq=False)
class _Task:
    """What a worker is sent: a function, and its arguments as bytes; some stay for other tasks.

    `bytes_read` has what each job reads from files beside the client's own, if there are any.
    """

    title: str
    n_rows: int
    function: Callable[..., bytes]
    content: bytes
    shared: list[_SharedValue]
    alone: bool
    bytes_read: dict[int, int] | None = None


@attrs.frozen
class _Reply:
    """What a worker returned for a task."""

    content: bytes
    bytes_sent: int
    seconds: float
    bytes_read: dict[int, int]
    sent_again: int = 0

    def open(self, parcel: Parcel) -> Iterator[tuple[int, Any]]:
        """Yield the outcomes of a parcel, each with its share of what the parcel took."""
        worker, outcomes = parcel.unpack_outcomes(self.content)
        n_rows = max(1, sum(outcome.n_rows for _, outcome in outcomes))
        for number, outcome in add_waiting(outcomes, self.seconds):
            share = outcome.n_rows / n_rows
            account = {
                "worker": worker,
                "bytes_sent": round(self.bytes_sent * share),
                "bytes_returned": round(len(self.content) * share),
            }
            account |= {"sent_again": self.sent_again} if self.sent_again else {}
            if number in self.bytes_read:
                account["bytes_read"] = self.bytes_read[number]
            yield number, add_account(outcome, **account)


class _WorkerLostError(Exception):
    """A task was lost with its worker."""


class _JobError(Exception):
    def __init__(self, error: Exception) -> None:
        self.error = error


class SharedContent:
    """A value for many jobs, packed by the client and unpacked where it arrives."""

    def __init__(self, content: bytes, value: Any = None) -> None:
        self.content, self.value = content, value

    def __reduce__(self) -> Any:
        return _unpack_shared, (self.content,)

    def __sizeof__(self) -> int:
        return len(self.content)

    def get(self) -> Any:
        if self.value is None:
            self.value = unpack(self.content)
        return self.value


def _unpack_shared(content: bytes) -> SharedContent:
    return SharedContent(content, unpack(content))


class _SharedValue:
    """A value that is sent to a worker once; others get it from there, and keep it."""

    def __init__(self, content: SharedContent) -> None:
        self.content = content
        self.future: Any = None
        self.workers: set[str] = set()
        self.lock = asyncio.Lock()

    async def bring(self, client: Client, worker: str, there: dict[str, Any]) -> int:
        """Send it, unless the cluster holds it; return the bytes that this worker receives."""
        async with self.lock:
            if self.future is None or self.future.status != "finished":
                self.future = await client.scatter(self.content, **there)
                self.workers.clear()
            if worker in self.workers:
                return 0
            self.workers.add(worker)
            return len(self.content.content)


def learn_parcel(content: bytes, shared: list[SharedContent], alone: bool) -> bytes:
    """Run the jobs of a parcel; called in a worker."""
    worker = get_worker()
    cores = worker.state.nthreads if alone else 1
    with ONE_BLAS_THREAD, keep_memory():
        bundles = unpack(content, [each.get() for each in shared])
        outcomes = [each for bundle in bundles for each in run_bundle(bundle, cores)]
        jobs = [job for bundle in bundles for _, job in bundle]
        return pack_outcomes((str(worker.name), outcomes), jobs)


def answer_rows(content: bytes, shared: list[SharedContent], alone: bool) -> bytes:
    """Predict some rows with a model; called in a worker."""
    question, X = unpack(content)
    with ONE_BLAS_THREAD:
        return pack_shared(question(shared[0].get(), X), lambda _: True)
