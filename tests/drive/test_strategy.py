"""What a combiner that learns is given: the members' answers, in-sample or from folds."""

import attrs
import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Rest, Strips, blobs

from dcsvm import Combiner, DivideAndConquerClassifier, component, setting
from dcsvm.base.errors import CompositionError
from dcsvm.base.row_splitting import deal_folds_by_class
from dcsvm.base.seed import FOLDS, Seed
from dcsvm.toolbox import Combination

X, y = blobs()


@attrs.frozen(eq=False)
class Weighing(Combination):
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
    generator = Seed(_entropy()).child(FOLDS).generator()
    fold_of = deal_folds_by_class(y, 3, 4, generator)
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
    fold_of = deal_folds_by_class(labels, 3, 5, np.random.default_rng(0))
    assert np.bincount(fold_of[:10], minlength=5).tolist() == [2] * 5
    assert np.bincount(fold_of[10:15], minlength=5).tolist() == [1] * 5
    assert fold_of[15] == -1


@component
class Tens(Deal):
    """As many parts as there are tens of rows."""

    name = "tens"

    def divide(self, problem):
        yield from Deal(problem.n_rows // 10).divide(problem)


def test_folds_over_parts_that_differ_from_fold_to_fold_are_refused():
    sentence = (
        "combiner 'learning' needs scores from 2 folds, but decomposer 'tens' divides each "
        "fold into different parts; set folds = 0"
    )
    with pytest.raises(CompositionError) as error:
        fitted(Tens(), folds=2)
    assert str(error.value) == sentence


@pytest.mark.parametrize("folds", [0, 2])
def test_a_group_with_a_router_says_one_thing_of_each_class_however_it_is_divided(folds):
    clf = fitted(Strips(8) + Rest(), folds=folds)
    answers, committee = clf.model_.combination.answers, clf.model_.committee
    assert answers.shape == (len(X), 6)
    assert committee.table_code.tolist() == [
        *np.eye(3).tolist(),
        *committee.code.toarray()[-3:].tolist(),
    ]
    if folds == 0:
        alone = DivideAndConquerClassifier(Strips(8), Centroids(), Average()).fit(X, y)
        np.testing.assert_allclose(answers[:, :3], alone.model_.committee.mean_scores(X))


def test_two_classes_have_one_column_for_a_group_with_a_router_even_where_a_region_has_one():
    rows, labels = X[y < 2], y[y < 2]
    pipeline = DivideAndConquerClassifier(Strips(7), Centroids(), Learning(), random_state=0)
    clf = pipeline.fit(rows, labels)
    (said,) = clf.model_.combination.answers.T
    scores = clf.model_.committee.mean_scores(rows)
    one_class = np.isnan(scores).any(axis=1)
    assert 0 < one_class.sum() < len(rows)
    np.testing.assert_allclose(said[~one_class], scores[~one_class, 1])
    assert ((said > 0) == (labels == 1))[one_class].all()


def test_folds_divide_by_the_seed_of_the_whole_and_train_by_their_own():
    drawn = []

    class Watching(Deal):
        def divide(self, problem):
            drawn.append(problem.seed.generator().random())
            yield from super().divide(problem)

    seeds = []

    class Noting(Centroids):
        def fit(self, problem):
            seeds.append(problem.seed)
            return super().fit(problem)

    DivideAndConquerClassifier(Watching(2), Noting(), Learning(folds=3), random_state=0).fit(X, y)
    assert len(drawn) == 4
    assert len(set(drawn)) == 1
    assert len(set(seeds)) == len(seeds) == 8
