"""BoostedTrees: the trees of scikit-learn's histogram gradient boosting as arrays of a model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import scipy

from dcsvm.base.models import LocalModel
from dcsvm.base.stored_fields import PlainState
from dcsvm.base.threads import MANY_ROWS
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.stored_arrays import axes

#: For so many rows at most, importing scikit-learn's trees would take longer than the answers.
FEW_ROWS = 64
#: Fields of a node, as scikit-learn calls them, and the ones stored for them.
NODE_FIELDS = {
    "value": "values",
    "feature_idx": "features",
    "num_threshold": "thresholds",
    "missing_go_to_left": "missing_left",
    "left": "left",
    "right": "right",
    "is_leaf": "is_leaf",
}


@attrs.frozen(eq=False, slots=False)
class BoostedTrees(PlainState, LocalModel):
    """Boosted trees for the classes 0 .. k-1, stored as arrays: no estimator, no skops.

    Trees come in rounds of one tree per column of scores, one column for two classes. The leaves
    of a column are added up from its `baseline`; probabilities are the logistic function or the
    softmax of the scores. Its cost is unknown.
    """

    baseline: FloatArray = attrs.field(metadata=axes("columns", dtype=np.float64))
    starts: IntArray = attrs.field(metadata=axes("edges", dtype=np.integer, at_least=0))
    values: FloatArray = attrs.field(metadata=axes("nodes", dtype=np.float64))
    features: IntArray = attrs.field(
        metadata=axes("nodes", dtype=np.int64, at_least=0, below="features")
    )
    thresholds: FloatArray = attrs.field(metadata=axes("nodes", dtype=np.float64, finite=False))
    missing_left: Any = attrs.field(metadata=axes("nodes", dtype=np.uint8, at_most=1))
    left: Any = attrs.field(metadata=axes("nodes", dtype=np.uint32))
    right: Any = attrs.field(metadata=axes("nodes", dtype=np.uint32))
    is_leaf: Any = attrs.field(metadata=axes("nodes", dtype=np.uint8, at_most=1))

    @classmethod
    def take(cls, estimator: Any) -> BoostedTrees | None:
        """The model of a fitted HistGradientBoostingClassifier; None if it has categories."""
        if estimator.is_categorical_ is not None:
            return None
        trees = [tree.nodes for each in estimator._predictors for tree in each]
        nodes = np.concatenate(trees)
        return cls(
            np.asarray(estimator._baseline_prediction, dtype=np.float64).ravel(),
            np.cumsum([0, *map(len, trees)]),
            **{own: np.ascontiguousarray(nodes[name]) for name, own in NODE_FIELDS.items()},
        )

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        if self.starts[0] != 0 or self.starts[-1] != len(self.values):
            raise ValueError("BoostedTrees.starts must begin at 0 and end at the last node")
        if (np.diff(self.starts) <= 0).any() or (len(self.starts) - 1) % len(self.baseline):
            raise ValueError("BoostedTrees.starts must ascend, with a tree for each column")
        number = np.arange(len(self.values)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        size = np.repeat(np.diff(self.starts), np.diff(self.starts))
        inner = self.is_leaf == 0
        for child in (self.left, self.right):
            if ((child <= number) | (child >= size))[inner].any():
                raise ValueError("BoostedTrees: a child must be a later node of its tree")
        return sizes

    def scores(self, X: Matrix) -> FloatArray:
        rows = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        scores = np.tile(self.baseline, (len(rows), 1))
        leaves = self._walk(rows) if len(rows) <= FEW_ROWS else self._ask_trees(rows)
        for number, values in enumerate(leaves):
            scores[:, number % len(self.baseline)] += values
        return scores

    def _walk(self, rows: FloatArray) -> FloatArray:
        """The values of the leaves of all trees, (trees, rows), without scikit-learn."""
        first, place = self.starts[:-1, None], np.arange(len(rows))
        at = np.repeat(first, len(rows), axis=1)
        while (inner := self.is_leaf[at] == 0).any():
            x = rows[place, self.features[at]]
            left = np.where(np.isnan(x), self.missing_left[at] != 0, x <= self.thresholds[at])
            child = first + np.where(left, self.left[at], self.right[at])
            at = np.where(inner, child, at)
        return self.values[at]

    def _ask_trees(self, rows: FloatArray) -> Iterator[FloatArray]:
        """The same, tree by tree, by scikit-learn's compiled trees."""
        from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

        none = np.zeros((0, 8), dtype=np.uint32), np.zeros(0, dtype=np.uint32)
        threads = 1 if len(rows) < MANY_ROWS else _openmp_effective_n_threads()
        for tree in self._trees:
            yield tree.predict(rows, *none, threads)

    def probabilities(self, X: Matrix) -> FloatArray | None:
        scores = self.scores(X)
        if scores.shape[1] > 1:
            return np.asarray(scipy.special.softmax(scores, axis=1))
        shares = scipy.special.expit(scores)
        return np.hstack([1.0 - shares, shares])

    @cached_property
    def _trees(self) -> list[Any]:
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        nodes = np.zeros(len(self.values), dtype=PREDICTOR_RECORD_DTYPE)
        for name, own in NODE_FIELDS.items():
            nodes[name] = getattr(self, own)
        none = np.zeros((0, 8), dtype=np.uint32)
        return [TreePredictor(each, none, none) for each in np.split(nodes, self.starts[1:-1])]
