"""Predictions for the rows of a file, read and written block by block."""

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
from sklearn.pipeline import Pipeline

from dcsvm.base.errors import UsageError, did_you_mean
from dcsvm.drive.engine import choose_executor
from dcsvm.experiments.predict.answer_writers import open_answers
from dcsvm.experiments.predict.row_reader import RowBlock, RowReader, open_rows
from dcsvm.toolbox.unwrap import find_classifier

Item = TypeVar("Item")

#: The column of answers in what is written.
PREDICTION = "prediction"


@attrs.frozen
class Summary:
    """What came of answering a file.

    Of the rows that came with their class, `n_unlearned` have one that the model does not know.
    `unknown_examples` has the first unknown level of a column and its place, and `gaps` counts the
    missing values of columns that had none in training.
    """

    n_rows: int
    n_labelled: int
    n_right: int
    n_unlearned: int
    unknown_levels: dict[str, int]
    n_strange_features: int
    unknown_examples: dict[str, str]
    gaps: dict[str, int]

    @property
    def accuracy(self) -> float | None:
        """The share of right answers among the rows that came with their class."""
        return self.n_right / self.n_labelled if self.n_labelled else None


def predict_file(
    model: Any,
    path: Path | Sequence[Path],
    out: Path | None = None,
    *,
    keep: Sequence[str] = (),
    scores: bool = False,
    probabilities: bool = False,
    threshold: float | None = None,
    header: bool = True,
    encoding: str | None = None,
    decimal: str | None = None,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Summary:
    """Answer every row of a data file, or of several; memory does not depend on their size.

    The model, as `load` returns it, decides which columns are needed, in any order; a text file
    begins with their names if it has a header. Answers go to `out`, in the format of its ending,
    or as CSV to standard output; a file appears when it is complete, or not at all. `keep` names
    columns to copy beside the answers; columns that name rows are copied anyway. With `scores` and
    `probabilities`, those of the classes are written, too. `threshold` is the probability from
    which, of two classes, the one that was rarer in training is answered, in place of the model's
    own threshold or costs. `encoding` and `decimal` say how a text file is written, if not as
    those of training. `on_bytes` is told how many more bytes of the file were read.
    """
    if (probabilities or threshold is not None) and not hasattr(model, "predict_proba"):
        raise UsageError(
            'the model has no probabilities: train it with probability = "auto" in the recipe'
        )
    rarer = None if threshold is None else _find_rarer_class(model)
    paths = [path] if isinstance(path, Path) else path
    tables = [open_rows(model, each, header, encoding, decimal) for each in paths]
    model = _drop_names(model)  # names were matched above: skip scikit-learn's check
    kept = _list_kept(tables, keep)
    question = _Question(scores, probabilities, threshold, rarer)
    known = {str(each) for each in model.classes_.tolist()}
    tally = _Tally()
    waiting: deque[RowBlock] = deque()

    def read() -> Iterator[Any]:
        for rows in tables:
            seen = 0
            for block in _prefetch(rows.blocks(kept)):
                waiting.append(block)
                yield block.X
                on_bytes(rows.bytes_read - seen)
                seen = rows.bytes_read

    with open_answers(out, _list_columns(model, kept, scores, probabilities)) as writer:
        for labels, columns in choose_executor().ask(question.answer, model, read()):
            block = waiting.popleft()
            writer.write([*block.kept, labels, *columns])
            tally.add(labels, block, known)
    return Summary(**attrs.asdict(tally))


@attrs.define
class _Tally:
    """What is counted of the answers, for the summary."""

    n_rows: int = 0
    n_labelled: int = 0
    n_right: int = 0
    n_unlearned: int = 0
    unknown_levels: dict[str, int] = attrs.field(factory=dict)
    n_strange_features: int = 0
    unknown_examples: dict[str, str] = attrs.field(factory=dict)
    gaps: dict[str, int] = attrs.field(factory=dict)

    def add(self, labels: Any, block: RowBlock, known: set[str]) -> None:
        self.n_rows += len(labels)
        if block.labels is not None:
            has_label, right = _count_right(labels, block.labels)
            self.n_labelled += has_label
            self.n_right += right
            self.n_unlearned += sum(bool(each) and each not in known for each in block.labels)
        for counts, more in ((self.unknown_levels, block.unknown), (self.gaps, block.gaps)):
            for name, count in more.items():
                counts[name] = counts.get(name, 0) + count
        self.unknown_examples = {**block.examples, **self.unknown_examples}
        self.n_strange_features = max(self.n_strange_features, block.n_strange)


@attrs.frozen
class _Question:
    """The values to compute for each row."""

    scores: bool
    probabilities: bool
    threshold: float | None
    rarer: int | None

    def answer(self, model: Any, X: Any) -> tuple[Any, list[Any]]:
        """The labels of rows, and the columns of numbers that are written beside them."""
        labels, columns = _predict_block(model, X, self.scores)
        if self.threshold is not None and self.rarer is not None:
            reached = model.predict_proba(X)[:, self.rarer] >= self.threshold
            labels = model.classes_[np.where(reached, self.rarer, 1 - self.rarer)]
        if self.probabilities:
            columns += list(model.predict_proba(X).T)
        return labels, columns


def _find_rarer_class(model: Any) -> int:
    """The class of two that had fewer rows in training."""
    if len(model.classes_) != 2:
        raise UsageError(
            f"a threshold decides between two classes, and the model has {len(model.classes_)}"
        )
    calibration = find_classifier(model).model_.calibration
    return int(calibration.class_priors.argmin() if calibration.rarest < 0 else calibration.rarest)


def _drop_names(model: Any) -> Any:
    if isinstance(model, Pipeline):
        return Pipeline([(name, _drop_names(step)) for name, step in model.steps])
    model = copy.copy(model)
    vars(model).pop("feature_names_in_", None)
    return model


def _list_kept(tables: Sequence[RowReader], keep: Sequence[str]) -> list[str]:
    ids = [name for name in tables[0].ids if name not in keep]
    for rows in tables:
        for name in (*keep, *ids):
            if name not in rows.names:
                hint = did_you_mean(name, rows.names)
                raise UsageError(f"{rows.title} has no column {name!r} to keep; {hint}")
    return [*ids, *dict.fromkeys(keep)]


def _list_columns(
    model: Any, kept: list[str], scores: bool, probabilities: bool = False
) -> list[str]:
    names = [*kept, PREDICTION]
    if scores:
        classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
        names += [f"score_{label}" for label in classes]
    if probabilities:
        names += [f"probability_{label}" for label in model.classes_]
    doubles = {name for name in names if names.count(name) > 1}
    if doubles:
        raise UsageError(f"two columns of the answers would be called {min(doubles)!r}")
    return names


def _predict_block(model: Any, X: Any, scores: bool) -> tuple[Any, list[Any]]:
    if not scores:
        return model.predict(X), []
    values = model.decision_function(X)
    if hasattr(model, "predict_proba"):  # whose labels may come from a threshold
        return model.predict(X), list(values.reshape(len(values), -1).T)
    if values.ndim == 1:
        return model.classes_[(values > 0).astype(np.intp)], [values]
    return model.classes_[values.argmax(axis=1)], list(values.T)


def _count_right(answers: Any, labels: Sequence[str]) -> tuple[int, int]:
    """Return the number of labelled rows, and of right predictions among them."""
    texts = [str(answer) for answer in answers.tolist()]
    pairs = [(text, label) for text, label in zip(texts, labels, strict=True) if label]
    return len(pairs), sum(text == label for text, label in pairs)


def _prefetch(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the same items, computing the next one in the background."""
    done = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, done)
        while True:
            item = coming.result()
            if item is done:
                return
            coming = pool.submit(next, items, done)
            yield item  # type: ignore[misc]
