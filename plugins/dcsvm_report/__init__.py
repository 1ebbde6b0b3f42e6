"""Reports: what was asked and what came out, as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dcsvm_report.evidence import Evidence, evidence
from dcsvm_report.page import check_installed, lacking, page

__all__ = ["Evidence", "evidence", "lacking", "report", "write_report"]


def write_report(folder: Path) -> Path:
    """Write `report.html` into a run folder, from its other files, and return where it is.

    The same files give the same bytes. A folder without results, or a library that is not
    installed, is a UsageError.
    """
    from dcsvm.persistence.atomic_write import write_atomically
    from dcsvm_report.load_facts import facts_from

    check_installed()
    place = folder / "report.html"
    write_atomically(place, page(facts_from(folder)))
    return place


def report(
    classifier: Any,
    X_test: Any,
    y_test: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    against: Mapping[str, Any] | None = None,
    search: Any = None,
    title: str = "",
    about: str = "",
    features: Sequence[str] = (),
) -> str:
    """Report on a fitted classifier, as the text of one HTML file.

    Parameters
    ----------
    classifier : fitted classifier
        A DivideAndConquerClassifier, or a search that found one.
    X_test, y_test : (n, d) and (n,)
        Rows that were held out.
    X_train, y_train : optional
        The rows that were learned: pictures then show how pure the parts are.
    against : mapping from name to fitted classifier, optional
        Others to compare with; one of a single part counts as the undivided model.
    search : fitted search, optional
        What `cv_results_` or `results_` are shown of.
    title, about : str
    features : sequence of str, optional
        What the columns are called.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X[::2], y[::2])
    >>> "test rows were answered rightly" in report(clf, X[1::2], y[1::2], title="iris")
    True
    """
    from dcsvm_report.python_objects import facts_of

    return page(
        facts_of(
            classifier,
            X_test,
            y_test,
            X_train=X_train,
            y_train=y_train,
            against=against,
            search=search,
            title=title,
            about=about,
            features=features,
        )
    )
