"""The SVM forest compared with boosted trees: twenty settings each, chosen on the validation part.

    python examples/forest_showcase.py --data-set letter                     # twenty settings each
    python examples/forest_showcase.py --data-set covertype --rows 100000    # on fewer rows first,
    python examples/forest_showcase.py --data-set covertype --best 4         # the best on all rows
    python examples/forest_showcase.py --data-set covertype --final          # then the test rows
    python examples/forest_showcase.py --page                                # docs/reproduction/

Each setting's result is appended to reproduce_td/measured/showcase.jsonl and not measured again.
LightGBM and XGBoost come with `pip install dcsvm[showcase]`; one that is missing is left out.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sklearn.model_selection import ParameterSampler

sys.path.insert(0, str(Path(__file__).parent / "reproduce_td"))

import forest_how_far
import measured
from data import NAMES, SEED, Rows, split
from tables import shown, table

TRIES = 20
JOBS = 2
#: Boosting ends where so many rounds have not helped on the validation part.
PATIENCE = 30
#: Rows on which all settings are tried before the best of them meet all rows.
FEWER = 60_000
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reproduction" / "svm_forest.md"
FOREST = {
    "times": [5, 10],
    "ceiling": [500, 1500],
    "max_features": [0.5, 0.8],
    "border": [0.5, 1.0],
    "C": [10.0, 100.0],
}
#: What each method may be set to; twenty of these are drawn with a fixed seed. How many rounds of
#: boosting are best is seen on the way, up to the number given.
GRIDS: Mapping[str, list[dict[str, list[Any]]]] = {
    "svm_forest": [
        FOREST | {"kernel": ["laplacian"], "relevance": [1.0], "gamma": [1.0, 2.0, 4.0, 8.0]},
        FOREST | {"kernel": ["rbf"], "relevance": [0.0, 1.0], "gamma": [3.0, 10.0, 30.0]},
    ],
    "lightgbm": [
        {
            "n_estimators": [1000],
            "num_leaves": [63, 127, 255, 511],
            "learning_rate": [0.05, 0.1, 0.2],
            "min_child_samples": [5, 20, 100],
            "colsample_bytree": [0.5, 0.8, 1.0],
        }
    ],
    "xgboost": [
        {
            "n_estimators": [1000],
            "max_depth": [8, 10, 12, 16],
            "learning_rate": [0.05, 0.1, 0.2, 0.3],
            "min_child_weight": [1, 5],
            "subsample": [0.7, 1.0],
            "colsample_bytree": [0.5, 0.8, 1.0],
        }
    ],
    "hist_gradient_boosting": [
        {
            "max_iter": [1000],
            "max_leaf_nodes": [31, 63, 127, 255],
            "learning_rate": [0.05, 0.1, 0.2],
            "min_samples_leaf": [5, 20, 100],
            "l2_regularization": [0.0, 1.0, 10.0],
        }
    ],
}
#: What a method calls the number of its rounds.
ROUNDS = {
    "lightgbm": "n_estimators",
    "xgboost": "n_estimators",
    "hist_gradient_boosting": "max_iter",
}


def svm_forest(
    training: Rows,
    judged: Rows | None,
    *,
    times: int,
    C: float,
    gamma: float,
    kernel: str,
    **tree: Any,
) -> tuple[Any, int]:
    """Several trees with random splits, an SVM in every leaf, the mean of their scores."""
    from dcsvm import DivideAndConquerClassifier, build

    one = build("decomposer", "tree", local_scaling="minmax", **tree)
    machine = build("learner", "kernel_svm", multiclass="rest", kernel=kernel, C=C, gamma=gamma)
    forest = DivideAndConquerClassifier(
        times * one, machine, build("combiner", "mean"), n_jobs=JOBS, random_state=0
    )
    return forest.fit(*training), times


def lightgbm(training: Rows, judged: Rows | None, **settings: Any) -> tuple[Any, int]:
    from lightgbm import LGBMClassifier, early_stopping

    metric = "multi_error" if len(set(training[1])) > 2 else "binary_error"
    model = LGBMClassifier(**settings, metric=metric, n_jobs=JOBS, random_state=0, verbose=-1)
    if judged is None:
        return model.fit(*training), settings["n_estimators"]
    watch = early_stopping(PATIENCE, verbose=False)
    model.fit(*training, eval_set=[judged], callbacks=[watch])
    return model, model.best_iteration_


def xgboost(training: Rows, judged: Rows | None, **settings: Any) -> tuple[Any, int]:
    from xgboost import XGBClassifier

    settings |= {"tree_method": "hist", "n_jobs": JOBS, "random_state": 0}
    if judged is None:
        return XGBClassifier(**settings).fit(*training), settings["n_estimators"]
    metric = "merror" if len(set(training[1])) > 2 else "error"
    model = XGBClassifier(**settings, eval_metric=metric, early_stopping_rounds=PATIENCE)
    model.fit(*training, eval_set=[judged], verbose=False)
    return model, model.best_iteration + 1


def hist_gradient_boosting(
    training: Rows, judged: Rows | None, **settings: Any
) -> tuple[Any, int]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    stops = judged is not None
    model = HistGradientBoostingClassifier(
        **settings, early_stopping=stops, n_iter_no_change=PATIENCE, random_state=0
    )
    if judged is None:
        return model.fit(*training), settings["max_iter"]
    model.fit(*training, X_val=judged[0], y_val=judged[1])
    return model, model.n_iter_


METHODS: Mapping[str, Callable[..., tuple[Any, int]]] = {
    "svm_forest": svm_forest,
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "hist_gradient_boosting": hist_gradient_boosting,
}


def available() -> list[str]:
    """The methods whose libraries are installed."""
    return [name for name in METHODS if name not in ("lightgbm", "xgboost") or find_spec(name)]


def settings_of(method: str) -> list[dict[str, Any]]:
    """The twenty settings of a method: the same at every call."""
    return list(ParameterSampler(GRIDS[method], TRIES, random_state=SEED))


def attempt(name: str, rows: int | None, method: str, wanted: Iterable[dict[str, Any]]) -> None:
    """Measure those of some settings that were not measured yet, by the validation rows."""
    asked = {"data_set": name, "rows": rows, "method": method}
    cut = split(name, rows=rows)
    for settings in wanted:
        if measured.read("showcase", **asked, settings=settings):
            continue
        found = _measure(method, settings, cut.training, cut.validation, chosen_by=cut.validation)
        print(name, method, settings, found, flush=True)
        measured.append("showcase", asked | {"settings": settings} | found)


def best_of_fewer(name: str, method: str, number: int) -> list[dict[str, Any]]:
    """So many of the twenty settings, by the validation rows of the trial with fewer rows.

    These are the first in the order of all rows: rows that all the rows' training part holds too.
    """
    tried = measured.read("showcase", data_set=name, rows=FEWER, method=method)
    if len(tried) < TRIES:
        sys.exit(f"{method}: {len(tried)} of {TRIES} settings were tried with --rows {FEWER}")
    tried.sort(key=lambda one: -one["accuracy"])
    return [one["settings"] for one in tried[:number]]


def conclude(name: str, rows: int | None, method: str) -> None:
    """Learn the setting that was best on the validation rows once more; ask the test rows."""
    asked = {"data_set": name, "rows": rows, "method": method}
    tried = measured.read("showcase", **asked)
    before = measured.read("showcase", **asked | {"rows": FEWER})
    if (
        max(len(tried), len(before)) < TRIES
        or not tried
        or measured.read("showcase_final", **asked)
    ):
        return
    best = max(tried, key=lambda one: one["accuracy"])
    settings = best["settings"]
    if method in ROUNDS:
        settings = settings | {ROUNDS[method]: best["rounds"]}
    cut = split(name, rows=rows)
    found = _measure(method, settings, cut.training, cut.test())
    record = {"settings": settings, "validation_accuracy": best["accuracy"]}
    record |= {"tried": len(tried), "worst": min(one["accuracy"] for one in before or tried)}
    print(name, method, record | found, flush=True)
    measured.append("showcase_final", asked | record | found)


def _measure(
    method: str,
    settings: dict[str, Any],
    training: Rows,
    judged: Rows,
    chosen_by: Rows | None = None,
) -> dict[str, Any]:
    clock = measured.Clock()
    model, rounds = METHODS[method](training, chosen_by, **settings)
    fitted = clock.seconds()
    clock = measured.Clock()
    labels = model.predict(judged[0])
    asked = clock.seconds()
    return {
        "accuracy": float((labels == judged[1]).mean()),
        "rounds": rounds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        **{f"fit_{key}": value for key, value in fitted.items()},
        **{f"predict_{key}": value for key, value in asked.items()},
    }


def page() -> Iterable[str]:
    yield "# The SVM forest compared with boosted trees\n"
    yield (
        "Written by `python examples/forest_showcase.py --page`. Rows are split 4:1:1 at random "
        f"(seed {SEED}), features are scaled to [0, 1]. Each method uses the best of {TRIES} "
        f"settings on the validation rows, which also stop boosting (after {PATIENCE} rounds "
        f"without gain). It is trained again with {JOBS} jobs and then evaluated on the test "
        f"rows. On the largest set all {TRIES} are tried with {FEWER:,} rows, and the best of "
        "these with all rows. The search space of the forests was also chosen on the validation "
        "rows of that set; their SVMs are one against the rest. Data sets have the names of the "
        "TD paper: PHW is Pendigits, Census Income is Adult, Forest is covertype. — means not "
        "measured. Seconds are wall time; prediction is for all test rows. On Forest the first "
        "three methods were trained again within half an hour, histogram boosting on another "
        "day. *tried* counts settings tried with all rows; *worst* is the least accurate "
        "setting on the validation rows: some of them diverge.\n"
        ""
    )
    finals = measured.read("showcase_final")
    names = [name for name in NAMES if any(one["data_set"] == name for one in finals)]
    yield "## The forest against the most accurate of the others\n"
    heads = ["data", "the other", "accuracy", "", "fit s", "", "predict s", ""]
    yield from table(heads, [_duel(name, finals) for name in names])
    yield "\n## All of them\n"
    rows = []
    for name in names:
        here = [one for one in finals if one["data_set"] == name]
        rows += [_row(one) for one in here]
        rows += [_row(one) for one in _unfinished(name, {one["method"] for one in here})]
    heads = ["data", "method", "test", "validation", "worst", "tried", "fit s", "predict s"]
    yield from table([*heads, "peak MB", "setting"], rows)
    if measured.read("forest_how_far", rows=None):
        yield HOW_FAR
        yield from forest_how_far.page()


HOW_FAR = """
## How far it goes

