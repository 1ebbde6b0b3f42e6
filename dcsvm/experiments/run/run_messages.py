"""Messages that the terminal and reports share, on columns, rare classes and cost ratios."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from sklearn.metrics import average_precision_score

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.datasets.dataset import Dataset
from dcsvm.datasets.field_parsing import MISSING
from dcsvm.drawing import shorten
from dcsvm.experiments.run.search_result import SearchResult
from dcsvm.numeric.array_types import FloatArray
from dcsvm.toolbox.dates import name_parts

#: A class with fewer rows than this is hard to learn, and harder to judge.
RARE = 10
#: The rarest class is reported below this share of the rows, with a warning below this recall.
UNCOMMON, HALF = 0.05, 0.5
#: Of many classes, the rarest is told of below this share of what it would have if all were alike.
FAR_BELOW = 0.2
#: Names that are listed before "and so many more".
LISTED = 6
#: Repeated rows are reported from this share on, found in so many rows at the most.
REPEATED, MOST_ROWS = 0.01, 20000
#: Kinds of columns that are no features, and why they are none.
LEFT_OUT = {
    "id": "a value of its own in nearly every row",
    "counter": "counts the rows; `numeric` keeps it",
    "constant": "always the same",
    "empty": "empty",
    "dropped": "as asked",
}


@attrs.frozen
class RareClass:
    """A class of few rows: how many of them were tested, and how many of these were right."""

    name: str
    rows: int
    tested: int
    right: int

    def __str__(self) -> str:
        tested = f"{self.tested} tested, {self.right} right" if self.tested else "none tested"
        return f"{shorten(self.name)} ({format_count(self.rows, 'row', 'rows')}, {tested})"


def find_rare_classes(labels: Any, truth: Any, answers: Any) -> list[RareClass]:
    """The classes of few rows, the rarest first: `labels` of all rows, `truth` of those tested."""
    found = []
    for label, rows in zip(*np.unique(labels, return_counts=True), strict=True):
        if rows < RARE:
            is_rare = truth == label
            right = int(np.count_nonzero(is_rare & (answers == label)))
            found.append(RareClass(str(label), int(rows), int(np.count_nonzero(is_rare)), right))
    return sorted(found, key=lambda each: (each.rows, each.name))


def describe_rare_classes(rare: Sequence[RareClass]) -> str:
    """Rare classes in a sentence; empty if there are none."""
    if not rare:
        return ""
    return f"rare classes, hard to learn and to judge: {join_names([str(each) for each in rare])}"


@attrs.frozen
class RarestClass:
    """Scores of a model on the rarest class; NaN where they are undefined."""

    name: str
    share: float
    recall: float
    precision: float
    average_precision: float | None

    @property
    def is_hidden(self) -> bool:
        """Whether the accuracy is high although most rows of the class are missed."""
        return self.recall < HALF

    def __str__(self) -> str:
        scores = f"recall {self.recall:.2f}, precision {self.precision:.2f}"
        if self.average_precision is not None:
            scores += f", average precision {self.average_precision:.2f}"
        return f"the rarest class, {shorten(self.name)} ({self.share:.1%} of the rows): {scores}"


def find_rarest_class(
    truth: Any, answers: Any, classes: Any, probabilities: FloatArray | None
) -> RarestClass | None:
    """The rarest class of the test rows, if it has less than UNCOMMON of them."""
    labels, counts = np.unique(truth, return_counts=True)
    if len(labels) < 2:
        return None
    place = int(counts.argmin())
    share = float(counts[place] / len(truth))
    if share >= min(UNCOMMON, FAR_BELOW / len(labels)):
        return None
    is_rare, answered_rare = truth == labels[place], answers == labels[place]
    right = float(np.count_nonzero(is_rare & answered_rare))
    column = np.flatnonzero(classes == labels[place])
    average = None
    if probabilities is not None and len(column):
        average = float(average_precision_score(is_rare, probabilities[:, column[0]]))
    precision = right / max(int(np.count_nonzero(answered_rare)), 1)
    return RarestClass(str(labels[place]), share, right / counts[place], precision, average)


def describe_rarest_class(
    found: RarestClass | None, model: DivideAndConquerClassifier
) -> Iterator[str]:
    """The rarest class in a sentence, and a warning where the accuracy hides that it is missed.

    The `model` is the one that missed it: a threshold is advised if it could have one.
    """
    if found is None:
        return
    yield str(found)
    if found.is_hidden:
        undecided = model.threshold is None and model.costs is None and len(model.classes_) == 2
        threshold = 'threshold = "best f1" with probability = "auto", and '
        by = "average_precision or balanced_accuracy"
        yield (
            "warning: the accuracy hides that most rows of this class are missed; try "
            + (f"{threshold}choose by {by}" if undecided else f"to choose parameters by {by}")
        )


def describe_decision(model: DivideAndConquerClassifier) -> str:
    """How a fitted model decides, if not for the likeliest class; empty if it does."""
    found = model.model_.calibration
    if found is None or found.costs is None:
        return ""
    if len(found.costs) > 2:
        return "labels: the class of least expected cost"
    rarer = int(found.costs.sum(axis=1).argmax()) if found.rarest < 0 else found.rarest
    missed, alarm = found.costs[rarer, 1 - rarer], found.costs[1 - rarer, rarer]
    threshold = alarm / (alarm + missed) if alarm + missed else 0.5
    how = f" ({model.threshold} of held-out rows)" if isinstance(model.threshold, str) else ""
    return f"labels: {model.classes_[rarer]} from a probability of {threshold:.3g} on{how}"


def describe_columns(columns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The columns of a file in a sentence or two: what they were taken for, what was left out."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        counts = str(column.get("about", "")).endswith("counts the rows")
        kind = "counter" if counts else str(column["kind"])
        kinds.setdefault(kind, []).append(shorten(column["column"]))
    features = []
    parts = {
        shorten(part)
        for each in columns
        if each["kind"] == "date"
        for part in name_parts(each["column"])
    }
    numbers = [name for name in kinds.get("number", ()) if name not in parts]
    if numbers:
        features.append(format_count(len(numbers), "number", "numbers"))
    if "date" in kinds:
        many = format_count(len(kinds["date"]), "date", "dates")
        features.append(f"{many} ({join_names(kinds['date'])})")
    if "category" in kinds:
        many = format_count(len(kinds["category"]), "category", "categories")
        features.append(f"{many} ({join_names(kinds['category'])})")
    if features:
        yield f"columns: {', '.join(features)}"
    gaps = [
        f"{shorten(column['column'])} ({found[1]})"
        for column in columns
        if column["kind"] in ("number", "category")
        and (found := re.search(r"(\d+) missing$", str(column.get("about", ""))))
    ]
    if gaps:
        yield f"missing values filled in: {join_names(gaps)}"
    yield from _describe_words(columns)
    for column in columns:
        found = re.search(r"(\d+) missing$", str(column.get("about", "")))
        if column["kind"] == "target" and found:
            rows = format_count(int(found[1]), "row", "rows")
            yield f"left out: {rows} without the target {shorten(column['column'])}"
    left_out = [
        f"{join_names(kinds[kind])} ({why})" for kind, why in LEFT_OUT.items() if kind in kinds
    ]
    if left_out:
        yield f"left out: {'; '.join(left_out)}"


def _describe_words(columns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which words of categories counted as missing, and which of them may be levels."""
    places: dict[str, list[str]] = {}
    for column in columns:
        if column["kind"] == "category":
            for word, count in (column.get("words") or {}).items():
                places.setdefault(word, []).append(f"{shorten(column['column'])} ({count:,})")
    if not places:
        return
    told = "; ".join(f"{word!r} in {join_names(names)}" for word, names in places.items())
    doubtful = {word for column in columns for word in column.get("doubtful") or ()}
    advice = ""
    if doubtful:
        levels = " or ".join(repr(word) for word in places if word in doubtful)
        others = json.dumps(sorted(MISSING - {"", *(word.lower() for word in doubtful)}))
        advice = (
            f"; if {levels} is a level, list only what is missing in `missing_values` "
            f"(--set 'data.missing_values={others}')"
        )
    yield f"counted as missing: {told}{advice}"


