"""The tables of a run folder as CSV: predictions, parts and trials."""

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from dcsvm.base.sanitized_text import quote_formula
from dcsvm.experiments.run.run_messages import list_leaderboard
from dcsvm.experiments.run.runner import RunResult
from dcsvm.experiments.run.search_result import SearchResult


def format_predictions(result: RunResult) -> str:
    """The test rows as CSV: row number (the first is 0), fold, truth, and every model's answer."""
    names = [each.measures.model for each in result.trained]
    columns = [each.answers.tolist() for each in result.trained]
    rows = zip(
        result.test_rows.tolist(),
        result.folds.tolist(),
        result.truth.tolist(),
        *columns,
        strict=True,
    )
    return _format_csv(("row", "fold", "truth", *names), rows)


def format_parts(result: RunResult) -> str:
    """The ledgers as CSV: one line for every part that was trained, nested ones included.

    `kept` is how many of its rows a next stage would be given: all, where it has one class.
    """
    header = (
        *("model", "path", "rows", "classes", "support_vectors", "kept", "seconds"),
        *("learner", "kind", "parameters", "about", "account"),
    )
    lines = (
        (
            each.measures.model,
            ".".join(map(str, record.path)),
            record.rows,
            record.classes,
            record.support_vectors,
            record.kept,
            f"{record.seconds:.6f}",
            record.learner,
            record.model,
            _format_settings(record.parameters),
            _format_settings(record.about),
            _format_settings(record.account),
        )
        for each in result.trained
        for record in each.model[-1].ledger_
    )
    return _format_csv(header, lines)


def format_trials(result: RunResult) -> str:
    """What the searches tried as CSV: a line for each combination, a column for each value."""
    found = [
        (each.measures.model, number, search)
        for each in result.trained
        for number, search in enumerate(each.found)
    ]
    names = list(
        dict.fromkeys(name for *_, s in found for each in s.tried for name in each.values)
    )
    lines = (
        (
            *(model, number, search.scored_by, f"{each.score:.6f}", f"{each.seconds:.6f}"),
            *(each.values.get(name, "") for name in names),
        )
        for model, number, search in found
        for each in search.tried
    )
    return _format_csv(("model", "search", "scored_by", "score", "seconds", *names), lines)


def format_leaderboard(found: SearchResult) -> str:
    """The leaderboard of a portfolio as CSV."""
    return _format_csv(*list_leaderboard(found))


def _format_csv(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_quote_text, header))
    writer.writerows(map(_quote_text, row) for row in rows)
    return text.getvalue()


def _quote_text(value: Any) -> Any:
    return quote_formula(value) if isinstance(value, str) else value


def _format_settings(table: Any) -> str:
    plain = {key: _plain(value) for key, value in dict(table).items()}
    return json.dumps(plain, default=str)


def _plain(value: Any) -> Any:
    """Return a setting for display; nested components are shown by name."""
    return getattr(value, "name", value) if hasattr(value, "get_params") else value
