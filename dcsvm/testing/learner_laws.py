"""Laws of learners: what a local model must predict for any problem."""

from typing import Any

import attrs
import numpy as np
from sklearn.base import clone

from dcsvm.base.errors import SettingError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.models import KernelExpansion, winners
from dcsvm.base.problem import Problem, ProblemStack
from dcsvm.numeric.array_types import FloatArray
from dcsvm.testing.checks import expect, expect_seeded, for_any, law
from dcsvm.testing.component_laws import expect_no_state, state_of
from dcsvm.testing.problems import as_sparse, easy_problem, fingerprint, freeze, new_rows, problems

LOCAL = problems(max_rows=20, all_present=True, sparse_too=False)
#: Tolerance for two fits of equivalent problems, as a share of the spread of the scores, since
#: iterative solvers stop early.
SOLVER_TOLERANCE = 0.03


@law("learner")
@for_any(LOCAL)
def scores_every_row_and_class(learner: LocalLearner, problem: Problem) -> None:
    """scores are finite, (n, 1) for two classes and (n, k) for more"""
    X = new_rows(problem)
    scores = learner.fit(problem).scores(X)
    columns = 1 if problem.n_classes == 2 else problem.n_classes
    expect(
        scores.shape == (len(X), columns),
        f"{len(X)} rows and {problem.n_classes} classes give scores of shape {scores.shape}, "
        f"not ({len(X)}, {columns})",
    )
    expect(np.isfinite(scores).all(), f"{(~np.isfinite(scores)).sum()} scores are not finite")


@law(
    "learner",
    when=lambda learner: not learner.labels_only,
    otherwise="it ignores the features: labels_only is true",
)
def learns_what_is_easy(learner: LocalLearner) -> None:
    """blobs far apart are labelled rightly: the largest score wins, positive is the second"""
    for n_classes in (2, 3, 4):
        problem = easy_problem(n_classes)
        model = learner.fit(problem)
        right = (winners(model.scores(problem.X)) == problem.y).mean()
        expect(right > 0.9, f"{right:.0%} of the rows of {n_classes} classes are labelled rightly")
        expect(
            (model.labels(problem.X) == winners(model.scores(problem.X))).all(),
            "labels are not the classes with the largest scores",
        )


@law("learner")
def says_what_row_weights_do(learner: LocalLearner) -> None:
    """row_weights is "exact", "approximate" or "refused" """
    expect(
        learner.row_weights in ("exact", "approximate", "refused"),
        f"row_weights is {learner.row_weights!r}",
    )


@law(
    "learner",
    when=lambda learner: learner.row_weights == "exact",
    otherwise="its row_weights are not exact",
)
def counts_a_weighted_row_as_repeated(learner: LocalLearner) -> None:
    """a row of weight w counts as w equal rows"""
    for n_classes in (2, 3):
        problem = easy_problem(n_classes, gap=1.0)
        times = np.where(problem.y == 0, 4, 1 + np.arange(problem.n_rows) % 2)
        weighted = freeze(attrs.evolve(problem, weights=times.astype(float)))
        repeated = problem.subset(np.repeat(np.arange(problem.n_rows), times))
        _expect_close(
            learner.fit(weighted).scores(problem.X),
            learner.fit(repeated).scores(problem.X),
            "with row weights",
            "with repeated rows",
        )


@law(
    "learner",
    when=lambda learner: learner.row_weights == "approximate",
    otherwise="its row_weights are not approximate",
)
def leans_towards_heavier_rows(learner: LocalLearner) -> None:
    """the class whose rows weigh 20 times more is predicted more often, as with repeated rows"""
    for n_classes in (2, 3):
        problem = easy_problem(n_classes, rows=120, gap=1.0)
        for label in range(n_classes):
            weights = np.where(problem.y == label, 20.0, 1.0)
            heavy, light = (
                (learner.fit(attrs.evolve(problem, weights=each)).labels(problem.X) == label).sum()
                for each in (weights, 1.0 / weights)
            )
            expect(
                heavy > light,
                f"class {label} of {n_classes} is predicted for {heavy} rows if its rows weigh 20 "
                f"times more, and for {light} if they weigh 20 times less",
            )
        alike = np.ones(problem.n_rows)
        same = learner.fit(attrs.evolve(problem, weights=alike)).labels(problem.X)
        agreed = (same == learner.fit(problem).labels(problem.X)).mean()
        expect(
            agreed > 0.9,
            f"if all rows weigh 1, {agreed:.0%} of the labels are those without weights",
        )


