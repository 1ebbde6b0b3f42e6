"""The choice among recipes that were tried: the best one or a blend, and the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm.experiments.portfolio.blending import Judge, blend, select_members
from dcsvm.experiments.portfolio.entries import count_levels
from dcsvm.experiments.portfolio.recipe_trials import Bench, Trial
from dcsvm.experiments.portfolio.tournament import FOLDS, Course, Tournament
from dcsvm.experiments.run.search_result import ScoredCell, SearchResult, Standing
from dcsvm.numeric.array_types import FloatArray

#: Forecasts of the last fit that differ by this factor are alike.
NEARLY = 1.2
#: A model that answers so many times faster than what was chosen is told of.
FASTER = 1.5


@attrs.frozen(eq=False)
class Choice:
    """Chooses among courses by the folds that judged them; `members` is the most of a blend."""

    tournament: Tournament
    courses: Sequence[Course]
    members: int

    @property
    def bench(self) -> Bench:
        return self.tournament.bench

    def _collect(self, courses: Sequence[Course], rung: int) -> tuple[Judge, list[FloatArray]]:
        """The probabilities of all courses on the folds that judged all of them."""
        folds = [fold for fold in range(FOLDS) if all(each.find(rung, fold) for each in courses)]
        found = [[each.find(rung, fold) for fold in folds] for each in courses]
        shares = [np.concatenate([t.shares for t in each if t]) for each in found]
        sizes = [trial.n_judged for trial in found[0] if trial]
        judges = [
            self.tournament.judge(fold, size) for fold, size in zip(folds, sizes, strict=True)
        ]
        y = np.concatenate([each.y for each in judges])
        return attrs.evolve(judges[0], y=y), shares

    def conclude(self, finalists: list[Course], rung: int) -> SearchResult:
        """Choose among the recipes with the most trials; describe the choice and all trials."""
        repeated = [each for each in finalists if each.find(rung, 1)]
        pool = repeated if len(repeated) > 1 else finalists
        needed = [self.tournament.finish_seconds(each) for each in pool]
        # Where no recipe could learn all rows in time, those that take the least.
        most = max(self.bench.budget.left, NEARLY * min(needed))
        pool = [each for each, seconds in zip(pool, needed, strict=True) if seconds <= most]
        judge, shares = self._collect(pool, rung)
        seconds = [self.tournament.finish_seconds(each) for each in pool]
        answers = [each.answer.forecast(rung) for each in pool]
        first = judge.choose(shares, answers)
        weights = {first: 1.0}
        if self.members > 1 and len(pool) > 1:
            left = max(self.bench.budget.left, seconds[first])
            mixed = select_members(judge, shares, first, seconds, left, self.members)
            if judge.is_clear(blend(shares, mixed), shares[first]):
                weights = mixed
        chosen = {pool[place].entry.name: weight for place, weight in weights.items()}
        board = self._list_standings(chosen)
        values = self._describe([(pool[place], weight) for place, weight in weights.items()])
        names = [each.entry.name for each in pool]
        reason = _explain(judge, shares, names, first, weights)
        return SearchResult(
            values=values,
            score=judge.rate_by(self.bench.score, blend(shares, weights)),
            tried=self._list_trials(),
            stopped=reason + weigh_cost(judge, shares, names, answers, weights),
            n_rows=len(self.tournament.train),
            scored_by=self.bench.score,
            seconds=self.bench.budget.spent,
            leaderboard=board,
        )

    def give_up(self) -> SearchResult:
        """Fall back to the first recipe and its own values if none could be tried."""
        first, asked = self.courses[0], self.bench.score
        board = (Standing(first.entry.name, weight=1.0, outcome=first.out),)
        stopped = f"no recipe could be tried, so the first is taken: {first.out}"
        values = first.entry.describe({})
        return SearchResult(
            *(values, 0.0, (), stopped, len(self.tournament.train), asked), leaderboard=board
        )

    def _describe(self, chosen: Sequence[tuple[Course, float]]) -> dict[str, Any]:
        """The choice as values of the recipe's keys: its pipeline, or the members of a blend."""
        if len(chosen) == 1:
            return chosen[0][0].entry.describe(chosen[0][0].last.values)
        members = [each.entry.describe_member(each.last.values) for each, _ in chosen]
        return {
            "decomposer.learners": [learner for learner, _ in members],
            "decomposer.preparations": [preparation for _, preparation in members],
            "decomposer.weights": [weight for _, weight in chosen],
            "decomposer.n_levels": count_levels(chosen[0][0].entry.data.schema),
            "data.scale": "none",
            "data.encode": "codes",
        }

    def _list_trials(self) -> tuple[ScoredCell, ...]:
        return tuple(
            ScoredCell(
                {"recipe": trial.recipe, "rows": trial.n_rows, "fold": trial.fold},
                self._rate(trial, self.bench.score),
                trial.seconds,
            )
            for each in self.courses
            for trial in each.trials
        )

    def _rate(self, trial: Trial, score: str) -> float:
        judge = self.tournament.judge(trial.fold, trial.n_judged)
        return judge.rate_by(score, trial.shares)

    def _list_standings(self, chosen: dict[str, float]) -> tuple[Standing, ...]:
        """The leaderboard, sorted by the number of training rows, then by score."""
        standings = [self._stand(each, chosen) for each in self.courses]
        order = sorted(standings, key=lambda s: (-s.n_rows, -(s.rating or 0.0)))
        return tuple(sorted(order, key=lambda s: s.recipe not in chosen))

    def _stand(self, course: Course, chosen: dict[str, float]) -> Standing:
        name = course.entry.name
        if not course.trials:
            return Standing(name, outcome=course.out)
        n_rows, rung = course.last.n_rows, course.last.rung
        trials = [each for each in course.trials if each.rung == rung]
        score, loss = (
            float(np.mean([self._rate(trial, by) for trial in trials]))
            for by in (self.bench.score, "log_loss")
        )
        return Standing(
            name,
            n_rows=n_rows,
            folds=len(trials),
            rating=score,
            log_loss=-loss,
            seconds=sum(each.seconds for each in course.trials),
            rows_per_second=1.0 / max(course.answer.forecast(n_rows), 1e-9),
            weight=chosen.get(name, 0.0),
            outcome=course.out,
        )


