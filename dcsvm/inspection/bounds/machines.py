"""What all bounds are made of: a number or a reason, normals, a ball around rows."""

from __future__ import annotations

from math import sqrt
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.errors import DataError
from dcsvm.base.models import Hyperplanes, KernelExpansion, LocalModel
from dcsvm.classifier import DivideAndConquerClassifier, check_rows
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.drive.unwrap import unwrap
from dcsvm.numeric import FloatArray, IntArray, Kernel, Matrix

#: How near, relatively, the radius of the smallest ball is found.
CLOSE = 1e-3
#: Steps towards the smallest ball at the most; what is found by then is still a ball.
STEPS = 10_000


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


def enclosing_radius(kernel: Kernel, X: Matrix, tolerance: float = CLOSE) -> float:
    """The radius of a ball in feature space that holds all rows X (n, d).

    It is at most `tolerance` larger than the smallest one, and never smaller than it: a ball
    around a convex combination of rows, improved by moving weight from the nearest row that has
    some to the farthest, until the dual value says that no ball is much smaller.
    """
    squares = kernel.diagonal(X)
    share = np.zeros(X.shape[0])
    share[0] = 1.0
    columns: dict[int, FloatArray] = {}

    def column(row: int) -> FloatArray:
        if row not in columns:
            columns[row] = kernel(X, X[[row]])[:, 0]
        return columns[row]

    inner = column(0).copy()
    best = np.inf
    for _ in range(STEPS):
        distances = squares - 2.0 * inner + share @ inner
        far = int(distances.argmax())
        best = min(best, float(distances[far]))
        if best <= (1.0 + tolerance) ** 2 * max(float(share @ distances), 0.0):
            break
        near = int(np.where(share > 0, distances, np.inf).argmin())
        apart = squares[far] + squares[near] - 2.0 * column(near)[far]
        if apart <= 0:
            break
        step = min((distances[far] - distances[near]) / (2.0 * apart), share[near])
        share[far] += step
        share[near] = share[near] - step if step < share[near] else 0.0
        inner += step * (column(far) - column(near))
    # All rows lie in the ball around the origin too: for an RBF kernel, of radius 1.
    return sqrt(max(min(best, float(squares.max())), 0.0))


def training_rows(
    given: Any, X: Any, y: Any, asker: str
) -> tuple[DivideAndConquerClassifier, Any, IntArray]:
    """Look into searches and pipelines, and check the rows that the classifier learned from.

    Returns it, X as it sees them, and y as class numbers.
    """
    classifier, X = unwrap(given, X, asker)
    X, y = check_rows(classifier, X), np.asarray(y)
    learned = getattr(classifier, "n_rows_", X.shape[0])
    if X.shape[0] != learned:
        raise DataError(
            "bounds need the rows that the classifier learned from, those of weight zero left "
            f"out: {learned} rows, not {X.shape[0]}"
        )
    labels = np.searchsorted(classifier.classes_, y)
    known = labels < len(classifier.classes_)
    if X.shape[0] != len(y) or not (known.all() and (classifier.classes_[labels] == y).all()):
        raise DataError("bounds need the rows and labels that the classifier learned from")
    return classifier, X, labels


def divided(model: FittedStrategy, X: Matrix) -> tuple[Committee, Matrix]:
    """The committee of the pipeline that divides, and rows X as it sees them.

    A recipe's model prepares rows first, which is a pipeline of one member around the other.
    """
    while len(model.committee.members) == 1:
        (member,) = model.committee.members
        if not isinstance(member.model, FittedStrategy):
            break
        X = X if member.view is None else member.view.apply(X)
        model = member.model
    return model.committee, X


def kernel_in(model: LocalModel) -> Kernel | None:
    """The kernel of the space in which a model is a hyperplane, if it is one."""
    if isinstance(model, Hyperplanes):
        return Kernel("linear")
    if isinstance(model, KernelExpansion) and model.kernel.kind != "precomputed":
        return model.kernel
    return None


def norm_squared(model: LocalModel) -> float | None:
    """The squared length of a binary model's normal in feature space, where it has one."""
    if isinstance(model, Hyperplanes):
        return float((model.weights**2).sum())
    if isinstance(model, KernelExpansion) and model.kernel.kind != "precomputed":
        return float(norms_squared(model, sparse.csr_array(model.coefficients))[0])
    return None


def norms_squared(model: KernelExpansion, columns: Any) -> FloatArray:
    """The squared length of the normal of each column of coefficients, (m, columns) as CSR."""
    points = model.points.rows()
    norms = np.zeros(columns.shape[1])
    for rows, gram in model.kernel.in_blocks(points, points):
        norms += np.asarray(columns[rows].multiply(gram @ columns).sum(axis=0)).ravel()
    return norms
