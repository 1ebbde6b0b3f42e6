"""Bugs to seed into decomposers."""

import threading
from collections.abc import Callable
from functools import cache

import attrs
import numpy as np
from registered import small

from dcsvm import Division, Router, Routing, component
from dcsvm.drive.registry import default_registry
from dcsvm.numeric import Stored
from dcsvm.testing import easy_problem
from dcsvm.testing.trials import Centroids, try_out

from .mutations import mutation


@cache
def trial_of(name):
    component = default_registry().resolve("decomposer", small("decomposer", name))
    return try_out(component, easy_problem())


def parts_changed(cls, change):
    """A `divide` whose parts are changed before anyone sees them."""

    def divide(self, problem):
        work = cls.divide(self, problem)
        parts = next(work)
        while True:
            try:
                parts = work.send((yield change(parts, problem)))
            except StopIteration as stop:
                return stop.value

    return {"divide": divide}


def each_part(change):
    return lambda parts, problem: [change(part, problem) for part in parts]


@mutation("decomposer", "covers_every_row", applies=lambda component: component.covers)
def loses_a_row(cls):
    def change(part, problem):
        kept = part.rows[part.rows != problem.n_rows - 1]
        return attrs.evolve(part, rows=kept) if len(kept) else part

    return parts_changed(cls, each_part(change))


@mutation("decomposer", "names_rows_of_the_problem")
def counts_rows_from_one(cls):
    return parts_changed(cls, each_part(lambda part, _: attrs.evolve(part, rows=part.rows + 1)))


@mutation("decomposer", "draws_from_the_seed_alone")
def deals_rows_by_the_workers_random_numbers(cls):
    def change(part, problem):
        return attrs.evolve(part, rows=np.random.permutation(part.rows))  # noqa: NPY002

    return parts_changed(cls, each_part(change))


@mutation("decomposer", "passes_row_weights_on")
def undoes_the_row_weights(cls):
    def change(part, problem):
        weights = None if problem.weights is None else 1.0 / problem.weights[part.rows]
        return attrs.evolve(part, weights=weights)

    return parts_changed(cls, each_part(change))


@mutation("decomposer", "weighs_each_row_of_a_part_once")
def gives_a_row_no_weight(cls):
    def change(part, problem):
        return attrs.evolve(part, weights=(np.arange(len(part.rows)) > 0).astype(float))

    return parts_changed(cls, each_part(change))


@mutation("decomposer", "leaves_the_problem_alone")
def turns_the_labels_round(cls):
    def divide(self, problem):
        problem.y.setflags(write=True)
        problem.y[:] = problem.y[::-1].copy()
        return cls.divide(self, problem)

    return {"divide": divide}


@mutation("decomposer", "leaves_the_problem_alone")
def remembers_what_it_saw(cls):
    def divide(self, problem):
        self.n_rows_ = problem.n_rows
        return cls.divide(self, problem)

    return {"divide": divide}


@mutation("decomposer", "yields_what_it_says")
def says_the_wrong_word(cls):
    def yields(self):
        regions = "regions" in super(type(self), self).yields
        return frozenset({"subsets" if regions else "regions"})

    return {"yields": property(yields)}


@mutation("decomposer", "yields_what_it_says")
def makes_up_a_word(cls):
    return {"yields": frozenset({"slices"})}


def weighs_members(component):
    return "weights" in component.yields


@mutation("decomposer", "yields_what_it_says", applies=weighs_members)
def says_nothing_of_its_weights(cls):
    return {"yields": cls.yields - {"weights"}}


def returns_nothing(component):
    division, fixed = trial_of(component.name).division, type(component).yields
    without = not (division.groups or division.router or weighs_members(component))
    return without and isinstance(fixed, frozenset)


@mutation("decomposer", "yields_what_it_says", applies=returns_nothing)
def says_weights_that_it_does_not_give(cls):
    return {"yields": cls.yields | {"weights"}}


@mutation("decomposer", "yields_what_it_says", applies=returns_nothing)
def gives_weights_that_it_does_not_say(cls):
    def divide(self, problem):
        work, members = cls.divide(self, problem), []
        while True:
            try:
                members = yield (work.send(members) if members else next(work))
            except StopIteration as stop:
                found = stop.value or Division()
                mine = members if found.members is None else found.members
                return attrs.evolve(found, members=mine, weights=np.ones(len(mine)))

    return {"divide": divide}


def labels_parts(component):
    trial = trial_of(component.name)
    return "subsets" in component.yields or any(part.labels is not None for part in trial.parts)


def parts_labelled(cls, label):
    """A `divide` whose parts without a task have the labels that `label` makes of the classes."""

    def change(part, problem):
        classes = problem.y[part.rows]
        return part if part.task else attrs.evolve(part, **label(classes, problem.n_classes))

    return parts_changed(cls, each_part(change))


