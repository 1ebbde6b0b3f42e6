"""Number of parameters of a fitted classifier, with shared support vectors counted once."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import attrs
import numpy as np

from dcsvm.base.mapped_hyperplanes import MappedHyperplanes
from dcsvm.base.models import Constant, Hyperplanes, KernelExpansion
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.numeric import IntArray


@attrs.frozen
class Size:
    """The parameter counts of a classifier; NaN if a model's is unknown.

    `support_vectors` are different ones, `coordinates` their stored features, counted once for
    every view, and `coefficients` nonzero coefficients, weights of hyperplanes, and biases.
    """

    support_vectors: float
    coordinates: float
    coefficients: float

    @property
    def parameters(self) -> float:
        """All numbers: coordinates and coefficients."""
        return self.coordinates + self.coefficients


def size_of(classifier: DivideAndConquerClassifier) -> Size:
    """Count the parameters of a fitted classifier, as the DAGSVM paper's table 1 does.

    A support vector that several members share is counted once, at any depth of nesting; its
    features are counted once for every view. The routers of regions are not counted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "linear_svm", "vote").fit(X, y)
    >>> size_of(clf).parameters
    15.0
    """
    seen: dict[tuple[tuple[int, ...], int], float] = {}
    coefficients = sum(_count(classifier.model_, (), lambda rows: rows, seen))
    rows = {row for _, row in seen}
    return Size(float(len(rows)), float(sum(seen.values())), float(coefficients))


def _count(
    model: FittedStrategy,
    views: tuple[int, ...],
    training_rows: Callable[[IntArray], IntArray],
    seen: dict[tuple[tuple[int, ...], int], float],
) -> Iterator[float]:
    """Yield the number of coefficients of each member; add its support vectors to `seen`."""
    for member in model.committee.members:
        inner = member.model
        path = views if member.view is None else (*views, id(member.view))
        if isinstance(inner, FittedStrategy):
            kept, outside = inner.support, training_rows(member.support)
            yield from _count(inner, path, partial(_find_rows, kept, outside), seen)
        elif isinstance(inner, KernelExpansion):
            points = inner.points.rows()
            rows = training_rows(member.support).tolist()
            seen.update(zip(((path, row) for row in rows), _count_features(points), strict=True))
            yield float(np.count_nonzero(inner.coefficients) + len(inner.biases))
        elif isinstance(inner, Hyperplanes | MappedHyperplanes):
            planes = inner if isinstance(inner, Hyperplanes) else inner.hyperplanes
            yield float(planes.weights.size + planes.biases.size)
        else:
            yield 1.0 if isinstance(inner, Constant) else np.nan


def _find_rows(kept: IntArray, outside: IntArray, rows: IntArray) -> IntArray:
    """Return the outer ids of the rows of an inner strategy."""
    return np.asarray(outside[np.searchsorted(kept, rows)])


def _count_features(points: Any) -> list[float]:
    """Return the number of stored features of each point; a column number counts as one."""
    if hasattr(points, "indptr"):
        return np.diff(points.indptr).astype(float).tolist()  # type: ignore[no-any-return]
    width = points.shape[1] if points.ndim == 2 else 1
    return [float(width)] * len(points)
