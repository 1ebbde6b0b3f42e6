"""Probabilities are learned from margins of training rows by members trained without them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.member import Member
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Division, Router, Routing
from dcsvm.base.row_splitting import deal_folds_by_class
from dcsvm.base.seed import HELD_OUT, Seed
from dcsvm.base.stages import together
from dcsvm.base.subproblem import FitResult, Subproblem, find_learner
from dcsvm.base.threads import CORES
from dcsvm.drive.calibration import Calibration, exponentiate, fit_curve
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.decision_thresholds import BEST, build_threshold_costs, choose_threshold
from dcsvm.drive.fitted_strategy import FittedStrategy, ask_in_chunks
from dcsvm.numeric.additive_curves import AdditiveCurves, fit_additive_curves
from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.platt_scaling import compute_platt_targets, fit_adjustment

if TYPE_CHECKING:
    from dcsvm.classifier import Strategy

#: One half of the rows is held out; the other one, too, if it has fewer rows, or fewer of a class.
HALVES, ENOUGH_ROWS, ENOUGH_OF_CLASS = 2, 3000, 50
#: A division into at least MANY_REGIONS regions that have fewer rows than FEW_ROWS on average was
#: fitted to the rows held out as well.
MANY_REGIONS, FEW_ROWS = 5, 40
#: Fewer held-out rows of a region would hardly move its curve.
ENOUGH_OF_REGION = 10
#: A row that at least this many members of a committee, and this share of them, were trained
#: without is scored by these.
LEFT_OUT_MEMBERS, LEFT_OUT_SHARE = 3, 0.25
#: Rows that are scored by the members that were trained without them.
LEFT_OUT_ROWS = 20_000
#: What held-out rows are asked for.
Question: TypeAlias = "Callable[[FittedStrategy], Callable[[Matrix], FloatArray]]"
ASK_MARGINS: Question = attrgetter("class_margins")
ASK_MEMBERS: Question = attrgetter("member_probabilities")
#: Effects of features are learned from so many held-out rows, of at most so many dense features.
EFFECT_ROWS, MOST_FEATURES = 20_000, 128


def calibrate(
    strategy: Strategy, division: Division, model: FittedStrategy, problem: Problem
) -> Generator[list[Any], list[Any], Calibration]:
    """Learn the probabilities of a fitted strategy, and how they decide on labels."""
    priors = np.bincount(problem.y, problem.weights, minlength=problem.n_classes)
    priors = priors / priors.sum()
    rarest = int(np.bincount(problem.y, minlength=problem.n_classes).argmin())
    native = strategy.probability == "auto" and not strategy.decomposer.separates_classes
    if native and _has_probabilities(model, problem):
        found = Calibration("members", np.zeros(0), np.zeros(0), priors, rarest=rarest)
        if not isinstance(strategy.threshold, str):
            return _decide(strategy, found)
        held_out = yield from score_held_out_rows(strategy, division, model, problem, ASK_MEMBERS)
        logs = found.complete(np.nan_to_num(held_out.margins))
        return _decide(strategy, found, logs, held_out.y)
    held_out = yield from score_held_out_rows(strategy, division, model, problem)
    X = held_out.take(problem.X)

    def missing_class_mass(rows: IntArray) -> FloatArray:
        return model.committee.missing_class_mass(X[rows])

    curve: dict[str, Any] = fit_curve(
        *(held_out.margins, held_out.y, held_out.weights),
        shifted=strategy.probability != "temperature",
    )
    excess = held_out.excess(missing_class_mass)
    found = Calibration("margins", class_priors=priors, excess=excess, rarest=rarest, **curve)
    row_regions = effects = None
    if strategy.probability != "temperature":
        several = len(model.committee.members) > 1
        if several and not _router_knows_rows(strategy, division, problem.n_rows):
            row_regions = model.committee.find_assigned_members(X)
        if row_regions is not None:
            found = attrs.evolve(
                found, regions=_adjust_regions(found, held_out, row_regions, model)
            )
        if problem.n_classes == 2 and not strategy.learner.pairwise and _is_narrow(problem.X):
            effects = _fit_effects(found, held_out, row_regions, X)
    found = attrs.evolve(found, effects=effects)
    if not isinstance(strategy.threshold, str):
        return _decide(strategy, found)
    added = None if effects is None else effects.evaluate(X)
    logs = found.apply(held_out.margins, missing_class_mass, row_regions, added)
    return _decide(strategy, found, logs, held_out.y)


def _decide(
    strategy: Strategy,
    found: Calibration,
    logs: FloatArray | None = None,
    y: IntArray | None = None,
) -> Calibration:
    """Add the costs that decide on labels; a threshold is chosen by log-probabilities (n, 2)."""
    threshold, costs = strategy.threshold, strategy.costs
    if isinstance(threshold, str) and logs is not None and y is not None:
        rare = exponentiate(logs)[:, found.rarest]
        threshold = choose_threshold(threshold.removeprefix(BEST), rare, y == found.rarest)
    if threshold is not None:
        costs = build_threshold_costs(float(threshold), found.rarest)
    return attrs.evolve(found, costs=costs)


def _is_narrow(X: Matrix) -> bool:
    return not sparse.issparse(X) and X.shape[1] <= MOST_FEATURES


def _fit_effects(
    common: Calibration, held_out: HeldOutMargins, row_regions: IntArray | None, X: Matrix
) -> AdditiveCurves | None:
    """What the features X of held-out rows add to log-odds by a calibration of two classes."""
    some = np.flatnonzero(~np.isnan(held_out.margins).any(axis=1))
    if not len(some):
        return None
    some = some[:: -(-len(some) // EFFECT_ROWS)]
    logs = common.apply(
        held_out.margins[some],
        lambda _: np.zeros(0),
        None if row_regions is None else row_regions[some],
    )
    weights = held_out.weights[some]
    wanted = compute_platt_targets(held_out.y[some], weights)
    return fit_additive_curves(X[some], wanted, weights, logs[:, 1] - logs[:, 0])


def _adjust_regions(
    common: Calibration, held_out: HeldOutMargins, row_regions: IntArray, model: FittedStrategy
) -> FloatArray:
    """A slope and shifts for each region with held-out rows, drawn to the common curve."""
    known = ~np.isnan(held_out.margins)
    logits = np.where(known, common.logits(held_out.margins), -np.inf)
    own = known[np.arange(len(row_regions)), held_out.y] & (known.sum(axis=1) > 1)
    unchanged = np.append(1.0, np.zeros(logits.shape[1]))
    regions = np.tile(unchanged, (len(model.committee.members), 1))
    for region in np.unique(row_regions[own]).tolist():
        rows = np.flatnonzero((row_regions == region) & own)
        if len(rows) >= ENOUGH_OF_REGION:
            here = held_out.y[rows], held_out.weights[rows]
            regions[region] = fit_adjustment(logits[rows], *here)
    return regions


@attrs.frozen(eq=False)
class HeldOutMargins:
    """Margins (n, n_classes) of training rows by models that were trained without them."""

    margins: FloatArray
    y: IntArray
    weights: FloatArray
    rows: IntArray

    def take(self, X: Matrix) -> Matrix:
        """These rows of X, whose ids are ascending."""
        return X if len(self.rows) == X.shape[0] else X[self.rows]

    def excess(self, missing_class_mass: Callable[[IntArray], FloatArray]) -> float:
        """How much more often rows are of a class their members lack than is predicted."""
        missing = np.isnan(self.margins)
        some = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
        if not len(some):
            return 0.0
        met = missing[some, self.y[some]] - missing_class_mass(some)
        return max(0.0, float(np.average(met, weights=self.weights[some])))


def score_held_out_rows(
    strategy: Strategy,
    division: Division,
    model: FittedStrategy,
    problem: Problem,
    question: Question = ASK_MARGINS,
) -> Generator[list[Any], list[Any], HeldOutMargins]:
    """Compute the margins of training rows by a committee that was trained without them.

    Or what else the `question` asks.

    Where most members of a committee lack a row anyway, as random samples do, these score it.
    Otherwise half of the rows are held out, or each half in turn if that are few, and the
    parts are trained again without them. The division stays as it is, unless its router separates
    the classes by itself, its regions have few rows, or the combiner learns. Then rows whose whole
    part is held out are left out, since nothing is left to train their part with.
    """
    generator = problem.seed.child(HELD_OUT).generator()
    left_out = _find_left_out(division, problem)
    if left_out is not None and not strategy.combiner.wants_answers:
        rows = np.sort(generator.permutation(problem.n_rows)[:LEFT_OUT_ROWS])
        return _collect(
            problem, rows, _ask_left_out(model, problem.X[rows], left_out[rows], question)
        )
    strategy = attrs.evolve(strategy, learner=strategy.learner.coarse())
    fold_of = deal_folds_by_class(problem.y, problem.n_classes, HALVES, generator)
    rarest = np.bincount(problem.y[fold_of == 0], minlength=problem.n_classes).min()
    is_enough = (fold_of == 0).sum() >= ENOUGH_ROWS and rarest >= ENOUGH_OF_CLASS
    folds = [0] if is_enough else list(range(HALVES))
    if _must_divide_again(strategy, division, problem.n_rows):
        models = yield from together(
            _conquer_again(strategy, problem, np.flatnonzero(fold_of != fold), fold)
            for fold in folds
        )
    else:
        models = yield from _train_again(strategy, division, model, problem, fold_of, folds)
        fold_of = np.where(_find_wholly_held_out(division, problem, fold_of), -1, fold_of)
    sets = [np.flatnonzero(fold_of == fold) for fold in folds]
    margins = [
        ask(each, problem.X[rows], question) if len(rows) else np.empty((0, problem.n_classes))
        for each, rows in zip(models, sets, strict=True)
    ]
    return _collect(problem, np.concatenate(sets), np.concatenate(margins))


def ask(model: FittedStrategy, X: Matrix, question: Question = ASK_MARGINS) -> FloatArray:
    """The margins of rows X, in chunks."""
    return np.concatenate(ask_in_chunks(model, question(model), X, CORES.get()))


def _must_divide_again(strategy: Strategy, division: Division, n_rows: int) -> bool:
    """Whether the division or the combination knows too much of the rows held out.

    A combiner that learns has columns for the classes of each part, which may change.
    """
    return (
        _router_knows_rows(strategy, division, n_rows)
        or strategy.combiner.wants_answers
        or any(member.part is None for member in division.iterate_members())
    )


def _router_knows_rows(strategy: Strategy, division: Division, n_rows: int) -> bool:
    """Whether regions show the classes of their own training rows, and not those of new rows.

    So do many regions of few rows each. Of fewer regions, a division of half of the rows would
    have too few to stand for them.
    """
    groups = [division, *_iterate_groups(division)]
    counts = [len(each.members or ()) for each in groups if each.router is not None]
    return strategy.decomposer.separates_classes or any(
        count >= MANY_REGIONS and n_rows < FEW_ROWS * count for count in counts
    )


def _iterate_groups(division: Division) -> Iterator[Division]:
    for group in division.groups:
        yield group
        yield from _iterate_groups(group)


def _conquer_again(
    strategy: Strategy, problem: Problem, rows: IntArray, fold: int
) -> Generator[list[Any], list[Any], FittedStrategy]:
    """Divide, train and combine some of the rows."""
    subset = problem.subset(rows).with_child_seed(HELD_OUT, fold)
    division = yield from strategy.train(subset, subset.seed, [])
    return (yield from strategy.combine(division, subset, []))


def _train_again(
    strategy: Strategy,
    division: Division,
    model: FittedStrategy,
    problem: Problem,
    fold_of: IntArray,
    folds: list[int],
) -> Generator[list[Subproblem], list[FitResult], list[FittedStrategy]]:
    """Train the parts that predict without the rows of each fold."""
    members = list(division.iterate_members())
    places = [
        (fold, place, job)
        for fold in folds
        for place, member in enumerate(members)
        if (
            job := _job_without(
                *(strategy, problem, member, fold_of == fold),
                problem.seed.child(HELD_OUT, fold, place),
            )
        )
    ]
    results = (yield [job for _, _, job in places]) if places else []
    found = {
        (fold, place): job.member(result)
        for (fold, place, job), result in zip(places, results, strict=True)
    }
    models = []
    for fold in folds:
        mine = iter(found.get((fold, place), member) for place, member in enumerate(members))
        committee = Committee.of(division.with_members(mine), problem.n_classes)
        models.append(FittedStrategy(committee, model.combination))
    return models


def _job_without(
    strategy: Strategy, problem: Problem, member: Member, held_out: BoolArray, seed: Seed
) -> Subproblem | None:
    """The subproblem of a member's part without some rows; None if that leaves it as it is."""
    part = member.part
    assert part is not None
    rows = part.rows
    kept = ~held_out[rows]
    if part.task is not None:
        has_side = part.task.code(problem.n_classes)[problem.y[rows]] != 0
        if not (kept & has_side).any():
            return None
    if kept.all() or not kept.any():
        return None
    smaller = attrs.evolve(
        part,
        rows=rows[kept],
        weights=None if part.weights is None else part.weights[kept],
        start=None if part.start is None else part.start[kept],
    )
    return Subproblem(problem, smaller, find_learner(part, strategy.learner), seed)


