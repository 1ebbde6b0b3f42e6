"""Compares curves for each leaf of a tree, drawn to the common curve, with the common one.

    python tests/benchmarks/region_calibration.py

writes measured/region_calibration.md, which the page of probabilities.py shows.

Trees of SVMs with leaves of at most 500 of 4,000 rows. The common curve is the same for all
leaves; a leaf has a slope and a shift of its own on top, with a penalty that draws them to one and
zero: as many rows as the penalty count as much as the common curve. Calibration errors (ECE) are
means over leaves of both classes, by the rows of each leaf. Sets of two classes.
"""

import datetime

import attrs
import numpy as np
from probabilities import REGIONS, ask_git, calibration_error, list_sets, load_split
from scipy.optimize import minimize
from scipy.special import expit

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.drive import held_out
from dcsvm.drive.calibration import Calibration

PENALTIES = (5.0, 20.0, 100.0)


def measure(odds: np.ndarray, y: np.ndarray, leaf: np.ndarray) -> tuple[float, float]:
    """Log-loss, and the mean calibration error of the leaves."""
    shares = np.column_stack([expit(-odds), expit(odds)])
    loss = float((np.logaddexp(0.0, odds) - y * odds).mean())
    errors = [
        calibration_error(shares[leaf == each], y[leaf == each]) * np.mean(leaf == each)
        for each in np.unique(leaf)
    ]
    return loss, float(sum(errors))


def fit_leaf(odds: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """Slope and shift of a leaf, drawn to one and zero."""

    def loss(found: np.ndarray) -> float:
        logits = found[0] * odds + found[1]
        drawn = penalty * ((found[0] - 1.0) ** 2 + found[1] ** 2) / 2.0
        return float((np.logaddexp(0.0, logits) - y * logits).sum() + drawn)

    return np.asarray(minimize(loss, [1.0, 0.0]).x)


def compare(name: str) -> list[tuple[float, float]] | None:
    split = load_split(name, 0)
    if split.y.max() > 1:
        return None
    kept = {}
    collect = held_out._collect

    def keep(problem, rows, margins):
        kept["rows"], kept["margins"] = rows, margins
        return collect(problem, rows, margins)

    held_out._collect = keep
    try:
        svm = build("learner", "kernel_svm", C=10.0, gamma=1.0 / split.X.shape[1])
        tree = build("decomposer", "tree", ceiling=500)
        model = DivideAndConquerClassifier(tree, svm, probability="scaling", random_state=0)
        fitted = model.fit(split.X, split.y).model_
    finally:
        held_out._collect = collect
    router = fitted.committee.groups[0].router
    assert fitted.calibration is not None
    common = attrs.evolve(fitted.calibration, regions=None)
    learned = apply(common, kept["margins"])
    mine, y = router.route(split.X[kept["rows"]]).member, split.y[kept["rows"]]
    leaf, odds = (
        router.route(split.X_test).member,
        apply(common, fitted.class_margins(split.X_test)),
    )
    several = np.isfinite(odds)
    odds, leaf, y_test = odds[several], leaf[several], split.y_test[several]
    found = [measure(odds, y_test, leaf)]
    for penalty in PENALTIES:
        own = odds.copy()
        for each in np.unique(mine):
            rows = (mine == each) & np.isfinite(learned)
            if len(np.unique(y[rows])) == 2:
                slope, shift = fit_leaf(learned[rows], y[rows], penalty)
                own[leaf == each] = slope * odds[leaf == each] + shift
        found.append(measure(own, y_test, leaf))
    return found


def apply(calibration: Calibration, margins: np.ndarray) -> np.ndarray:
    """Log-odds of the common curve; NaN where a leaf has one class."""
    logs = calibration.apply(margins, lambda rows: np.full(len(rows), 0.5))
    odds = logs[:, 1] - logs[:, 0]
    odds[np.isnan(margins).any(axis=1)] = np.nan
    return odds


def main() -> None:
    titles = ["common curve", *(f"penalty {each:g}" for each in PENALTIES)]
    lines = [
        "| set | " + " | ".join(f"log-loss, ECE: {title}" for title in titles) + " |",
        "|---|" + "---|" * len(titles),
    ]
    all_found = []
    for name in list_sets():
        found = compare(name)
        if found is not None:
            all_found.append(found)
            cells = " | ".join(f"{loss:.4f}, {error:.4f}" for loss, error in found)
            lines.append(f"| {name} | {cells} |")
            print(lines[-1], flush=True)
    table = np.array(all_found)
    ratios = np.median(table / table[:, :1], axis=0)
    cells = " | ".join(f"{loss:.4f}, {error:.4f}" for loss, error in ratios)
    lines.append(f"| median ratio to the common curve | {cells} |")
    about = f"Measured at {ask_git('rev-parse', '--short', 'HEAD')} ({datetime.date.today()})."
    REGIONS.write_text("\n".join([about, "", *lines]) + "\n")


if __name__ == "__main__":
    main()
