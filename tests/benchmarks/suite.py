"""Recipes, boosted trees and other rivals on the tabular suite, one JSON line per finished cell.

    python tests/benchmarks/suite.py --sets kropt avila --methods td_svm lightgbm --rows 4000
    python tests/benchmarks/suite.py --judge validation --methods "td_svm;data.scale=standard"

A cell is a set, a split and a method. Every set has a fixed part to test by, as published or a
third of its rows; the other rows are for learning and for every choice. A split draws `--rows`
rows to learn from and up to 4,000 to judge by: from the part to test by, or, with
`--judge validation`, from the rows not drawn. Recipes run as `dcsvm run` runs them, with their own
defaults; what follows a semicolon overrides a key. Each cell runs in a process of its own, on one
core, and is killed after `--limit` seconds, but `auto` not before three times its budget. Seconds
are those of the processor. Finished cells are kept in measured/suite.jsonl, so that the script can
be stopped. xRFM needs `pip install xrfm torch`, LightGBM `pip install lightgbm`.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import json
import multiprocessing
import resource
import subprocess
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from rivals import RIVALS
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score, log_loss

from dcsvm.drive.registry import RECIPE, default_registry
from dcsvm.experiments.recipe import find_recipe
from dcsvm.experiments.run.runner import run_recipe

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHARED = ROOT.parent / "shared"
KEPT = HERE / "measured" / "suite.jsonl"
MORE_SETS = (
    *("adult", "banana", "cbcl_faces_train", "ijcnn1", "letter", "mnist", "pendigits"),
    *("poker_train", "reuters_moneyfx", "shuttle", "usps"),
)
AUTO, LONG_AUTO = "auto;search.seconds=60", "auto;search.seconds=300"
WITHOUT_TREES = f'{AUTO};search.exclude=["boosted_trees"]'
METHODS = (
    *(AUTO, LONG_AUTO, WITHOUT_TREES, "svm_forest", "td_svm", "global_svm"),
    *("lightgbm", "lightgbm_es", "hgb", "svc", "xrfm"),
)
#: Rows to judge by at the most, and the fewest rows of a class that is kept.
JUDGED, FEWEST = 4000, 10
#: Recipes whose answers are those of their probabilities.
PROBABLE = ("auto", "boosted_trees")
#: Probabilities are compared at this least value.
LEAST = 1e-6


@attrs.frozen(eq=False)
class Cell:
    """Rows to learn from and to judge by, with the columns of codes and what names them."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    categorical: list[int]
    about: dict[str, Any]


def list_sets() -> list[str]:
    suite = sorted(path.stem for path in (SHARED / "suite").glob("*.npz"))
    return suite + [name for name in MORE_SETS if (SHARED / "data" / f"{name}.npz").exists()]


