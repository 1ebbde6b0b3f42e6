"""The HTML report of a run: setup, results and figures in one file."""

from collections.abc import Mapping, Sequence
from typing import Any

from dcsvm import hookimpl
from dcsvm.toolbox import FinishedRun, Report, RunRecord

__all__ = ["HtmlReport", "report"]


@hookimpl
def dcsvm_reports() -> list[type[Report]]:
    return [HtmlReport]


class HtmlReport(Report):
    """A self-contained HTML page with tables and figures; needs the extra `report`."""

    name = "html"
    file_name = "report.html"

    def find_missing(self) -> str:
        from dcsvm_report.page import find_missing

        return find_missing()

    def gather(self, run: FinishedRun) -> Mapping[str, Any]:
        from dcsvm_report.evidence import EVIDENCE, gather_evidence

        if not len(run.y_test):  # all rows were learned
            return {}
        rows = (run.X_test, run.y_test, run.X_train, run.y_train)
        predictions = {"answers": run.answers, "probabilities": run.probabilities}
        evidence = gather_evidence(run.model, *rows, features=run.features, **predictions)
        return {EVIDENCE: evidence.as_dict()}

    def render(self, record: RunRecord) -> str:
        from dcsvm_report.load_facts import load_facts
        from dcsvm_report.page import render_page

        return render_page(load_facts(record))


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
        The test rows.
    X_train, y_train : optional
        The training rows. With them, pictures show how pure the parts are.
    against : mapping from name to fitted classifier, optional
        Models to compare with; one with a single part counts as the undivided model.
    search : fitted search, optional
        Its `cv_results_` or `results_` are shown.
    title, about : str
    features : sequence of str, optional
        The column names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X[::2], y[::2])
    >>> "test rows were classified correctly" in report(clf, X[1::2], y[1::2], title="iris")
    True
    """
    from dcsvm_report.gather_facts import gather_facts
    from dcsvm_report.page import render_page

    rows = (X_test, y_test, X_train, y_train)
    return render_page(
        gather_facts(classifier, rows, against or {}, search, title, about, features)
    )
