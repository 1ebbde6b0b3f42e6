"""Blends of models by their probabilities of held-out rows: greedy selection by log-loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.model_selection.named_scores import Answered, rate
from dcsvm.numeric.array_types import FloatArray, IntArray

#: Rounds of the greedy selection; a member chosen several times weighs more.
ROUNDS = 12
#: The least probability that counts in a log-loss.
MIN_PROBABILITY = 1e-12
#: A new member lowers the log-loss by at least this share of it.
LEAST_GAIN = 0.002
#: A difference is clear from so many standard errors of the paired differences of rows on; these
#: are the scores that have a value for each row.
CLEAR_GAIN, PAIRED = 2.0, ("accuracy", "log_loss", "neg_log_loss")
#: Differences of fewer standard errors are a tie.
TIE = 0.5


@attrs.frozen(eq=False)
class HeldOutScorer:
    """Scores probabilities (n, classes) of held-out rows with labels y (n,)."""

    y: Any
    classes: Any
    score: str

    def rate(self, probabilities: FloatArray) -> tuple[float, float]:
        """The score, larger is better, and the negative log-loss, which breaks ties."""
        return self.rate_by(self.score, probabilities), self.rate_by("log_loss", probabilities)

    def rate_by(self, score: str, probabilities: FloatArray) -> float:
        """A score of the rows, as a search compares it."""
        labels = self.classes[probabilities.argmax(axis=1)]
        return rate(score, Answered(self.y, labels, self.classes, probabilities))

    def choose(self, several: Sequence[FloatArray], seconds: Sequence[float]) -> int:
        """The best of several; ties go to the lower log-loss, then to the faster one."""
        best = max(range(len(several)), key=lambda place: self.rate(several[place]))
        tied = [
            place
            for place in range(len(several))
            if abs(self.measure_gain(several[best], several[place])[0]) <= TIE
        ]
        return max(tied or [best], key=lambda p: (self.rate(several[p])[1], -seconds[p]))

    def measure_gain(self, one: FloatArray, other: FloatArray) -> tuple[float, float]:
        """How many standard errors one is better than the other: by the score, by log-loss."""
        by_label = self._mark_correct(one) - self._mark_correct(other)
        by_loss = self._compute_losses(other) - self._compute_losses(one)
        is_loss = self.score in ("log_loss", "neg_log_loss", "brier")
        return _standardize(by_loss if is_loss else by_label), _standardize(by_loss)

    def is_clearly_better(self, one: FloatArray, other: FloatArray) -> bool:
        """Whether one is better than the other by more than what rows by chance explain.

        Where the score has no value for each row, log-loss has to differ clearly, too.
        """
        gain, loss = self.measure_gain(one, other)
        if self.score in PAIRED:
            return gain >= CLEAR_GAIN
        return self.rate(one) > self.rate(other) and loss >= CLEAR_GAIN

    def accepts(self, mixed: FloatArray, alone: FloatArray) -> bool:
        """Whether a blend of less log-loss may take the place of the best one alone.

        By accuracy, a difference that chance explains does not count against the blend.
        """
        if self.score in PAIRED:
            return not self.is_clearly_better(alone, mixed)
        return self.rate(mixed) >= self.rate(alone)

    def _encode_labels(self) -> IntArray:
        return np.asarray(np.searchsorted(self.classes, self.y))

    def _mark_correct(self, probabilities: FloatArray) -> FloatArray:
        return np.asarray(probabilities.argmax(axis=1) == self._encode_labels(), dtype=float)

    def _compute_losses(self, probabilities: FloatArray) -> FloatArray:
        own = probabilities[np.arange(len(probabilities)), self._encode_labels()]
        return np.asarray(-np.log(np.maximum(own, MIN_PROBABILITY)))


def choose_weights(
    scorer: HeldOutScorer,
    several: Sequence[FloatArray],
    answers: Sequence[float],
    seconds: Sequence[float],
    allowed: float,
    most: int,
) -> tuple[int, dict[int, float]]:
    """The place of the best one alone, and the weights of what is chosen by place.

    `answers` are the seconds of a prediction and `seconds` those of the last fits, of which a
    blend of up to `most` members takes no more than are `allowed`.
    """
    first = scorer.choose(several, answers)
    if most > 1 and len(several) > 1:
        left = max(allowed, seconds[first])
        mixed = select_members(scorer, several, first, seconds, left, most)
        if scorer.accepts(blend(several, mixed), several[first]):
            return (first if len(mixed) > 1 else next(iter(mixed))), mixed
    return first, {first: 1.0}


def select_members(
    scorer: HeldOutScorer,
    several: Sequence[FloatArray],
    first: int,
    seconds: Sequence[float],
    allowed: float,
    most: int,
) -> dict[int, float]:
    """Weights of a blend by place: the greedy selection of Caruana et al., by log-loss.

    Log-loss is less noisy than a score of labels: blends chosen by it are also more accurate on
    other rows. The first member is the one of least log-loss that does not take longer than
    the `allowed` seconds, or `first`; together, members take no longer either.
    """

    def rate(probabilities: FloatArray) -> float:
        return scorer.rate_by("log_loss", probabilities)

    able = [p for p in range(len(several)) if p == first or seconds[p] <= allowed]
    best = max(able, key=lambda place: rate(several[place]))
    counts, total, loss = {best: 1}, several[best].copy(), -rate(several[best])
    for size in range(2, ROUNDS + 2):
        spent = sum(seconds[each] for each in counts)
        options = [
            place
            for place in able
            if place in counts or (len(counts) < most and spent + seconds[place] <= allowed)
        ]
        found = [
            (-rate((total + several[place]) / size), place not in counts, place)
            for place in options
        ]
        after, is_new, place = min(found, key=lambda each: each[0] + each[1] * LEAST_GAIN * loss)
        if after + is_new * LEAST_GAIN * loss >= loss:
            break
        counts[place] = counts.get(place, 0) + 1
        total, loss = total + several[place], after
    return {place: count / sum(counts.values()) for place, count in counts.items()}


def blend(several: Sequence[FloatArray], weights: dict[int, float]) -> FloatArray:
    """The weighted mean of probabilities."""
    return np.asarray(sum(weight * several[place] for place, weight in weights.items()))


def _standardize(differences: FloatArray) -> float:
    """The mean in standard errors; 0 where all differences are 0."""
    spread = differences.std() / np.sqrt(len(differences))
    return float(differences.mean() / spread) if spread > 0 else 0.0