Measured by `python examples/forest_how_far.py`: ten trees with random splits, local scaling,
relevance and borders. The table shows the mean accuracy of single trees (*one tree*), a vote,
the mean of their scores, and a mean with weights fitted on the validation rows. C and gamma are
the same for all leaves, or chosen for each leaf: on the validation rows that fall into it, or
*out of bag*, where a tree is trained on a bootstrap sample and its leaves choose on the other
rows. Validation accuracies are optimistic if the validation rows were used for a choice.
"""


def _unfinished(name: str, finished: set[str]) -> Iterable[dict[str, Any]]:
    """The best settings of methods that took too long to be learned again for the test rows.

    One that was tried with fewer rows only has no validation accuracy either.
    """
    for method in (each for each in METHODS if each not in finished):
        tried = measured.read("showcase", data_set=name, method=method)
        whole = [one for one in tried if one["rows"] is None]
        if tried:
            best = max(whole or tried, key=lambda one: one["accuracy"])
            yield {
                "data_set": name,
                "method": method,
                "settings": best["settings"],
                "validation_accuracy": best["accuracy"] if whole else None,
                "worst": min(one["accuracy"] for one in tried),
                "tried": len(whole),
            }


def _percent(share: float | None) -> str:
    return shown(None if share is None else 100 * share, 2)


def _row(one: dict[str, Any]) -> list[str]:
    return [
        NAMES[one["data_set"]],
        one["method"],
        *(_percent(one.get(key)) for key in ("accuracy", "validation_accuracy", "worst")),
        str(one["tried"]),
        *(shown(one.get(key)) for key in ("fit_wall_seconds", "predict_wall_seconds", "peak_mb")),
        ", ".join(
            f"{key} {value if isinstance(value, str) else format(value, 'g')}"
            for key, value in one["settings"].items()
        ),
    ]


def _duel(name: str, finals: list[dict[str, Any]]) -> list[str]:
    """The forest's figures before those of the most accurate other method, and who is ahead."""
    here = [one for one in finals if one["data_set"] == name and one["rows"] is None]
    (forest,) = (one for one in here if one["method"] == "svm_forest")
    others = [one for one in here if one["method"] != "svm_forest"]
    other = max(others, key=lambda one: one["accuracy"])
    cells = [NAMES[name], other["method"]]
    for key, sign in (("accuracy", 1), ("fit_wall_seconds", -1), ("predict_wall_seconds", -1)):
        scale, digits = (100, 2) if key == "accuracy" else (1, None)
        pair = [shown(scale * one[key], digits) for one in (forest, other)]
        ahead = sign * (forest[key] - other[key])
        cells += [" / ".join(pair), "ahead" if ahead > 0 else "**behind**" if ahead < 0 else "="]
    return cells


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--data-set", choices=list(NAMES), default="covertype")
    reader.add_argument("--rows", type=int, help="only so many rows, chosen at random")
    reader.add_argument("--method", choices=list(METHODS), action="append")
    reader.add_argument(
        "--best", type=int, help=f"of the settings tried with {FEWER} rows, only so many"
    )
    reader.add_argument("--final", action="store_true", help="ask the test rows and end")
    reader.add_argument("--page", action="store_true", help="write the page and end")
    given = reader.parse_args()
    if given.page:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text("\n".join(page()) + "\n", encoding="utf-8")
        return
    for method in given.method or available():
        if given.final:
            conclude(given.data_set, given.rows, method)
        elif given.best:
            wanted = best_of_fewer(given.data_set, method, given.best)
            attempt(given.data_set, given.rows, method, wanted)
        else:
            attempt(given.data_set, given.rows, method, settings_of(method))


if __name__ == "__main__":
    main()