@mutation("decomposer", "labels_each_row_of_a_part_once", applies=labels_parts)
def labels_rows_with_fractions(cls):
    return parts_labelled(cls, lambda classes, n: {"labels": classes / 1.0})


@mutation("decomposer", "labels_each_row_of_a_part_once", applies=labels_parts)
def labels_all_rows_but_the_last(cls):
    return parts_labelled(cls, lambda classes, n: {"labels": classes[:-1]})


@mutation("decomposer", "labels_each_row_of_a_part_once", applies=labels_parts)
def counts_labels_from_one(cls):
    return parts_labelled(cls, lambda classes, n: {"labels": classes + 1, "n_labels": n})


@mutation("decomposer", "labels_each_row_of_a_part_once", applies=labels_parts)
def says_how_many_labels_and_gives_none(cls):
    return parts_labelled(cls, lambda classes, n: {"labels": None, "n_labels": n})


def trains_side_by_side(component):
    return max(map(len, trial_of(component.name).stages)) > 1


@component
class SeededByTheWorker(Centroids):
    """A learner whose answer shows which thread it ran in."""

    def fit(self, problem):
        model = super().fit(problem)
        return attrs.evolve(model, biases=model.biases + threading.get_ident() % 1000)


@mutation(
    "decomposer",
    "is_the_same_in_two_threads",
    applies=lambda component: component.yields != {"one part"} and trains_side_by_side(component),
)
def seeds_its_parts_by_the_worker(cls):
    change = each_part(lambda part, _: attrs.evolve(part, learner=SeededByTheWorker()))
    return parts_changed(cls, change)


@component
class Counting(Centroids):
    """A learner whose answer shows how often it was asked before."""

    def fit(self, problem):
        Counting.fits = getattr(Counting, "fits", 0) + 1
        return biased(super().fit(problem), Counting.fits)


@component
class Remembering(Centroids):
    """A learner whose answer depends on the rows of the part before."""

    def fit(self, problem):
        before, Remembering.rows = getattr(Remembering, "rows", 0.0), problem.X.sum()
        return biased(super().fit(problem), np.tanh(before))


def biased(model, number):
    """The model with a little more or less for its first column."""
    first = np.arange(len(model.biases)) == 0
    return attrs.evolve(model, biases=model.biases + 1e-3 * number * first)


ORDER = "has_probabilities_in_any_order_of_completion"


@mutation("decomposer", ORDER, applies=trains_side_by_side)
def counts_its_fits(cls):
    return parts_changed(cls, each_part(lambda part, _: attrs.evolve(part, learner=Counting())))


@mutation("decomposer", ORDER, applies=trains_side_by_side)
def learns_from_the_part_before(cls):
    return parts_changed(cls, each_part(lambda part, _: attrs.evolve(part, learner=Remembering())))


@mutation("decomposer", ORDER, applies=trains_side_by_side)
def repeats_rows_by_the_workers_random_numbers(cls):
    def change(part, problem):
        again = np.random.randint(len(part.rows), size=len(part.rows))  # noqa: NPY002
        own = {} if part.labels is None else {"labels": np.r_[part.labels, part.labels[again]]}
        for word in ("weights", "start"):
            values = getattr(part, word)
            own |= {} if values is None else {word: np.r_[values, values[again]]}
        return attrs.evolve(part, rows=np.r_[part.rows, part.rows[again]], **own)

    return parts_changed(cls, each_part(change))


@attrs.frozen(eq=False)
class Swapped(Router):
    """A router that takes the first member for the second, and the second for the first."""

    router: Router

    def route(self, X):
        routing = self.router.route(X)
        number = np.arange(max(2, routing.member.max() + 1))
        number[:2] = 1, 0
        return attrs.evolve(routing, member=number[routing.member])


def mean_row(X):
    return np.asarray(X.mean(axis=0)).reshape(1, -1)


@attrs.frozen(eq=False)
class ByTheBatch(Router):
    """A router that sends rows where their mean goes."""

    router: Router

    def route(self, X):
        routing = self.router.route(mean_row(X))
        n, asked = X.shape[0], len(routing.member)
        weight = None if routing.weight is None else np.tile(routing.weight, n)
        return Routing(np.repeat(np.arange(n), asked), np.tile(routing.member, n), weight)


def router_changed(cls, wrap):
    def divide(self, problem):
        return changed((yield from cls.divide(self, problem)))

    def changed(result):
        if isinstance(result, Division):
            groups = [changed(group) for group in result.groups]
            return attrs.evolve(result, router=changed(result.router), groups=groups)
        return result if result is None else wrap(result)

    return {"divide": divide}


