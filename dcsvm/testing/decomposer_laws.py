"""Laws of decomposers: what parts must hold for any problem."""

from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from dcsvm.base.decomposer import (
    CLASS_CODES,
    CLASS_PAIRS,
    GROUPS,
    MODIFIERS,
    ONE_PART,
    REGIONS,
    SUBSETS,
    SUBSPACES,
    WEIGHTS,
    YIELDS,
    Decomposer,
)
from dcsvm.base.errors import CompositionError
from dcsvm.base.problem import Part, Problem, union
from dcsvm.base.routing import Division, Level
from dcsvm.base.seed import DIVISION
from dcsvm.numeric.array_types import IntArray
from dcsvm.numeric.stored_arrays import Stored
from dcsvm.testing.checks import expect, expect_seeded, for_any, law
from dcsvm.testing.component_laws import expect_known_words, expect_no_state, state_of
from dcsvm.testing.problems import easy_problem, fingerprint, new_rows, problems
from dcsvm.testing.trials import describe_part, find_task_rows, look_up, parts_of, try_out


@law("decomposer")
@for_any(problems(), examples=25)
def divides_and_answers_at_all(decomposer: Decomposer, problem: Problem) -> None:
    """any problem is divided, its parts are learned, and new rows are answered"""
    look_up(decomposer, problem).model.scores(new_rows(problem))


@law("decomposer")
def divides_an_easy_problem(decomposer: Decomposer) -> None:
    """60 rows of 3 classes are divided, with and without row weights"""
    problem = easy_problem()
    for weights in (None, 1.0 + problem.y):
        trial = look_up(decomposer, attrs.evolve(problem, weights=weights))
        expect(trial.groups, "it left no member to predict")
        scores = trial.model.scores(problem.X)
        expect(scores.shape == (60, 3), f"a strategy around it gives scores of {scores.shape}")


@law("decomposer")
@for_any(problems())
def names_rows_of_the_problem(decomposer: Decomposer, problem: Problem) -> None:
    """every part names at least one row, by ids of the problem that was given"""
    for place, part in enumerate(parts_of(decomposer, problem)):
        rows = part.rows
        expect(
            isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind in "iu",
            f"the rows of part {place} are not a one-dimensional array of whole numbers",
        )
        expect(len(rows), f"part {place} has no rows")
        expect(
            rows.min() >= 0 and rows.max() < problem.n_rows,
            f"part {place} names rows {rows.min()} to {rows.max()} of {problem.n_rows}",
        )


@law("decomposer")
@for_any(problems())
def covers_every_row(decomposer: Decomposer, problem: Problem) -> None:
    """every training row is in a part or declared as held back, where `covers` is true"""
    trial = look_up(decomposer, problem)
    held_back = _list_held_back(trial.division)
    if decomposer.covers:
        covered = union([*(find_task_rows(part, problem) for part in trial.parts), *held_back])
        missing = np.setdiff1d(np.arange(problem.n_rows), covered)
        expect(
            not len(missing),
            f"{len(missing)} of {problem.n_rows} rows are in no part and not held back, "
            f"the first of them row {missing[:1]}; a decomposer that samples says covers = False",
        )
    for rows in held_back:
        expect(
            np.isin(rows, np.arange(problem.n_rows)).all(),
            f"it holds back {rows}, which are not all rows of the problem",
        )


@law("decomposer")
@for_any(problems())
def weighs_each_row_of_a_part_once(decomposer: Decomposer, problem: Problem) -> None:
    """a part's weights and start have one finite number for each of its rows"""
    for place, part in enumerate(parts_of(decomposer, problem)):
        for word, values in (("weights", part.weights), ("start", part.start)):
            if values is not None:
                expect(
                    values.shape == part.rows.shape and np.isfinite(values).all(),
                    f"part {place} has {word} of shape {values.shape} for {len(part.rows)} rows",
                )
        if part.weights is not None:
            expect((part.weights > 0).all(), f"part {place} has weights that are not positive")


