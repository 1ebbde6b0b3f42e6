"""Facts about fitted classifiers, such as error bounds, and what their authors share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dcsvm.base.component import ModelFact
from dcsvm.base.errors import DataError
from dcsvm.base.models import KernelExpansion
from dcsvm.numeric import FloatArray, IntArray, Matrix
from dcsvm.toolbox.unwrap import unwrap

if TYPE_CHECKING:
    from dcsvm.classifier import DivideAndConquerClassifier


def collect_facts(model: Any, X: Any, y: Any) -> tuple[ModelFact, ...]:
    """Collect what the components of a fitted classifier, search or pipeline report about it.

    X (n, d) and y (n,) are the training rows and labels, without rows of weight zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("tree", "kernel_svm", "route").fit(X, y)
    >>> [fact.name for fact in collect_facts(clf, X, y)]
    ['T1', 'S']
    """
    classifier, X = unwrap(model, X, "collect_facts")
    return tuple(classifier.facts(classifier, X, y))


def check_training_rows(
    model: Any, X: Any, y: Any, asker: str
) -> tuple[DivideAndConquerClassifier, Matrix, IntArray]:
    """Return the classifier, the rows as it sees them and y as class numbers.

    Raise if X and y cannot be what the classifier was trained on. `asker` is the name of the
    calling function, for the error message.
    """
    classifier, X = unwrap(model, X, asker)
    X, y = classifier.check_rows(X), np.asarray(y)
    learned = getattr(classifier, "n_rows_", X.shape[0])
    if X.shape[0] != learned:
        raise DataError(
            f"{asker} needs the {learned} training rows, without those of weight zero, got "
            f"{X.shape[0]} rows"
        )
    labels = np.searchsorted(classifier.classes_, y)
    known = labels < len(classifier.classes_)
    if X.shape[0] != len(y) or not (known.all() and (classifier.classes_[labels] == y).all()):
        raise DataError(f"{asker} needs the rows and labels that the classifier was trained on")
    return classifier, X, labels


@attrs.frozen
class Bound:
    """A number, or the reason why there is none."""

    value: float | None
    reason: str = ""

    @property
    def statement(self) -> str:
        """The bound in words."""
        if self.value is None:
            return f"no bound: {self.reason}"
        return f"{self.value:.4g}" + ("" if self.value < 1 else " (above 1: it says nothing)")


def squared_norms(model: KernelExpansion, columns: Any) -> FloatArray:
    """The squared norm of the normal of each column of coefficients, (m, columns) as CSR."""
    points = model.points.rows()
    norms = np.zeros(columns.shape[1])
    for rows, gram in model.kernel.in_blocks(points, points):
        norms += np.asarray(columns[rows].multiply(gram @ columns).sum(axis=0)).ravel()
    return norms
