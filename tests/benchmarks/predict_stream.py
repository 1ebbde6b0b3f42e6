"""Answering a large CSV file: time, memory, and how much of the time is parsing.

`python tests/benchmarks/predict_stream.py` makes a file of 1 GB in a temporary folder and removes
it afterwards; `--quick` makes one of 4 MB. The peak of memory is that of the whole process of
`dcsvm predict`. Parsing alone is timed on the first part of the file, beside the csv module.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier, TablePreparation, build, save
from dcsvm.datasets.loading import open_table
from dcsvm.toolbox import Column, TableSchema

COLUMNS = [*(f"x{number}" for number in range(1, 20)), "colour"]
LEVELS = ("blue", "green", "red")


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4 MB in place of 1 GB")
    parser.add_argument("--megabytes", type=int, default=1000)
    given = parser.parse_args(arguments)
    megabytes = 4 if given.quick else given.megabytes
    with tempfile.TemporaryDirectory() as folder:
        made_model(Path(folder, "model.dcsvm"))
        n_rows = made_file(Path(folder, "rows.csv"), megabytes)
        found = {"megabytes": megabytes, "rows": n_rows, **answered(Path(folder), n_rows)}
        found |= parsed(Path(folder, "rows.csv"))
    print(json.dumps({key: round(value, 2) for key, value in found.items()}, indent=2))
    return found


def some_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, len(COLUMNS)))
    X[:, -1] = generator.integers(len(LEVELS), size=n_rows)
    y = np.where(np.square(X[:, :3]).sum(axis=1) + X[:, -1] > 3.0, "far", "near")
    return X, y


def made_model(path: Path) -> None:
    """An SVM for each of some regions, so that answering takes as long as it usually does."""
    X, y = some_rows(4000)
    schema = TableSchema(
        (*map(Column, COLUMNS[:-1]), Column(COLUMNS[-1], LEVELS)), "kind", ("id",)
    )
    regions = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=500))
    save(make_pipeline(TablePreparation(schema=schema), regions).fit(X, y), path)


def made_file(path: Path, megabytes: int) -> int:
    """Write the same twenty thousand rows again and again."""
    X, y = some_rows(20_000)
    lines = [
        ",".join([f"n{row}", *(f"{value:.6g}" for value in X[row, :-1]), LEVELS[int(X[row, -1])]])
        + f",{y[row]}\n"
        for row in range(len(X))
    ]
    text = "".join(lines).encode()
    times = max(1, round(megabytes * 1e6 / len(text)))
    with path.open("wb") as file:
        file.write((",".join(["id", *COLUMNS, "kind"]) + "\n").encode())
        for _ in range(times):
            file.write(text)
    return times * len(X)


def answered(folder: Path, n_rows: int) -> dict[str, float]:
    command = [sys.executable, "-m", "dcsvm", "predict", "model.dcsvm", "rows.csv", "--out"]
    started = time.perf_counter()
    process = subprocess.Popen([*command, "answers.csv"], cwd=folder, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    assert status == 0, process.stderr.read().decode()
    process.stderr.close()
    process.returncode = 0
    with (folder / "answers.csv").open("rb") as file:
        assert sum(1 for _ in file) == n_rows + 1
    return {
        "predict_seconds": seconds,
        "rows_per_second": n_rows / seconds,
        "peak_megabytes": usage.ru_maxrss / 1024,
    }


def parsed(path: Path) -> dict[str, float]:
    """Megabytes parsed per second: every number of the file, as floats."""
    with path.open("rb") as file:
        head = file.read(20_000_000).rpartition(b"\n")[0]
    part = path.with_name("part.csv")
    part.write_bytes(head)
    numeric = range(1, len(COLUMNS))
    started = time.perf_counter()
    for block in open_table(part).blocks():
        for place in numeric:
            block.numbers(place)
        block.distinct(len(COLUMNS))
    ours = time.perf_counter() - started
    text = head[:4_000_000].decode()
    started = time.perf_counter()
    reader = csv.reader(io.StringIO(text))
    next(reader)
    np.array([[float(row[place]) for place in numeric] for row in reader if len(row) == 22])
    theirs = time.perf_counter() - started
    return {
        "parsing_megabytes_per_second": len(head) / 1e6 / ours,
        "csv_module_megabytes_per_second": len(text) / 1e6 / theirs,
    }


if __name__ == "__main__":
    main()