def _explain(
    judge: Judge,
    shares: Sequence[FloatArray],
    names: Sequence[str],
    first: int,
    weights: dict[int, float],
) -> str:
    """Explain why the best one was chosen."""
    judged = f"on {len(judge.y):,} held-out rows"
    score = abs(judge.rate_by(judge.score, shares[first]))
    alone = f"{names[first]} alone has {judge.score} {score:.4f}"
    if len(weights) > 1:
        mixed = blend(shares, weights)
        gain, loss = judge.measure_gain(mixed, shares[first])
        score = abs(judge.rate_by(judge.score, mixed))
        return (
            f"the blend has {judge.score} {score:.4f} {judged}, {alone}: better by {gain:.1f} "
            f"standard errors, and by {loss:.1f} in log-loss"
        )
    others = [place for place in range(len(shares)) if place != first]
    if not others:
        return f"{alone} {judged}; no other recipe got as far"
    second = max(others, key=lambda place: judge.rate(shares[place]))
    gain, loss = judge.measure_gain(shares[first], shares[second])
    return (
        f"{alone} {judged}; {names[second]} comes next, {abs(gain):.1f} standard errors "
        f"{'behind' if gain >= 0 else 'ahead, a tie'} and {abs(loss):.1f} "
        f"{'behind' if loss >= 0 else 'ahead'} in log-loss; no blend was clearly better"
    )


def weigh_cost(
    judge: Judge,
    shares: Sequence[FloatArray],
    names: Sequence[str],
    answers: Sequence[float],
    weights: dict[int, float],
) -> str:
    """Describe speed and scores of the choice and of the best much faster model, if any.

    `answers` are the seconds that each model takes for a row.
    """
    spent = sum(answers[place] for place in weights)
    faster = [place for place, seconds in enumerate(answers) if FASTER * seconds < spent]
    if not faster:
        return ""
    other = max(faster, key=lambda place: judge.rate(shares[place]))
    mixed = blend(shares, weights)
    gains = [
        f"{name.replace('_', ' ')} by {gain:.4f}"
        for name in dict.fromkeys((judge.score, "log_loss"))
        if (gain := judge.rate_by(name, mixed) - judge.rate_by(name, shares[other])) > 0
    ]
    speeds = [f"{float(f'{1 / max(each, 1e-9):.2g}'):,.0f}" for each in (spent, answers[other])]
    return (
        f"; it answers {speeds[0]} rows a second, {names[other]} {speeds[1]}: the price of a "
        f"better {' and '.join(gains) or 'ranking'}"
    )
