"""The content of a report as plain data, and numbers derived from it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from dcsvm.numeric import BoolArray, IntArray
from dcsvm.toolbox import mcnemar, paired_interval
from dcsvm_report.evidence import Evidence
from dcsvm_report.stage_bars import StageCounts


@attrs.frozen(eq=False)
class Contender:
    """A measured model: its metrics and its predictions of the test rows."""

    name: str
    metrics: Mapping[str, Any]
    answers: IntArray | None = None

    def number(self, key: str) -> float:
        """A metric; NaN if unknown."""
        value = self.metrics.get(key)
        return math.nan if value is None else float(value)

    @property
    def accuracy(self) -> float:
        return self.number("test_accuracy")

    @property
    def work(self) -> float:
        """Kernel evaluations and hyperplanes per row, on average."""
        return self.number("kernel_evaluations_mean") + self.number("hyperplanes_mean")

    @property
    def undivided(self) -> bool:
        return self.metrics.get("n_parts") == 1


@attrs.frozen
class TrialScore:
    """One trial of a search: its parameters and its score."""

    parameters: Mapping[str, Any]
    score: float


@attrs.frozen
class ClassRow:
    """Precision, recall and F1 of one class."""

    name: str
    rows: int
    precision: float
    recall: float
    f1: float


@attrs.frozen
class Confusion:
    """A pair of classes that was confused, and how often."""

    truth: str
    answer: str
    rows: int


@attrs.frozen(eq=False)
class Facts:
    """Setup and results of a run; the report is about the first contender.

    `asked` and `environment` are pairs of key and value, `texts` are titles and contents of files,
    `columns` are column names with their types, `has_budget` is whether the search had a time
    budget, `leaderboard` holds the lines of a table, `notes` are sentences.
    """

    title: str
    contenders: tuple[Contender, ...]
    classes: tuple[str, ...]
    truth: IntArray
    about: str = ""
    asked: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    ledger: tuple[Mapping[str, Any], ...] = ()
    evidence: Evidence = attrs.field(factory=Evidence)
    trials: tuple[TrialScore, ...] = ()
    leaderboard: tuple[Mapping[str, Any], ...] = ()
    search_ended: str = ""
    scored_by: str = "accuracy"
    columns: tuple[tuple[str, str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    again: tuple[str, ...] = ()
    has_budget: bool = False
    notes: tuple[str, ...] = ()

    @property
    def own(self) -> Contender:
        return self.contenders[0]

    @property
    def rivals(self) -> tuple[Contender, ...]:
        return self.contenders[1:]

    @property
    def reference(self) -> Contender | None:
        """The undivided model, if it was compared."""
        return next((each for each in self.rivals if each.undivided), None)

    @property
    def wrong(self) -> BoolArray | None:
        return None if self.own.answers is None else self.own.answers != self.truth

    def confusion(self) -> IntArray:
        """Rows by true class and predicted class, (classes, classes)."""
        k = len(self.classes)
        counts = np.zeros((k, k), dtype=np.intp)
        if self.own.answers is not None:
            np.add.at(counts, (self.truth, self.own.answers), 1)
        return counts

    def class_rows(self) -> list[ClassRow]:
        measures = precision_recall_fscore_support(
            self.truth, self.own.answers, labels=range(len(self.classes)), zero_division=np.nan
        )
        return [
            ClassRow(name, int(there), float(precision), float(recall), float(f1))
            for name, precision, recall, f1, there in zip(self.classes, *measures, strict=True)
        ]

    def find_confusions(self, most: int = 8) -> list[Confusion]:
        """The pairs of classes that were confused most often."""
        counts = self.confusion()
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")[:most]
        places = [np.unravel_index(place, counts.shape) for place in order]
        return [
            Confusion(self.classes[i], self.classes[j], int(counts[i, j]))
            for i, j in places
            if counts[i, j]
        ]

    def compare(self, rival: Contender) -> str:
        """Compare with another model in a sentence; empty if predictions are unknown."""
        if self.own.answers is None or rival.answers is None:
            return ""
        test = mcnemar(self.truth, self.own.answers, rival.answers)
        interval = paired_interval(self.truth, self.own.answers, rival.answers)
        claim = "beyond chance" if test.significant else "within chance"
        low, high = 100 * interval.low, 100 * interval.high
        return (
            f"{100 * interval.difference:+.2f} points of accuracy (95% interval {low:+.2f} to "
            f"{high:+.2f}), {claim}: {test.only_first} rows right only with {self.own.name}, "
            f"{test.only_second} only with {rival.name} (McNemar, p = {test.p_value:.2g})"
        )

    def stages(self) -> list[StageCounts]:
        """Rows of each stage; empty for a single stage or if no support vectors are known."""
        parts = self.list_learned_parts()
        if not any(part["support_vectors"] for part in parts):
            return []
        # Skip the steps that all paths share: strategies of a single part.
        shared = [len(set(steps)) == 1 for steps in zip(*(p["path"] for p in parts), strict=False)]
        deep = (*shared, False).index(False) // 2 * 2
        by_stage: dict[int, list[Mapping[str, Any]]] = {}
        for part in parts:
            if len(part["path"]) > deep:
                by_stage.setdefault(part["path"][deep], []).append(part)
        if len(by_stage) < 2:
            return []
        return [_stage(by_stage[number]) for number in sorted(by_stage)]

    def list_learned_parts(self) -> list[Mapping[str, Any]]:
        """The ledger without parts that a nested strategy divided further."""
        divided = {tuple(record["path"][:-2]) for record in self.ledger}
        return [record for record in self.ledger if tuple(record["path"]) not in divided]


def _stage(parts: Sequence[Mapping[str, Any]]) -> StageCounts:
    steps = {str(part.get("step") or "") for part in parts}
    # A part of one class keeps all its rows: nothing was learned about them.
    kept = sum(
        part["rows"] if part["model"] == "Constant" else part["support_vectors"] for part in parts
    )
    title = steps.pop() if len(steps) == 1 else ""
    return StageCounts(title, len(parts), sum(part["rows"] for part in parts), kept)


def encode_labels(*labels: Sequence[Any] | None) -> tuple[tuple[str, ...], list[IntArray | None]]:
    """Return sorted class names, and each list of labels as indices into them."""
    texts = [None if each is None else np.array([str(label) for label in each]) for each in labels]
    found = {str(label) for each in texts if each is not None for label in each.tolist()}
    classes = sorted(found, key=_by_value)
    place = {name: number for number, name in enumerate(classes)}
    return tuple(classes), [
        None
        if each is None
        else np.array([place[label] for label in each.tolist()], dtype=np.intp)
        for each in texts
    ]


def _by_value(name: str) -> tuple[bool, float, str]:
    try:
        value = float(name)
    except ValueError:
        return True, 0.0, name
    return math.isnan(value), 0.0 if math.isnan(value) else value, name
