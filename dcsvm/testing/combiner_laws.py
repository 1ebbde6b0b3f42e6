"""Laws of combiners: how the answers of members are combined."""

from functools import partial
from typing import Any

import attrs
import numpy as np

from dcsvm.base.combiner import Combiner
from dcsvm.base.decomposer import REGIONS, SUBSETS, WEIGHTS
from dcsvm.base.problem import Problem
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.masked_scores import floor_masked
from dcsvm.numeric.array_types import FloatArray
from dcsvm.testing.checks import expect, expect_seeded, for_any, law
from dcsvm.testing.committees import (
    Divider,
    committee_of,
    committees_for,
    fit_combiner,
    reorder_members,
    score,
)
from dcsvm.testing.component_laws import expect_known_words, expect_no_state, state_of
from dcsvm.testing.problems import as_sparse, easy_problem, new_rows, problems

TRAINING = problems(all_present=True, min_rows=6, max_rows=20)


@law("combiner")
def accepts_words_that_exist(combiner: Combiner) -> None:
    """`accepts` is made of words that decomposers can yield, and not of modifiers alone"""
    expect_known_words(combiner, combiner.accepts, "it accepts")


@law("combiner")
@for_any(TRAINING)
def scores_every_row_and_class(combiner: Combiner, problem: Problem) -> None:
    """scores have one row for each row and one column for each class of the problem"""
    X = new_rows(problem)
    for committee in committees_for(combiner, problem):
        scores = score(combiner, committee, problem, X)
        expected = (X.shape[0], problem.n_classes)
        expect(scores.shape == expected, f"scores have shape {scores.shape}, not {expected}")
        expect(not np.isinf(scores).any(), "some scores are infinite")


@law("combiner")
def leaves_no_class_out(combiner: Combiner) -> None:
    """a class that members can speak for has a score that is a number"""
    problem = easy_problem()
    for committee in committees_for(combiner, problem):
        if abs(committee.code).sum(axis=0).min() > 0:
            scores = score(combiner, committee, problem, problem.X)
            lost = np.flatnonzero(np.isnan(scores[:, :]).all(axis=0))
            expect(not len(lost), f"class {lost[:1]} has no score for any row")


@law("combiner")
def masks_a_class_nobody_can_speak_for(combiner: Combiner) -> None:
    """a class that no member can speak for is NaN, and never wins"""
    problem = easy_problem(3)
    lacking = attrs.evolve(problem, n_classes=4)
    for committee in committees_for(combiner, lacking):
        scores = score(combiner, committee, lacking, problem.X)
        expect(
            np.isnan(scores[:, 3]).all(),
            f"class 3 is in no part, and has the score {scores[0, 3]:g} for row 0; "
            "return NaN (dcsvm.mean_or_nan does)",
        )
        expect((floor_masked(scores).argmax(axis=1) != 3).all(), "a class that nobody knows wins")


@law("combiner")
def lets_the_class_win_that_all_are_sure_of(combiner: Combiner) -> None:
    """on blobs far apart, where every member is right, the right class wins"""
    for n_classes in (2, 3, 4):
        problem = easy_problem(n_classes, gap=20.0)
        for committee in committees_for(combiner, problem):
            scores = floor_masked(score(combiner, committee, problem, problem.X))
            right = (scores.argmax(axis=1) == problem.y).mean()
            expect(right > 0.95, f"{right:.0%} of the rows of {n_classes} classes are right")


@law("combiner")
@for_any(TRAINING, examples=6)
def scores_rows_in_any_order(combiner: Combiner, problem: Problem) -> None:
    """rows in another order, or one at a time, get the same scores"""
    X = new_rows(problem, count=8)
    for committee in committees_for(combiner, problem):
        batch = score(combiner, committee, problem, X)
        backwards = score(combiner, committee, problem, X[::-1])[::-1]
        _expect_close(batch, backwards, "the rows are asked backwards")
        alone = [score(combiner, committee, problem, X[[row]]) for row in range(8)]
        _expect_close(batch, np.vstack(alone), "one row is asked at a time")


@law("combiner")
def seats_members_in_any_order(combiner: Combiner) -> None:
    """the order in which members are seated does not matter"""
    problem = easy_problem(4, gap=1.0)
    for committee in committees_for(combiner, problem):
        if len(committee.groups) == 1:
            order = np.roll(np.arange(len(committee.members)), 1)
            _expect_close(
                score(combiner, committee, problem, problem.X),
                score(combiner, reorder_members(committee, order), problem, problem.X),
                "the members are seated in another order",
            )


@law(
    "combiner",
    when=lambda combiner: {WEIGHTS, SUBSETS} <= combiner.accepts,
    otherwise='its `accepts` lacks "weights" or "subsets"',
)
def honours_the_members_weights(combiner: Combiner) -> None:
    """a member of weight zero has nothing to say, and one of a small weight little"""
    problem = easy_problem(3, gap=1.0)
    committee = committee_of(Divider(SUBSETS), problem)

    def scores_with(*weights: float) -> FloatArray:
        weighed = committee.reweigh(np.array(weights))
        return score(combiner, weighed, problem, problem.X)

    first = Committee(
        committee.members[:1], (attrs.evolve(committee.groups[0], last=1),), committee.n_classes
    )
    _expect_close(
        scores_with(1.0, 0.0, 0.0),
        score(combiner, first, problem, problem.X),
        "the other members have weight 0",
    )
    expect(
        not _same(scores_with(1.0, 1.0, 1.0), scores_with(1.0, 0.2, 0.1)),
        "other weights of the members changed nothing",
    )


