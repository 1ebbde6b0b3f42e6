"""Bugs to seed into learners."""

import time
from collections.abc import Callable

import attrs
import numpy as np

from dcsvm import LocalModel, SettingError
from dcsvm.testing import easy_problem
from dcsvm.toolbox import KernelExpansion, ProblemStack

from .mutations import mutation


@attrs.frozen(eq=False)
class Altered(LocalModel):
    """A model with scores that a function has altered."""

    model: LocalModel
    alter: Callable

    def scores(self, X):
        return self.alter(self.model.scores(X))


def scores_altered(cls, alter):
    return {"fit": lambda self, problem: Altered(cls.fit(self, problem), alter)}


def looks_at_features(component):
    """A learner of labels only has nothing to tell such problems apart by."""
    return not component.labels_only


@mutation("learner", "scores_every_row_and_class")
def gives_two_columns_for_two_classes(cls):
    return scores_altered(cls, lambda s: np.hstack([-s, s]) if s.shape[1] == 1 else s)


@mutation("learner", "scores_every_row_and_class")
def drops_a_class_column(cls):
    return scores_altered(cls, lambda s: s[:, :-1] if s.shape[1] > 1 else s)


@mutation("learner", "scores_every_row_and_class")
def scores_far_rows_with_nan(cls):
    return scores_altered(cls, lambda s: np.where(np.arange(len(s))[:, None] == 1, np.nan, s))


@mutation("learner", "learns_what_is_easy", applies=looks_at_features)
def turns_the_scores_round(cls):
    return scores_altered(cls, lambda s: -s)


@mutation("learner", "answers_one_row_as_many")
def centres_the_scores_of_a_batch(cls):
    return scores_altered(cls, lambda s: s - s.mean(axis=0))


def weights_are(said):
    return lambda component: component.row_weights == said


@mutation("learner", "counts_a_weighted_row_as_repeated", applies=weights_are("exact"))
def ignores_row_weights(cls):
    return {"fit": lambda self, problem: cls.fit(self, attrs.evolve(problem, weights=None))}


@mutation("learner", "draws_from_the_seed_alone")
def adds_the_workers_random_numbers(cls):
    def fit(self, problem):
        noise = np.random.random()  # noqa: NPY002
        return Altered(cls.fit(self, problem), lambda s: s + noise)

    return {"fit": fit}


@mutation("learner", "leaves_the_problem_alone")
def centres_the_features_in_place(cls):
    def fit(self, problem):
        problem.X.setflags(write=True)
        problem.X[:] -= 1.0
        return cls.fit(self, problem)

    return {"fit": fit}


@mutation("learner", "leaves_the_problem_alone")
def keeps_its_model_on_itself(cls):
    def fit(self, problem):
        self.model_ = cls.fit(self, problem)
        return self.model_

    return {"fit": fit}


@mutation("learner", "fits_in_two_threads_at_once", applies=looks_at_features)
def shares_a_buffer_between_threads(cls):
    def fit(self, problem):
        cls.buffer = problem
        time.sleep(0.02)
        return cls.fit(self, cls.buffer)

    return {"fit": fit}


def keeps_points(component):
    return isinstance(component.fit(easy_problem()), KernelExpansion)


@mutation("learner", "keeps_rows_that_it_was_given", applies=keeps_points)
def is_one_off_in_its_support(cls):
    def fit(self, problem):
        model = cls.fit(self, problem)
        return attrs.evolve(model, support_rows=np.maximum(model.support_rows, 1) - 1)

    return {"fit": fit}


def says_what_it_keeps(component):
    return component.keeps_support is not None


@mutation("learner", "keeps_rows_that_it_was_given", applies=says_what_it_keeps)
def says_the_opposite_of_what_it_keeps(cls):
    return {"keeps_support": not cls.keeps_support}


def has_a_number(component):
    return any(isinstance(value, float) for value in component.get_params().values())


@mutation("learner", "fits_a_path_as_one_by_one", applies=has_a_number)
def fits_a_path_of_equal_cells(cls):
    def fit_path(self, problem, grid):
        for cell in grid:
            yield cell, self.fit(problem)

    return {"fit_path": fit_path}


@mutation("learner", "fits_together_as_one_by_one", applies=looks_at_features)
def fits_together_in_another_order(cls):
    return {"fit_together": lambda self, problems: cls.fit_together(self, problems)[::-1]}


@mutation("learner", "fits_together_as_one_by_one")
def fits_together_all_but_the_last(cls):
    return {"fit_together": lambda self, problems: cls.fit_together(self, problems[:-1])}


