"""Whether two classifiers that answered the same rows really differ."""

from typing import Any

import attrs
import numpy as np
import scipy

from dcsvm.base.errors import DataError

__all__ = ["Interval", "McNemar", "mcnemar", "paired_interval"]

#: Rows that only one of the two got right, below which the exact test is made.
FEW = 25


@attrs.frozen
class McNemar:
    """McNemar's test of two classifiers on the same rows.

    Parameters
    ----------
    both_right, only_first, only_second, neither : int
        How many rows both, one only or none of the two got right.
    p_value : float
        How likely a difference at least as large is if both err alike; two-sided.
    method : str
        "exact binomial", or "chi-square with continuity correction".
    level : float
        The significance level that `significant` and `statement` speak of.
    """

    both_right: int
    only_first: int
    only_second: int
    neither: int
    p_value: float
    method: str
    level: float = 0.05

    @property
    def significant(self) -> bool:
        return self.p_value < self.level

    @property
    def statement(self) -> str:
        """What the test says, in a sentence."""
        better = "first" if self.only_first > self.only_second else "second"
        claim = f"the {better} is better" if self.significant else "no significant difference"
        return (
            f"{claim}: {self.only_first} rows are right only with the first, {self.only_second} "
            f"only with the second (McNemar, {self.method}, p = {self.p_value:.3g}, "
            f"level {self.level:g})"
        )


@attrs.frozen
class Interval:
    """A confidence interval of the difference in accuracy, first minus second."""

    difference: float
    low: float
    high: float
    confidence: float

    @property
    def statement(self) -> str:
        """The interval in a sentence."""
        points = [f"{100 * share:+.2f}" for share in (self.difference, self.low, self.high)]
        return (
            f"accuracy of the first minus that of the second: {points[0]} points "
            f"({100 * self.confidence:g}% interval {points[1]} to {points[2]})"
        )


def mcnemar(y_true: Any, first: Any, second: Any, level: float = 0.05) -> McNemar:
    """Test whether two classifiers' answers (n,) to the same rows differ in accuracy.

    Notes
    -----
    Only rows that one of the two got right count. Where these are fewer than 25, the binomial
    distribution gives the exact p value, otherwise chi-square with continuity correction.

    Examples
    --------
    >>> mcnemar([1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 0]).p_value
    0.5

    References
    ----------
    Dietterich: Approximate statistical tests for comparing supervised classification learning
    algorithms (1998).
    """
    both_right, only_first, only_second, neither = _counts(y_true, first, second)
    differing = only_first + only_second
    if differing < FEW:
        method = "exact binomial"
        smaller = min(only_first, only_second)
        p_value = min(1.0, 2.0 * float(scipy.stats.binom.cdf(smaller, differing, 0.5)))
    else:
        method = "chi-square with continuity correction"
        distance = max(abs(only_first - only_second) - 1.0, 0.0)
        p_value = float(scipy.stats.chi2.sf(distance**2 / differing, 1))
    return McNemar(both_right, only_first, only_second, neither, p_value, method, level)


def paired_interval(y_true: Any, first: Any, second: Any, confidence: float = 0.95) -> Interval:
    """The interval of the difference in accuracy of two classifiers on the same rows.

    Notes
    -----
    The adjusted Wald interval for matched pairs: half a row is added to each of the four counts,
    which keeps its coverage for few rows and where the two never differ.

    Examples
    --------
    >>> interval = paired_interval([1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 1, 0])
    >>> round(interval.difference, 2), interval.low < 0 < interval.high
    (0.5, True)

    References
    ----------
    Agresti, Min: Simple improved confidence intervals for comparing matched proportions (2005).
    """
    counts = _counts(y_true, first, second)
    n, (_, only_first, only_second, _) = sum(counts), counts
    adjusted = n + 2.0
    centre = (only_first - only_second) / adjusted
    spread = (only_first + only_second + 1.0) / adjusted - centre**2
    reach = float(scipy.stats.norm.ppf((1.0 + confidence) / 2.0)) * np.sqrt(spread / adjusted)
    return Interval(
        (only_first - only_second) / n,
        float(max(centre - reach, -1.0)),
        float(min(centre + reach, 1.0)),
        confidence,
    )


def _counts(y_true: Any, first: Any, second: Any) -> tuple[int, int, int, int]:
    truth, one, other = (np.asarray(labels) for labels in (y_true, first, second))
    if not truth.shape == one.shape == other.shape or truth.ndim != 1 or not len(truth):
        raise DataError(
            "two classifiers are compared on the same rows, one or more: there are "
            f"{truth.shape} true labels and {one.shape} and {other.shape} answers"
        )
    right, other_right = truth == one, truth == other
    return (
        int(np.count_nonzero(right & other_right)),
        int(np.count_nonzero(right & ~other_right)),
        int(np.count_nonzero(~right & other_right)),
        int(np.count_nonzero(~right & ~other_right)),
    )
