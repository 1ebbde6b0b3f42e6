"""Calibration: how a classifier's probabilities come from the scores of its committee.

Members that have probabilities are averaged. Otherwise a curve is fitted to margins of rows that
the members were not trained on: `held_out_margins.py` computes these margins as the last step of
a fit, and `dcsvm.numeric.monotone_curves` fits the curve.
"""

from collections.abc import Callable
from typing import Literal

import attrs
import numpy as np

from dcsvm.numeric.additive_curves import AdditiveCurves
from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray
from dcsvm.numeric.monotone_curves import fit_monotone_sigmoid, fit_monotone_softmax, split_at
from dcsvm.numeric.platt_scaling import compute_platt_targets, fit_sigmoid, fit_temperature
from dcsvm.numeric.stored_arrays import Stored, axes

#: The least probability of a class that members speak of, and the largest difference of
#: log-odds that counts as none.
LEAST, TIE = 1e-12, 1e-12
#: So many margins are enough for a curve; of more, rows are left out evenly.
ENOUGH_MARGINS = 2**20
#: The largest probability of classes that the members of a row lack, if they know another one.
MOST_UNSEEN = 0.5


@attrs.frozen(eq=False)
class Calibration(Stored):
    """Turns the margins of a committee into probabilities.

    Parameters
    ----------
    source : {"members", "margins"}
        With "members", the probabilities are those of the combination; the arrays have no entries.
    slopes : (k + 1,) array
        The slopes of the log-odds in the intervals between the `knots`; the curve is their sum.
    shifts : (classes,) array
        What is added to the log-odds of each class; of two classes, to the one curve.
    class_priors : (classes,) array
        The class frequencies of the training rows. They divide the probability of classes that
        the members of a row lack.
    excess : float
        What is added to that probability: how much more often than Laplace's rule says held-out
        rows were of a class that their members lacked.
    knots : (k,) array, optional
        The margins at which the slope changes, ascending.
    scales : (classes,) array, optional
        A factor of the curve for each class, of several classes.
    regions : (members, 1 + classes) array, optional
        For each region of a router, a slope of the logits and a shift of each class.
    effects : AdditiveCurves, optional
        What the features add to the log-odds of two classes that are both known.
    costs : (classes, classes) array, optional
        What it costs to answer the column's class for a row of the row's class. Labels are then
        those of least expected cost, in place of the likeliest ones.
    rarest : int
        The class with the fewest training rows; -1 in files that do not tell.
    """

    source: Literal["members", "margins"]
    slopes: FloatArray = attrs.field(metadata=axes("slopes", at_least=0))
    shifts: FloatArray = attrs.field(metadata=axes("shifts"))
    class_priors: FloatArray = attrs.field(metadata=axes("classes", at_least=0, at_most=1))
    excess: float = 0.0
    knots: FloatArray = attrs.field(factory=lambda: np.zeros(0), metadata=axes("knots"))
    scales: FloatArray = attrs.field(
        factory=lambda: np.zeros(0), metadata=axes("scales", at_least=0)
    )
    regions: FloatArray | None = attrs.field(default=None, metadata=axes("regions", "adjustments"))
    effects: AdditiveCurves | None = None
    costs: FloatArray | None = attrs.field(
        default=None, metadata=axes("classes", "classes", at_least=0)
    )
    rarest: int = -1

    def check_stored(self, **sizes: int) -> dict[str, int]:
        members, features = sizes.pop("members", None), sizes.pop("features", None)
        sizes = super().check_stored(**sizes)
        if self.effects is not None:
            self.effects.check_stored(**({} if features is None else {"features": features}))
        if self.regions is not None and members not in (None, sizes["regions"]):
            raise ValueError(
                f"Calibration.regions has {sizes['regions']} entries, but must have {members}"
            )
        classes = sizes["classes"]
        if self.regions is not None and sizes["adjustments"] != 1 + classes:
            raise ValueError(
                f"Calibration.regions must have {1 + classes} columns for {classes} classes, got "
                f"{sizes['adjustments']}"
            )
        if not 0.0 <= self.excess <= 1.0:
            raise ValueError(f"Calibration.excess must be in [0, 1], got {self.excess}")
        if not -1 <= self.rarest < classes:
            raise ValueError(f"Calibration.rarest must be a class, got {self.rarest}")
        learned = self.source == "margins"
        slopes = sizes["knots"] + 1 if learned else 0
        shifts = 0 if not learned else 1 if classes == 2 else classes
        scales = shifts if classes > 2 else 0
        found = sizes["slopes"], sizes["shifts"], sizes["scales"]
        if found != (slopes, shifts, scales) or (np.diff(self.knots) <= 0).any():
            raise ValueError(
                f"Calibration must have {slopes} slopes, {shifts} shifts, {scales} scales and "
                f"ascending knots for {classes} classes, got {found[0]}, {found[1]} and {found[2]}"
            )
        return sizes

    def complete(self, known_probabilities: FloatArray) -> FloatArray:
        """The logarithms of the members' probabilities (n, classes), which may lack classes."""
        missing = known_probabilities <= 0.0
        rest = np.maximum(1.0 - known_probabilities.sum(axis=1), 0.0)
        probabilities = known_probabilities + self._divide_missing(missing) * rest[:, None]
        probabilities = np.maximum(probabilities, LEAST)
        return np.asarray(np.log(probabilities / probabilities.sum(axis=1, keepdims=True)))

    def apply(
        self,
        margins: FloatArray,
        missing_class_mass: Callable[[IntArray], FloatArray],
        row_regions: IntArray | None = None,
        added: FloatArray | None = None,
    ) -> FloatArray:
        """The logarithms of the probabilities for margins (n, classes), NaN for missing classes.

        `missing_class_mass(rows)` is the probability of the missing classes together,
        `row_regions` (n,) is the region of each row, and `added` (n,) is what its features add to
        the log-odds.
        """
        missing = np.isnan(margins)
        some = np.flatnonzero(missing.any(axis=1))
        logits = self.logits(margins)
        if self.regions is not None and row_regions is not None:
            adjustment = self.regions[row_regions]
            logits = logits * adjustment[:, :1] + adjustment[:, 1:]
        if len(some):
            silent = missing.all(axis=1, keepdims=True)
            logits = np.where(missing & ~silent, -np.inf, np.where(silent, 0.0, logits))
        logs = normalize(logits)
        if len(some):
            rest = np.minimum(missing_class_mass(some) + self.excess, MOST_UNSEEN)[:, None]
            rest[missing[some].all(axis=1)] = 1.0
            with np.errstate(divide="ignore"):
                logs[some] = np.where(
                    missing[some],
                    np.log(rest * self._divide_missing(missing[some])),
                    np.log1p(-rest) + logs[some],
                )
        if added is not None:
            odds = logs[:, 1] - logs[:, 0] + np.where(missing.any(axis=1), 0.0, added)
            logs = -np.logaddexp(0.0, np.column_stack([odds, -odds]))
        return np.asarray(np.maximum(logs, np.log(LEAST)))

    def decide(self, probabilities: FloatArray) -> IntArray:
        """The classes (n,) to answer for probabilities (n, classes)."""
        if self.costs is None:
            return np.asarray(probabilities.argmax(axis=1))
        expected = sum(probabilities[:, [c]] * row for c, row in enumerate(self.costs))
        return np.asarray(np.argmin(expected, axis=1))

    def logits(self, margins: FloatArray) -> FloatArray:
        """The logits (n, classes) of the common curve for margins, 0 for missing classes."""
        margins = np.where(np.isnan(margins), 0.0, margins)
        if margins.shape[1] == 2:
            odds = self._evaluate_curve((margins[:, 1] - margins[:, 0]) / 2.0) + self.shifts[0]
            return np.column_stack([np.zeros(len(odds)), odds])
        bent = self._evaluate_curve(margins.ravel()).reshape(margins.shape)
        return np.asarray(bent * self.scales + self.shifts)

    def _evaluate_curve(self, margins: FloatArray) -> FloatArray:
        """The common curve of margins (n,); row by row, so that batches change nothing."""
        return np.asarray((split_at(margins, self.knots) * self.slopes).sum(axis=1))

    def _divide_missing(self, missing: BoolArray) -> FloatArray:
        """How the rest is divided among the classes that are missing: rows sum to one, or zero."""
        probabilities = np.where(missing, self.class_priors, 0.0)
        total = probabilities.sum(axis=1, keepdims=True)
        return np.asarray(probabilities / np.where(total > 0.0, total, 1.0))


