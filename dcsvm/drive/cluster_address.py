"""Clusters of Dask by address, as the command line names them: connected to, or started here."""

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import joblib

from dcsvm.base.errors import ClusterError, UsageError
from dcsvm.drive.executor import Executor, cluster
from dcsvm.drive.memory_limit import MemoryLimit

#: Files of a folder of certificates: of who is trusted, one's own, and the key to it.
CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
#: Seconds until a scheduler must answer.
PATIENCE = 20


@contextmanager
def connect(
    address: str,
    n_jobs: int | None = None,
    tls: str | Path | None = None,
    memory: float | None = None,
) -> Iterator[Executor]:
    """Train on a cluster of Dask in a `with` block.

    The address is that of a scheduler, such as tcp://host:8786 or tls://host:8786, or local:4 for
    four processes that are started here and end with the block. At most `n_jobs` parts are in
    training at the same time, as many as there are cores by default. `tls` is a folder with
    ca.pem, cert.pem and key.pem; without it, Dask's own configuration holds. `memory` are the
    bytes that this process and all workers may take together.
    """
    try:
        import distributed

        from dcsvm.drive.dask_executor import DaskExecutor
    except ImportError as error:
        raise UsageError(
            f"a cluster needs Dask, which is not installed ({error}): pip install 'dcsvm[dask]'"
        ) from error
    security = None if tls is None else _read_certificates(distributed, Path(tls))
    with ExitStack() as stack:
        target: Any = address
        if local := re.fullmatch(r"local(?::([1-9]\d*))?", address):
            target = stack.enter_context(_start(distributed, int(local[1] or joblib.cpu_count())))
        elif "://" not in address:
            raise UsageError(
                "a cluster is given as tcp://HOST:8786, tls://HOST:8786 or local:4, got "
                f"{address!r}"
            )
        try:
            client = distributed.Client(target, timeout=PATIENCE, security=security)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(
                f"no scheduler of Dask can be reached at {address}: {error or 'it is silent'}"
            ) from error
        stack.enter_context(client)
        limit = None if memory is None else MemoryLimit(memory)
        yield stack.enter_context(cluster(DaskExecutor(client, n_jobs, memory=limit)))


def _start(distributed: Any, n_workers: int) -> Any:
    """Processes of this machine as a cluster, each with one thread; errors reach the client."""
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        memory_limit=None,
        silence_logs=logging.CRITICAL,
    )


def _read_certificates(distributed: Any, folder: Path) -> Any:
    missing = [name for name in CERTIFICATES if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"the folder of certificates {str(folder)!r} has no {' and no '.join(missing)}; it "
            f"must hold {', '.join(CERTIFICATES)}"
        )
    trusted, own, key = (str(folder / name) for name in CERTIFICATES)
    return distributed.Security(
        tls_ca_file=trusted, tls_client_cert=own, tls_client_key=key, require_encryption=True
    )
