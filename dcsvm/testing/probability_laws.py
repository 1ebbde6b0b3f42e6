"""Laws of probabilities: they are proper, agree with the labels, and depend on nothing else."""

from typing import Any

import attrs
import numpy as np
from scipy.special import expit, softmax
from sklearn.base import clone

from dcsvm.base.combiner import Combiner
from dcsvm.base.decomposer import GROUPS, SUBSETS, Decomposer
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Problem
from dcsvm.classifier import Strategy
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.committee.group import find_winners
from dcsvm.drive.engine import Engine
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.numeric.array_types import FloatArray, Matrix
from dcsvm.testing.checks import expect, for_any, law
from dcsvm.testing.committees import Divider, committee_of, committees_for, fit_combiner
from dcsvm.testing.problems import easy_problem, new_rows, problems
from dcsvm.testing.trials import Centroids, MeanScores, run_last_first

#: Rounding that sums of probabilities may have.
ROUNDING = 1e-9


@attrs.frozen(eq=False)
class ProbableModel(LocalModel):
    """A stand-in model with probabilities: those of logistic scores of another model."""

    model: Any

    def scores(self, X: Matrix) -> FloatArray:
        return np.asarray(self.model.scores(X))

    def probabilities(self, X: Matrix) -> FloatArray:
        scores = self.scores(X)
        if scores.shape[1] == 1:
            return np.hstack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))


@law("learner")
@for_any(problems(max_rows=20, all_present=True, sparse_too=False), examples=6)
def has_proper_probabilities_or_none(learner: LocalLearner, problem: Problem) -> None:
    """probabilities, if a model has some, are a column per class with rows that sum to one"""
    X = new_rows(problem)
    shares = learner.fit(problem).probabilities(X)
    if shares is not None:
        _expect_proper(shares, (len(X), problem.n_classes))


@law("learner")
def has_margins_like_its_scores(learner: LocalLearner) -> None:
    """margins have the shape of the scores, are finite, and put the same classes first"""
    for n_classes in (2, 3, 4):
        problem = easy_problem(n_classes)
        model = learner.fit(problem)
        scores, margins = model.scores(problem.X), model.margins(problem.X)
        expect(
            margins.shape == scores.shape,
            f"margins have shape {margins.shape}, and scores {scores.shape}",
        )
        expect(np.isfinite(margins).all(), "some margins are not finite")
        same = (margins.argmax(axis=1) == scores.argmax(axis=1)) & (
            (margins[:, 0] > 0) == (scores[:, 0] > 0) if n_classes == 2 else True
        )
        expect(same.mean() > 0.95, f"they agree with the scores on {same.mean():.0%} of the rows")


@law("combiner")
def has_margins_for_every_class(combiner: Combiner) -> None:
    """the margins of blobs far apart put the right class first, in any order of the rows"""
    for n_classes in (2, 3, 4):
        problem = easy_problem(n_classes, gap=20.0)
        for committee in committees_for(combiner, problem):
            model = FittedStrategy(committee, fit_combiner(combiner, committee, problem))
            margins = model.class_margins(problem.X)
            known = np.where(np.isnan(margins), -np.inf, margins)
            right = (known.argmax(axis=1) == problem.y).mean()
            expect(right > 0.95, f"{right:.0%} of the rows of {n_classes} classes are right")
            backwards = model.class_margins(problem.X[::-1])[::-1]
            expect(
                np.allclose(margins, backwards, rtol=1e-9, atol=1e-9, equal_nan=True),
                "margins change when the rows are asked backwards",
            )


