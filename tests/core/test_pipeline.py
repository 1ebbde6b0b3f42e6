"""What a combiner that learns is given: the members' answers, in-sample or from folds."""

import attrs
import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Rest, Strips, blobs

from dcsvm import Combiner, DivideAndConquerClassifier, component, setting
from dcsvm.errors import CompositionError
from dcsvm.pipeline import _folds
from dcsvm.problem import Problem, Seed

X, y = blobs()


@attrs.frozen(eq=False)
class Weighing:
    """A fitted combiner that remembers what it was given."""

    answers: np.ndarray

    def combine(self, committee, X):
        return committee.mean_scores(X)


@component
class Learning(Combiner):
    name = "learning"
    wants_answers = True
    stored_types = (Weighing,)

    folds: int = setting(0, at_least=0, help="0 for in-sample answers")

    def fit(self, committee, problem, answers):
        return Weighing(answers)

    def combine(self, committee, X):
        raise AssertionError("the fitted form combines")


def fitted(decomposer, folds, **others):
    pipeline = (decomposer, Centroids(), Learning(folds=folds))
    return DivideAndConquerClassifier(*pipeline, random_state=0, **others).fit(X, y)


def test_in_sample_answers_are_what_the_committee_says_of_the_training_rows():
    clf = fitted(Rest(), folds=0)
    np.testing.assert_array_equal(clf.model_.combination.answers, clf.model_.committee.values(X))


def test_answers_from_folds_come_from_members_that_never_saw_the_row():
    clf = fitted(Rest(), folds=4)
    answers = clf.model_.combination.answers
    fold_of = _folds(Problem(X, y, 3, Seed(_entropy())), 4)
    for fold in range(4):
        held_out = fold_of == fold
        without = DivideAndConquerClassifier(Rest(), Centroids(), Average())
        without.fit(X[~held_out], y[~held_out])
        expected = without.model_.committee.values(X[held_out])
        np.testing.assert_allclose(answers[held_out], expected)
    assert not np.allclose(answers, clf.model_.committee.values(X))


def _entropy():
    return int(np.random.RandomState(0).randint(2**31 - 1))


def test_answers_from_folds_do_not_depend_on_the_number_of_jobs():
    alone, both = fitted(Deal(3), 3, n_jobs=1), fitted(Deal(3), 3, n_jobs=2)
    np.testing.assert_array_equal(
        alone.model_.combination.answers, both.model_.combination.answers
    )


def test_folds_spread_every_class_and_never_hold_out_the_only_row_of_one():
    labels = np.r_[np.zeros(10, dtype=int), np.ones(5, dtype=int), [2]]
    fold_of = _folds(Problem(np.zeros((16, 1)), labels, 3), 5)
    assert np.bincount(fold_of[:10], minlength=5).tolist() == [2] * 5
    assert np.bincount(fold_of[10:15], minlength=5).tolist() == [1] * 5
    assert fold_of[15] == -1


def test_folds_over_parts_that_differ_from_fold_to_fold_are_refused():
    sentence = (
        "combiner 'learning' wants answers from 2 folds, but decomposer 'strips' divides each "
        "fold into other parts; set folds = 0"
    )
    with pytest.raises(CompositionError) as error:
        fitted(Strips(8), folds=2)
    assert str(error.value) == sentence
