"""Compare decomposers x learners x combiners on data: accuracy, seconds, cost and significance.

    python examples/compare_strategies/matrix.py flowers.csv --decomposers tree,chunks,kmeans
    python examples/compare_strategies/matrix.py a.npz b.npz --record measured/suite.jsonl
    python examples/compare_strategies/matrix.py --tables measured/suite.jsonl --out results
    python examples/compare_strategies/matrix.py --tables measured/suite.jsonl --page strategies.md
    python examples/compare_strategies/matrix.py a.csv --plugin near_border.py \
        --decomposers tree,near_border

A CSV has a header and the class in its last column; texts become a column for each level, and
missing values medians. Other formats of `dcsvm run` are read, too. An `.npz` has X and y, or
X_train, y_train, X_test and y_test. Columns are standardized. C and gamma of a kernel SVM are
chosen on validation rows, without a division, and are the same for all strategies. Strategies that
differ in the combiner only share their trained parts. No test row is read before the final
prediction. Seconds are processor time. McNemar's test compares each strategy with that of
`--against` with the same learner, and with the first combiner that fits. The second command
appends a record for each strategy, and writes tables only if `--out` is given, too; the third
writes Markdown, LaTeX and a picture, the fourth one table over all data sets, and the last adds a
strategy of your own.
"""

import argparse
import datetime
import hashlib
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from strategy_tables import write_page, write_tables

import dcsvm
from dcsvm import (
    DcsvmError,
    DivideAndConquerClassifier,
    TablePreparation,
    build,
    load_plugin,
)
from dcsvm.datasets.file_formats import NEED_TARGET
from dcsvm.datasets.loading import read
from dcsvm.drive.engine import Engine
from dcsvm.drive.registry import default_registry
from dcsvm.toolbox import mcnemar

GRID = {"C": (1.0, 10.0, 100.0), "gamma": (0.03, 0.1, 0.3, 1.0)}
VALIDATION = 0.25
#: Settings under which a few thousand rows are divided into about eight parts, where it applies.
SETTINGS: dict[str, dict[str, Any]] = {
    "balls": {"neighbours": 250, "cover": 50},
    "boosting": {"rounds": 10},
    "bootstrap": {"samples": 10, "size": 0.2},
    "bayesian_committee": {"ceiling": 500},
    "cascade": {"ceiling": 500},
    "chunks": {"parts": 8},
    "dc_svm": {"depth": 2},
    "graf_cascade": {"parts": 8},
    "growing_bags": {"size": 500, "most": 10},
    "kernel_kmeans": {"clusters": 8},
    "landmark_voronoi": {"size": 500},
    "oblique_tree": {"grain": 300},
    "piecewise_tree": {"functions": 1},
    "repeat": {"decomposer": build("decomposer", "tree", ceiling=500, splitter="random")},
    "spill_forest": {"trees": 5, "ceiling": 500},
    "sum": {"summands": [build("decomposer", each) for each in ("rd_subspaces", "pca_subspaces")]},
    "tree": {"ceiling": 500},
}
#: The usual combiner for what a decomposer yields; the first word that it has counts.
COMBINERS = {
    "subspaces": "fusion",
    "class codes": "decode",
    "class tree": "class_path",
    "groups": "mean",
    "subsets": "vote",
    "class pairs": "vote",
    "regions": "route",
    "one part": "route",
}


@attrs.define
class SharedParts:
    """Trained parts by their inputs, and the processor time of those that were used again."""

    kept: dict[str, tuple[Any, float]] = attrs.field(factory=dict)
    seconds: float = 0.0
    began: float = 0.0

    def get(self, key: str) -> Any:
        found, seconds = self.kept.get(key, (None, 0.0))
        self.seconds += seconds
        self.began = time.process_time()
        return found

    def put(self, key: str, outcome: Any) -> None:
        """Keep a part; the time since the last call was spent on it, or on it and those next."""
        now = time.process_time()
        self.kept[key] = (outcome, now - self.began)
        self.began = now


