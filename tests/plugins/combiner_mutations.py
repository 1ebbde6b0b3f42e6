"""Bugs to seed into combiners."""

from collections.abc import Callable
from itertools import count
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm import Committee, Router
from dcsvm.drive.committee.group import Group
from dcsvm.toolbox import Combination

from .mutations import mutation


@attrs.frozen(eq=False)
class Altered(Combination):
    """What a combiner's `fit` gave, with a bug around its `combine`."""

    combination: Any
    around: Callable

    def combine(self, committee, X):
        return self.around(self.combination.combine, committee, X)


def combination_altered(cls, around):
    """A `fit` whose result combines with a bug: `around(combine, committee, X)`."""
    return {"fit": lambda self, *given: Altered(cls.fit(self, *given), around)}


def scores_altered(cls, alter):
    return combination_altered(cls, lambda combine, committee, X: alter(combine(committee, X)))


def committee_altered(cls, alter):
    return combination_altered(cls, lambda combine, committee, X: combine(alter(committee), X))


@mutation("combiner", "scores_every_row_and_class")
def drops_a_class_column(cls):
    return scores_altered(cls, lambda scores: scores[:, :-1])


@mutation("combiner", "leaves_no_class_out")
def scores_the_first_class_with_nan(cls):
    return scores_altered(cls, lambda s: np.where(np.arange(s.shape[1]) == 0, np.nan, s))


@mutation("combiner", "masks_a_class_nobody_can_speak_for")
def makes_up_a_score_for_absent_classes(cls):
    return scores_altered(cls, lambda scores: np.nan_to_num(scores, nan=0.0))


@mutation("combiner", "lets_the_class_win_that_all_are_sure_of")
def takes_the_classes_in_reverse(cls):
    return scores_altered(cls, lambda scores: scores[:, ::-1])


@mutation("combiner", "scores_rows_in_any_order")
def centres_the_scores_of_a_batch(cls):
    return scores_altered(cls, lambda scores: scores - np.nanmax(scores))


@mutation("combiner", "combines_the_same_twice")
def breaks_ties_by_the_workers_random_numbers(cls):
    return scores_altered(cls, lambda s: s + 1e-9 * np.random.random(s.shape))  # noqa: NPY002


@mutation("combiner", "asks_through_the_committee")
def asks_behind_the_tallys_back(cls):
    return committee_altered(cls, lambda committee: attrs.evolve(committee, cost_counter=None))


@mutation("combiner", "seats_members_in_any_order")
def hears_the_last_member_least(cls):
    def alter(committee):
        last = committee.members[-1]
        biases = last.model.biases - 9.0 * (np.arange(len(last.model.biases)) == 0)
        quiet = attrs.evolve(last, model=attrs.evolve(last.model, biases=biases))
        members = (*committee.members[:-1], quiet)
        return Committee(members, committee.groups, committee.n_classes, committee.cost_counter)

    return committee_altered(cls, alter)


@attrs.frozen(eq=False)
class Unweighted(Router):
    """A router whose weights are lost."""

    router: Router

    def route(self, X):
        return attrs.evolve(self.router.route(X), weight=None)


@mutation(
    "combiner",
    "honours_the_routers_weights",
    applies=lambda component: "regions" in component.accepts,
)
def ignores_the_routers_weights(cls):
    def alter(committee):
        groups = tuple(
            Group(each.first, each.last, each.router and Unweighted(each.router))
            for each in committee.groups
        )
        return attrs.evolve(committee, groups=groups)

    return committee_altered(cls, alter)


@mutation("combiner", "changes_nothing_it_is_given")
def clips_the_rows_in_place(cls):
    def around(combine, committee, X):
        values = X.data if sparse.issparse(X) else X
        values.setflags(write=True)
        values[...] = np.minimum(values, 0.5)
        return combine(committee, X)

    return combination_altered(cls, around)


@mutation("combiner", "changes_nothing_it_is_given")
def remembers_whom_it_was_fitted_to(cls):
    def fit(self, committee, problem, answers):
        self.n_members_ = len(committee.members)
        return cls.fit(self, committee, problem, answers)

    return {"fit": fit}


@mutation("combiner", "accepts_words_that_exist")
def accepts_a_word_that_nobody_says(cls):
    return {"accepts": frozenset({"slices"})}


def weighs_members(component):
    return {"weights", "subsets"} <= component.accepts


def weights_altered(cls, alter):
    def change(committee):
        groups = tuple(
            each if each.weights is None else attrs.evolve(each, weights=alter(each.weights))
            for each in committee.groups
        )
        return attrs.evolve(committee, groups=groups)

    return committee_altered(cls, change)


@mutation("combiner", "honours_the_members_weights", applies=weighs_members)
def ignores_the_members_weights(cls):
    return weights_altered(cls, lambda weights: None)


@mutation("combiner", "honours_the_members_weights", applies=weighs_members)
def hears_every_member_with_a_weight_alike(cls):
    return weights_altered(cls, lambda weights: (weights > 0).astype(float))


@mutation("combiner", "honours_the_members_weights", applies=weighs_members)
def takes_the_members_weights_in_reverse(cls):
    return weights_altered(cls, lambda weights: weights[::-1])


@mutation("combiner", "declares_words_with_a_meaning")
def declares_a_word_of_the_core(cls):
    return {"declares": {"regions": "parts of the input space"}}


@mutation("combiner", "declares_words_with_a_meaning")
def declares_a_word_and_does_not_accept_it(cls):
    return {"declares": {"slices": "parts that are cut like bread"}}


@mutation("combiner", "declares_words_with_a_meaning")
def declares_a_word_without_meaning(cls):
    return {"accepts": cls.accepts | {"slices"}, "declares": {"slices": ""}}


