"""An executor that trains parts on Apache Spark: parcels are rows of an RDD.

    with dcsvm.cluster(SparkExecutor(SparkSession.builder.getOrCreate())):
        clf.fit(X, y)

The rows of a part travel with its parcel, through Spark's driver; rows of a file that all workers
see under the same path (`map_rows`) do not. Spark repeats the tasks of lost workers itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcsvm.base.threads import ONE_BLAS_THREAD
from dcsvm.drive.engine import run_bundle, sort_jobs
from dcsvm.drive.executor import Executor, Numbered
from dcsvm.drive.job_serialization import make_parcels, pack_outcomes, pack_shared, unpack

#: Parcels for each core in one action of Spark: outcomes come back when all of them are done.
WAVES = 4


class SparkExecutor(Executor):
    """Runs the jobs of a round as tasks of Spark.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
    sees_files : bool
        Whether the workers see the files of mapped rows under the same paths.
    """

    def __init__(self, session: Any, sees_files: bool = False) -> None:
        self.context, self.sees_files = session.sparkContext, sees_files
        self.context.addPyFile(__file__)  # workers import `learn` from it

    def count_cores(self, n_jobs: int | None) -> int:
        cores = int(self.context.defaultParallelism)
        return cores if n_jobs is None or n_jobs < 1 else min(cores, n_jobs)

    def stream(self, jobs: list[Numbered], n_jobs: int | None) -> Iterator[tuple[int, Any]]:
        if not jobs:
            return
        parcels = list(make_parcels(sort_jobs(jobs), self.count_cores(n_jobs)))
        shared = {id(each): each for parcel in parcels for each in parcel.shared}
        sent = {id(each): self._broadcast(each) for each in shared.values()}
        wave = WAVES * self.count_cores(n_jobs)
        for start in range(0, len(parcels), wave):
            some = parcels[start : start + wave]
            tasks = [(each.pack(self._sees), [sent[id(v)] for v in each.shared]) for each in some]
            done = self.context.parallelize(tasks, len(tasks)).map(learn).collect()
            for parcel, content in zip(some, done, strict=True):
                yield from parcel.unpack_outcomes(content)

    def _broadcast(self, value: Any) -> Any:
        return self.context.broadcast(pack_shared(value, self._sees))

    def _sees(self, rows: Any) -> bool:
        return self.sees_files


def learn(task: tuple[bytes, list[Any]]) -> bytes:
    """Run the jobs of a parcel; called in a worker of Spark."""
    content, shared = task
    with ONE_BLAS_THREAD:
        bundles = unpack(content, [unpack(each.value) for each in shared])
        outcomes = [each for bundle in bundles for each in run_bundle(bundle)]
    return pack_outcomes(outcomes, [job for bundle in bundles for _, job in bundle])
