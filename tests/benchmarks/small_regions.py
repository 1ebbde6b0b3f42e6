"""Compares two sources of held-out margins for trees with small leaves.

    python tests/benchmarks/small_regions.py

writes measured/small_regions.md.

The parts are trained again without the rows that are held out, either in the same leaves or in
those of a tree that was grown without these rows. Leaves of few rows show the classes of their own
rows, so that margins in them are too sure; but half of the rows give fewer or smaller leaves. Rows
per leaf tell which is worse. Trees and forests of five, of SVMs, learn from three quarters of the
rows to learn from of split 0, and are measured by the fourth; no test row is seen. Sets have at
most 100 features here.
"""

import datetime
from collections import defaultdict
from pathlib import Path

import numpy as np
from probabilities import Split, ask_git, list_sets, load_split
from sklearn.metrics import log_loss

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.drive import held_out_margins

KEPT = Path(__file__).parent / "measured" / "small_regions.md"
CEILINGS = {"tree": (10, 30, 60, 100, 200, 400), "forest": (20, 100)}
#: Rows per leaf and leaves per tree at which the table begins a new line.
ROWS, LEAVES = (0, 10, 20, 30, 40, 60, 80, 120, 200), (2, 5, 20)
SIZES = (150, 400, 3000)
NOISE = 0.35


def make_noise() -> Split:
    """Rows whose label is wrong with probability NOISE."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(4000, 5))
    y = ((X[:, 0] + X[:, 1] > 0) ^ (generator.random(4000) < NOISE)).astype(int)
    return Split(X, y, X, y, X, y, []).part()


def compare(kind: str, ceiling: int, split: Split) -> tuple[float, float, float]:
    """Rows per leaf, leaves of a tree, and the log-loss of new leaves by that of the same."""
    tree = build("decomposer", "tree", ceiling=ceiling)
    svm = build("learner", "kernel_svm", C=10.0, gamma=1.0 / split.X.shape[1])
    trees = 5 if kind == "forest" else 1
    division, combiner = (trees * tree, "mean") if trees > 1 else (tree, "route")
    losses = []
    for few in (0, len(split.y)):
        held_out_margins.FEW_ROWS, held_out_margins.MANY_REGIONS = few, 2
        model = DivideAndConquerClassifier(
            division, svm, combiner, probability="auto", random_state=0
        ).fit(split.X, split.y)
        shares = model.predict_proba(split.X_test)
        losses.append(float(log_loss(split.y_test, shares, labels=np.unique(split.y))))
    leaves = len(model.model_.committee.members) / trees
    return len(split.y) / leaves, leaves, losses[1] / losses[0]


def shorten(split: Split, size: int) -> Split | None:
    """The first rows to learn from; None if these lack a class."""
    X, y = split.X[:size], split.y[:size]
    if len(np.unique(y)) <= split.y.max():
        return None
    return Split(X, y, split.X_test, split.y_test, X, y, [])


def main() -> None:
    found = defaultdict(list)
    for name in ["noise", *list_sets()]:
        split = make_noise() if name == "noise" else load_split(name, 0).part()
        for size in SIZES if split.X.shape[1] <= 100 else ():
            some = shorten(split, size)
            for kind in CEILINGS if some is not None else ():
                for ceiling in CEILINGS[kind]:
                    if ceiling < size:
                        rows, leaves, ratio = compare(kind, ceiling, some)
                        place = np.searchsorted(ROWS, rows, "right") - 1
                        found[kind, place, np.searchsorted(LEAVES, leaves, "right")].append(ratio)
        print(name, flush=True)
    lines = [
        "| | rows per leaf | leaves | cases | log-loss of new leaves by that of the same |",
        "|---|---|---|---:|---:|",
    ]
    for (kind, place, many), ratios in sorted(found.items()):
        if many == 0:
            continue
        rows, leaves = (
            f"{ends[0]} to {ends[1]}" if len(ends) > 1 else f"{ends[0]} and more"
            for ends in (ROWS[place : place + 2], LEAVES[many - 1 : many + 1])
        )
        mean = np.exp(np.mean(np.log(ratios)))
        lines.append(f"| {kind} | {rows} | {leaves} | {len(ratios)} | {mean:.3f} |")
    about = f"Measured at {ask_git('rev-parse', '--short', 'HEAD')} ({datetime.date.today()})."
    said = "Geometric means over validation rows of the sets of `probabilities.py`, and of noise."
    KEPT.write_text("\n".join([f"{about} {said}", "", *lines]) + "\n")


if __name__ == "__main__":
    main()