def draw(name: str, split: int, rows: int, judge: str) -> Cell:
    """Draw the rows of a cell; classes with fewer than FEWEST rows learned are left out."""
    X, y, n_learned, kept = read_set(name)
    rng = np.random.default_rng(0)
    order = np.arange(len(y)) if n_learned else rng.permutation(len(y))
    n_learned = n_learned or len(y) - len(y) // 3
    pool = np.random.default_rng(100 + split).permutation(order[:n_learned])
    others = rng.permutation(order[n_learned:])
    size = min(rows, n_learned if judge == "test" else 2 * n_learned // 3)
    train = pool[:size]
    if judge == "test":
        start = split * JUDGED % len(others)
        test = np.roll(others, -start)[:JUDGED]
    else:
        test = pool[size : size + JUDGED]
    common = np.flatnonzero(np.bincount(y[train], minlength=y.max() + 1) >= FEWEST)
    train, test = train[np.isin(y[train], common)], test[np.isin(y[test], common)]
    categorical = kept["categorical"].tolist() if "categorical" in kept else []
    learned, judged = np.searchsorted(common, y[train]), np.searchsorted(common, y[test])
    return Cell(X[train], learned, X[test], judged, categorical, kept)


def read_set(name: str) -> tuple[Any, Any, int, dict[str, Any]]:
    """Return X, y as codes, how many rows come before a published test part, and the levels."""
    folder = "data" if name in MORE_SETS else "suite"
    with np.load(SHARED / folder / f"{name}.npz", allow_pickle=False) as d:
        kept = {k: d[k] for k in d.files if k.startswith("levels_") or k == "categorical"}
        if "train_data" in d:
            halves = [read_sparse_half(d, half) for half in ("train", "test")]
            y = recode(np.concatenate([d["y_train"], d["y_test"]]))
            return sparse.vstack(halves, format="csr"), y, len(d["y_train"]), kept
        if "data" in d:
            parts = (d["data"].astype(float), d["indices"], d["indptr"])
            return sparse.csr_matrix(parts, tuple(d["shape"])), recode(d["y"]), 0, kept
        if "X" in d:
            return d["X"].astype(float), recode(d["y"]), 0, kept
        X = np.vstack([d["X_train"], d["X_test"]]).astype(float)
        return X, recode(np.concatenate([d["y_train"], d["y_test"]])), len(d["y_train"]), kept


def read_sparse_half(arrays: Any, half: str) -> Any:
    """The sparse rows of a published half, called such as `train_data`."""
    parts = tuple(arrays[f"{half}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_matrix((parts[0].astype(float), *parts[1:]), tuple(arrays[f"{half}_shape"]))


def recode(y: Any) -> Any:
    return np.unique(y, return_inverse=True)[1]


def run_method(method: str, cell: Cell) -> dict[str, Any]:
    """Fit one method and judge it."""
    warnings.simplefilter("ignore")
    name, *overrides = method.split(";")
    began = time.process_time()
    if name in RIVALS:
        model = RIVALS[name](cell)
        fit_seconds = time.process_time() - began
        labels, probabilities = model(cell.X_test)
        found: dict[str, Any] = {"fit_seconds": fit_seconds}
        found["predict_seconds"] = time.process_time() - began - fit_seconds
    else:
        labels, probabilities, found = run_shipped(name, overrides, cell)
    hits = labels == cell.y_test
    if probabilities is not None:
        probabilities = np.clip(probabilities, LEAST, None)
        probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
        found["log_loss"] = float(
            log_loss(cell.y_test, probabilities, labels=np.arange(probabilities.shape[1]))
        )
    return found | {
        "accuracy": float(hits.mean()),
        "balanced_accuracy": float(balanced_accuracy_score(cell.y_test, labels)),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "hits": base64.b64encode(np.packbits(hits).tobytes()).decode(),
    }


def run_shipped(name: str, overrides: list[str], cell: Cell) -> tuple[Any, Any, dict[str, Any]]:
    """Run a recipe on a file of these rows, whose rows to judge by are its test part.

    A kernel recipe is run as it is, and once more with what it chose for its probabilities.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        save(path, cell)
        own = [f"data.path={path}", "measure.train=false"]
        if not sparse.issparse(cell.X) and np.isnan(np.vstack([cell.X, cell.X_test])).any():
            own.append("data.missing=mark")
        probable = ["probability=auto"]
        began = time.process_time()
        first = run_once(name, [*own, *(probable if name in PROBABLE else []), *overrides])
        spent = time.process_time() - began
        measures = first.measures
        found = {
            "fit_seconds": spent - measures.predict_seconds,
            "predict_seconds": measures.predict_seconds,
            "chosen": dict(first.found[-1].values) if first.found else {},
        }
        probabilities = first.probabilities
        if probabilities is None:
            values = [f"{key}={json.dumps(value)}" for key, value in found["chosen"].items()]
            chosen = ["search.use=grid", *values]  # a granularity search has a grid of its own
            probabilities = run_once(name, [*own, *probable, *overrides, *chosen]).probabilities
    return first.answers, probabilities, found


def run_once(name: str, overrides: list[str]) -> Any:
    recipe = find_recipe(name, default_registry(), overrides)
    return run_recipe(recipe, n_jobs=1).trained[0]


def save(path: Path, cell: Cell) -> None:
    if not sparse.issparse(cell.X):
        arrays = {"X_train": cell.X, "X_test": cell.X_test}
    else:
        arrays = {
            f"{half}_{part}": values
            for half, X in (("train", cell.X), ("test", cell.X_test))
            for part, values in (
                *(("data", X.data), ("indices", X.indices), ("indptr", X.indptr)),
                ("shape", np.array(X.shape)),
            )
        }
    np.savez(path, y_train=cell.y, y_test=cell.y_test, **arrays, **cell.about)


def find_budget(method: str) -> float:
    """The seconds that a method was given to search; 0 if it has no such limit."""
    given = (each.removeprefix("search.seconds=") for each in method.split(";")[1:])
    return next((float(each) for each in given if each.replace(".", "", 1).isdigit()), 0.0)


def run_alone(method: str, cell: Cell, limit: float) -> dict[str, Any]:
    """Run a method in a process of its own, for its peak of memory and its limit of time."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()

    def work() -> None:
        try:
            queue.put(run_method(method, cell))
        except Exception as error:
            queue.put({"died": f"{type(error).__name__}: {error}"[:300]})

    process = context.Process(target=work)
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        return {"killed": f"after {limit:.0f} s"}
    return queue.get() if not queue.empty() else {"died": f"exit code {process.exitcode}"}


def read_kept(path: Path = KEPT) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def key_of(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record[key] for key in ("set", "split", "asked", "judge", "method", "tag"))


def ask_git(*arguments: str) -> str:
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=[], help="names; all if not given")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--rows", type=int, default=4000, help="to learn from")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--judge", choices=("test", "validation"), default="test")
    parser.add_argument("--tag", default="", help="a name for the state of the code")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a cell")
    parser.add_argument("--out", type=Path, default=KEPT)
    given = parser.parse_args(arguments)
    sets = given.sets or list_sets()
    done = {key_of(record) for record in read_kept(given.out) if "died" not in record}
    default_registry().names(RECIPE)  # loaded once, before the cells' processes begin
    commit = ask_git("rev-parse", "--short", "HEAD")
    for split, name in product(range(given.splits), sets):
        cell = None
        for method in given.methods:
            record: dict[str, Any] = {"set": name, "split": split, "asked": given.rows}
            record |= {"judge": given.judge, "method": method, "tag": given.tag}
            if key_of(record) in done:
                continue
            cell = cell or draw(name, split, given.rows, given.judge)
            record |= {"rows": len(cell.y), "classes": int(cell.y.max()) + 1}
            found = run_alone(method, cell, max(given.limit, 3 * find_budget(method)))
            record |= {k: round(v, 6) if isinstance(v, float) else v for k, v in found.items()}
            record |= {"commit": commit, "date": datetime.date.today().isoformat()}
            with given.out.open("a") as file:
                file.write(json.dumps(record, default=str) + "\n")
            shown = {k: v for k, v in record.items() if k != "hits"}
            print(json.dumps(shown, default=str), flush=True)


if __name__ == "__main__":
    main()
