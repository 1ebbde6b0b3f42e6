"""Executors: where the jobs of a round run, in this process or near their rows on a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from dcsvm.base.errors import UsageError
from dcsvm.base.learner import LocalLearner

if TYPE_CHECKING:
    from dcsvm.drive.memory_limit import MemoryLimit


class Done(Protocol):
    """The result of a Runnable."""

    @property
    def n_rows(self) -> int: ...

    @property
    def seconds(self) -> float: ...


class Runnable(Protocol):
    """A job that the engine can run: a Subproblem, or other work on a part.

    `shared` are large values that many jobs of a round refer to, such as the problem of parts that
    share its kernel; the pickle of a job may hold them whole.
    """

    @property
    def learner(self) -> LocalLearner: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def can_be_batched(self) -> bool: ...

    @property
    def is_nested(self) -> bool: ...

    @property
    def title(self) -> str: ...

    @property
    def shared(self) -> tuple[Any, ...]: ...

    @property
    def bytes_read(self) -> int: ...

    @property
    def bytes_needed(self) -> float: ...

    def key(self) -> str: ...

    def run(self) -> Any: ...


Made = TypeVar("Made")
Numbered: TypeAlias = tuple[int, Runnable]


class Executor(ABC):
    """Runs the jobs of a round somewhere, and streams their outcomes back.

    The engine calls `stream` once for each round, and a search may do so in several threads at a
    time. An executor must not change results: a job holds all that they depend on. It runs the
    jobs of a lost worker again, and raises the error of a job as it is. A complete one::

        class OneByOne(Executor):
            def count_cores(self, n_jobs):
                return 1

            def stream(self, jobs, n_jobs):
                for number, job in jobs:
                    yield number, job.run()
    """

    #: What a run may take in all, if there is a limit.
    memory: MemoryLimit | None = None

    @abstractmethod
    def count_cores(self, n_jobs: int | None) -> int:
        """How many jobs run at the same time, if the user asks for `n_jobs`."""

    @abstractmethod
    def stream(self, jobs: list[Numbered], n_jobs: int | None) -> Iterator[tuple[int, Any]]:
        """Run the jobs; yield the number and the outcome of each when it is done, in any order."""

    def ask(
        self, question: Callable[[Any, Any], Made], model: Any, blocks: Iterable[Any]
    ) -> Iterator[Made]:
        """Yield `question(model, X)` for each block of rows X, in order; the default asks here."""
        for X in blocks:
            yield question(model, X)


#: The executor of the enclosing `with cluster(...)` block, if any.
CHOSEN: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextmanager
def cluster(client: Any) -> Iterator[Executor]:
    """Train the parts of all fits in a `with` block on a cluster.

    The results are those of a local fit, to the last bit. The rows of a part go to one worker, or
    none if they are in a file that all workers see (`map_rows`). A number as `n_jobs` limits the
    parts in training at the same time; None means all cores of the cluster. Fits in other threads
    and processes are not affected: leave `n_jobs` of a search by scikit-learn at None.

    Parameters
    ----------
    client : distributed.Client or Executor
        A connected Dask client, with its own security, or another executor.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> with dcsvm.cluster(Client("tcp://host:8786")):  # doctest: +SKIP
    ...     clf.fit(X, y)
    """
    executor = _as_executor(client)
    before = CHOSEN.set(executor)
    try:
        yield executor
    finally:
        CHOSEN.reset(before)


def _as_executor(client: Any) -> Executor:
    if isinstance(client, Executor):
        return client
    packages = {each.__module__.partition(".")[0] for each in type(client).__mro__}
    if "distributed" in packages:
        from dcsvm.drive.dask_executor import DaskExecutor

        return DaskExecutor(client)
    raise UsageError(
        "cluster takes a client of Dask (distributed.Client) or an Executor, got a "
        f"{type(client).__name__}"
    )
