"""Runs on a cluster whose processes are killed or stopped, compared with a quiet run.

    python tests/benchmarks/faults.py OUT.jsonl --rows 200000 --pause 60

`dcsvm run --cluster` in a process of its own, on four workers that are processes of this machine.
Each case is compared with a run without a cluster: the predictions and the model file. A run that
was cut off goes on with --resume: `kept` are the parts that it had finished, `taken over` those
that were not trained again. `sent_again` are the parts that lost workers held, in training or
waiting, which were sent to others; no other part is trained twice.
"""

from __future__ import annotations

import argparse
import csv
import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from local_machines import Machines, run_machines
from mixture_rows import Mixture

from dcsvm.experiments.run.run_status import FINISHED
from dcsvm.persistence.checkpoints import CheckpointLog

#: Chunks take longer than leaves of a tree, so that runs can be disturbed while they are trained.
RECIPE = """
learner = { use = "kernel_svm", C = 1000.0, gamma = 10.0 }
combiner = "mean"
split = { refit = false, test = 0.02 }
measure = { train = false, cost = false }
[decomposer]
use = "chunks"
parts = 40
"""
#: A run is disturbed once it has kept so many bytes of finished parts.
KEPT_BYTES = 100_000
COMPARED = ("predictions.csv", "model.dcsvm")


class Case:
    """A folder with rows and a recipe, in which runs are begun, disturbed and compared."""

    def __init__(self, folder: Path, n_rows: int) -> None:
        self.folder = folder
        X, y = Mixture().draw(n_rows, 11)
        np.savez(folder / "rows.npz", X=X, y=y)
        (folder / "recipe.toml").write_text(RECIPE)
        self.seconds = 0.0
        began = time.perf_counter()
        self.begin("here", "--jobs", "4").wait()
        self.seconds = time.perf_counter() - began

    def begin(self, name: str, *options: str) -> subprocess.Popen[str]:
        """Begin a run, or go on with it."""
        words = ["run", "recipe.toml", "--data", "rows.npz", "--out", name]
        if (self.folder / name).exists():
            words = ["run", "--resume", name]
        command = [sys.executable, "-m", "dcsvm", *words, *options]
        told = open(self.folder / f"{name}.log", "a")  # noqa: SIM115 # closed by the process
        return subprocess.Popen(command, cwd=self.folder, stdout=told, stderr=told, text=True)

    def is_same(self, name: str) -> bool:
        """Whether a run left the bytes of the undisturbed one."""
        files = [[self.folder / run / file for file in COMPARED] for run in ("here", name)]
        with suppress(FileNotFoundError):
            pairs = zip(*files, strict=True)
            return all(one.read_bytes() == other.read_bytes() for one, other in pairs)
        return False

    def count_taken_over(self, name: str) -> int | None:
        """How many parts the last run of a folder was spared, if it says so."""
        text = (self.folder / f"{name}.log").read_text()
        found = re.findall(r"not trained again: ([\d,]+) part", text)
        return int(found[-1].replace(",", "")) if found else None

    def count_parts(self, name: str) -> dict[str, int]:
        """How many parts a finished run has, and how many of them were sent again."""
        with (self.folder / name / "parts.csv").open() as file:
            accounts = [json.loads(line["account"]) for line in csv.DictReader(file)]
        again = sum(each.get("sent_again", 0) for each in accounts)
        return {"parts": len(accounts), "sent_again": again}

    def count_kept(self, name: str) -> int:
        """How many parts a run that was cut off has kept."""
        log = CheckpointLog(self.folder / name / FINISHED)
        log.close()
        return log.n_before


def wait_for_parts(case: Case, name: str, process: subprocess.Popen[str]) -> None:
    """Wait until a run has kept some finished parts."""
    kept = case.folder / name / FINISHED
    while process.poll() is None:
        if kept.exists() and kept.stat().st_size > KEPT_BYTES:
            return
        time.sleep(0.05)
    raise SystemExit(f"{kept}: the run ended before it could be disturbed; take more --rows")