@law(
    "learner",
    when=lambda learner: learner.row_weights == "refused",
    otherwise="it takes row weights",
)
def refuses_row_weights_in_a_sentence(learner: LocalLearner) -> None:
    """row weights raise a SettingError that speaks of weights; without them it learns"""
    problem = easy_problem(gap=1.0)
    learner.fit(problem)
    try:
        learner.fit(attrs.evolve(problem, weights=1.0 + np.arange(problem.n_rows) % 2))
    except SettingError as error:
        expect("weight" in str(error), f"the refusal does not speak of weights: {error}")
    except Exception as error:
        expect(False, f"row weights raised {type(error).__name__}, not a SettingError")
    else:
        expect(False, "row weights were taken")


@law("learner")
@for_any(LOCAL, examples=8)
def keeps_rows_that_it_was_given(learner: LocalLearner, problem: Problem) -> None:
    """support names rows of the problem, each once, and the model's points are these rows"""
    model = learner.fit(problem)
    support, declared = model.support, learner.keeps_support
    expect(
        declared is None or declared is model.tells_support,
        f"keeps_support is {declared}, and support of a {type(model).__name__} is {support!r}",
    )
    if support is None:
        return
    expect(
        support.ndim == 1
        and support.dtype.kind in "iu"
        and len(np.unique(support)) == len(support),
        f"support is {support!r}",
    )
    expect(
        len(support) == 0 or (support.min() >= 0 and support.max() < problem.n_rows),
        f"support names rows {support.min()} to {support.max()} of {problem.n_rows}",
    )
    if model.duals is not None:
        expect(
            model.duals.shape[0] == len(support),
            f"{model.duals.shape[0]} duals are given for {len(support)} support rows",
        )
    if isinstance(model, KernelExpansion) and model.kernel.kind != "precomputed":
        points = model.points.rows()
        same = points.shape[0] == len(support) and (points == problem.X[support]).all()
        expect(same, "the model's points are not the rows that its support names")


@law("learner")
@for_any(LOCAL, examples=6)
def draws_from_the_seed_alone(learner: LocalLearner, problem: Problem) -> None:
    """the same problem and seed give the same scores, bit for bit"""
    expect_seeded(
        lambda: learner.fit(problem).scores(new_rows(problem)).tobytes(),
        "two fits differ: every random number must come from problem.seed",
    )


@law("learner")
@for_any(LOCAL, examples=6)
def leaves_the_problem_alone(learner: LocalLearner, problem: Problem) -> None:
    """fitting changes neither the problem nor the learner"""
    before, state = fingerprint(problem), state_of(learner)
    learner.fit(problem)
    expect(fingerprint(problem) == before, "it wrote to the arrays of the problem")
    expect_no_state(learner, state)


@law("learner")
def learns_sparse_rows_as_dense(learner: LocalLearner) -> None:
    """CSR rows are learned and answered as the same rows are when dense"""
    for n_classes in (2, 3):
        problem = easy_problem(n_classes, gap=1.0)
        X = np.where(np.abs(problem.X) < 0.3, 0.0, problem.X)
        dense = freeze(attrs.evolve(problem, X=X))
        csr = freeze(attrs.evolve(problem, X=as_sparse(X)))
        model = learner.fit(dense)
        scores = model.scores(X)
        _expect_close(model.scores(as_sparse(X)), scores, "asked about CSR", "dense", 1e-9)
        _expect_close(learner.fit(csr).scores(as_sparse(X)), scores, "fitted on CSR", "on dense")


@law("learner")
@for_any(LOCAL, examples=6)
def answers_one_row_as_many(learner: LocalLearner, problem: Problem) -> None:
    """a row asked alone gets the scores it gets in a batch, in any order"""
    model = learner.fit(problem)
    X = new_rows(problem, count=8)
    batch = model.scores(X)
    alone = np.vstack([model.scores(X[[row]]) for row in range(8)])
    _expect_close(alone, batch, "one row at a time", "in a batch", 1e-9)
    _expect_close(model.scores(X[::-1])[::-1], batch, "backwards", "forwards", 1e-9)


@law("learner")
def does_not_care_how_rows_lie_in_memory(learner: LocalLearner) -> None:
    """Fortran order, strides and single precision are answered like contiguous rows"""
    problem = easy_problem(gap=1.0)
    X = np.asarray(problem.X, dtype=np.float32).astype(float)
    wide = np.repeat(X, 2, axis=1)
    expected = learner.fit(attrs.evolve(problem, X=X)).scores(X)
    for how, laid in (
        ("in Fortran order", np.asfortranarray(X)),
        ("with strides", wide[:, ::2]),
        ("in single precision", X.astype(np.float32)),
    ):
        scores = learner.fit(attrs.evolve(problem, X=laid)).scores(laid)
        _expect_close(scores, expected, how, "contiguous and in double precision")


