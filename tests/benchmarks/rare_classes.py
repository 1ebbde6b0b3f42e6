"""What the how-to on rare classes advises, measured: balanced accuracy and F1 by ways to decide.

    python tests/benchmarks/rare_classes.py

Two sets of `shared/suite` and drawn rows with a class of 2 to 11%: up to 4,000 rows to learn from
and as many to test by, three splits. C and gamma of an undivided SVM are chosen for each way by
its own score on a quarter of the rows learned from. `SVC` is scikit-learn's, with balanced
weights. Means over the splits.
"""

import warnings
from itertools import product
from typing import Any

import numpy as np
from probabilities import SHARED, encode, load_split
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, build

SETS = ("mammography", "bank_marketing", "drawn")
SPLITS = 3
GRID = list(product([1.0, 10.0, 100.0], [0.1, 1.0]))
WAYS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "weights": {"class_weight": "balanced"},
    "weights, probabilities": {"class_weight": "balanced", "probability": "auto"},
    "best balanced accuracy": {"probability": "auto", "threshold": "best balanced_accuracy"},
    "best f1": {"probability": "auto", "threshold": "best f1"},
}
SVC_WAY = "SVC, balanced"


def draw(name: str, number: int) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from and to test by; class 1 is the rare one."""
    if name != "drawn":
        split = load_split(name, number)
        rare = int(np.bincount(split.y).argmin())
        return split.X, split.y == rare, split.X_test, split.y_test == rare
    X, y = make_classification(
        8000, 8, n_informative=5, n_clusters_per_class=3, weights=[0.98], flip_y=0.01,
        class_sep=0.7, random_state=number,
    )  # fmt: skip
    X, test = encode(X[:4000], X[4000:], [])
    return X, y[:4000] == 1, test, y[4000:] == 1


def compose(way: str, C: float, width: float, n_features: int) -> Any:
    gamma = width / n_features
    if way == SVC_WAY:
        return SVC(C=C, gamma=gamma, class_weight="balanced")
    svm = build("learner", "kernel_svm", C=C, gamma=gamma)
    return DivideAndConquerClassifier("whole", svm, "route", random_state=0, **WAYS[way])


def measure(way: str, X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, float]:
    score = f1_score if way == "best f1" else balanced_accuracy_score
    parts = train_test_split(X, y, test_size=0.25, random_state=1, stratify=y)
    models = [compose(way, *cell, X.shape[1]).fit(parts[0], parts[2]) for cell in GRID]
    best = int(np.argmax([score(parts[3], each.predict(parts[1])) for each in models]))
    said = compose(way, *GRID[best], X.shape[1]).fit(X, y).predict(X_test)
    return balanced_accuracy_score(y_test, said), f1_score(y_test, said)


def main() -> None:
    warnings.simplefilter("ignore")
    names = [each for each in SETS if each == "drawn" or (SHARED / "suite").exists()]
    print("| way | " + " | ".join(f"{each}: balanced accuracy | F1" for each in names) + " |")
    print("|---|" + "---:|" * 2 * len(names))
    drawn = {name: [draw(name, number) for number in range(SPLITS)] for name in names}
    for way in [*WAYS, SVC_WAY]:
        cells = []
        for name in names:
            found = np.mean([measure(way, *rows) for rows in drawn[name]], axis=0)
            cells += [f"{each:.3f}" for each in found]
        print(f"| {way} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