@law("decomposer")
@for_any(problems())
def labels_each_row_of_a_part_once(decomposer: Decomposer, problem: Problem) -> None:
    """labels of a part's own are whole numbers, one for each row, from 0 to n_labels - 1"""
    for place, part in enumerate(parts_of(decomposer, problem)):
        most = problem.n_classes if part.n_labels is None else part.n_labels
        if part.labels is None:
            expect(part.n_labels is None, f"part {place} has n_labels = {most} and no labels")
            continue
        labels = np.asarray(part.labels)
        expect(
            labels.shape == part.rows.shape and labels.dtype.kind in "iu",
            f"part {place} has labels of shape {labels.shape} and dtype {labels.dtype} for "
            f"{len(part.rows)} rows",
        )
        expect(
            labels.min() >= 0 and labels.max() < most,
            f"part {place} has labels {labels.min()} to {labels.max()}, but must have 0 to "
            f"{most - 1}",
        )


@law("decomposer")
@for_any(problems(weighted=False), examples=8)
def passes_row_weights_on(decomposer: Decomposer, problem: Problem) -> None:
    """rows that all weigh 1, 2 or 4 are divided alike, and the learner gets their weights"""
    alike = []
    for weight in (1.0, 2.0, 4.0):
        weights = np.full(problem.n_rows, weight)
        trial = try_out(decomposer, attrs.evolve(problem, weights=weights))
        alike.append([describe_part(part) for part in trial.parts])
    expect(
        alike[0] == alike[1] == alike[2],
        "the parts or their own weights changed with the row weights, though all rows weigh the "
        "same; a part's weights are multiplied with those of the problem, so they must not "
        "contain them or undo them",
    )


@law("decomposer")
@for_any(problems())
def asks_questions_about_classes_there_are(decomposer: Decomposer, problem: Problem) -> None:
    """a part's task has classes of the problem on both sides, none of them twice"""
    for place, part in enumerate(parts_of(decomposer, problem)):
        if part.task is None:
            continue
        both = (*part.task.plus, *part.task.minus)
        expect(
            part.task.plus and part.task.minus and len(set(both)) == len(both),
            f"part {place} asks {part.task}",
        )
        expect(
            set(both) <= set(range(problem.n_classes)),
            f"part {place} asks {part.task}, but the classes are 0 to {problem.n_classes - 1}",
        )


@law("decomposer")
@for_any(problems())
def yields_what_it_says(decomposer: Decomposer, problem: Problem) -> None:
    """what it yields is what its `yields` says"""
    words = decomposer.yields
    expect_known_words(decomposer, words, "its yields are")
    trial = look_up(decomposer, problem)
    expect(
        bool(trial.division.groups) == (GROUPS in words),
        f"it returned {len(trial.division.groups)} groups and says {sorted(words)}",
    )
    weighted = any(group.weights is not None for group in trial.groups)
    expect(
        weighted == (WEIGHTS in words),
        f"it returned {'weights' if weighted else 'no weights'} of members and says "
        f"{sorted(words)}",
    )
    present = np.unique(problem.y)
    seen = [_words_for(group, present) for group in trial.groups]
    for number, fitting in enumerate(seen):
        expect(
            fitting & words or not words <= YIELDS,
            f"group {number} is {_list_words(fitting)}, and its yields say {_list_words(words)}",
        )
    for word in words & YIELDS - MODIFIERS:
        expect(any(word in fitting for fitting in seen), f"it says {word!r} and yields none")


@law("decomposer")
@for_any(problems(), examples=8)
def leaves_a_structure_that_can_be_stored(decomposer: Decomposer, problem: Problem) -> None:
    """the structure of a division is one of its stored types, and suits the members"""
    for group in look_up(decomposer, problem).groups:
        structure, members = group.structure, len(group.members or ())
        if structure is None:
            continue
        expect(
            isinstance(structure, type(decomposer).stored_types),
            f"the structure is a {type(structure).__name__}, which stored_types does not list",
        )
        expect(
            isinstance(structure, Stored),
            f"{type(structure).__name__} is not derived from dcsvm.numeric.Stored, so a model "
            "file with it could not be checked",
        )
        structure.check_stored(
            members=members, classes=problem.n_classes, features=problem.n_features
        )


@law("decomposer")
@for_any(problems(), examples=8)
def draws_from_the_seed_alone(decomposer: Decomposer, problem: Problem) -> None:
    """the same problem and seed give the same division, bit for bit"""
    expect_seeded(
        lambda: try_out(decomposer, problem).bits(new_rows(problem)),
        "dividing twice gave two divisions: every random number must come from problem.seed",
    )


