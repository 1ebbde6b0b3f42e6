"""Compares curves for each leaf of a tree, before and after shrinkage, with the common curve.

    python tests/benchmarks/region_calibration.py

writes measured/region_calibration.md, which the page of probabilities.py shows.

Trees of SVMs with leaves of at most 500 of 4,000 rows. The common curve is the same for all
leaves; a leaf has a slope and shifts of its own on top, with a penalty that draws them to one and
zero and counts as much as so many rows. Before shrinkage there is next to no penalty. Penalties
are compared on validation rows, a quarter of the rows to learn from; test rows show what the one
that the classifier has is worth. Leaves of one class are included: they have no curve. Curves of
features are left out. Calibration errors (ECE) are means over leaves, by the rows of each.
"""

import datetime
from typing import Any

import attrs
import numpy as np
from probabilities import (
    REGIONS,
    SPLITS,
    Split,
    ask_git,
    calibration_error,
    list_sets,
    load_split,
)
from sklearn.metrics import log_loss

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.drive import held_out_margins
from dcsvm.numeric import platt_scaling

SHIPPED = platt_scaling.ADJUSTMENT
UNSHRUNK = 1e-3
PENALTIES = (UNSHRUNK, 5.0, SHIPPED, 20.0, 100.0)


def measure(shares: Any, y: Any, leaf: Any) -> tuple[float, float]:
    """Log-loss, and the mean calibration error of the leaves."""
    loss = float(log_loss(y, shares, labels=np.arange(shares.shape[1])))
    errors = [
        calibration_error(shares[leaf == each], y[leaf == each]) * np.mean(leaf == each)
        for each in np.unique(leaf)
    ]
    return loss, float(sum(errors))


def fit_tree(split: Split) -> tuple[Any, list[Any]]:
    """A fitted tree of SVMs, and what the curves of its leaves were fitted to, if they were."""
    given: list[Any] = []
    adjust = held_out_margins._adjust_regions

    def keep(*arguments: Any) -> Any:
        given.extend(arguments)
        return adjust(*arguments)

    held_out_margins._adjust_regions = keep
    try:
        svm = build("learner", "kernel_svm", C=10.0, gamma=1.0 / split.X.shape[1])
        tree = build("decomposer", "tree", ceiling=500)
        model = DivideAndConquerClassifier(tree, svm, probability="scaling", random_state=0)
        return model.fit(split.X, split.y).model_, given
    finally:
        held_out_margins._adjust_regions = adjust


def compare(split: Split, penalties: tuple[float, ...]) -> list[tuple[float, float]] | None:
    """Log-loss and error of the common curve, and with each penalty; None if leaves are few."""
    fitted, given = fit_tree(split)
    if not given:
        return None
    tables: list[Any] = [None]
    for penalty in penalties:
        platt_scaling.ADJUSTMENT = penalty
        tables.append(held_out_margins._adjust_regions(*given))
    platt_scaling.ADJUSTMENT = SHIPPED
    leaf = fitted.committee.find_assigned_members(split.X_test)
    found = []
    for regions in tables:
        calibration = attrs.evolve(fitted.calibration, regions=regions, effects=None)
        model = attrs.evolve(fitted, calibration=calibration)
        found.append(measure(model.probabilities(split.X_test), split.y_test, leaf))
    return found


def average(name: str, part: bool, penalties: tuple[float, ...]) -> Any:
    """Means over the splits of a set, of test rows or of validation rows."""
    splits = (load_split(name, number) for number in range(SPLITS))
    found = [compare(split.part() if part else split, penalties) for split in splits]
    known = [each for each in found if each is not None]
    return np.mean(known, axis=0) if known else None


def format_cells(values: Any) -> str:
    return " | ".join(f"{loss:.4f}, {error:.4f}" for loss, error in values)


def main() -> None:
    titles = ["common curve", "own curves before shrinkage", f"after it, penalty {SHIPPED:g}"]
    shown = [
        "| test rows of set | " + " | ".join(f"log-loss, ECE: {each}" for each in titles) + " |",
        "|---|" + "---|" * len(titles),
    ]
    tests, validations = [], []
    for name in list_sets():
        tested = average(name, False, (UNSHRUNK, SHIPPED))
        if tested is None:
            continue
        tests.append(tested)
        validations.append(average(name, True, PENALTIES))
        shown.append(f"| {name} | {format_cells(tested)} |")
        print(shown[-1], flush=True)
    ratios = np.median([each / each[:1] for each in tests], axis=0)
    shown.append(f"| median ratio to the common curve | {format_cells(ratios)} |")
    judged = np.array([each / each[:1] for each in validations])[:, 1:]
    chosen = [
        "| validation rows, ratio to the common curve | log-loss: median | mean | ECE: median "
        "| mean |",
        "|---|---:|---:|---:|---:|",
    ]
    for place, penalty in enumerate(PENALTIES):
        title = "before shrinkage" if penalty == UNSHRUNK else f"penalty {penalty:g}"
        cells = [
            f"{function(judged[:, place, column]):.4f}"
            for column in (0, 1)
            for function in (np.median, lambda ratio: np.exp(np.log(ratio).mean()))
        ]
        chosen.append(f"| {title} | {' | '.join(cells)} |")
    about = (
        f"Measured at {ask_git('rev-parse', '--short', 'HEAD')} ({datetime.date.today()}), "
        f"{len(tests)} sets, means over {SPLITS} splits."
    )
    REGIONS.write_text("\n".join([about, "", *chosen, "", *shown]) + "\n")


if __name__ == "__main__":
    main()
