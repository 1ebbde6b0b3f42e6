"""How the recipes of a portfolio are compared: folds, scorers and forecasts of time."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from dcsvm.base.row_splitting import deal_folds
from dcsvm.experiments.portfolio.blending import HeldOutScorer
from dcsvm.experiments.portfolio.recipe_trials import RecipeTrials, Trial, TrialContext, TrialRows
from dcsvm.numeric.array_types import IntArray

#: The folds of the rows, and the most validation rows of one.
FOLDS, MAX_VALIDATION = 5, 20000
#: Forecasts for more than so many times the measured rows may be so many times too high.
FAR_FACTOR, ROUGH_FACTOR = 4, 4


@attrs.frozen(eq=False)
class PortfolioEvaluation:
    """Splits the rows `train` into folds, ranks recipes and forecasts what follows the search.

    `final_fits` are pairs: the rows of a fit, and the rows that are predicted after it.
    """

    context: TrialContext
    train: IntArray
    final_fits: Sequence[tuple[int, int]]
    _splits: dict[int, TrialRows] = attrs.field(factory=dict, init=False)

    def split_fold(self, fold: int) -> TrialRows:
        """All rows except a fold, which is used for validation."""
        if fold not in self._splits:
            folds = deal_folds(self.context.y[self.train], FOLDS, True, self.context.seed)
            train, validation = self.train[folds != fold], self.train[folds == fold]
            validation = np.random.default_rng(fold).permutation(validation)[:MAX_VALIDATION]
            self._splits[fold] = TrialRows(train, validation, len(self.train), fold)
        return self._splits[fold]

    def build_scorer(self, fold: int, n_validation: int) -> HeldOutScorer:
        """The scorer of predictions for the first validation rows of a fold."""
        rows = self.split_fold(fold).validation[:n_validation]
        return HeldOutScorer(self.context.y[rows], self.context.classes, self.context.score)

    def rank(
        self, candidates: Sequence[RecipeTrials], sample_size: int, score: str = ""
    ) -> list[RecipeTrials]:
        """Best first by a score of the validation rows of the first fold."""
        known = [(each, each.find(sample_size, 0)) for each in candidates]
        rated = [
            (self._rate(trial, score or self.context.score), each)
            for each, trial in known
            if trial is not None
        ]
        return [each for _, each in sorted(rated, key=lambda pair: pair[0], reverse=True)]

    def rank_for_blend(
        self, candidates: Sequence[RecipeTrials], sample_size: int
    ) -> list[RecipeTrials]:
        """The best one by the score, then the others by log-loss, which chooses blends."""
        best = self.rank(candidates, sample_size)[:1]
        others = self.rank(candidates, sample_size, "log_loss")
        return best + [each for each in others if each not in best]

    def _rate(self, trial: Trial, score: str) -> tuple[float, float]:
        scorer = self.build_scorer(0, trial.n_validation)
        return attrs.evolve(scorer, score=score).rate(trial.probabilities)

    def forecast_final_fits(self, candidate: RecipeTrials | None) -> float:
        """The forecast of what comes after the search, with this recipe."""
        if candidate is None or not candidate.trials:
            return 0.0
        return sum(candidate.forecast(*each) for each in self.final_fits)

    def estimate_reserve(self, candidates: Sequence[RecipeTrials]) -> float:
        """The time to reserve for the steps after the search."""
        return min(
            (self.forecast_hopefully(each) for each in candidates if each.trials), default=0.0
        )

    def forecast_hopefully(self, candidate: RecipeTrials) -> float:
        """The least time of the steps after the search.

        A recipe is tried on more rows by this forecast, and its next forecast is better.
        """
        return self.forecast_final_fits(candidate) / self._find_roughness(candidate)

    def forecast_one_fit(self, candidate: RecipeTrials) -> float:
        """The least time of the first fit after the search."""
        return candidate.forecast(*self.final_fits[0]) / self._find_roughness(candidate)

    def _find_roughness(self, candidate: RecipeTrials) -> float:
        """How many times too high a forecast may be: far from the sizes that were measured."""
        is_far = (
            bool(candidate.trials) and candidate.last.n_rows * FAR_FACTOR < self.final_fits[-1][0]
        )
        return ROUGH_FACTOR if is_far else 1.0

    def is_clearly_better(self, one: RecipeTrials, other: RecipeTrials) -> bool:
        """Whether the first is clearly better on the largest sample that both were trained on."""
        sizes = {each.sample_size for each in one.trials}
        common = sizes & {each.sample_size for each in other.trials}
        pair = [each.find(max(common), 0) for each in (one, other)] if common else []
        if not pair or pair[0] is None or pair[1] is None:
            return False
        n_validation = min(each.n_validation for each in pair if each)
        first, second = (each.probabilities[:n_validation] for each in pair if each)
        return self.build_scorer(0, n_validation).is_clearly_better(first, second)