@attrs.frozen(eq=False)
class Rows:
    """Training and test rows, standardized by the training rows."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--decomposers", default="tree,whole,chunks,kmeans")
    parser.add_argument("--learners", default="kernel_svm")
    parser.add_argument("--combiners", default="", help="default: the usual one")
    parser.add_argument("--against", default="tree", help="decomposer to test the others against")
    parser.add_argument("--plugin", type=Path, help="Python file with components of your own")
    parser.add_argument("--rows", type=int, default=4000, help="training rows at most")
    parser.add_argument("--test-rows", type=int, default=4000, help="test rows at most")
    parser.add_argument("--record", type=Path, help="append records there")
    parser.add_argument("--tables", type=Path, help="file of records to write tables of")
    parser.add_argument("--out", type=Path, help="folder for the tables; default: results")
    parser.add_argument("--page", type=Path, help="write one table over all data sets there")
    given = parser.parse_args(arguments)
    try:
        work(parser, given)
    except DcsvmError as error:
        raise SystemExit(f"error: {error}") from None


def work(parser: argparse.ArgumentParser, given: Any) -> None:
    if given.plugin:
        load_plugin(given.plugin)
    if given.data and given.against not in given.decomposers.split(","):
        parser.error(f"--against: {given.against} is not one of --decomposers {given.decomposers}")
    records = [] if given.tables is None else read_records(given.tables)
    for path in given.data:
        for record in compare(load(path, given.rows, given.test_rows), given):
            records.append(record)
            print(json.dumps(record), flush=True)
            if given.record:
                with given.record.open("a") as file:
                    file.write(json.dumps(record) + "\n")
    if given.page:
        remarks = Path(__file__).parent / "measured" / "remarks.md"
        write_page(records, remarks, given.page, given.against)
    elif given.out or not given.record:
        write_tables(records, given.out or Path("results"), given.against)


def read_records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def load(path: Path, rows: int, test_rows: int) -> Rows:
    """Read a file, and split it by its own split, or two thirds to one third at random."""
    generator, schema = np.random.default_rng(0), None
    if path.suffix == ".npz":
        given = dict(np.load(path, allow_pickle=False))
    else:
        data = read(path, -1 if path.suffix in NEED_TARGET else None, missing="impute")
        given, schema = {"X": data.X, "y": data.y}, data.schema
    if "X" in given:
        order, y = generator.permutation(len(given["y"])), np.asarray(given["y"])
        cut = 2 * len(order) // 3
        parts = [given["X"][order[:cut]], y[order[:cut]], given["X"][order[cut:]], y[order[cut:]]]
    else:
        parts = [given[key] for key in ("X_train", "y_train", "X_test", "y_test")]
    chosen = generator.permutation(len(parts[1]))[:rows]
    asked = generator.permutation(len(parts[3]))[:test_rows]
    prepare = TablePreparation("standard", missing="impute", schema=schema)
    train = prepare.fit_transform(parts[0][chosen].astype(float))
    test = prepare.transform(parts[2][asked].astype(float))
    return Rows(path.stem, train, parts[1][chosen], test, parts[3][asked])


def compare(rows: Rows, given: Any) -> Iterator[dict[str, Any]]:
    """A record for each strategy that fits together, with McNemar's test against one of them."""
    plan = [(name, fitting(name, given.combiners)) for name in given.decomposers.split(",")]
    plan.sort(key=lambda planned: planned[0] != given.against)
    about: dict[str, Any] = {"data": rows.name, "rows": len(rows.y), "tests": len(rows.y_test)}
    about |= {"commit": find_commit(), "date": datetime.date.today().isoformat()}
    about["against"] = given.against
    for learner_name in given.learners.split(","):
        learner, settings = choose(learner_name, rows)
        shared, reference = SharedParts(), None
        for name, combiner in ((name, each) for name, combiners in plan for each in combiners):
            found = measure(name, learner, combiner, rows, shared)
            labels = found.pop("labels", None)
            reference = labels if reference is None else reference
            if reference is None:
                raise SystemExit(f"{rows.name}: --against {name}: {found['refused']}")
            if labels is not None:
                test = mcnemar(rows.y_test, labels, reference)
                found |= {"p": test.p_value, "wins": test.only_first, "losses": test.only_second}
            names_of = {"decomposer": name, "learner": learner_name, "combiner": combiner}
            divided = {key: plain(value) for key, value in settings_of(name, rows).items()}
            told = {"settings": settings, "decomposer_settings": divided}
            told["versions"] = {}
            for kind, part in names_of.items():
                told["versions"] |= find_version(kind, part)
            yield about | names_of | told | found