def compute_nsv_ratios(models: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """How many times fewer kernel values each model's rows take than the undivided one's.

    `models` are flat measures. Undivided is the model of one part; of several, the one that takes
    most. None where nothing is undivided, or no other model takes kernel values.
    """
    taken = [each.get("kernel_evaluations_mean") or 0.0 for each in models]
    undivided = max(
        (own for own, each in zip(taken, models, strict=True) if each.get("n_parts") == 1),
        default=0.0,
    )
    alone = sum(own > 0 for own in taken) < 2
    return [None if alone or not undivided or not own else undivided / own for own in taken]


def join_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")


def format_count(n: int, one: str, several: str) -> str:
    """A number and what it counts."""
    return f"{n:,} {one if n == 1 else several}"


def list_leaderboard(found: SearchResult) -> tuple[tuple[str, ...], list[list[str]]]:
    """The leaderboard of a portfolio as a header and rows of texts."""
    by = found.scored_by.replace("_", " ")
    header: tuple[str, ...] = (
        "tried",
        by,
        "log loss",
        "rows",
        "folds",
        "seconds",
        "answers/s",
        "outcome",
    )
    lines = []
    for each in found.leaderboard:
        outcome = f"chosen, weight {each.weight:.2f}" if each.weight else each.outcome
        if each.rating is None or each.log_loss is None or each.rows_per_second is None:
            lines.append([each.recipe, "", "", "", "", "", "", outcome])
            continue
        numbers = (f"{abs(each.rating):.4f}", f"{each.log_loss:.4f}", f"{each.n_rows:,}")
        speed = f"{float(f'{each.rows_per_second:.2g}'):,.0f}"
        costs = (str(each.folds), f"{each.seconds:.1f}", speed)
        lines.append([each.recipe, *numbers, *costs, outcome or "not chosen"])
    if found.scored_by == "log_loss":
        header, lines = header[:1] + header[2:], [line[:1] + line[2:] for line in lines]
    return header, lines


def describe_first_look(data: Dataset, score: str) -> Iterator[str]:
    """Sentences about uneven classes, with a score that sees them, and about repeated rows."""
    labels, counts = np.unique(data.y, return_counts=True)
    shares = counts / len(data.y)
    small, large = int(shares.argmin()), int(shares.argmax())
    if shares[small] < min(UNCOMMON, FAR_BELOW / len(labels)):
        advice = ""
        if score == "accuracy":
            advice = (
                "; accuracy hardly sees it: --score balanced_accuracy counts all classes alike"
            )
        yield (
            f"uneven classes: {shorten(str(labels[large]))} has {shares[large]:.1%} of the rows, "
            f"{shorten(str(labels[small]))} {shares[small]:.1%}{advice}"
        )
    repeated = measure_repeats(data)
    if repeated >= REPEATED:
        yield (
            f"{repeated:.0%} of the rows have the features of another row: where copies are both "
            "learned and tested, scores are too high"
        )


def measure_repeats(data: Dataset) -> float:
    """The share of rows that have the features of an earlier one; 0 for sparse rows."""
    if not hasattr(data.X, "shape") or hasattr(data.X, "indptr"):
        return 0.0
    rows = np.ascontiguousarray(data.X[np.arange(min(data.n_rows, MOST_ROWS))]) + 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    return 1.0 - len(np.unique(whole)) / len(rows)
