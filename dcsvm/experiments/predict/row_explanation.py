"""The explanation of one row of a file: the way to its answer, and what its values do to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.errors import DataError, UsageError
from dcsvm.experiments.predict.row_reader import RowReader, open_rows
from dcsvm.inspection.explainer import explain
from dcsvm.inspection.explanation import Explanation
from dcsvm.numeric.array_types import FloatArray, Matrix
from dcsvm.toolbox.feature_effects import read_column, replace_column
from dcsvm.toolbox.unwrap import find_preparation

#: Other rows of the file whose values are tried in the place of the row's own.
OTHERS = 200
#: Features, of very many, that are tried; of these, those that are told.
TRIED, TOLD = 300, 8
#: What a value does to a score is rounding below this share of it.
NEGLIGIBLE = 1e-9


@attrs.frozen
class ValueEffect:
    """What changes if a row has the value of another row in one column, for `n_others` of them.

    `pull` is how much lower the score of the answer is on average, positive if the row's own value
    speaks for the answer. `share` is that of answers that change, mostly to `instead`.
    """

    column: str
    value: str
    pull: float
    share: float
    n_others: int
    instead: str


@attrs.frozen
class RowExplanation:
    """Why a row of a file has its answer; `truth` is its class, if the file has it."""

    row: int
    truth: str | None
    explanation: Explanation
    effects: tuple[ValueEffect, ...]

    def lines(self) -> Iterator[str]:
        """Yield the explanation line by line."""
        first, *others = self.explanation.lines()
        yield f"row {self.row}: {first}"
        if self.truth is not None:
            yield f"  in the file it is {self.truth!r}"
        if self.effects:
            n = self.effects[0].n_others
            yield f"  with the values of {n} other rows in one column, its score would change by:"
        for each in self.effects:
            others_said = f", and {each.share:.0%} of the answers" if each.share else ""
            others_said += f", mostly to {each.instead!r}" if each.share else ""
            yield f"    {-each.pull:+.3g} for another {each.column} than {each.value}{others_said}"
        yield from others


def explain_row(
    model: Any,
    path: Path,
    row: int,
    header: bool = True,
    encoding: str | None = None,
    decimal: str | None = None,
) -> RowExplanation:
    """Explain the answer of a fitted model for one row of a data file; the first row is 1.

    The file has the columns of the model; a text file begins with their names if it has a header.
    """
    if row < 1:
        raise UsageError(f"rows are counted from 1, got {row}")
    rows = open_rows(model, path, header, encoding, decimal)
    x, truth, others = _read(rows, row)
    explanation = attrs.evolve(explain(model, x), **_find_scores(model, x))
    effects = sorted(
        _list_effects(model, x, others), key=lambda each: (-each.share, -abs(each.pull))
    )
    return RowExplanation(row, truth, explanation, tuple(effects[:TOLD]))


def _read(rows: RowReader, row: int) -> tuple[Matrix, str | None, Matrix]:
    """Return the row, its class if there is one, and other rows around it."""
    seen = 0
    for block in rows.blocks([]):
        n = block.X.shape[0]
        if seen < row <= seen + n:
            place = row - seen - 1
            others = np.delete(np.arange(n), place)
            some = others[np.linspace(0, n - 2, min(OTHERS, n - 1)).astype(np.intp)]
            truth = None if block.labels is None else block.labels[place] or None
            return block.X[[place]], truth, block.X[some]
        seen += n
    raise DataError(f"{rows.title} has {seen} rows, and no row {row}")


def _list_effects(model: Any, x: Matrix, others: Matrix) -> Iterator[ValueEffect]:
    """Yield what the value of each column does, where it differs from those of other rows."""
    n, d = others.shape
    if not n:
        return
    answer, score = model.predict(x)[0], _score(model, x, model.predict(x)[0])[0]
    copies = sparse.csr_array(sparse.vstack([x] * n)) if sparse.issparse(x) else np.tile(x, (n, 1))
    for column in _choose_columns(x, d):
        changed_rows = replace_column(copies, column, read_column(others, column))
        answers = model.predict(changed_rows)
        pull = float(score - _score(model, changed_rows, answer).mean())
        changed = answers[answers != answer]
        if not len(changed) and abs(pull) < NEGLIGIBLE * max(1.0, abs(score)):
            continue
        instead = ""
        if len(changed):
            labels, counts = np.unique(changed, return_counts=True)
            instead = str(labels[counts.argmax()])
        name, value = _describe(model, column, float(read_column(x, column)[0]))
        yield ValueEffect(name, value, pull, len(changed) / n, n, instead)


def _find_scores(model: Any, x: Matrix) -> dict[str, Any]:
    """The scores that `predict` writes, where probabilities decide, not those of members."""
    if not hasattr(model, "predict_proba"):
        return {}
    scores = np.asarray(model.decision_function(x))
    values = [-scores[0], scores[0]] if scores.ndim == 1 else scores[0]
    return {"scores": dict(zip(model.classes_.tolist(), map(float, values), strict=True))}


def _score(model: Any, X: Matrix, answer: Any) -> FloatArray:
    """Return the scores (n,) of one class."""
    scores = np.asarray(model.decision_function(X))
    place = int(np.flatnonzero(model.classes_ == answer)[0])
    if scores.ndim == 1:
        return scores if place else -scores
    column: FloatArray = scores[:, place]
    return column


def _choose_columns(x: Matrix, d: int) -> list[int]:
    """Return the columns to try: of very many, those with the largest values of the row."""
    if d <= TRIED:
        return list(range(d))
    dense = np.abs(np.nan_to_num(x.toarray() if sparse.issparse(x) else x)).ravel()
    return sorted(np.argsort(-dense, kind="stable")[:TRIED].tolist())


def _describe(model: Any, column: int, value: float) -> tuple[str, str]:
    """Return the name of a column and its value as the file has it."""
    prepare = find_preparation(model)
    columns = () if prepare is None else prepare.columns_
    if not columns:
        named = getattr(model, "feature_names_in_", None)
        return (f"feature {column}" if named is None else str(named[column])), f"{value:g}"
    levels = columns[column].levels
    if np.isnan(value):
        return columns[column].name, "missing"
    if levels is None:
        return columns[column].name, f"{value:.6g}"
    return columns[column].name, levels[int(value)] if value >= 0 else "an unknown level"