@mutation("learner", "fits_together_as_one_by_one", applies=looks_at_features)
def fits_the_first_of_a_stack_only(cls):
    def fit_together(self, problems):
        if isinstance(problems, ProblemStack):
            return [self.fit(problems[0])] * len(problems)
        return cls.fit_together(self, problems)

    return {"fit_together": fit_together}


@mutation("learner", "says_what_row_weights_do")
def says_that_weights_are_good(cls):
    return {"row_weights": "good"}


@mutation("learner", "says_what_row_weights_do")
def says_true_of_weights(cls):
    return {"row_weights": True}


@mutation("learner", "says_what_row_weights_do")
def says_nothing_of_weights(cls):
    return {"row_weights": None}


def weights_changed(cls, change):
    def fit(self, problem):
        weights = None if problem.weights is None else change(problem)
        return cls.fit(self, attrs.evolve(problem, weights=weights))

    return {"fit": fit}


@mutation("learner", "leans_towards_heavier_rows", applies=weights_are("approximate"))
def forgets_row_weights(cls):
    return weights_changed(cls, lambda problem: None)


@mutation("learner", "leans_towards_heavier_rows", applies=weights_are("approximate"))
def takes_light_rows_for_heavy_ones(cls):
    return weights_changed(cls, lambda problem: 1.0 / problem.weights)


@mutation("learner", "leans_towards_heavier_rows", applies=weights_are("approximate"))
def weighs_the_first_class_only(cls):
    return weights_changed(cls, lambda problem: np.where(problem.y == 0, 20.0, 1.0))


@mutation("learner", "refuses_row_weights_in_a_sentence", applies=weights_are("refused"))
def takes_weights_that_it_refuses(cls):
    return weights_changed(cls, lambda problem: None)


def refusing(error):
    def methods_of(cls):
        def fit(self, problem):
            if problem.weights is not None:
                raise error
            return cls.fit(self, problem)

        return {"fit": fit}

    return methods_of


@mutation("learner", "refuses_row_weights_in_a_sentence", applies=weights_are("refused"))
def refuses_with_any_error(cls):
    return refusing(ValueError("no weights"))(cls)


@mutation("learner", "refuses_row_weights_in_a_sentence", applies=weights_are("refused"))
def refuses_without_a_reason(cls):
    return refusing(SettingError("this is not possible"))(cls)


@attrs.frozen(eq=False)
class AlteredProbabilities(Altered):
    """A model with probabilities that are wrong."""

    def scores(self, X):
        return self.model.scores(X)

    def probabilities(self, X):
        return self.alter(self.scores(X))


@attrs.frozen(eq=False)
class AlteredMargins(Altered):
    """A model with margins that are wrong."""

    def scores(self, X):
        return self.model.scores(X)

    def margins(self, X):
        return self.alter(self.scores(X))


def probabilities_altered(cls, alter):
    return {"fit": lambda self, problem: AlteredProbabilities(cls.fit(self, problem), alter)}


def margins_altered(cls, alter):
    return {"fit": lambda self, problem: AlteredMargins(cls.fit(self, problem), alter)}


def alike(scores):
    """The same probability for each class."""
    return np.full((len(scores), max(2, scores.shape[1])), 1.0 / max(2, scores.shape[1]))


@mutation("learner", "has_proper_probabilities_or_none")
def has_a_probability_for_each_column_of_scores(cls):
    def alter(scores):
        return np.full((len(scores), 1 if scores.shape[1] == 1 else scores.shape[1]), 0.4)

    return probabilities_altered(cls, alter)


@mutation("learner", "has_proper_probabilities_or_none", applies=looks_at_features)
def takes_scores_for_probabilities(cls):
    return probabilities_altered(cls, lambda s: np.hstack([-s, 1 + s]) if s.shape[1] == 1 else s)


@mutation("learner", "has_proper_probabilities_or_none")
def loses_a_tenth_of_the_probability(cls):
    return probabilities_altered(cls, lambda scores: 0.9 * alike(scores))


@mutation("learner", "has_proper_probabilities_or_none")
def does_not_know_the_probabilities_of_the_first_row(cls):
    return probabilities_altered(
        cls, lambda s: np.where(np.arange(len(s))[:, None] == 0, np.nan, alike(s))
    )


@mutation("learner", "has_margins_like_its_scores", applies=looks_at_features)
def has_margins_without_a_sign(cls):
    return margins_altered(cls, lambda s: -s)


@mutation("learner", "has_margins_like_its_scores")
def has_two_margins_for_two_classes(cls):
    return margins_altered(cls, lambda s: np.hstack([-s, s]) if s.shape[1] == 1 else s)


@mutation("learner", "has_margins_like_its_scores")
def has_no_margin_for_the_first_row(cls):
    return margins_altered(cls, lambda s: np.where(np.arange(len(s))[:, None] == 0, np.inf, s))