@law(
    "combiner",
    when=lambda combiner: REGIONS in combiner.accepts,
    otherwise='its `accepts` lacks "regions"',
)
def honours_the_routers_weights(combiner: Combiner) -> None:
    """a member that the router gives no weight has nothing to say"""
    problem = easy_problem(3, gap=1.0)
    alone = committee_of(Divider(REGIONS), problem)
    blended = committee_of(Divider(REGIONS, blend=0.0), problem)
    _expect_close(
        score(combiner, alone, problem, problem.X),
        score(combiner, blended, problem, problem.X),
        "a second member is asked with weight 0",
    )
    mostly = committee_of(Divider(REGIONS, blend=0.9), problem)
    expect(
        not _same(
            score(combiner, alone, problem, problem.X),
            score(combiner, mostly, problem, problem.X),
        ),
        "a second member with weight 0.9 changed nothing",
    )


@law("combiner")
def asks_through_the_committee(combiner: Combiner) -> None:
    """every row's answer is counted in the committee's cost counter"""
    problem = easy_problem(gap=1.0)
    for committee in committees_for(combiner, problem):
        combination = fit_combiner(combiner, committee, problem)
        counted = committee.with_counter(problem.n_rows)
        combination.combine(counted, problem.X)
        assert counted.cost_counter is not None
        evaluations = counted.cost_counter.cost(committee.members).kernel_evaluations
        silent = int((np.broadcast_to(evaluations, problem.n_rows) == 0).sum())
        expect(
            not silent,
            f"{silent} of {problem.n_rows} rows were answered at no cost: "
            "ask by committee.answers or committee.ask",
        )


@law("combiner")
@for_any(TRAINING, examples=6)
def labels_are_those_of_the_scores(combiner: Combiner, problem: Problem) -> None:
    """labels that need no scores are the first classes with the largest ones, and counted if so"""
    X = new_rows(problem, count=8)
    for committee in committees_for(combiner, problem):
        combination = fit_combiner(combiner, committee, problem)
        counted = committee.with_counter(8)
        labels = combination.labels(counted, X)
        if labels is None:
            continue
        best = floor_masked(combination.combine(committee, X)).argmax(axis=1)
        other = np.flatnonzero(np.asarray(labels) != best)
        expect(not len(other), f"row {other[:1]} has another label than its largest score")
        assert counted.cost_counter is not None
        if combination.counts_labels:
            evaluations = counted.cost_counter.cost(committee.members).kernel_evaluations
            expect(np.all(evaluations), "counts_labels is true, but some labels have no cost")


@law("combiner")
@for_any(TRAINING, examples=6)
def changes_nothing_it_is_given(combiner: Combiner, problem: Problem) -> None:
    """combining changes neither rows nor members nor the combiner"""
    state = state_of(combiner)
    X = problem.X
    before = X.toarray() if hasattr(X, "toarray") else X.copy()
    for committee in committees_for(combiner, problem):
        said = committee.values(X)
        score(combiner, committee, problem, X)
        expect(_same(committee.values(X), said), "the members answer otherwise afterwards")
    after = X.toarray() if hasattr(X, "toarray") else X
    expect((before == after).all(), "it wrote to the rows")
    expect_no_state(combiner, state)


@law("combiner")
def combines_the_same_twice(combiner: Combiner) -> None:
    """the same committee and rows give the same scores, bit for bit"""
    problem = easy_problem(gap=1.0)
    for committee in committees_for(combiner, problem):
        expect_seeded(
            partial(_score_bits, combiner, committee, problem),
            "two times gave two answers: randomness is in the seed",
        )


@law("combiner")
def combines_sparse_rows_as_dense(combiner: Combiner) -> None:
    """CSR rows get the scores that the same rows get when dense"""
    problem = easy_problem(gap=1.0)
    for committee in committees_for(combiner, problem):
        _expect_close(
            score(combiner, committee, problem, problem.X),
            score(combiner, committee, problem, as_sparse(problem.X)),
            "the rows come as CSR",
        )


@law("combiner")
def leaves_something_that_can_be_stored(combiner: Combiner) -> None:
    """fit returns the combiner itself or one of its stored types"""
    problem = easy_problem()
    for committee in committees_for(combiner, problem):
        result: Any = fit_combiner(combiner, committee, problem)
        expect(
            result is combiner or isinstance(result, type(combiner).stored_types),
            f"fit returned a {type(result).__name__}",
        )


@law("combiner")
def explains_an_answer(combiner: Combiner) -> None:
    """a combiner's trace is a list of sentences"""
    problem = easy_problem()
    for committee in committees_for(combiner, problem):
        trace = fit_combiner(combiner, committee, problem).trace
        sentences = trace(committee.with_counter(1), problem.X[[0]])
        expect(
            isinstance(sentences, list) and all(isinstance(each, str) for each in sentences),
            f"trace gave {sentences!r}",
        )


def _score_bits(combiner: Combiner, committee: Committee, problem: Problem) -> bytes:
    return score(combiner, committee, problem, problem.X).tobytes()


def _same(one: FloatArray, other: FloatArray) -> bool:
    return one.shape == other.shape and np.allclose(
        one, other, rtol=1e-9, atol=1e-9, equal_nan=True
    )


def _expect_close(one: FloatArray, other: FloatArray, how: str) -> None:
    expect(
        one.shape == other.shape,
        f"scores have shape {one.shape}, and {other.shape} when {how}",
    )
    if not _same(one, other):
        row = np.flatnonzero(~np.isclose(one, other, equal_nan=True).all(axis=1))[:1]
        expect(False, f"the scores of row {row} change when {how}")
