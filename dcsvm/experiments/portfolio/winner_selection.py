"""The choice among recipes that were tried: the best one or a blend, and the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.experiments.portfolio.blending import HeldOutScorer, blend, choose_weights
from dcsvm.experiments.portfolio.portfolio_evaluation import FOLDS, PortfolioEvaluation
from dcsvm.experiments.portfolio.portfolio_recipes import count_levels
from dcsvm.experiments.portfolio.recipe_trials import RecipeTrials, Trial, TrialContext
from dcsvm.experiments.run.search_result import LeaderboardEntry, ScoredCell, SearchResult
from dcsvm.numeric.array_types import FloatArray

#: Forecasts of the last fit that differ by this factor are alike.
ALIKE_FACTOR = 1.2
#: A model that answers so many times faster than what was chosen is told of.
FASTER_FACTOR = 1.5


@attrs.frozen(eq=False)
class WinnerSelection:
    """Chooses among candidates by the folds that judged them; `members` is the most of a blend."""

    evaluation: PortfolioEvaluation
    candidates: Sequence[RecipeTrials]
    members: int

    @property
    def context(self) -> TrialContext:
        return self.evaluation.context

    def _collect(
        self, candidates: Sequence[RecipeTrials], sample_size: int
    ) -> tuple[HeldOutScorer, list[FloatArray]]:
        """The probabilities of all candidates on the folds that judged all of them."""
        folds = [
            fold
            for fold in range(FOLDS)
            if all(each.find(sample_size, fold) for each in candidates)
        ]
        found = [[each.find(sample_size, fold) for fold in folds] for each in candidates]
        probabilities = [np.concatenate([t.probabilities for t in each if t]) for each in found]
        sizes = [trial.n_validation for trial in found[0] if trial]
        scorers = [
            self.evaluation.build_scorer(fold, size)
            for fold, size in zip(folds, sizes, strict=True)
        ]
        y = np.concatenate([each.y for each in scorers])
        return attrs.evolve(scorers[0], y=y), probabilities

    def select(self, finalists: list[RecipeTrials], sample_size: int) -> SearchResult:
        """Choose among the recipes with the most trials; describe the choice and all trials."""
        repeated = [each for each in finalists if each.find(sample_size, 1)]
        pool = repeated if len(repeated) > 1 else finalists
        needed = [self.evaluation.forecast_final_fits(each) for each in pool]
        # Where no recipe could learn all rows in time, those that take the least.
        most = max(self.context.budget.left, ALIKE_FACTOR * min(needed))
        pool = [each for each, seconds in zip(pool, needed, strict=True) if seconds <= most]
        pool = self._find_missed(pool) or pool
        sample_size = min(each.last.sample_size for each in pool)
        scorer, probabilities = self._collect(pool, sample_size)
        seconds = [self.evaluation.forecast_final_fits(each) for each in pool]
        answers = [each.predict_time.forecast(sample_size) for each in pool]
        left = self.context.budget.left
        first, weights = choose_weights(
            scorer, probabilities, answers, seconds, left, self.members
        )
        chosen = {pool[place].recipe.name: weight for place, weight in weights.items()}
        board = self._build_leaderboard(chosen)
        values = self._describe([(pool[place], weight) for place, weight in weights.items()])
        names = [each.recipe.name for each in pool]
        reason = _explain(scorer, probabilities, names, first, weights)
        return SearchResult(
            values=values,
            score=scorer.rate_by(self.context.score, blend(probabilities, weights)),
            tried=self._list_trials(),
            stopped=reason + compare_speed(scorer, probabilities, names, answers, weights),
            n_rows=len(self.evaluation.train),
            scored_by=self.context.score,
            seconds=self.context.budget.spent,
            leaderboard=board,
        )

    def _find_missed(self, pool: Sequence[RecipeTrials]) -> list[RecipeTrials]:
        """A recipe that is clearly better than all of the pool, and can be trained once in time.

        The time did not last to try it on as many rows, or to train it on all rows afterwards.
        """
        least = min(self.evaluation.forecast_one_fit(each) for each in pool)
        most = max(self.context.budget.left, ALIKE_FACTOR * least)
        missed = [
            each
            for each in self.candidates
            if each not in pool
            and each.trials
            and self.evaluation.forecast_one_fit(each) <= most
            and all(self.evaluation.is_clearly_better(each, other) for other in pool)
        ]
        return missed and [max(missed, key=lambda each: self._rate(each.last, self.context.score))]

    def fall_back(self) -> SearchResult:
        """Fall back to the first recipe and its own values if none could be tried."""
        first, score = self.candidates[0], self.context.score
        board = (LeaderboardEntry(first.recipe.name, weight=1.0, outcome=first.drop_reason),)
        stopped = f"no recipe could be tried, so the first is taken: {first.drop_reason}"
        values = first.recipe.describe({})
        return SearchResult(
            *(values, 0.0, (), stopped, len(self.evaluation.train), score), leaderboard=board
        )

    def _describe(self, chosen: Sequence[tuple[RecipeTrials, float]]) -> dict[str, Any]:
        """The choice as values of the recipe's keys: its pipeline, or the members of a blend."""
        if len(chosen) == 1:
            return chosen[0][0].recipe.describe(chosen[0][0].last.values)
        members = [each.recipe.describe_member(each.last.values) for each, _ in chosen]
        return {
            "decomposer.learners": [learner for learner, _ in members],
            "decomposer.preparations": [preparation for _, preparation in members],
            "decomposer.weights": [weight for _, weight in chosen],
            "decomposer.n_levels": count_levels(chosen[0][0].recipe.data.schema),
            "data.scale": "none",
            "data.encode": "codes",
        }

    def _list_trials(self) -> tuple[ScoredCell, ...]:
        return tuple(
            ScoredCell(
                {"recipe": trial.recipe, "rows": trial.n_rows, "fold": trial.fold},
                self._rate(trial, self.context.score),
                trial.seconds,
            )
            for each in self.candidates
            for trial in each.trials
        )

    def _rate(self, trial: Trial, score: str) -> float:
        scorer = self.evaluation.build_scorer(trial.fold, trial.n_validation)
        return scorer.rate_by(score, trial.probabilities)

    def _build_leaderboard(self, chosen: dict[str, float]) -> tuple[LeaderboardEntry, ...]:
        """The leaderboard, sorted by the number of training rows, then by score."""
        entries = [self._build_entry(each, chosen) for each in self.candidates]
        order = sorted(entries, key=lambda s: (-s.n_rows, -(s.rating or 0.0)))
        return tuple(sorted(order, key=lambda s: s.recipe not in chosen))

    def _build_entry(self, candidate: RecipeTrials, chosen: dict[str, float]) -> LeaderboardEntry:
        name = candidate.recipe.name
        if not candidate.trials:
            return LeaderboardEntry(name, outcome=candidate.drop_reason)
        n_rows, sample_size = candidate.last.n_rows, candidate.last.sample_size
        trials = [each for each in candidate.trials if each.sample_size == sample_size]
        sizes = [trial.n_validation for trial in trials]  # so that all rows count alike
        score, loss = (
            float(np.average([self._rate(trial, by) for trial in trials], weights=sizes))
            for by in (self.context.score, "log_loss")
        )
        return LeaderboardEntry(
            name,
            n_rows=n_rows,
            folds=len(trials),
            rating=score,
            log_loss=-loss,
            seconds=sum(each.seconds for each in candidate.trials),
            rows_per_second=1.0 / max(candidate.predict_time.forecast(sample_size), 1e-9),
            weight=chosen.get(name, 0.0),
            outcome=candidate.drop_reason,
        )