@attrs.frozen(eq=False)
class AlteredMargins(Altered):
    """What a combiner's `fit` gave, with a bug around its margins."""

    def combine(self, committee, X):
        return self.combination.combine(committee, X)

    def margins(self, committee, X):
        return self.around(self.combination.margins(committee, X))


@attrs.frozen(eq=False)
class AlteredProbabilities(AlteredMargins):
    """What a combiner's `fit` gave, with probabilities of its own."""

    def margins(self, committee, X):
        return self.combination.margins(committee, X)

    def probabilities(self, committee, X):
        return self.around(self.combination.combine(committee, X))


def margins_altered(cls, around):
    return {"fit": lambda self, *given: AlteredMargins(cls.fit(self, *given), around)}


def probabilities_altered(cls, around):
    return {"fit": lambda self, *given: AlteredProbabilities(cls.fit(self, *given), around)}


@mutation("combiner", "has_margins_for_every_class")
def takes_the_margins_in_reverse(cls):
    return margins_altered(cls, lambda margins: margins[:, ::-1])


@mutation("combiner", "has_margins_for_every_class")
def centres_the_margins_of_a_batch(cls):
    return margins_altered(cls, lambda margins: margins - np.nan_to_num(margins[:1]))


@mutation("combiner", "has_margins_for_every_class")
def has_no_margin_for_the_last_class(cls):
    return margins_altered(
        cls, lambda m: np.where(np.arange(m.shape[1]) == m.shape[1] - 1, np.nan, m)
    )


@mutation("combiner", "has_no_more_probability_than_one")
def adds_the_probabilities_of_members(cls):
    return probabilities_altered(cls, lambda scores: np.full(scores.shape, 0.9))


@mutation("combiner", "has_no_more_probability_than_one")
def takes_scores_for_probabilities(cls):
    return probabilities_altered(cls, lambda scores: np.nan_to_num(scores) - 1.0)


@mutation("combiner", "has_no_more_probability_than_one")
def has_a_probability_of_no_class(cls):
    return probabilities_altered(
        cls, lambda s: np.full((len(s), s.shape[1] + 1), 1.0 / (s.shape[1] + 1))
    )


@mutation("combiner", "labels_are_the_likeliest_classes")
def gives_half_of_the_rows_nan_probabilities(cls):
    def around(scores):
        return np.where(np.arange(len(scores))[:, None] % 2, np.nan, 1.0 / scores.shape[1])

    return probabilities_altered(cls, around)


def favour(classes, shape):
    """Probabilities with 0.9 for the given class of each row."""
    chosen = np.arange(shape[1]) == np.broadcast_to(classes, shape[0])[:, None]
    return np.where(chosen, 0.9, 0.1 / (shape[1] - 1))


@mutation("combiner", "labels_are_the_likeliest_classes")
def names_another_class_every_time_it_is_asked(cls):
    calls = count()
    return probabilities_altered(cls, lambda s: favour(next(calls) % s.shape[1], s.shape))


@mutation("combiner", "labels_are_the_likeliest_classes")
def favours_a_class_by_the_place_of_the_row(cls):
    return probabilities_altered(cls, lambda s: favour(np.arange(len(s)) % s.shape[1], s.shape))


@mutation("combiner", "labels_are_the_likeliest_classes")
def favours_a_class_by_the_size_of_the_batch(cls):
    return probabilities_altered(cls, lambda s: favour(min(len(s), 2) - 1, s.shape))


@attrs.frozen(eq=False)
class AlteredLabels(Combination):
    """What a combiner's `fit` gave, with labels of its own: `find(scores)`."""

    combination: Any
    find: Callable
    counts_labels: bool = False

    def combine(self, committee, X):
        return self.combination.combine(committee, X)

    def labels(self, committee, X):
        uncounted = attrs.evolve(committee, cost_counter=None)
        return self.find(np.nan_to_num(self.combine(uncounted, X), nan=-1e9))


def labels_altered(cls, find, **counted):
    return {"fit": lambda self, *given: AlteredLabels(cls.fit(self, *given), find, **counted)}


@mutation("combiner", "labels_are_those_of_the_scores")
def labels_rows_by_the_second_best_class(cls):
    return labels_altered(cls, lambda scores: scores.argsort(axis=1)[:, -2])


@mutation("combiner", "labels_are_those_of_the_scores")
def labels_rows_by_the_next_row(cls):
    return labels_altered(cls, lambda scores: np.roll(scores.argmax(axis=1), 1))


@mutation("combiner", "labels_are_those_of_the_scores")
def never_labels_a_row_by_the_last_class(cls):
    return labels_altered(cls, lambda scores: scores[:, :-1].argmax(axis=1))


@mutation("combiner", "labels_are_those_of_the_scores")
def says_that_labels_are_counted_but_asks_in_secret(cls):
    return labels_altered(cls, lambda scores: scores.argmax(axis=1), counts_labels=True)


def of_subsets(component):
    return "subsets" in component.accepts


MARGINS = "combiner", "has_margins_that_decide_as_its_scores"


@mutation(*MARGINS, applies=of_subsets)
def shifts_the_classes_of_margins(cls):
    return margins_altered(cls, lambda margins: np.roll(margins, 1, axis=1))


@mutation(*MARGINS, applies=of_subsets)
def takes_margins_for_losses(cls):
    return margins_altered(cls, lambda margins: -margins)


@mutation(*MARGINS, applies=of_subsets)
def has_margins_of_the_first_class_only(cls):
    return margins_altered(cls, lambda margins: np.where(np.arange(3) == 0, margins, -9.0))