def find_commit() -> str:
    """The commit of the sources of dcsvm that run; empty for an installed wheel."""
    git = ["git", "-C", str(Path(dcsvm.__file__).parent)]
    for command in (
        ["ls-files", "--error-unmatch", "__init__.py"],
        ["rev-parse", "--short", "HEAD"],
    ):
        done = subprocess.run([*git, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            return ""
    return done.stdout.strip()


def find_version(kind: str, name: str) -> dict[str, str]:
    """The distribution of a component and its version; of a single file, its SHA-256."""
    offer = default_registry().offers[kind, name]
    file = Path(offer.distribution)
    if offer.version or not file.is_file():
        return {offer.distribution: offer.version}
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}


def settings_of(name: str, rows: Rows) -> dict[str, Any]:
    """The settings of a decomposer; groups are the values of the column that has fewest."""
    if name != "groups":
        return SETTINGS.get(name, {})
    counts = [len(np.unique(column)) for column in rows.X.T]
    return {"column": min(range(len(counts)), key=lambda n: (counts[n] < 2, counts[n]))}


def plain(value: Any) -> Any:
    """A setting as JSON can hold it: components as the text that makes them."""
    return value if isinstance(value, int | float | str | None) else repr(value)


def choose(name: str, rows: Rows) -> tuple[Any, dict[str, float]]:
    """The learner with the settings that are best on validation rows, without a division."""
    if name != "kernel_svm":
        return build("learner", name), {}
    cut = int(len(rows.y) * (1 - VALIDATION))

    def score(cell: tuple[float, float]) -> float:
        learner = build("learner", name, C=cell[0], gamma=cell[1] / rows.X.shape[1])
        whole = DivideAndConquerClassifier("whole", learner, "route", random_state=0)
        whole.fit(rows.X[:cut], rows.y[:cut])
        return float(whole.score(rows.X[cut:], rows.y[cut:]))

    C, gamma = max(itertools.product(GRID["C"], GRID["gamma"]), key=score)
    settings = {"C": C, "gamma": gamma / rows.X.shape[1]}
    return build("learner", name, **settings), settings


def fitting(name: str, combiners: str) -> list[str]:
    """The combiners that fit a decomposer: those given, or the usual one."""
    yields = build("decomposer", name, **SETTINGS.get(name, {})).yields
    usual = [combiner for word, combiner in COMBINERS.items() if word in yields][:1]
    given = combiners.split(",") if combiners else usual
    found = [each for each in given if yields <= build("combiner", each).accepts]
    if not found:
        words = ", ".join(sorted(yields))
        raise SystemExit(f"{name} yields {words}: name a combiner that accepts it by --combiners")
    for each in given:
        if each not in found:
            print(f"skipped: {name} with {each}, which does not fit", file=sys.stderr)
    return found


def measure(
    name: str, learner: Any, combiner: str, rows: Rows, shared: SharedParts
) -> dict[str, Any]:
    """Train and predict; seconds count parts that were used again as if trained anew.

    They are processor time, which other programs on the machine hardly change.
    """
    decomposer = build("decomposer", name, **settings_of(name, rows))
    clf = DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0)
    shared.seconds, started = 0.0, time.process_time()
    try:
        clf.fit_with(Engine(n_jobs=1, checkpoints=shared), rows.X, rows.y)
        fit_seconds = time.process_time() - started + shared.seconds
        started = time.process_time()
        labels = clf.predict(rows.X_test)
        predict_seconds = time.process_time() - started
    except DcsvmError as error:
        return {"refused": str(error)}
    kernels = float(np.mean(clf.cost(rows.X_test[:200]).kernel_evaluations))
    return {
        "labels": labels,
        "accuracy": float((labels == rows.y_test).mean()),
        "fit_seconds": round(fit_seconds, 3),
        "predict_seconds": round(predict_seconds, 3),
        "kernel_evaluations": None if np.isnan(kernels) else kernels,
        "parts": len(clf.ledger_),
        "parameters": {key: plain(value) for key, value in clf.get_params().items()},
    }


if __name__ == "__main__":
    main()