def _explain(
    scorer: HeldOutScorer,
    probabilities: Sequence[FloatArray],
    names: Sequence[str],
    first: int,
    weights: dict[int, float],
) -> str:
    """Explain why the best one was chosen."""
    judged = f"on {len(scorer.y):,} held-out rows"
    score = abs(scorer.rate_by(scorer.score, probabilities[first]))
    alone = f"{names[first]} alone has {scorer.score} {score:.4f}"
    if len(weights) > 1:
        mixed = blend(probabilities, weights)
        gain, loss = scorer.measure_gain(mixed, probabilities[first])
        score = abs(scorer.rate_by(scorer.score, mixed))
        found = f"{gain:.1f} standard errors better" if gain > 0 else "no better"
        return (
            f"the blend has {scorer.score} {score:.4f} {judged}, {alone}: {found}, and "
            f"{loss:.1f} standard errors better in log-loss"
        )
    others = [place for place in range(len(probabilities)) if place != first]
    if not others:
        return (
            f"{alone} {judged}; there was no time to compare it with another recipe on these rows"
        )
    second = max(others, key=lambda place: scorer.rate(probabilities[place]))
    gain, loss = scorer.measure_gain(probabilities[first], probabilities[second])
    return (
        f"{alone} {judged}; {names[second]} comes next, {abs(gain):.1f} standard errors "
        f"{'behind' if gain >= 0 else 'ahead, a tie'} and {abs(loss):.1f} "
        f"{'behind' if loss >= 0 else 'ahead'} in log-loss; no blend was better"
    )


def compare_speed(
    scorer: HeldOutScorer,
    probabilities: Sequence[FloatArray],
    names: Sequence[str],
    answers: Sequence[float],
    weights: dict[int, float],
) -> str:
    """Describe speed and scores of the choice and of the best much faster model, if any.

    `answers` are the seconds that each model takes for a row.
    """
    spent = sum(answers[place] for place in weights)
    faster = [place for place, seconds in enumerate(answers) if FASTER_FACTOR * seconds < spent]
    if not faster:
        return ""
    other = max(faster, key=lambda place: scorer.rate(probabilities[place]))
    mixed = blend(probabilities, weights)
    gains = [
        f"{name.replace('_', ' ')} by {gain:.4f}"
        for name in dict.fromkeys((scorer.score, "log_loss"))
        if (gain := scorer.rate_by(name, mixed) - scorer.rate_by(name, probabilities[other])) > 0
    ]
    speeds = [f"{float(f'{1 / max(each, 1e-9):.2g}'):,.0f}" for each in (spent, answers[other])]
    return (
        f"; it answers {speeds[0]} rows a second, {names[other]} {speeds[1]}: the price of a "
        f"better {' and '.join(gains) or 'ranking'}"
    )