def _find_wholly_held_out(division: Division, problem: Problem, fold_of: IntArray) -> BoolArray:
    """The rows (n,) of parts that a single fold holds all rows of."""
    found = np.zeros(problem.n_rows, dtype=bool)
    for member in division.iterate_members():
        part = member.part
        assert part is not None
        rows = part.rows
        if part.task is not None:
            rows = rows[part.task.code(problem.n_classes)[problem.y[rows]] != 0]
        if len(rows) and (fold_of[rows] == fold_of[rows[0]]).all():
            found[rows] = True
    return found


def _find_left_out(division: Division, problem: Problem) -> BoolArray | None:
    """Which members (n, members) were trained without a row; None if too few of them were."""
    members = list(division.iterate_members())
    if division.groups or division.router is not None or len(members) < LEFT_OUT_MEMBERS:
        return None
    if any(member.part is None or member.part.task is not None for member in members):
        return None
    left_out = np.ones((problem.n_rows, len(members)), dtype=bool)
    for place, member in enumerate(members):
        assert member.part is not None
        left_out[member.part.rows, place] = False
    counts = left_out.sum(axis=1)
    wanted = max(LEFT_OUT_MEMBERS - 1, LEFT_OUT_SHARE * len(members))
    return left_out if np.median(counts) >= wanted else None


def _ask_left_out(
    model: FittedStrategy, X: Matrix, left_out: BoolArray, question: Question
) -> FloatArray:
    """The margins of rows X by the members that were trained without them."""
    (group,) = model.committee.groups
    groups = (attrs.evolve(group, router=_LeftOut(left_out)),)
    committee = attrs.evolve(model.committee, groups=groups)
    margins = question(FittedStrategy(committee, model.combination))(X)
    margins[~left_out.any(axis=1)] = np.nan
    return margins


@attrs.frozen(eq=False)
class _LeftOut(Router):
    """Routes each training row to the members that were trained without it."""

    members: BoolArray

    def route(self, X: Matrix) -> Routing:
        rows, members = np.nonzero(self.members)
        return Routing(rows, members)


def _collect(problem: Problem, rows: IntArray, margins: FloatArray) -> HeldOutMargins:
    order = np.argsort(rows)
    rows = rows[order]
    weights = np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
    return HeldOutMargins(margins[order], problem.y[rows], weights, rows)


def _has_probabilities(model: FittedStrategy, problem: Problem) -> bool:
    """Whether all members that are asked about training rows have probabilities."""
    return model.combination.probabilities(model.committee, problem.X) is not None