@law(
    "combiner",
    when=lambda combiner: SUBSETS in combiner.accepts,
    otherwise='its `accepts` lacks "subsets"',
)
def has_margins_that_decide_as_its_scores(combiner: Combiner) -> None:
    """margins and probabilities choose the classes that scores do, where members disagree"""
    problem = easy_problem(3, gap=20.0)
    committee = committee_of(Divider(SUBSETS), problem)
    wrong = {
        number: attrs.evolve(member, code=np.roll(member.code, 1, axis=1))
        for number, member in enumerate(committee.members)
        if number > 0
    }
    mixed = _with_probabilities(committee.replace(wrong))
    model = FittedStrategy(mixed, fit_combiner(combiner, mixed, problem))
    best = find_winners(model.combination.combine(mixed, problem.X))
    found = {"margins": model.class_margins(problem.X)}
    shares = model.combination.probabilities(mixed, problem.X)
    for name, values in (found if shares is None else found | {"probabilities": shares}).items():
        same = (find_winners(values) == best).mean()
        expect(
            same > 0.5,
            f"{name} choose the class of the largest score for {same:.0%} of the rows, though one "
            "member is right and the others err: weigh members in all three alike "
            "(Committee.reweigh)",
        )


@law("combiner")
def has_no_more_probability_than_one(combiner: Combiner) -> None:
    """probabilities from those of the members are not negative, and rows sum to at most one"""
    problem = easy_problem(3, gap=1.0)
    for committee in committees_for(combiner, problem):
        probable = _with_probabilities(committee)
        shares = fit_combiner(combiner, probable, problem).probabilities(probable, problem.X)
        if shares is not None:
            _expect_proper(shares, (problem.n_rows, 3), at_most=True)


@law("combiner")
@for_any(problems(all_present=True, min_rows=12, max_rows=30), examples=6)
def labels_are_the_likeliest_classes(combiner: Combiner, problem: Problem) -> None:
    """every label is the first of the likeliest classes, for a row alone and in a batch"""
    X = new_rows(problem, count=8)
    if combiner.folds:  # which need more rows than there are
        combiner = clone(combiner)
        combiner.__dict__["folds"] = 0  # a setting, or an attribute of the class
    for word in sorted(combiner.accepts - {GROUPS}):
        steps = Strategy(Divider(word), Centroids(), combiner, "auto").conquer(problem)
        model = Engine(n_jobs=1).run(steps)
        shares: Any = model.probabilities(X)
        _expect_proper(shares, (X.shape[0], problem.n_classes))
        expect((shares > 0.0).all(), "a class has the probability zero")
        labels = model.decide(X)
        expect((labels == shares.argmax(axis=1)).all(), "a label is not the likeliest class")
        odds = model.log_odds(X)
        decided = odds[:, 0] > 0 if problem.n_classes == 2 else odds.argmax(axis=1)
        expect((decided == labels).all(), "a decision is not the label")
        rows: list[Any] = [model.probabilities(X[[row]]) for row in range(X.shape[0])]
        alone = np.vstack(rows)
        expect(np.allclose(alone, shares, atol=1e-7), "a row alone has other probabilities")


@law("decomposer")
@for_any(problems(all_present=True, min_rows=12), examples=4)
def has_probabilities_in_any_order_of_completion(decomposer: Decomposer, problem: Problem) -> None:
    """probabilities sum to one and do not depend on which part is done first"""
    X = new_rows(problem)
    strategy = Strategy(decomposer, Centroids(), MeanScores(), "scaling")
    one, other = (
        run(strategy.conquer(problem)).probabilities(X)
        for run in (Engine(n_jobs=1).run, run_last_first)
    )
    assert one is not None
    assert other is not None
    _expect_proper(one, (X.shape[0], problem.n_classes))
    expect(one.tobytes() == other.tobytes(), "the last part done first changes probabilities")


def _expect_proper(shares: FloatArray, shape: tuple[int, int], at_most: bool = False) -> None:
    expect(shares.shape == shape, f"probabilities have shape {shares.shape}, not {shape}")
    expect(np.isfinite(shares).all(), "some probabilities are not finite")
    expect((shares >= 0.0).all(), f"a probability is {shares.min():g}")
    sums = shares.sum(axis=1)
    expect(
        (sums <= 1.0 + ROUNDING).all() and (at_most or (sums >= 1.0 - ROUNDING).all()),
        f"the probabilities of a row sum to {sums[np.abs(sums - 1.0).argmax()]:g}",
    )


def _with_probabilities(committee: Committee) -> Committee:
    """The same committee, whose members have probabilities."""
    members = tuple(
        attrs.evolve(member, model=ProbableModel(member.model)) for member in committee.members
    )
    return Committee(members, committee.groups, committee.n_classes)
