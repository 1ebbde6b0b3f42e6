"""Predictions for the rows of a file, read and written block by block."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
from sklearn.pipeline import Pipeline

from dcsvm.base.errors import UsageError, did_you_mean
from dcsvm.datasets.loading import open_table
from dcsvm.experiments.predict.answer_writers import open_answers
from dcsvm.experiments.predict.row_reader import RowReader, build_row_reader

Item = TypeVar("Item")

#: The column of answers in what is written.
PREDICTION = "prediction"


@attrs.frozen
class Summary:
    """What came of answering a file.

    Of the rows that came with their class, `n_unlearned` have one that the model does not know.
    """

    n_rows: int
    n_labelled: int
    n_right: int
    n_unlearned: int
    unknown_levels: dict[str, int]
    n_strange_features: int

    @property
    def accuracy(self) -> float | None:
        """The share of right answers among the rows that came with their class."""
        return self.n_right / self.n_labelled if self.n_labelled else None


def predict_file(
    model: Any,
    path: Path,
    out: Path | None = None,
    *,
    keep: Sequence[str] = (),
    scores: bool = False,
    header: bool = True,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Summary:
    """Answer every row of a data file; memory does not depend on its size.

    Parameters
    ----------
    model : DivideAndConquerClassifier or Pipeline
        Fitted, as `load` returns it. What it was trained on decides which columns are needed, in
        any order.
    path : path
        A data file of any kind that can be read.
    out : path, optional
        Where to write the answers; the ending says how. None: CSV on standard output. A file
        appears when it is complete, or not at all.
    keep : sequence of str
        Columns to copy beside the answers. Columns that name rows are copied anyway.
    scores : bool
        Whether to write the scores of the classes, too.
    header : bool
        Whether the first line of a text file holds the names of the columns.
    on_bytes : callable
        Told how many more bytes of the file were read.
    """
    table = open_table(path, header)
    rows = build_row_reader(model, table)
    model = _drop_names(model)  # names were matched above: skip scikit-learn's check
    kept = _list_kept(rows, keep)
    unknown: dict[str, int] = {}
    known = {str(each) for each in model.classes_.tolist()}
    n_rows = n_labelled = n_right = n_unlearned = n_strange = seen = 0
    with open_answers(out, _list_columns(model, kept, scores)) as writer:
        for block in _prefetch(rows.blocks(kept)):
            labels, columns = _predict_block(model, block.X, scores)
            writer.write([*block.kept, labels, *columns])
            n_rows += len(labels)
            if block.labels is not None:
                has_label, right = _count_right(labels, block.labels)
                n_labelled += has_label
                n_right += right
                n_unlearned += sum(bool(each) and each not in known for each in block.labels)
            for name, count in block.unknown.items():
                unknown[name] = unknown.get(name, 0) + count
            n_strange = max(n_strange, block.n_strange)
            on_bytes(table.bytes_read - seen)
            seen = table.bytes_read
    return Summary(n_rows, n_labelled, n_right, n_unlearned, unknown, n_strange)


def _drop_names(model: Any) -> Any:
    if isinstance(model, Pipeline):
        return Pipeline([(name, _drop_names(step)) for name, step in model.steps])
    model = copy.copy(model)
    vars(model).pop("feature_names_in_", None)
    return model


def _list_kept(rows: RowReader, keep: Sequence[str]) -> list[str]:
    for name in keep:
        if name not in rows.names:
            raise UsageError(
                f"{rows.title} has no column {name!r} to keep; {did_you_mean(name, rows.names)}"
            )
    found = [name for name in rows.ids if name not in keep]
    return [*found, *dict.fromkeys(keep)]


def _list_columns(model: Any, kept: list[str], scores: bool) -> list[str]:
    names = [*kept, PREDICTION]
    if scores:
        classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
        names += [f"score_{label}" for label in classes]
    doubles = {name for name in names if names.count(name) > 1}
    if doubles:
        raise UsageError(f"two columns of the answers would be called {min(doubles)!r}")
    return names


def _predict_block(model: Any, X: Any, scores: bool) -> tuple[Any, list[Any]]:
    if not scores:
        return model.predict(X), []
    values = model.decision_function(X)
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
