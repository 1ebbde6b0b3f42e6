"""What each recipe of `auto`, and its blends, are worth over the suite, on validation rows.

    python tests/benchmarks/portfolio_ablation.py --sets kropt adult
    python tests/benchmarks/portfolio_ablation.py --print

Every recipe of the portfolio learns `--rows` rows: five folds of them, then all. A choice is then
made as `auto` makes it, without a limit of time: among all recipes, and among all but some. Rows
outside judge it. Finished sets are kept, so that the script can be stopped.
Seconds are those of the processor: of the search and of one fit of each recipe tried.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from suite import HERE, Cell, ask_git, draw, list_sets, read_kept

from dcsvm.base.row_splitting import deal_folds
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import Observer
from dcsvm.drive.registry import RECIPE, default_registry
from dcsvm.experiments.portfolio.blending import HeldOutScorer, choose_weights
from dcsvm.experiments.portfolio.budget import Budget
from dcsvm.experiments.portfolio.portfolio_recipes import PortfolioRecipe, find_portfolio
from dcsvm.experiments.portfolio.portfolio_search import FINALISTS
from dcsvm.experiments.portfolio.recipe_trials import TrialContext, TrialRows
from dcsvm.experiments.recipe import find_recipe
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.table_schema import TableSchema

KEPT = HERE / "measured" / "portfolio_ablation.jsonl"
FOLDS, MEMBERS = 5, 4
#: What is left out: recipes, or how many members a blend has.
WITHOUT: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "metric_krr": ("metric_krr",),
    "learned metrics (metric_krr, metric_svm)": ("metric_krr", "metric_svm"),
    "boosted_trees": ("boosted_trees",),
    "svm_forest": ("svm_forest",),
    "td_svm": ("td_svm",),
    "global_svm": ("global_svm",),
    "divided recipes (svm_forest, td_svm)": ("svm_forest", "td_svm"),
    "blends": (),
    "all but boosted_trees": ("metric_krr", "metric_svm", "svm_forest", "td_svm", "global_svm"),
}


def learn_all(name: str, n_rows: int) -> dict[str, Any]:
    """The probabilities that each recipe gives, (rows, classes), out of fold and of other rows."""
    cell = draw(name, 0, n_rows, "validation")
    data = read_cell(cell)
    learned, judged = np.split(np.arange(len(data.y)), [len(cell.y)])
    home = deal_folds(cell.y, FOLDS, True, 0)
    found: dict[str, Any] = {"y": cell.y, "y_judged": cell.y_test, "home": home, "recipes": {}}
    asked = find_recipe("auto", default_registry()).search
    sizes = {"rows": len(learned), "features": data.X.shape[1], "classes": len(np.unique(data.y))}
    missing = "mark" if np.isnan(data.X.sum()) else "error"
    for recipe in find_portfolio(default_registry(), asked, sizes):
        tried = PortfolioRecipe(recipe, data, missing, None, 0, 1)
        context = TrialContext(
            *(data.X, data.y, Engine(n_jobs=1), 0, Observer(), Budget(1e6), "accuracy")
        )
        values: dict[str, Any] = {}
        out_of_fold = np.zeros((len(learned), sizes["classes"]))
        began = time.process_time()
        for fold in range(FOLDS):
            rows = TrialRows(learned[home != fold], learned[home == fold], len(learned), fold)
            grid = {} if fold else tried.candidate.grid
            trial, _ = context.run(tried, rows, values, grid, 1e5)
            values = dict(trial.values)
            out_of_fold[home == fold] = trial.probabilities
            if not fold:
                seconds = time.process_time() - began
        rows = TrialRows(learned, judged, len(learned), FOLDS)
        last, _ = context.run(tried, rows, values, {}, 1e5)
        found["recipes"][tried.name] = {
            "out_of_fold": out_of_fold,
            "judged": last.probabilities,
            "seconds": seconds,
            "predict_seconds": last.predict_seconds,
        }
    return found


def read_cell(cell: Cell) -> Dataset:
    """All rows of a cell as a run reads them: those to learn, then those that judge."""
    y = np.concatenate([cell.y, cell.y_test])
    names = tuple(f"x{number}" for number in range(cell.X.shape[1]))
    if sparse.issparse(cell.X):
        return Dataset("rows", sparse.vstack([cell.X, cell.X_test]).tocsr(), y, names)
    X = np.vstack([cell.X, cell.X_test])
    if not cell.categorical:
        return Dataset("rows", X, y, names)
    columns = {
        name: pd.Categorical(X[:, number]) if number in cell.categorical else X[:, number]
        for number, name in enumerate(names)
    }
    prepare = TablePreparation(missing="impute")
    coded = prepare.read(pd.DataFrame(columns))
    return Dataset("rows", coded, y, names, schema=TableSchema(prepare.columns_))


def choose(found: dict[str, Any], names: Sequence[str], members: int) -> dict[str, float]:
    """The weights that `auto` would give these recipes, with time enough."""
    y, first_fold = found["y"], found["home"] == 0
    classes = np.arange(y.max() + 1)
    recipes = {name: found["recipes"][name]["out_of_fold"] for name in names}
    first = HeldOutScorer(y[first_fold], classes, "accuracy")
    best = max(names, key=lambda name: first.rate(recipes[name][first_fold]))
    others = sorted(
        (name for name in names if name != best),
        key=lambda name: -first.rate_by("log_loss", recipes[name][first_fold]),
    )
    finalists = [best, *others][:FINALISTS]
    scorer = HeldOutScorer(y, classes, "accuracy")
    several = [recipes[name] for name in finalists]
    seconds = [found["recipes"][name]["predict_seconds"] for name in finalists]
    _, weights = choose_weights(scorer, several, seconds, [0.0] * len(several), 1.0, members)
    return {finalists[place]: weight for place, weight in weights.items()}


def judge(found: dict[str, Any], names: Sequence[str], members: int) -> dict[str, Any]:
    """What the choice among these recipes is worth."""
    chosen = choose(found, names, members)
    recipes, y = found["recipes"], found["y_judged"]
    mixed = sum(weight * recipes[name]["judged"] for name, weight in chosen.items())
    own = np.maximum(mixed[np.arange(len(y)), y], 1e-6)
    return {
        "accuracy": float(np.mean(mixed.argmax(axis=1) == y)),
        "log_loss": float(-np.log(own).mean()),
        "seconds": sum(recipes[name]["seconds"] for name in names),
        "rows_per_second": len(y) / sum(recipes[name]["predict_seconds"] for name in chosen),
        "chosen": {name: round(weight, 3) for name, weight in chosen.items()},
    }


def write_table(records: Sequence[dict[str, Any]]) -> list[str]:
    """Means over the sets, as differences from the whole portfolio."""
    found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for each in records:
        found[each["without"]][each["set"]] = each
    lines = [
        "| without | sets | accuracy, points | worst | log-loss | worst | seconds to search and "
        "fit once | rows answered a second, median |",
        "|---|" + "---:|" * 7,
    ]
    for without, by_set in found.items():
        sets = [name for name in by_set if name in found["nothing"]]
        pairs = [(found["nothing"][name], by_set[name]) for name in sets]
        points = [100 * (b["accuracy"] - a["accuracy"]) for a, b in pairs]
        losses = [100 * (b["log_loss"] / a["log_loss"] - 1) for a, b in pairs]
        seconds = np.mean([b["seconds"] for _, b in pairs])
        speed = np.median([b["rows_per_second"] for _, b in pairs])
        shown = (f"{np.mean(points):+.2f}", f"{min(points):+.2f}")
        shown += (f"{np.mean(losses):+.1f}%", f"{max(losses):+.1f}%")
        shown += (f"{seconds:.1f}", f"{round(speed, -2):,.0f}")
        lines.append(f"| {without} | {len(sets)} | " + " | ".join(shown) + " |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=[], help="names; all if not given")
    parser.add_argument("--rows", type=int, default=4000, help="to learn from")
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--print", action="store_true", help="print the table, run nothing")
    given = parser.parse_args(arguments)
    if given.print:
        print("\n".join(write_table(read_kept(given.out))))
        return
    warnings.simplefilter("ignore")
    default_registry().names(RECIPE)
    done = {each["set"] for each in read_kept(given.out)}
    for name in (each for each in given.sets or list_sets() if each not in done):
        found = learn_all(name, given.rows)
        about = {"commit": ask_git("rev-parse", "--short", "HEAD")}
        about |= {"date": datetime.date.today().isoformat(), "rows": given.rows, "set": name}
        for without, left_out in WITHOUT.items():
            names = [each for each in found["recipes"] if each not in left_out]
            result = judge(found, names, 1 if without == "blends" else MEMBERS)
            if without == "nothing":
                losses = {each: judge(found, [each], 1)["log_loss"] for each in names}
                result["losses"] = losses
            with given.out.open("a") as file:
                file.write(json.dumps(about | {"without": without} | result) + "\n")
        print(name, flush=True)


if __name__ == "__main__":
    main()
