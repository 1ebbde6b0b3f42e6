"""Measures of a fitted pipeline: scores on the test rows, time, cost and structure."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from sklearn.pipeline import Pipeline

from dcsvm.base.cost import Cost
from dcsvm.base.models import KernelExpansion
from dcsvm.base.subproblem import Record
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.drive.observers import Observer
from dcsvm.inspection.parameter_count import size_of
from dcsvm.numeric import MappedRows
from dcsvm.numeric.array_types import FloatArray, IntArray

#: Rows that are predicted at a time, so that progress can be told; of rows on disk, for speed:
#: with thousands of regions, few rows of a block share one.
BLOCK_ROWS, MAPPED_BLOCK = 4096, 1 << 18
UNKNOWN = float("nan")


@attrs.frozen
class Measures:
    """Scores, time, cost and structure of one model; NaN means unknown, as without test rows.

    `baseline_accuracy` is the accuracy of always predicting the largest class, and
    `homogeneous_share` the share of parts that hold one class only. `more` holds the scores that
    [measure] asks for, and precision, recall and F1 of every class: `recall.setosa`. With folds,
    `by_fold` holds accuracy and each of these scores, fold by fold.
    """

    model: str
    test_accuracy: float
    test_error: float
    baseline_accuracy: float
    train_accuracy: float
    fit_seconds: float
    predict_seconds: float
    search_seconds: float
    n_train: int
    n_test: int
    n_parts: int
    homogeneous_share: float
    n_support_vectors: float
    n_unique_support_vectors: float
    kernel_evaluations_mean: float
    kernel_evaluations_max: float
    unique_kernel_evaluations_mean: float
    unique_kernel_evaluations_max: float
    hyperplanes_mean: float
    hyperplanes_max: float
    more: Mapping[str, float] = attrs.field(factory=dict)
    by_fold: Mapping[str, Sequence[float]] = attrs.field(factory=dict)

    def flatten(self) -> dict[str, Any]:
        """All measures on one level, ready for JSON: unknown numbers are None."""
        hidden = ("more", "model", "by_fold")
        own = attrs.asdict(self, filter=lambda field, _: field.name not in hidden)
        spread = {
            f"{name}_{word}": value
            for name in self.by_fold
            for word, value in zip(
                ("fold_mean", "fold_std"), self.summarize_folds(name), strict=True
            )
        }
        whole = {**own, **spread, **self.more}
        return {key: None if value != value else value for key, value in whole.items()}

    def summarize_folds(self, name: str) -> tuple[float, float]:
        """The mean of a score over the folds, and its standard deviation among them."""
        values = np.array(self.by_fold[name])
        return float(values.mean()), float(values.std(ddof=1))


@attrs.frozen(eq=False)
class Predictions:
    """Answers to some rows, with the seconds they took and the cost of each."""

    answers: Any
    seconds: float
    costs: tuple[Cost, ...]
    probabilities: FloatArray | None = None

    @classmethod
    def concatenate(cls, several: Sequence[Predictions]) -> Predictions:
        return cls(
            np.concatenate([each.answers for each in several]),
            sum(each.seconds for each in several),
            tuple(cost for each in several for cost in each.costs),
            _concatenate_probabilities(several),
        )

    def summarize_cost(self) -> dict[str, float]:
        found = {}
        for field in attrs.fields(Cost):
            counts = [np.atleast_1d(getattr(cost, field.name)) for cost in self.costs]
            rows = np.concatenate(counts) if counts else np.array([UNKNOWN])
            found[f"{field.name}_mean"] = float(rows.mean())
            found[f"{field.name}_max"] = float(rows.max())
        return found


def predict_in_blocks(
    model: Pipeline, X: Any, rows: IntArray, observer: Observer, *, cost: bool
) -> Predictions:
    """Predict the rows of X with some ids block by block, counting seconds and costs."""
    prepare, classifier = model
    probable = hasattr(classifier, "predict_proba")
    answers, probabilities, seconds, costs = [], [], 0.0, []
    block_rows = MAPPED_BLOCK if isinstance(X, MappedRows) else BLOCK_ROWS
    for start in range(0, len(rows), block_rows):
        block = X[rows[start : start + block_rows]]
        began = time.perf_counter()
        prepared = prepare.transform(block)
        if probable:
            probabilities.append(classifier.predict_proba(prepared))
            answers.append(
                classifier.classes_[classifier.model_.calibration.decide(probabilities[-1])]
            )
        else:
            answers.append(classifier.predict(prepared))
        seconds += time.perf_counter() - began
        if cost:
            costs.append(classifier.cost(prepared))
        observer.on_rows_done(block.shape[0])
    if not answers:  # no rows are held out
        return Predictions(classifier.classes_[:0], UNKNOWN, ())
    known = np.concatenate(probabilities) if probable else None
    return Predictions(np.concatenate(answers), seconds, tuple(costs), known)


def _concatenate_probabilities(several: Sequence[Predictions]) -> FloatArray | None:
    """The probabilities of several sets of rows; None where models differ in their classes."""
    tables = [each.probabilities for each in several]
    known = [each for each in tables if each is not None]
    if len(known) < len(tables) or len({each.shape[1] for each in known}) > 1:
        return None
    return np.concatenate(known)


def measure_structure(model: DivideAndConquerClassifier) -> dict[str, Any]:
    """How many parts and support vectors a fitted model has."""
    parts = select_trained_parts(model.ledger_)
    kept = list(_count_support_vectors(model.model_))
    return {
        "n_parts": len(parts),
        "homogeneous_share": sum(each.classes == 1 for each in parts) / max(len(parts), 1),
        "n_support_vectors": float(sum(kept)),
        "n_unique_support_vectors": size_of(model).support_vectors if kept else 0.0,
    }


def select_trained_parts(ledger: Sequence[Record]) -> list[Record]:
    """The records of trained parts, without those that a nested strategy divided further."""
    divided = {record.path[:-2] for record in ledger}
    return [record for record in ledger if record.path not in divided]


def _count_support_vectors(model: FittedStrategy) -> Iterator[float]:
    """The support vectors of each member at any depth; none for a model that has no such thing."""
    for member in model.committee.members:
        if isinstance(member.model, FittedStrategy):
            yield from _count_support_vectors(member.model)
        elif isinstance(member.model, KernelExpansion):
            yield float(len(member.model.support_rows))
