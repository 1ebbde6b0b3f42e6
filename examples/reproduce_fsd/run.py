"""Measures rows of the page on the feature space anew.

    python examples/reproduce_fsd/run.py --again adult stage=test method=SVC

Without rows, all cheap ones are measured; see examples/remeasure.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import ablation
import adult
import budget
import covertype
import draws
import measured
import text
import widths
from data import covertype as covertype_rows
from data import generated, reuters
from remeasure import Measure, NotAloneError, Record, run_again
from sklearn.metrics import f1_score


def run_script(main: Callable[[], None], *words: str) -> None:
    """Run a script, which measures what is not stored."""
    sys.argv = ["", *words]
    main()


def measure_adult(row: Record) -> None:
    run_script(adult.main)


def measure_covertype(row: Record) -> None:
    rows = row["training_rows"]
    words = "all" if rows == 464_810 else str(rows)
    run_script(covertype.main, "--rows", words, "--only", row["method"])


def measure_alone(row: Record) -> None:
    if row["kind"] != "alone":
        raise NotAloneError("it reads answers of committees, which are not stored")
    ablation.alone(row["rows"], 3, row["clusters"])


def measure_text(row: Record) -> Record:
    if row["stage"] != "test":
        raise NotAloneError("it is no result of the second look")
    split = {"reuters": reuters, "generated": generated}[row["data_set"]]()
    model = text.made(row["data_set"], row["method"], row["cell"]).fit(*text.joined(split))
    X, truth = split.test()
    labels = model.predict(X)
    return {
        "error": round(100.0 * float((labels != truth).mean()), 3),
        "f1": round(100.0 * float(f1_score(truth, labels)), 2),
    }


def measure_widths(row: Record) -> None:
    run_script(widths.main, "--rows", str(row["rows"]), "--level", str(row["level"]))


def measure_draws(row: Record) -> Record:
    return {"error": draws.measure(covertype_rows(row["rows"]), 3, row["draws"], row["seed"])}


def measure_budget(row: Record) -> Record:
    key = {name: row[name] for name in ("method", "rows", "components")}
    return budget.measure(key, budget.RIVALS[row["method"]], covertype_rows(row["rows"]))


MEASURES: Mapping[str, Measure] = {
    "adult": measure_adult,
    "covertype": measure_covertype,
    "ablation": measure_alone,
    "text": measure_text,
    "widths": measure_widths,
    "draws": measure_draws,
    "budget": measure_budget,
}


if __name__ == "__main__":
    run_again(measured, MEASURES, sys.argv[1:])
