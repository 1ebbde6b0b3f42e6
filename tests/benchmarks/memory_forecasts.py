"""The memory that parts take, beside the forecast by which a limit of memory admits them.

    python tests/benchmarks/memory_forecasts.py OUT.jsonl
    python tests/benchmarks/memory_forecasts.py --table OUT.jsonl

Each part is learned in a process of its own, after a small one that loads libraries. Measured is
by how much the resident memory of the process rises above what it was before, at most.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from mixture_rows import Mixture

from dcsvm import build
from dcsvm.base.problem import Part, Problem
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.base.threads import ONE_BLAS_THREAD

ROWS = (1500, 6000)
WARM = 100
LEARNERS: dict[str, dict[str, Any]] = {
    "kernel_svm": {"C": 10.0, "gamma": 3.0},
    "linear_svm": {},
    "krr": {},
    "trbf_krr": {},
    "rbf_network": {},
    "pegasos": {},
    "majority": {},
    "logistic": {},
    "fastfood": {},
    "lasvm": {},
    "spsvm": {},
    "sklearn": {},
}


def measure(name: str, n_rows: int) -> dict[str, Any]:
    """The forecast and the peak of one part, in this process."""
    X, y = Mixture().draw(2 * n_rows, 12)
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    learner = build("learner", name, **LEARNERS[name])
    problem = Problem(X, y.astype(np.intp), 2, Seed(0))
    with ONE_BLAS_THREAD:
        Subproblem(problem, Part(np.arange(WARM)), learner, Seed(1)).run()
        job = Subproblem(problem, Part(np.arange(0, 2 * n_rows, 2)), learner, Seed(2))
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        before = read_status("VmRSS")
        job.run()
    return {"forecast": round(job.bytes_needed), "measured": read_status("VmHWM") - before}


def read_status(word: str) -> int:
    """Bytes of this process, as Linux tells them."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition(f"{word}:")[2].split()[0])


def print_table(path: Path) -> None:
    """The last record of each learner and size, as the page shows them."""
    last = {}
    for line in path.read_text().splitlines():
        found = json.loads(line)
        last[found["learner"], found["rows"]] = found
    print("| learner | rows | forecast MB | measured MB | forecast / measured | commit |")
    print("|---|---|---|---|---|---|")
    for (learner, rows), found in last.items():
        sizes = found["forecast"] / 1e6, found["measured"] / 1e6
        cells = f"{sizes[0]:.1f} | {sizes[1]:.1f} | {sizes[0] / max(sizes[1], 0.1):.2f}"
        print(f"| `{learner}` | {rows:,} | {cells} | {found['commit']} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--what", nargs="+", default=list(LEARNERS), help="names of learners")
    parser.add_argument("--table", action="store_true", help="print the records and end")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.table:
        print_table(given.out)
        return
    if given.here:
        print(json.dumps(measure(given.what[0], given.rows[0])))
        return
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    facts = {"commit": commit, "date": time.strftime("%Y-%m-%d")}
    for name in given.what:
        for n_rows in given.rows:
            words = [str(given.out), "--here", "--what", name, "--rows", str(n_rows)]
            said = subprocess.check_output([sys.executable, __file__, *words], text=True)
            line = json.dumps({"learner": name, "rows": n_rows} | json.loads(said) | facts)
            print(line, flush=True)
            with given.out.open("a") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    main()
