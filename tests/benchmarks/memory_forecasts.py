"""The memory that parts take, beside the forecast by which a limit of memory admits them.

    python tests/benchmarks/memory_forecasts.py OUT.jsonl
    python tests/benchmarks/memory_forecasts.py OUT.jsonl --sets all --rows 1500 6000
    python tests/benchmarks/memory_forecasts.py --table OUT.jsonl

Each part is learned in a process of its own, after a small one that loads libraries. Measured is
by how much the resident memory of the process rises above what it was before, at most. `bound` is
the forecast without a sample of the rows. `--sets` takes parts of sets of the suite, scaled to
[0, 1], for the learners that keep kernel values.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import suite
from data import scaled
from mixture_rows import Mixture
from scipy import sparse

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


#: The learners that keep or compute many kernel values.
OF_KERNELS = ("kernel_svm", "lasvm")


def draw(chosen: str | None, n_rows: int) -> tuple[Any, Any]:
    """Rows of the mixture or of a set of the suite, scaled to [0, 1], and their classes."""
    if chosen is None:
        X, y = Mixture().draw(n_rows, 12)
    else:
        cell = suite.draw(chosen, 0, n_rows, "test")
        X, y = cell.X, cell.y
        X = np.nan_to_num(X.toarray() if sparse.issparse(X) else X)
    return scaled(X), y


def measure(name: str, n_rows: int, chosen: str | None) -> dict[str, Any]:
    """The forecast and the peak of one part, in this process."""
    X, y = draw(chosen, 2 * n_rows)
    n_classes = int(y.max()) + 1
    learner = build("learner", name, **LEARNERS[name] if chosen is None else {"C": 10.0})
    problem = Problem(X, y.astype(np.intp), n_classes, Seed(0))
    rows = np.unique(np.linspace(0, len(X) - 1, n_rows).astype(int))
    with ONE_BLAS_THREAD:
        Subproblem(problem, Part(rows[:WARM]), learner, Seed(1)).run()
        job = Subproblem(problem, Part(rows), learner, Seed(2))
        began = time.process_time()
        forecast = job.estimate_bytes()
        asked = time.process_time() - began
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        before = read_status("VmRSS")
        began = time.process_time()
        job.run()
        spent = time.process_time() - began
    return {
        "forecast": round(forecast),
        "bound": round(job.bytes_needed),
        "measured": read_status("VmHWM") - before,
        "rows": len(rows),
        "classes": n_classes,
        "forecast_seconds": round(asked, 4),
        "seconds": round(spent, 4),
    }


def read_status(word: str) -> int:
    """Bytes of this process, as Linux tells them."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition(f"{word}:")[2].split()[0])


def print_table(path: Path) -> None:
    """The last record of each learner, set and size, as the page shows them."""
    last = {}
    for line in path.read_text().splitlines():
        found = json.loads(line)
        last[found["learner"], found.get("set", "mixture"), found["rows"]] = found
    print("| learner | set | rows | forecast MB | measured MB | forecast / measured | commit |")
    print("|---|---|---|---|---|---|---|")
    for (learner, name, rows), found in last.items():
        sizes = found["forecast"] / 1e6, found["measured"] / 1e6
        cells = f"{sizes[0]:.1f} | {sizes[1]:.1f} | {sizes[0] / max(sizes[1], 0.1):.2f}"
        print(f"| `{learner}` | {name} | {rows:,} | {cells} | {found['commit']} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--what", nargs="+", default=list(LEARNERS), help="names of learners")
    parser.add_argument("--sets", nargs="*", default=[], help="of the suite, or all")
    parser.add_argument("--table", action="store_true", help="print the records and end")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.table:
        print_table(given.out)
        return
    if given.here:
        print(json.dumps(measure(given.what[0], given.rows[0], *(given.sets or [None]))))
        return
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    facts = {"commit": commit, "date": time.strftime("%Y-%m-%d")}
    sets = suite.list_sets() if given.sets == ["all"] else given.sets
    names = [name for name in given.what if not sets or name in OF_KERNELS]
    for name, chosen, n_rows in itertools.product(names, sets or [None], given.rows):
        words = [str(given.out), "--here", "--what", name, "--rows", str(n_rows)]
        words += [] if chosen is None else ["--sets", chosen]
        said = subprocess.check_output([sys.executable, __file__, *words], text=True)
        facts["set"] = chosen or "mixture"
        line = json.dumps({"learner": name} | json.loads(said) | facts)
        print(line, flush=True)
        with given.out.open("a") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