@contextmanager
def disturb(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Disturb in a thread until the block ends."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def kill_workers(case: Case, machines: Machines, name: str, given: argparse.Namespace) -> Any:
    """Kill random workers at random moments."""
    chance, killed = random.Random(given.seed), []

    def work(over: threading.Event) -> None:
        while len(killed) < given.kills and not over.wait(chance.uniform(0.2, 2.0)):
            workers = machines.list_workers()
            if len(workers) > 1:
                killed.append(chance.choice(workers))
                os.kill(killed[-1], signal.SIGKILL)

    process = case.begin(name, "--cluster", machines.address)
    wait_for_parts(case, name, process)
    with disturb(work):
        process.wait()
    return {"workers_killed": len(killed)}


def pause_worker(case: Case, machines: Machines, name: str, given: argparse.Namespace) -> Any:
    """Stop a worker for a while, as a machine that swaps or loses its network would."""
    process = case.begin(name, "--cluster", machines.address)
    wait_for_parts(case, name, process)
    stopped = machines.list_workers()[0]
    os.kill(stopped, signal.SIGSTOP)
    time.sleep(given.pause)
    os.kill(stopped, signal.SIGCONT)
    process.wait()
    return {"paused_seconds": given.pause}


def kill_client(case: Case, machines: Machines, name: str, given: argparse.Namespace) -> Any:
    """Kill the command, and resume it on two workers instead of four."""
    process = case.begin(name, "--cluster", machines.address)
    wait_for_parts(case, name, process)
    process.kill()
    process.wait()
    kept = case.count_kept(name)
    case.begin(name, "--cluster", machines.address, "--jobs", "2").wait()
    return {"kept": kept}


def kill_scheduler(case: Case, machines: Machines, name: str, given: argparse.Namespace) -> Any:
    """Kill the scheduler, and resume on a new one."""
    process = case.begin(name, "--cluster", machines.address)
    wait_for_parts(case, name, process)
    machines.kill_scheduler()
    process.wait()
    machines.stop()
    machines.start()
    kept = case.count_kept(name)
    case.begin(name, "--cluster", machines.address).wait()
    return {"exit_code_of_the_first": process.returncode, "kept": kept}


def fill_disks(case: Case, machines: Machines, name: str, given: argparse.Namespace) -> Any:
    """Let workers write all that they are given to disks that are too small for it."""
    case.begin(name, "--cluster", machines.address).wait()
    told = (machines.folder / "dask_worker.log").read_text()
    return {"refused_writes": told.count(os.strerror(errno.ENOSPC))}


def leave_alone(case: Case, machines: Machines, name: str, given: argparse.Namespace) -> Any:
    """Disturb nothing."""
    case.begin(name, "--cluster", machines.address).wait()
    return {}


CASES = {
    "undisturbed": leave_alone,
    "workers killed": kill_workers,
    "worker paused": pause_worker,
    "workers' disks full": fill_disks,
    "client killed, resumed": kill_client,
    "scheduler killed, resumed": kill_scheduler,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--pause", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--what", nargs="+", default=[""], help="words of the names")
    given = parser.parse_args()
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    with tempfile.TemporaryDirectory() as place:
        case = Case(Path(place), given.rows)
        for number, (title, run) in enumerate(CASES.items()):
            if not any(word in title for word in given.what):
                continue
            folder, name = Path(place) / f"machines{number}", f"run{number}"
            folder.mkdir()
            disk = "64k" if run is fill_disks else None
            with run_machines(4, folder, disk=disk) as machines:
                began = time.perf_counter()
                found = run(case, machines, name, given)
                seconds = time.perf_counter() - began
            facts = {"what": title, "rows": given.rows, "commit": commit}
            facts |= {"date": time.strftime("%Y-%m-%d"), "same_bytes": case.is_same(name)}
            facts |= {"seconds": round(seconds, 1), "local_seconds": round(case.seconds, 1)}
            facts |= case.count_parts(name) if case.is_same(name) else {}
            line = json.dumps(facts | {"taken_over": case.count_taken_over(name)} | found)
            print(line, flush=True)
            if not case.is_same(name):
                print((case.folder / f"{name}.log").read_text()[-2000:], file=sys.stderr)
            with given.out.open("a") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    main()
