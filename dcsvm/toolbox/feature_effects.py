"""How much the answers of a model depend on each feature, measured on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.errors import SettingError
from dcsvm.numeric import FloatArray, IntArray, Matrix
from dcsvm.toolbox.unwrap import unwrap

#: The first of two classes is shown in place of the second if it has less than this share.
RARE = 1 / 3
#: Rows that are asked for all features together, if the cost of an answer is not known, and the
#: products that kernel values may take: both bound the time, and neither depends on the machine.
ASKED_ROWS, PRODUCTS = 60_000, 2e10
#: Rows that one feature is measured on, and how often it is shuffled.
MOST_ROWS, FEWEST_ROWS, SHUFFLES = 1000, 100, 5
#: Features whose effect is traced, values of a number and levels of a category, and rows.
TRACED, VALUES, LEVELS, TRACED_ROWS = 6, 9, 8, 200
#: Classes whose share is traced.
CLASSES = 3
#: What is lost without a feature.
AREA, RECALL = "area under the ROC curve", "mean recall"


@attrs.frozen
class FeatureImportance:
    """The score that is lost where the values of a feature are shuffled among rows.

    `spread` is the standard deviation over the shuffles.
    """

    name: str
    loss: float
    spread: float


@attrs.frozen
class FeatureEffect:
    """The share of rows that are answered with a class, if a feature has the same value in all.

    `shares` (classes, values) are means over rows, `errors` their standard errors; `values` are
    numbers or levels.
    """

    name: str
    values: Sequence[float | str]
    classes: Sequence[str]
    shares: Sequence[Sequence[float]]
    errors: Sequence[Sequence[float]]


@attrs.frozen
class FeatureReport:
    """Importances, largest first, and effects of the most important features.

    Of `n_features`, those without an importance were not measured. `score` is what was lost: the
    area under the ROC curve of two classes, else the mean recall.
    """

    importances: tuple[FeatureImportance, ...]
    effects: tuple[FeatureEffect, ...]
    n_rows: int
    n_features: int
    score: str = RECALL

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> FeatureReport:
        return cls(
            tuple(FeatureImportance(**each) for each in table["importances"]),
            tuple(FeatureEffect(**each) for each in table["effects"]),
            int(table["n_rows"]),
            int(table["n_features"]),
            str(table["score"]),
        )


def measure_features(
    model: Any, X: Any, y: Any, names: Sequence[str], levels: Sequence[Sequence[str]] = ()
) -> FeatureReport:
    """Measure permutation importances and effects of the features of a fitted classifier.

    The rows, the shuffles and, of very many features, the features are as many as a bound on the
    work allows. The result does not depend on time. X (n, d) and y (n,) are rows that the model
    has not learned; NaN is a missing value. `levels` has the levels of each feature, empty for
    numbers; X then holds their numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> data = load_iris()
    >>> clf = DivideAndConquerClassifier("whole").fit(data.data[::2], data.target[::2])
    >>> found = measure_features(clf, data.data[1::2], data.target[1::2], data.feature_names)
    >>> found.importances[0].name
    'petal length (cm)'
    """
    budget = _count_affordable_rows(model, X)
    d = X.shape[1]
    n_rows = int(np.clip(budget // (d * SHUFFLES), FEWEST_ROWS, MOST_ROWS))
    some = _choose_rows(np.asarray(y), min(n_rows, X.shape[0]))
    X, y = X[some], np.asarray(y)[some]
    n_features = max(1, budget // (len(y) * SHUFFLES))
    chosen = np.arange(d) if d <= n_features else _choose_features(X, y, n_features)
    generator = np.random.default_rng(0)
    losses = [_measure_loss(model, X, y, j, generator) for j in chosen.tolist()]
    before = _score(model, X, y)
    importances = [
        FeatureImportance(str(names[j]), float(before - np.mean(after)), float(np.std(after)))
        for j, after in zip(chosen.tolist(), losses, strict=True)
    ]
    order = np.argsort([-each.loss for each in importances], kind="stable").tolist()
    effects = [
        _trace_effect(model, X, y, int(chosen[place]), importances[place].name, levels)
        for place in order[:TRACED]
        if importances[place].loss > 0
    ]
    found = tuple(importances[place] for place in order)
    score = AREA if _is_ranked(model, y) else RECALL
    return FeatureReport(found, tuple(each for each in effects if each), len(y), d, score)


def replace_column(X: Matrix, column: int, values: FloatArray) -> Matrix:
    """Return rows X (n, d) with other values (n,) in a column."""
    if not sparse.issparse(X):
        changed = np.array(X)
        changed[:, column] = values
        return changed
    X = sparse.csc_array(X)
    own = sparse.csc_array(np.asarray(values)[:, None])
    return sparse.csr_array(sparse.hstack([X[:, :column], own, X[:, column + 1 :]], format="csr"))


def read_column(X: Matrix, column: int) -> FloatArray:
    """Return a column of rows X as a dense array (n,)."""
    values = X[:, [column]]
    return (values.toarray() if sparse.issparse(values) else np.asarray(values)).ravel()


def _count_affordable_rows(model: Any, X: Any) -> int:
    """Return how many rows the time allows in total."""
    try:
        classifier, rows = unwrap(model, X[:20], "measure_features")
    except SettingError:
        return ASKED_ROWS
    work = float(np.mean(classifier.cost(rows).kernel_evaluations))
    if not np.isfinite(work):
        return ASKED_ROWS
    return int(np.clip(PRODUCTS / max(work * X.shape[1], 1.0), 2000, 4 * ASKED_ROWS))


def _choose_rows(y: Any, n_rows: int) -> IntArray:
    """Choose rows of every class evenly."""
    order = np.argsort(y, kind="stable")
    return np.sort(order[np.linspace(0, len(y) - 1, n_rows).astype(np.intp)])


def _choose_features(X: Matrix, y: Any, n_features: int) -> IntArray:
    """Choose the features whose means differ most between classes, next to their deviation."""
    dense = np.nan_to_num(X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float))
    means = np.array([dense[y == label].mean(axis=0) for label in np.unique(y)])
    gap = (means.max(axis=0) - means.min(axis=0)) / (dense.std(axis=0) + 1e-12)
    return np.sort(np.argsort(-gap, kind="stable")[:n_features])


def _measure_loss(
    model: Any, X: Matrix, y: Any, column: int, generator: np.random.Generator
) -> FloatArray:
    """Return the score after each shuffle of a column."""
    values = read_column(X, column)
    shuffled = np.concatenate([generator.permutation(values) for _ in range(SHUFFLES)])
    rows = sparse.vstack([X] * SHUFFLES) if sparse.issparse(X) else np.tile(X, (SHUFFLES, 1))
    rows = replace_column(rows, column, shuffled)
    predicted = model.decision_function(rows) if _is_ranked(model, y) else model.predict(rows)
    return np.array([_judge(model, y, each) for each in np.split(predicted, SHUFFLES)])


def _is_ranked(model: Any, y: Any) -> bool:
    """Return whether rows of two classes can be ranked, which counts where one class is rare."""
    return len(model.classes_) == 2 and bool(np.isin(model.classes_, y).all())


def _score(model: Any, X: Matrix, y: Any) -> float:
    return _judge(
        model, y, model.decision_function(X) if _is_ranked(model, y) else model.predict(X)
    )


def _judge(model: Any, y: Any, predicted: Any) -> float:
    """Return the area under the ROC curve of scores, or the mean recall of labels."""
    if _is_ranked(model, y):
        from sklearn.metrics import roc_auc_score  # takes long, and predicting never needs it

        return float(roc_auc_score(y == model.classes_[1], predicted))
    right = y == predicted
    return float(np.mean([right[y == label].mean() for label in np.unique(y)]))


def _trace_effect(
    model: Any, X: Matrix, y: Any, column: int, name: str, levels: Sequence[Sequence[str]]
) -> FeatureEffect | None:
    """Return the effect of a feature; None if it has one value."""
    own = read_column(X, column)
    values, labels = _list_values(own[~np.isnan(own)], levels[column] if levels else ())
    if len(values) < 2:
        return None
    rows = X[np.linspace(0, X.shape[0] - 1, min(TRACED_ROWS, X.shape[0])).astype(np.intp)]
    shares = np.array([_share_classes(model, rows, column, value) for value in values])
    means = shares.mean(axis=1)
    errors = shares.std(axis=1) / np.sqrt(shares.shape[1])
    moved = np.ptp(means, axis=0)
    rare = int(np.mean(y == model.classes_[0]) >= RARE)  # of two classes, the one of interest
    shown = [rare] if means.shape[1] == 2 else np.argsort(-moved, kind="stable")[:CLASSES].tolist()
    return FeatureEffect(
        name,
        labels,
        [str(model.classes_[k]) for k in shown],
        means[:, shown].T.round(4).tolist(),
        errors[:, shown].T.round(4).tolist(),
    )


def _list_values(own: FloatArray, levels: Sequence[str]) -> tuple[FloatArray, list[float | str]]:
    """Return the values that a feature is given in turn, and how they are called."""
    if levels:
        codes = own[own >= 0].astype(np.intp)
        counts = np.bincount(codes, minlength=len(levels))
        common = np.argsort(-counts, kind="stable")[:LEVELS]
        common = common[counts[common] > 0]
        return common.astype(float), [str(levels[code]) for code in common]
    different = np.unique(own)
    if len(different) > VALUES:
        different = np.unique(np.quantile(own, np.linspace(0.02, 0.98, VALUES)))
    return different, different.tolist()


def _share_classes(model: Any, rows: Matrix, column: int, value: float) -> FloatArray:
    """Return the probabilities (n, classes) of rows with this value, or 1 for the answers."""
    rows = replace_column(rows, column, np.full(rows.shape[0], value))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows))
    hits: FloatArray = (model.predict(rows)[:, None] == model.classes_).astype(float)
    return hits
