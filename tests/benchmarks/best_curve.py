"""What the best curve could give: one fitted to the margins of the test rows themselves.

    python tests/benchmarks/best_curve.py

writes measured/best_curve.md, which the page of probabilities.py shows.

No calibration can be fitted so. Where it still has a worse log-loss than CalibratedClassifierCV,
the mean of five models of that is the better classifier, and no curve makes up for it. Forests of
split 0, with the settings of the kept measurements.
"""

import datetime
from typing import Any

import numpy as np
from probabilities import BEST_CURVE, ask_git, compose, load_split, read_kept
from sklearn.metrics import log_loss

from dcsvm.drive.calibration import Calibration, exponentiate, fit_curve

PIPELINE, SPLIT = "svm_forest", 0


def measure_best(split: Any, settings: list[float]) -> float:
    """Log-loss of test rows by a curve that was fitted to them."""
    model = compose(PIPELINE, *settings, split.X).fit(split.X, split.y).model_
    margins, y = model.class_margins(split.X_test), split.y_test
    priors = np.bincount(split.y, minlength=margins.shape[1]) / len(split.y)
    curve: Any = fit_curve(margins, y, np.ones(len(y)))
    found = Calibration("margins", class_priors=priors, **curve)
    logs = found.apply(
        margins, lambda rows: model.committee.missing_class_mass(split.X_test[rows])
    )
    return float(log_loss(y, exponentiate(logs), labels=np.arange(margins.shape[1])))


def main() -> None:
    kept = read_kept()
    lines = [
        "| set | log-loss: native | the better calibration | best curve |",
        "|---|---:|---:|---:|",
    ]
    lost = better = 0
    for name in sorted({r["set"] for r in kept.values()}):
        own = {
            way: kept.get((name, SPLIT, PIPELINE, way))
            for way in ("native", "sigmoid", "isotonic")
        }
        if None in own.values():
            continue
        native, *others = (record["log_loss"] for record in own.values() if record)
        if native <= min(others):
            continue
        best = measure_best(
            load_split(name, SPLIT), kept[name, SPLIT, PIPELINE, "off"]["settings"]
        )
        lost, better = lost + 1, better + (best > min(others))
        lines.append(f"| {name} | {native:.4f} | {min(others):.4f} | {best:.4f} |")
        print(lines[-1], flush=True)
    about = (
        f"Measured at {ask_git('rev-parse', '--short', 'HEAD')} ({datetime.date.today()}). "
        f"`{PIPELINE}` has the worse log-loss on {lost} sets of split {SPLIT}; the curve "
        f"fitted to the test rows still has on {better} of them."
    )
    BEST_CURVE.write_text("\n".join([about, "", *lines]) + "\n")


if __name__ == "__main__":
    main()
