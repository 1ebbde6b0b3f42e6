"""Report: the interface of plugins that describe runs, and the data that they are given."""

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs

from dcsvm.base.errors import UsageError
from dcsvm.base.sanitized_text import unquote_formula


@attrs.frozen(eq=False)
class FinishedRun:
    """A run that has just ended, with its model and its rows still in memory.

    Parameters
    ----------
    model : fitted classifier
    X_test, y_test : (n, d) and (n,)
        The rows that were held out.
    answers : (n,)
        Their predictions; with folds, each by a model that was not trained on the row.
    X_train, y_train : (m, d) and (m,)
        The rows that `model` was fitted on.
    features : sequence of str
        The column names; empty if there are none.
    probabilities : (n, classes), optional
        Probabilities of the test rows, like `answers`.
    """

    model: Any
    X_test: Any
    y_test: Any
    answers: Any
    X_train: Any
    y_train: Any
    features: Sequence[str] = ()
    probabilities: Any = None


@attrs.frozen(eq=False)
class RunRecord:
    """A run as recorded in its folder; the page on run folders lists the files and columns.

    Parameters
    ----------
    folder : path
    result : mapping
        `result.json`; each of its models also has `nsv_ratio`, None if unknown.
    recipe : mapping
        The resolved recipe with the values that the search chose, without settings of components
        that are at their defaults.
    search : mapping
        The last search for the recipe's own model, from `search.json`; empty without a search.
    columns : sequence of str
        Sentences on the columns of the data, such as `left out: code (...)`.
    rare_classes : str
        A sentence on classes of few rows; empty if there are none.
    """

    folder: Path
    result: Mapping[str, Any]
    recipe: Mapping[str, Any] = attrs.field(factory=dict)
    search: Mapping[str, Any] = attrs.field(factory=dict)
    columns: Sequence[str] = ()
    rare_classes: str = ""

    def read_text(self, name: str) -> str:
        """Return the text of a file; empty if it cannot be read."""
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def read_json(self, name: str) -> Any:
        """Return the content of a JSON file; None if the run has not written it."""
        path = self.folder / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UsageError(f"{str(path)!r} cannot be read: {error}") from error

    def read_csv(self, name: str) -> list[dict[str, str]]:
        """Return the lines of a CSV file by column; none if the run has not written it.

        Texts are as they were before `quote_formula`.
        """
        path = self.folder / name
        try:
            with path.open(newline="", encoding="utf-8") as file:
                lines = list(csv.DictReader(file))
            if any(None in line or None in line.values() for line in lines):
                raise ValueError("its lines differ in length")
        except FileNotFoundError:
            return []
        except (OSError, ValueError, csv.Error) as error:
            raise UsageError(f"{str(path)!r} cannot be read: {error}") from error
        return [
            {unquote_formula(name): unquote_formula(text) for name, text in line.items()}
            for line in lines
        ]


class Report(ABC):
    """Describes a run in one file of its folder; offered through the hook `dcsvm_reports`.

    A complete one::

        class Summary(Report):
            name = "summary"
            file_name = "summary.txt"

            def render(self, record):
                return f"{record.result['n_test']} rows were tested"
    """

    name: ClassVar[str] = ""
    #: The file in the run folder that holds the report.
    file_name: ClassVar[str] = ""

    def find_missing(self) -> str:
        """Say in a sentence which library is missing; empty if the report can be written."""
        return ""

    def gather(self, run: FinishedRun) -> Mapping[str, Any]:
        """Return facts that need the model and its rows, as JSON values by file name.

        Called once, at the end of a run. The files are written to the run folder, where `render`
        can read them; choose names that no other report uses.
        """
        return {}

    @abstractmethod
    def render(self, record: RunRecord) -> str:
        """Return the text of the report, from the files of the run folder alone.

        Called at the end of a run and by `dcsvm report`, when data and model may be gone. The
        same files should give the same text. Raise a UsageError for an unreadable file.
        """
