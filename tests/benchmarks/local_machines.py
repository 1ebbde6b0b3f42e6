"""A cluster of Dask as processes of this machine, whose traffic is counted and that can fail."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: The name of namespaces and links, and the first numbers of their addresses.
NAME, NETWORK = "dcsvm", "10.77.0"


#: Settings of Dask by which workers write to disk whatever they are given.
SPILLING = {
    "DASK_DISTRIBUTED__WORKER__MEMORY__TARGET": "0.000001",
    "DASK_DISTRIBUTED__WORKER__MEMORY__SPILL": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE": "False",
}


class Machines:
    """A scheduler and workers, each a process; all reach the scheduler through a counting proxy.

    Parameters
    ----------
    n_workers : int
        Of one thread each.
    folder : path
        For logs and the workers' files.
    rate : str, optional
        Such as 200mbit: each worker is in a network namespace of its own, as if it were a host,
        behind a link of this rate in both directions. Only root can make namespaces.
    disk : str, optional
        Such as 64k: the workers' files lie on a disk of this size, and all that a worker is given
        is written there. Only root can mount it.
    """

    def __init__(
        self, n_workers: int, folder: Path, rate: str | None = None, disk: str | None = None
    ) -> None:
        self.n_workers, self.folder, self.rate, self.disk = n_workers, folder, rate, disk
        self.scratch = folder / "scratch"
        self.scratch.mkdir(exist_ok=True)
        if disk is not None:
            _run(f"mount -t tmpfs -o size={disk} tmpfs {self.scratch}")
        self.host = "127.0.0.1" if rate is None else f"{NETWORK}.1"
        self.ports = [_find_port(), _find_port()]
        self.processes: list[subprocess.Popen[bytes]] = []
        self.bytes_through_scheduler = 0
        self._make_network()
        threading.Thread(target=lambda: asyncio.run(self._count()), daemon=True).start()
        self.start()

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.ports[1]}"

    def start(self) -> None:
        """Start the scheduler, and the workers with their nannies."""
        port = ["--port", str(self.ports[0]), "--no-dashboard"]
        self._spawn("dask_scheduler", ["--host", self.host, *port])
        _wait_for_port(self.host, self.ports[0])
        for number in range(self.n_workers):
            here = ["--host", self.host if self.rate is None else f"{NETWORK}.{10 + number}"]
            inside = [] if self.rate is None else ["ip", "netns", "exec", f"{NAME}-{number}"]
            quiet = ["--no-dashboard", "--local-directory", str(self.scratch)]
            memory = ["--nthreads", "1", "--memory-limit", "0" if self.disk is None else "1GB"]
            self._spawn("dask_worker", [self.address, *here, *memory, *quiet], inside)

    def _make_network(self) -> None:
        """A bridge, and a namespace for each worker with a link to it."""
        if self.rate is None:
            return
        _run(f"ip link add {NAME} type bridge")
        _run(f"ip addr add {self.host}/24 dev {NAME}")
        _run(f"ip link set {NAME} up")
        for number in range(self.n_workers):
            space, link = f"{NAME}-{number}", f"{NAME}-v{number}"
            _run(f"ip netns add {space}")
            _run(f"ip link add {link} type veth peer name eth0 netns {space}")
            _run(f"ip link set {link} master {NAME} up")
            _run(f"ip -n {space} addr add {NETWORK}.{10 + number}/24 dev eth0")
            _run(f"ip -n {space} link set eth0 up")
            _run(f"ip -n {space} link set lo up")
            shaped = f"root tbf rate {self.rate} burst 256kb latency 400ms"
            _run(f"tc qdisc add dev {link} {shaped}")
            _run(f"tc -n {space} qdisc add dev eth0 {shaped}")

    def clean_up(self) -> None:
        """Remove the disk and the network, if they were made."""
        if self.disk is not None:
            _run(f"umount -l {self.scratch}")
        if self.rate is not None:
            for number in range(self.n_workers):
                _run(f"ip netns del {NAME}-{number}")
            _run(f"ip link del {NAME}")

    def _spawn(self, what: str, words: list[str], inside: Sequence[str] = ()) -> None:
        with open(self.folder / f"{what}.log", "ab") as log:
            command = [*inside, sys.executable, "-m", f"distributed.cli.{what}", *words]
            environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            environment |= {} if self.disk is None else SPILLING
            self.processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            )

    def list_workers(self) -> list[int]:
        """The processes that learn, which nannies started."""
        return [child for nanny in self.processes[1:] for child in _list_workers(nanny.pid)]

    def processor_seconds(self) -> float:
        """The processor time of scheduler, nannies and workers."""
        return sum(map(_read_seconds, [*self.list_workers(), *(p.pid for p in self.processes)]))

    def stop(self) -> None:
        """Kill them all."""
        for process in [*self.list_workers(), *(each.pid for each in self.processes)]:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for each in self.processes:
            each.wait()
        self.processes.clear()

    def kill_scheduler(self) -> None:
        """Kill the scheduler; its workers wait for another one, or end."""
        self.processes[0].kill()
        self.processes[0].wait()

    async def _count(self) -> None:
        server = await asyncio.start_server(self._serve, self.host, self.ports[1])
        await server.serve_forever()

    async def _serve(self, reader: Any, writer: Any) -> None:
        try:
            there, back = await asyncio.open_connection(self.host, self.ports[0])
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pipe(reader, back), self._pipe(there, writer))

    async def _pipe(self, reader: Any, writer: Any) -> None:
        with suppress(OSError):
            while block := await reader.read(1 << 16):
                self.bytes_through_scheduler += len(block)
                writer.write(block)
                await writer.drain()
        writer.close()


def _list_workers(nanny: int) -> list[int]:
    """The children of a nanny that run a worker, not the tracker of its resources."""
    found = []
    for child in list_children(nanny):
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def _read_seconds(process: int) -> float:
    """The processor time of a process, as Linux tells it."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def list_children(process: int) -> list[int]:
    """The processes that any thread of a process has started, as Linux tells them."""
    found: list[int] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, thread.read_text().split())
    return found


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _run(command: str) -> None:
    subprocess.run(command.split(), check=True)


def _wait_for_port(host: str, port: int, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((host, port), 1.0).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@contextmanager
def run_machines(
    n_workers: int, folder: Path, rate: str | None = None, disk: str | None = None
) -> Iterator[Machines]:
    """Machines that run, and end with the block."""
    machines = Machines(n_workers, folder, rate, disk)
    try:
        yield machines
    finally:
        machines.stop()
        machines.clean_up()


def wait_for_workers(client: Any, n_workers: int, seconds: float = 60.0) -> None:
    """Wait until a client sees so many workers."""
    deadline = time.monotonic() + seconds
    while len(client.nthreads()) < n_workers:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(client.nthreads())} of {n_workers} workers came")
        time.sleep(0.1)
