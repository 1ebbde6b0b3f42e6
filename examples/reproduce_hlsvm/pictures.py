"""Figures 2, 4, 5c and 6 of the H-LSVM paper, drawn from what was measured.

    python examples/reproduce_hlsvm/pictures.py

Figure 2 is learned anew, in a second; the others are drawn from measured/*.jsonl.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import measured
import numpy as np
from data import split
from run import GREEDY

from dcsvm import DivideAndConquerClassifier, build

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "dcsvm"  # the same picture gives the same file
FOLDER = Path(__file__).resolve().parents[2] / "docs/reproduction"
MARKS = {"linear": "o", "rbf": "s", "h_lsvm_published": "D", "h_lsvm": "*", "svm_tree": "^"}


def main() -> None:
    from matplotlib import pyplot

    for name, draw in {
        "hlsvm_banana": banana,
        "hlsvm_tradeoff": tradeoff,
        "hlsvm_scaling": scaling,
        "hlsvm_bound": bound,
    }.items():
        figure, axes = pyplot.subplots(1, 2 if draw in (banana, bound) else 1, figsize=(8, 4))
        draw(np.atleast_1d(axes))
        figure.tight_layout()
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        pyplot.close(figure)
        print(FOLDER / f"{name}.svg")


def banana(axes: Any) -> None:
    """Figure 2: where the tree's answers change, unpruned and pruned."""
    X, y = split("banana").training
    across, up = np.meshgrid(*(np.linspace(low, high, 300) for low, high in ((-3.2, 3), (-3, 3))))
    for axis, share in zip(axes, (0.0, 0.1), strict=True):
        rounds = {"rounds": 20, "relearn": True, "deepest": 10} if share else {}
        tree = build("decomposer", "oblique_tree", **GREEDY, prune=share, **rounds)
        model = DivideAndConquerClassifier(tree, "majority", random_state=0).fit(X, y)
        said = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(up.shape)
        colours = np.array([[207, 226, 247], [247, 220, 192]], dtype=np.uint8)[said]
        axis.imshow(colours, extent=(-3.2, 3, -3, 3), origin="lower", aspect="auto")
        for label, colour in ((0, "#2f7ed8"), (1, "#e07b00")):
            axis.plot(*X[y == label][:600].T, ".", markersize=2, color=colour, rasterized=True)
        planes = model.cost(X).hyperplanes
        axis.set_title(
            f"rho = {share}: {planes.mean():.1f} hyperplanes, at most {planes.max():.0f}"
        )


def tradeoff(axes: Any) -> None:
    """Figure 4: error against what an answer costs."""
    for number, name in enumerate(sorted({r["data_set"] for r in measured.find("tests")})):
        for method, mark in MARKS.items():
            runs = measured.find("tests", data_set=name, method=method)
            if runs:
                word = "support_vectors" if method == "rbf" else "hyperplanes_mean"
                cost = np.mean([run[word] for run in runs])
                error = 100 * np.mean([run["error"] for run in runs])
                label = name if method == "h_lsvm" else None
                axes[0].plot(cost, error, mark, color=f"C{number}", label=label)
    axes[0].set(xscale="log", xlabel="support vectors or hyperplanes", ylabel="error, percent")
    axes[0].set_title(
        "circle: linear, square: RBF, diamond: H-LSVM as published, star: optimized, "
        "triangle: SVM tree",
        fontsize="small",
    )
    axes[0].legend()


def scaling(axes: Any) -> None:
    """Figure 5c: seconds of training against rows, and N log N through the first of them."""
    n = np.array(sorted({run["rows"] for run in measured.find("scaling", method="h_lsvm")}))
    runs = [measured.find("scaling", method="h_lsvm", rows=int(size)) for size in n]
    seconds = np.array([np.mean([run["fit_seconds"] for run in some]) for some in runs])
    axes[0].plot(n, seconds, "o-", label="H-LSVM")
    axes[0].plot(n, seconds[0] * n * np.log(n) / (n[0] * np.log(n[0])), "--", label="N log N")
    axes[0].set(xlabel="rows of covertype", ylabel="seconds of one core")
    axes[0].legend()


def bound(axes: Any) -> None:
    """Figure 6: the gap between errors, and the test error, against T."""
    for axis, name in zip(axes, ("ijcnn1", "cbcl"), strict=True):
        runs = measured.find("bound", data_set=name)
        if not runs:
            continue
        T, error, training = (
            np.array([run[key] for run in runs])
            for key in ("complexity", "error", "training_error")
        )
        axis.plot(T, 100 * (error - training), "o", label="test less training error")
        axis.plot(T, 100 * error, "x", label="test error")
        fit = np.corrcoef(T, error - training)[0, 1]
        axis.set(xlabel="T", ylabel="percent", title=f"{name}: correlation {fit:.2f}")
        axis.legend()


if __name__ == "__main__":
    main()
