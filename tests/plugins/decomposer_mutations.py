"""Bugs to seed into decomposers."""

import threading

import attrs
import numpy as np

from dcsvm import Division, Router, component
from dcsvm.testing.trials import Centroids

from .mutations import mutation


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


@component
class SeededByTheWorker(Centroids):
    """A learner whose answer shows which thread it ran in."""

    def fit(self, problem):
        model = super().fit(problem)
        return attrs.evolve(model, biases=model.biases + threading.get_ident() % 1000)


@mutation(
    "decomposer",
    "is_the_same_in_two_threads",
    applies=lambda component: component.yields != {"one part"},
)
def seeds_its_parts_by_the_worker(cls):
    change = each_part(lambda part, _: attrs.evolve(part, learner=SeededByTheWorker()))
    return parts_changed(cls, change)


@attrs.frozen(eq=False)
class Swapped(Router):
    """A router that takes the first member for the second, and the second for the first."""

    router: Router

    def route(self, X):
        routing = self.router.route(X)
        number = np.arange(max(2, routing.member.max() + 1))
        number[:2] = 1, 0
        return attrs.evolve(routing, member=number[routing.member])


@attrs.frozen(eq=False)
class ByTheBatch(Router):
    """A router that sends rows where their mean goes."""

    router: Router

    def route(self, X):
        mean = np.asarray(X.mean(axis=0)).reshape(1, -1)
        routing = self.router.route(mean)
        return type(routing).to_one(np.repeat(routing.member[:1], X.shape[0]))


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


@mutation("decomposer", "sends_training_rows_home", applies=yields_regions)
def swaps_two_leaves_at_prediction(cls):
    return router_changed(cls, Swapped)


@mutation("decomposer", "routes_one_row_as_many", applies=yields_regions)
def routes_by_the_mean_of_the_batch(cls):
    return router_changed(cls, ByTheBatch)
