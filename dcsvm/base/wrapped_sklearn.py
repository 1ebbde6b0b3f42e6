"""Wrapped: a fitted scikit-learn classifier as a model of a part."""

import copy
import warnings
from typing import Any

import attrs
import numpy as np
from sklearn.base import is_classifier

from dcsvm.base.errors import DataError
from dcsvm.base.models import LocalModel
from dcsvm.numeric.array_types import FloatArray, Matrix

#: Random rows that an estimator must be able to predict when it is loaded.
TRIAL_ROWS = 8


@attrs.frozen(eq=False)
class Wrapped(LocalModel):
    """A fitted scikit-learn classifier of the classes 0 .. k-1. Its cost is unknown."""

    estimator: Any

    def check_stored(self, **sizes: int) -> dict[str, int]:
        """Raise unless the estimator can score a row: its attributes are not declared."""
        if "features" not in sizes:
            return sizes
        learned = getattr(self.estimator, "n_features_in_", sizes["features"])
        if not is_classifier(self.estimator) or learned != sizes["features"]:
            raise ValueError(
                f"Wrapped.estimator must be a classifier of {sizes['features']} features, got a "
                f"{type(self.estimator).__name__} of {learned}"
            )
        # A copy: some estimators count their predictions.
        model = Wrapped(copy.deepcopy(self.estimator))
        rows = np.random.default_rng(0).normal(size=(TRIAL_ROWS, sizes["features"]))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scores, known = model.scores(rows), model.probabilities(rows)
        wanted = (TRIAL_ROWS, sizes.get("columns", scores.shape[-1]))
        if scores.shape != wanted:
            raise ValueError(
                f"Wrapped.estimator gives scores of shape {scores.shape}, but must give {wanted}"
            )
        classes = max(len(scores[0]), 2)
        if known is not None and known.shape != (TRIAL_ROWS, classes):
            raise ValueError(
                f"Wrapped.estimator gives probabilities of shape {known.shape}, but must give "
                f"{(TRIAL_ROWS, classes)}"
            )
        return sizes

    def scores(self, X: Matrix) -> FloatArray:
        try:
            return self._scores(X)
        # Estimators report unsuitable input in various ways.
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            name, why = type(self.estimator).__name__, " ".join(str(error).split())
            raise DataError(f"{name} cannot predict {X.shape[0]} rows: {why}") from error

    def probabilities(self, X: Matrix) -> FloatArray | None:
        if not hasattr(self.estimator, "predict_proba"):
            return None
        return np.asarray(self.estimator.predict_proba(X), dtype=float)

    def _scores(self, X: Matrix) -> FloatArray:
        if hasattr(self.estimator, "decision_function"):
            decisions = np.asarray(self.estimator.decision_function(X), dtype=float)
            return decisions[:, None] if decisions.ndim == 1 else decisions
        if hasattr(self.estimator, "predict_proba"):
            own = np.asarray(self.estimator.predict_proba(X), dtype=float)
            return own[:, 1:] - own[:, :1] if own.shape[1] == 2 else 2.0 * own - 1.0
        k = len(self.estimator.classes_)
        hits = np.asarray(self.estimator.predict(X))[:, None] == np.arange(k)
        return np.asarray(2.0 * (hits[:, 1:] if k == 2 else hits) - 1.0)
