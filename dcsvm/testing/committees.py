"""Committees for the laws of combiners, from divisions by a stand-in decomposer."""

from itertools import combinations
from unittest import SkipTest

import attrs
import numpy as np

from dcsvm.base.combiner import Combination, Combiner, fit_combination
from dcsvm.base.component import component, setting
from dcsvm.base.decomposer import (
    CLASS_CODES,
    CLASS_PAIRS,
    GROUPS,
    MODIFIERS,
    ONE_PART,
    REGIONS,
    SUBSETS,
    SUBSPACES,
    YIELDS,
    Decomposer,
)
from dcsvm.base.feature_views import Columns
from dcsvm.base.problem import Part, Problem, Task, part
from dcsvm.base.routing import Router, Routing
from dcsvm.base.stages import Stages
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.committee.group import Group
from dcsvm.drive.registry import default_registry
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.testing.trials import try_out


@attrs.frozen(eq=False)
class Halves(Router):
    """Routes the lower half of the first feature to the first member, the rest to the second.

    With `blend`, a row asks both: its own with weight 1 - blend, the other with weight blend.
    """

    border: float
    blend: float | None = None

    def route(self, X: Matrix) -> Routing:
        first = X[:, [0]].toarray() if hasattr(X, "toarray") else X[:, [0]]
        strip = (first[:, 0] > self.border).astype(np.intp)
        if self.blend is None:
            return Routing.to_one(strip)
        rows = np.arange(len(strip))
        weight = np.repeat([1 - self.blend, self.blend], len(strip))
        return Routing(np.tile(rows, 2), np.concatenate([strip, 1 - strip]), weight)


@component
class Divider(Decomposer):
    """A stand-in decomposer that yields the given word."""

    name = "divider"

    word: str = setting(ONE_PART, help="what to yield")
    blend: float | None = setting(None, help="how much the other region has to say")

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({self.word})

    def divide(self, problem: Problem) -> Stages:
        everyone = np.arange(problem.n_rows)
        present = np.unique(problem.y).tolist()
        if self.word == REGIONS:
            values = problem.X[:, [0]]
            values = values.toarray() if hasattr(values, "toarray") else values
            border = float(np.median(values))
            upper = values[:, 0] > border
            if upper.all() or not upper.any():  # a constant feature has no halves
                yield [part(everyone)]
                return Halves(np.inf)
            yield [part(everyone[~upper]), part(everyone[upper])]
            return Halves(border, self.blend)
        if self.word == CLASS_PAIRS:
            yield [
                Part(everyone, task=Task((one,), (other,)))
                for one, other in combinations(present, 2)
            ]
        elif self.word == CLASS_CODES:
            yield [
                Part(everyone, task=Task((one,), tuple(set(present) - {one}))) for one in present
            ]
        elif self.word == SUBSPACES:
            yield [Part(everyone, view=Columns(np.array([j]))) for j in range(problem.n_features)]
        elif self.word == SUBSETS:
            yield [part(everyone[start::3]) for start in range(3)]
        else:
            yield [part(everyone)]
        return None


def committees_for(combiner: Combiner, problem: Problem) -> list[Committee]:
    """Build one committee for each word that the combiner accepts.

    For words that are declared by plugins, a registered decomposer divides.
    """
    dividers = [_find_divider(word) for word in sorted(combiner.accepts - MODIFIERS)]
    made = [each for each in dividers if each is not None]
    if not made:
        raise SkipTest(f"no loaded plugin has a decomposer that yields {sorted(combiner.accepts)}")
    if GROUPS in combiner.accepts:
        made.append(made[0] + made[-1])
    return [committee_of(each, problem) for each in made]


def _find_divider(word: str) -> Decomposer | None:
    if word in YIELDS:
        return Divider(word)
    for offer in default_registry().of_kind("decomposer"):
        if word in offer.what.declares and offer.what.yields <= {word, *MODIFIERS}:
            return default_registry().build("decomposer", offer.name)  # type: ignore[no-any-return]
    return None


def committee_of(decomposer: Decomposer, problem: Problem) -> Committee:
    """Divide the problem and train the stand-in learner on its parts."""
    return try_out(decomposer, problem).model.committee


def fit_combiner(combiner: Combiner, committee: Committee, problem: Problem) -> Combination:
    """Fit a combiner as the core would, with in-sample answers if it wants any."""
    answers = committee.table(problem.X) if combiner.wants_answers else None
    return fit_combination(combiner, committee, problem, answers)


def score(combiner: Combiner, committee: Committee, problem: Problem, X: Matrix) -> FloatArray:
    """Fit a combiner and score rows X."""
    combination = fit_combiner(combiner, committee, problem)
    return combination.combine(committee.with_counter(X.shape[0]), X)


def reorder_members(committee: Committee, order: IntArray) -> Committee:
    """Return the same committee with its members in another order; one group only."""
    (group,) = committee.groups
    router = None if group.router is None else RenumberedRouter(group.router, np.argsort(order))
    members = tuple(committee.members[number] for number in order)
    return Committee(members, (Group(0, len(members), router),), committee.n_classes)


@attrs.frozen(eq=False)
class RenumberedRouter(Router):
    """A router to members with other numbers."""

    router: Router
    number: IntArray

    def route(self, X: Matrix) -> Routing:
        routing = self.router.route(X)
        return attrs.evolve(routing, member=self.number[routing.member])