@law("learner")
@for_any(LOCAL, examples=6)
def bears_contradictions(learner: LocalLearner, problem: Problem) -> None:
    """one row of each class, equal rows with unlike labels, and constant features are learned"""
    first = np.array([problem.rows_of(label)[0] for label in range(problem.n_classes)])
    tiny = problem.subset(first)
    same = attrs.evolve(tiny, X=np.repeat(tiny.X[:1], len(first), axis=0))
    twice = problem.subset(np.concatenate([np.arange(problem.n_rows)] * 2))
    unlike = attrs.evolve(twice, y=np.concatenate([problem.y, problem.y[::-1]]))
    for how, odd in (
        ("one row of each class", tiny),
        ("the same row in every class", same),
        ("every row twice with other labels", unlike),
    ):
        scores = learner.fit(odd).scores(new_rows(problem))
        expect(np.isfinite(scores).all(), f"{how}: some scores are not finite")


@law("learner")
def may_be_given_a_start(learner: LocalLearner) -> None:
    """dual values to start from, however wrong, hardly change what is learned"""
    problem = easy_problem(2, gap=1.0)
    start = np.random.default_rng(0).normal(size=problem.n_rows)
    _expect_close(
        learner.fit(attrs.evolve(problem, start=start)).scores(problem.X),
        learner.fit(problem).scores(problem.X),
        "with a random start",
        "without",
    )


@law("learner")
@for_any(LOCAL, examples=6)
def knows_its_cost_or_says_it_does_not(learner: LocalLearner, problem: Problem) -> None:
    """what an answer took is counted, or NaN where it is unknown"""
    X = new_rows(problem)
    scores, cost = learner.fit(problem).answer(X)
    for word, value in attrs.asdict(cost).items():
        count = np.broadcast_to(value, len(X))
        expect((np.isnan(count) | (count >= 0)).all(), f"{word} is {value}")
    total, unique = (
        np.asarray(count) for count in (cost.kernel_evaluations, cost.unique_kernel_evaluations)
    )
    expect(not (unique > total).any(), f"{unique} unique kernel evaluations out of {total} in all")
    expect(len(scores) == len(X), f"{len(X)} rows gave {len(scores)} answers")


@law("learner")
def fits_a_path_as_one_by_one(learner: LocalLearner) -> None:
    """fit_path yields every cell in order, with the model that fitting it alone gives"""
    problem = easy_problem(gap=1.0)
    grid = _grid(learner)
    path = list(learner.fit_path(problem, grid))
    expect(
        [dict(cell) for cell, _ in path] == grid,
        f"of the cells {grid} it yielded {[dict(cell) for cell, _ in path]}",
    )
    for cell, model in path:
        alone = clone(learner).set_params(**cell).fit(problem)
        _expect_close(
            model.scores(problem.X), alone.scores(problem.X), f"of {cell} on a path", "alone"
        )


@law("learner")
def fits_together_as_one_by_one(learner: LocalLearner) -> None:
    """fit_together gives the models that fitting each problem alone gives, to the last bit"""
    problems = [easy_problem(2, rows, gap=1.0, seed=rows) for rows in (20, 30, 40)]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=40)
    problems[1] = attrs.evolve(problems[1], weights=weights[:30])
    stack = ProblemStack.of(problems)
    assert stack is not None
    for group in (problems, stack, [*problems, easy_problem(gap=1.0)]):
        models = learner.fit_together(group)
        expect(len(models) == len(group), f"{len(group)} problems gave {len(models)} models")
        for problem, model in zip(group, models, strict=True):
            one, other = model.scores(problem.X), learner.fit(problem).scores(problem.X)
            _expect_close(one, other, "of a problem among others", "alone", share=0.0)


def _grid(learner: LocalLearner) -> list[dict[str, Any]]:
    """Return two settings that differ in every number, or an empty one if there are no numbers."""
    numbers = {
        name: value
        for name, value in learner.get_params(deep=False).items()
        if isinstance(value, float)
    }
    try:
        eighths = {name: value / 8 for name, value in numbers.items()}
        clone(learner).set_params(**eighths)
    except SettingError:  # out of range
        eighths = numbers
    return [numbers, eighths] if numbers else [{}]


def _expect_close(
    one: FloatArray, other: FloatArray, how: str, otherwise: str, share: float = SOLVER_TOLERANCE
) -> None:
    expect(
        one.shape == other.shape,
        f"scores {how} have shape {one.shape}, and {other.shape} {otherwise}",
    )
    spread = float(np.ptp(other)) or 1.0
    gap = float(np.abs(one - other).max(initial=0.0))
    expect(
        gap <= share * spread,
        f"scores {how} and {otherwise} are up to {gap:.3g} apart, their spread being {spread:.3g}",
    )