def yields_regions(component):
    return "regions" in component.yields


def routes_hard(component):
    return yields_regions(component) and not routes_softly(component)


@mutation("decomposer", "sends_training_rows_home", applies=routes_hard)
def swaps_two_leaves_at_prediction(cls):
    return router_changed(cls, Swapped)


@mutation("decomposer", "routes_one_row_as_many", applies=yields_regions)
def routes_by_the_mean_of_the_batch(cls):
    return router_changed(cls, ByTheBatch)


@attrs.frozen(eq=False)
class ToOneMember(Router):
    """A router that sends all rows to one member."""

    router: Router
    choose: Callable
    soft = False

    def route(self, X):
        return Routing.to_one(np.repeat(self.choose(self.router, X), X.shape[0]))


def first_member(router, X):
    return router.route(X).member.min()


def last_member(router, X):
    return router.route(X).member.max()


def member_of_the_mean(router, X):
    return router.route(mean_row(X)).member[0]


def no_member_learns_all_rows(component):
    return yields_regions(component) and all(
        member.n_rows < 60 for group in groups_of(component.name) for member in group.members
    )


@mutation("decomposer", "asks_a_member_that_learned_the_row", applies=yields_regions)
def sends_all_rows_to_the_first_member(cls):
    return router_changed(cls, lambda router: ToOneMember(router, first_member))


@mutation("decomposer", "asks_a_member_that_learned_the_row", applies=no_member_learns_all_rows)
def sends_all_rows_to_the_last_member(cls):
    return router_changed(cls, lambda router: ToOneMember(router, last_member))


@mutation("decomposer", "asks_a_member_that_learned_the_row", applies=yields_regions)
def sends_rows_where_their_mean_goes(cls):
    return router_changed(cls, lambda router: ToOneMember(router, member_of_the_mean))


def groups_of(name):
    return trial_of(name).groups


def routes_softly(component):
    if "regions" not in component.yields:
        return False
    groups = groups_of(component.name)
    return any(group.router.soft for group in groups if group.router)


@attrs.frozen(eq=False)
class Reweighed(Router):
    """A soft router with other weights."""

    router: Router
    change: Callable
    soft = True

    def route(self, X):
        routing = self.router.route(X)
        return attrs.evolve(routing, weight=self.change(routing.weight))


@mutation("decomposer", "shares_out_the_weight_of_a_row", applies=routes_softly)
def gives_every_member_a_weight_of_one(cls):
    return router_changed(cls, lambda router: Reweighed(router, lambda weight: None))


@mutation("decomposer", "shares_out_the_weight_of_a_row", applies=routes_softly)
def loses_half_of_the_weight(cls):
    return router_changed(cls, lambda router: Reweighed(router, lambda weight: weight / 2))


@mutation("decomposer", "shares_out_the_weight_of_a_row", applies=routes_softly)
def squares_the_weights(cls):
    return router_changed(cls, lambda router: Reweighed(router, np.square))


def gives_a_structure(component):
    groups = groups_of(component.name)
    return any(group.structure is not None for group in groups)


def structure_changed(cls, change):
    def divide(self, problem):
        division = yield from cls.divide(self, problem)
        return attrs.evolve(division, structure=change(division.structure))

    return {"divide": divide}


@attrs.frozen(eq=False)
class Unlisted(Stored):
    """A structure that no component lists."""

    inner: object


@mutation("decomposer", "leaves_a_structure_that_can_be_stored", applies=gives_a_structure)
def leaves_a_dictionary(cls):
    return structure_changed(cls, lambda structure: {"structure": structure})


@mutation("decomposer", "leaves_a_structure_that_can_be_stored", applies=gives_a_structure)
def leaves_a_structure_that_it_does_not_list(cls):
    return structure_changed(cls, Unlisted)


@mutation("decomposer", "leaves_a_structure_that_can_be_stored", applies=gives_a_structure)
def leaves_the_structure_of_other_members(cls):
    def shortened(structure):
        fields = {
            field.name: getattr(structure, field.name)[:-1]
            for field in attrs.fields(type(structure))
            if isinstance(getattr(structure, field.name), np.ndarray)
        }
        return attrs.evolve(structure, **fields)

    return structure_changed(cls, shortened)


@mutation("decomposer", "declares_words_with_a_meaning")
def declares_a_word_of_the_core(cls):
    return {"declares": {"subsets": "any rows at all"}}


@mutation("decomposer", "declares_words_with_a_meaning")
def declares_a_word_and_does_not_yield_it(cls):
    return {"declares": {"slices": "parts that are cut like bread"}}


@mutation("decomposer", "declares_words_with_a_meaning")
def declares_a_word_without_meaning(cls):
    return {"yields": frozenset({"slices"}), "declares": {"slices": "slices"}}
