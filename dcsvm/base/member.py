"""Member: a part with the model trained on it."""

from __future__ import annotations

import attrs
import numpy as np

from dcsvm.base.errors import ContractError
from dcsvm.base.feature_views import View
from dcsvm.base.models import Cost, LocalModel
from dcsvm.base.problem import Part
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix


@attrs.frozen(eq=False)
class Member:
    """A part with its fitted view and the model trained on it.

    `code` (columns, classes) gives the meaning of each column of the scores: +1 for a class that
    it favors, -1 for one that it opposes, 0 for one that it does not score. `support` holds the
    ids of the support vectors in the divided Problem. `part` is set only during division.
    """

    model: LocalModel
    code: IntArray
    view: View | None = None
    support: IntArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))
    n_rows: int = 0
    part: Part | None = attrs.field(default=None, metadata={"stored": False})

    @property
    def duals(self) -> FloatArray | None:
        """Signed duals of the `support` rows, if the model has them."""
        return self.model.duals

    def scores(self, X: Matrix) -> FloatArray:
        """Score rows X (n, d) of the divided problem's features: (n, columns)."""
        return self._check_shape(self.model.scores(self._apply_view(X)), X)

    def labels(self, X: Matrix) -> IntArray | None:
        """The predicted class of the divided problem for each row of X, (n,).

        None if a side of the member's task has several classes.
        """
        classes = self._classes
        return None if classes is None else classes[self.model.labels(self._apply_view(X))]

    @property
    def _classes(self) -> IntArray | None:
        """The class of the divided problem for each class of the model."""
        if len(self.code) > 1:
            return np.asarray(self.code.argmax(axis=1))
        second, first = np.flatnonzero(self.code[0] > 0), np.flatnonzero(self.code[0] < 0)
        if len(first) > 1 or len(second) > 1:
            return None
        # A constant has one side only, and never predicts the other.
        return np.concatenate([first if len(first) else second, second if len(second) else first])

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """Return `scores(X)` and their cost."""
        values, cost = self.model.answer(self._apply_view(X))
        return self._check_shape(values, X), cost

    def _apply_view(self, X: Matrix) -> Matrix:
        return X if self.view is None else self.view.apply(X)

    def _check_shape(self, values: FloatArray, X: Matrix) -> FloatArray:
        if values.shape != (X.shape[0], len(self.code)):
            raise ContractError(
                f"{type(self.model).__name__}.scores returned shape {values.shape} "
                f"where ({X.shape[0]}, {len(self.code)}) was expected"
            )
        return values