@law("decomposer")
@for_any(problems(), examples=8)
def leaves_the_problem_alone(decomposer: Decomposer, problem: Problem) -> None:
    """dividing changes neither the problem nor the decomposer"""
    before, state = fingerprint(problem), state_of(decomposer)
    try_out(decomposer, problem)
    expect(fingerprint(problem) == before, "it wrote to the arrays of the problem")
    expect_no_state(decomposer, state)


@law("decomposer")
@for_any(problems(max_rows=6), examples=8)
def bears_tiny_problems(decomposer: Decomposer, problem: Problem) -> None:
    """with 2 to 6 rows a strategy still answers, or a DataError says why not"""
    scores = look_up(decomposer, problem).model.scores(new_rows(problem))
    expect(np.isfinite(scores).all(), "the strategy's scores are not finite")


@law("decomposer")
def can_be_added_to_another(decomposer: Decomposer) -> None:
    """`a + a` divides the problem twice, group by group"""
    problem = easy_problem()
    once = len(look_up(decomposer, problem).groups)
    twice = len(look_up(decomposer + decomposer, problem).groups)
    expect(twice == 2 * once, f"it has {once} group(s) alone and {twice} when added to itself")


@law(
    "decomposer",
    when=lambda component: type(component).levels is not Decomposer.levels,
    otherwise="it has no `levels`",
)
def grows_coarser_by_level(decomposer: Decomposer) -> None:
    """`levels` starts as `divide` does, every part is a union of finer ones, and one is left"""
    # Parts with tasks of their own stay as they are.
    problem = easy_problem()
    try:
        found = list(decomposer.levels(problem.with_child_seed(DIVISION)))
    except CompositionError:  # made of decomposers, one of which has no levels
        return
    expect(found, "it has no level at all")
    levels = [_parts_by_group(level) for level in found]
    divided = [
        [set(member.part.rows.tolist()) for member in group.members or () if member.part]
        for group in look_up(decomposer, problem).groups
    ]
    expect(
        [sorted(map(sorted, group)) for group in levels[0]]
        == [sorted(map(sorted, group)) for group in divided],
        "the finest level is not what divide yields",
    )
    for number, (fine, coarse) in enumerate(pairwise(levels)):
        for small, large in zip(fine, coarse, strict=True):
            expect(
                all(any(one <= other for other in large) for one in small),
                f"a part of level {number} is not inside one part of level {number + 1}",
            )
    sizes = [len(group) for group in levels[-1]]
    if not all(part.task for part in _all_parts(found[-1])):
        expect(set(sizes) == {1}, f"the coarsest level has {sizes} parts, not 1 for each group")


def _parts_by_group(level: Any) -> list[list[set[int]]]:
    if level.groups:
        return [parts for group in level.groups for parts in _parts_by_group(group)]
    return [[set(part.rows.tolist()) for part in level.parts]]


def _all_parts(level: Level) -> list[Part]:
    return [*level.parts, *(part for group in level.groups for part in _all_parts(group))]


def _list_held_back(division: Division) -> list[IntArray]:
    mine = [] if division.held_back is None else [division.held_back]
    return mine + [rows for group in division.groups for rows in _list_held_back(group)]


def _words_for(group: Division, present: IntArray) -> frozenset[str]:
    """Return the words of `yields` that fit a division with members of its own."""
    parts = [member.part for member in group.members or () if member.part is not None]
    tasks = [part.task for part in parts if part.task is not None]
    words = set()
    if any(part.view is not None for part in parts):
        words.add(SUBSPACES)
    if tasks:
        pairs = {frozenset((*task.plus, *task.minus)) for task in tasks}
        one_to_one = all(len(task.plus) == len(task.minus) == 1 for task in tasks)
        if one_to_one and all(
            frozenset((i, j)) in pairs for i in present for j in present if i < j
        ):
            words.add(CLASS_PAIRS)
        n_classes = 1 + max(int(present.max()), *(max(task.plus + task.minus) for task in tasks))
        codes = np.array([task.code(n_classes)[present] for task in tasks])
        if np.unique(codes, axis=1).shape[1] == len(present):
            words.add(CLASS_CODES)
    if group.router is not None:
        words.add(REGIONS)
    elif not tasks:
        words.update({SUBSETS, ONE_PART} if len(group.members or ()) == 1 else {SUBSETS})
    return frozenset(words)


def _list_words(words: frozenset[str]) -> str:
    return " or ".join(repr(word) for word in sorted(words)) or "nothing that has a word"
