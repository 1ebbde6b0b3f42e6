"""How large a classifier is: what it keeps, shared support vectors counted once."""

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Machine, Pairs, Regional, Strips, blobs
from scipy import sparse

from dcsvm import Decomposer, DivideAndConquerClassifier, Part, component
from dcsvm.inspection.parameter_count import size_of
from dcsvm.toolbox import Scaling


def svm():
    return Machine(kernel="rbf", gamma=0.3, C=2.0)


def test_a_support_vector_of_several_members_is_counted_once() -> None:
    X, y = blobs(90, seed=1)
    clf = DivideAndConquerClassifier(Pairs(), svm(), Average()).fit(X, y)
    members = clf.model_.committee.members
    unique = len(np.unique(np.concatenate([member.support for member in members])))
    size = size_of(clf)
    assert unique < sum(len(member.support) for member in members)
    assert size.support_vectors == unique
    assert size.coordinates == 2 * unique
    assert size.coefficients == sum(len(member.support) for member in members) + 3
    assert size.parameters == size.coordinates + size.coefficients


def test_sharing_is_seen_through_nested_pipelines() -> None:
    X, y = blobs(90, seed=1)
    flat = DivideAndConquerClassifier(Pairs(), svm(), Average())
    regions = DivideAndConquerClassifier(Strips(2), flat, Regional()).fit(X, y)
    kept = np.concatenate([member.support for member in regions.model_.committee.members])
    assert size_of(regions).support_vectors == len(np.unique(kept)) == len(kept)
    twice = DivideAndConquerClassifier(2 * Deal(1), flat, Average(), random_state=0).fit(X, y)
    assert size_of(twice).support_vectors == size_of(flat.fit(X, y)).support_vectors


@component
class Scaled(Decomposer):
    yields = frozenset({"subspaces"})

    def divide(self, problem):
        yield [Part(np.arange(problem.n_rows), view=Scaling())]


def test_a_row_that_two_views_show_is_one_support_vector_with_two_sets_of_features() -> None:
    X, y = blobs(90, seed=1)
    once = DivideAndConquerClassifier(Scaled(), svm(), Average())
    twice = DivideAndConquerClassifier(2 * Scaled(), svm(), Average())
    kept, size = size_of(once.fit(X, y)), size_of(twice.fit(X, y))
    assert size.support_vectors == kept.support_vectors <= len(X)
    assert size.coordinates == 2 * kept.coordinates


def test_hyperplanes_have_weights_and_biases() -> None:
    X, y = blobs(90)
    clf = DivideAndConquerClassifier(Pairs(), Centroids(), Average()).fit(X, y)
    assert size_of(clf).parameters == 3 * (2 + 1)


@pytest.mark.slow
def test_sparse_support_vectors_count_what_they_store() -> None:
    X, y = blobs(60, k=2)
    X[::2, 0] = 0.0
    learner = Machine(kernel="linear", C=0.1)
    clf = DivideAndConquerClassifier(Pairs(), learner, Average()).fit(sparse.csr_matrix(X), y)
    assert size_of(clf).coordinates == np.count_nonzero(X[clf.model_.support])