def equalize_ties(logs: FloatArray) -> FloatArray:
    """Set logarithms to the largest of their row where they differ from it by rounding only."""
    best = logs.max(axis=1, keepdims=True)
    return np.where(best - logs < TIE, best, logs)


def normalize(logits: FloatArray) -> FloatArray:
    """The logarithms of the softmax of each row; scipy's takes 30 microseconds for one row."""
    lower = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(lower - np.log(np.exp(lower).sum(axis=1, keepdims=True)))


def exponentiate(logs: FloatArray) -> FloatArray:
    """The probabilities (n, classes) with these logarithms; rows sum to one."""
    probabilities = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def fit_curve(
    margins: FloatArray, y: IntArray, weights: FloatArray, shifted: bool = True
) -> dict[str, FloatArray]:
    """Fit a curve to margins (n, classes) of rows that no member was trained on, by field."""
    known = ~np.isnan(margins)
    usable = np.flatnonzero(known[np.arange(len(y)), y] & (known.sum(axis=1) > 1))
    usable = usable[:: max(1, -(-len(usable) * margins.shape[1] // ENOUGH_MARGINS))]
    margins, y, weights = margins[usable], y[usable], weights[usable]
    known = known[usable]
    n_classes = margins.shape[1]
    if n_classes == 2:
        differences = (margins[:, 1] - margins[:, 0]) / 2.0
        if not shifted:
            slope, _ = fit_sigmoid(
                differences, compute_platt_targets(y, weights), weights, shifted
            )
            return {"slopes": np.array([slope]), "shifts": np.zeros(1)}
        knots, slopes, shift = fit_monotone_sigmoid(differences, y, weights)
        return {"slopes": slopes, "shifts": np.array([shift]), "knots": knots}
    if not shifted or not len(y):
        slopes = np.array([fit_temperature(margins, y, weights, known)])
        return {"slopes": slopes, "shifts": np.zeros(n_classes), "scales": np.ones(n_classes)}
    knots, slopes, scales, shifts = fit_monotone_softmax(margins, y, weights, known)
    return {"slopes": slopes, "shifts": shifts, "knots": knots, "scales": scales}
