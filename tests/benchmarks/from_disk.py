"""Runs on rows from disk: time, peak memory of all processes and accuracy, beside LightGBM.

    python tests/benchmarks/mixture_rows.py FOLDER --rows 10000000
    python tests/benchmarks/from_disk.py FOLDER OUT.jsonl --rows 1000000 2000000 --what fixed

A run is `dcsvm run RECIPE --memory 4GB` in a process of its own, on the first files of the folder
as far as they have the rows that are asked for; a tenth of the rows is held out for testing, and
the time is that of the whole command. `resident` counts all pages that the processes hold, also
those of mapped files, which the system may drop at any time; `anonymous` those that it may not.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from local_machines import list_children
from mixture_rows import ROWS_PER_FILE, TARGET

#: The settings of a fixed run, which were not tuned.
FIXED = ("learner.C=10.0", "learner.gamma=3.0")
COMMON = ("split.test=0.1", "split.refit=false", "measure.train=false", "measure.cost=false")
WAYS = {
    "td_svm, fixed": ("fixed.toml",),
    "td_svm, searched": ("td_svm",),
    "h_lsvm": ("h_lsvm",),
    "svm_forest of 3": ("svm_forest", "--set", "decomposer.times=3"),
    "LightGBM": (),
}
FIXED_RECIPE = """
decomposer = {{ use = "tree", ceiling = 1500 }}
learner = {{ use = "kernel_svm", C = {C}, gamma = {gamma} }}
combiner = "route"
"""


def read_memory(process: int) -> tuple[int, int]:
    """Resident and anonymous bytes of a process and its descendants."""
    resident = anonymous = 0
    for each in list_family(process):
        try:
            lines = Path(f"/proc/{each}/status").read_text().splitlines()
        except OSError:
            continue
        found = {line.split(":")[0]: line.split() for line in lines}
        resident += int(found["VmRSS"][1]) * 1024 if "VmRSS" in found else 0
        anonymous += int(found["RssAnon"][1]) * 1024 if "RssAnon" in found else 0
    return resident, anonymous


def list_family(process: int) -> Iterator[int]:
    """The process and all its descendants."""
    yield process
    for each in list_children(process):
        yield from list_family(each)


def watch(command: list[str]) -> dict[str, Any]:
    """Run a command; return its output, seconds, processor seconds and peak memory."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as told:
        running = subprocess.Popen(command, stdout=out, stderr=told)
        peaks = [0, 0]
        while running.poll() is None:
            peaks = [max(pair) for pair in zip(peaks, read_memory(running.pid), strict=True)]
            time.sleep(0.1)
        out.seek(0)
        told.seek(0)
        said = out.read()
        if running.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {told.read()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(processor, 1),
        "resident_megabytes": round(peaks[0] / 1e6),
        "anonymous_megabytes": round(peaks[1] / 1e6),
        "said": json.loads(said),
    }


def run_recipe(way: str, rows: Path, given: argparse.Namespace) -> dict[str, Any]:
    """One `dcsvm run` on the files of a folder."""
    recipe, *options = WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        if recipe == "fixed.toml":
            settings = dict(each.removeprefix("learner.").split("=") for each in FIXED)
            (Path(folder) / recipe).write_text(FIXED_RECIPE.format(**settings))
            recipe = str(Path(folder) / recipe)
        sets = [word for each in COMMON for word in ("--set", each)]
        command = [sys.executable, "-m", "dcsvm", "run", recipe, *options, *sets]
        command += ["--data", str(rows), "--target", TARGET, "--out", f"{folder}/run", "--json"]
        command += ["--memory", given.memory, "--jobs", str(given.jobs), *given.more]
        found = watch(command) | read_phases(Path(folder, "run"))
    said = found.pop("said")
    names = ("test_accuracy", "fit_seconds", "search_seconds", "predict_seconds", "n_parts")
    return found | {name: said["models"][0][name] for name in names}


def read_phases(run: Path) -> dict[str, Any]:
    """The seconds of reading, of preparing and dividing, of the parts, and of joining them."""
    events = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    steps = [
        (each["title"], datetime.fromisoformat(each["time"]).timestamp())
        for each in events
        if each["event"] == "step"
    ]
    training = next(place for place, step in enumerate(steps) if "training" in step[0])
    with (run / "parts.csv").open() as file:
        parts = [(json.loads(line["account"]), line["seconds"]) for line in csv.DictReader(file)]
    spans = [(account["began"], float(seconds)) for account, seconds in parts]
    return {
        "read_seconds": round(steps[1][1] - steps[0][1], 2),
        "divide_seconds": round(min(began for began, _ in spans) - steps[training][1], 2),
        "solve_seconds": round(sum(seconds for _, seconds in spans), 2),
        "join_seconds": round(steps[training + 1][1] - max(map(sum, spans)), 2),
    }


def run_lightgbm(rows: Path, given: argparse.Namespace) -> dict[str, Any]:
    """100 rounds of LightGBM on the same rows, in memory as float32."""
    command = [sys.executable, __file__, str(rows), "-", "--lightgbm", "--jobs", str(given.jobs)]
    found = watch(command)
    return found | found.pop("said")


def train_lightgbm(rows: Path, jobs: int) -> dict[str, Any]:
    """Train and judge LightGBM in this process; every tenth row is held out."""
    import lightgbm
    import numpy as np
    import pyarrow.parquet

    blocks = []
    for path in sorted(rows.iterdir()):
        table = pyarrow.parquet.read_table(path)
        kinds = np.asarray(table.column(TARGET).to_pandas() == "odd")
        features = table.drop_columns([TARGET])
        blocks.append((np.stack([each.to_numpy() for each in features.columns], axis=1), kinds))
    X = np.concatenate([block[0] for block in blocks])
    y = np.concatenate([block[1] for block in blocks])
    del blocks
    is_test = np.arange(len(y)) % 10 == 0
    began = time.perf_counter()
    learned = lightgbm.Dataset(X[~is_test], y[~is_test].astype(np.float32))
    settings = {"objective": "binary", "num_threads": jobs, "verbosity": -1}
    model = lightgbm.train(settings, learned, num_boost_round=100)
    fitted = time.perf_counter()
    accuracy = np.mean((model.predict(X[is_test]) > 0.5) == y[is_test])
    predicted = time.perf_counter() - fitted
    return {
        "test_accuracy": float(accuracy),
        "fit_seconds": round(fitted - began, 1),
        "predict_seconds": round(predicted, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--what", nargs="+", default=["fixed"], help="words of the ways' names")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--more", nargs="*", default=[], help="more options of dcsvm run")
    parser.add_argument("--lightgbm", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lightgbm:
        print(json.dumps(train_lightgbm(given.folder, given.jobs)))
        return
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    ways = [way for way in WAYS if any(word in way for word in given.what)]
    for way in ways:
        for n_rows in given.rows:
            with tempfile.TemporaryDirectory() as folder:
                for path in sorted(given.folder.iterdir())[: n_rows // ROWS_PER_FILE]:
                    (Path(folder) / path.name).symlink_to(path.absolute())
                rows = Path(folder)
                found = run_recipe(way, rows, given) if WAYS[way] else run_lightgbm(rows, given)
            facts = {"what": way, "rows": n_rows, "jobs": given.jobs, "memory": given.memory}
            facts |= {"commit": commit, "date": time.strftime("%Y-%m-%d")}
            line = json.dumps(facts | found)
            print(line, flush=True)
            with given.out.open("a") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    main()
