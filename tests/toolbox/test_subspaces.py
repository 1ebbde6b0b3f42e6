"""Groups of features, views that add blocks up, names of features, and a subspace of one's own."""

import numpy as np
import pytest
from fakes import Average, Centroids, blobs
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dcsvm import DivideAndConquerClassifier, component
from dcsvm.toolbox import BlockSum, Chain, Columns, LinearMap, Scaling, Subspaces
from dcsvm.toolbox.subspaces import deal

X, y = blobs()


@component
class EachAlone(Subspaces):
    """A subspace for every feature."""

    name = "each_alone"

    def views(self, problem):
        return [Columns(np.array([number])) for number in range(problem.n_features)]


def test_a_decomposer_of_ones_own_takes_one_method():
    clf = DivideAndConquerClassifier(EachAlone(), Centroids(), Average()).fit(X, y)
    assert len(clf.model_.committee.members) == X.shape[1]
    assert [record.about["subspace"] for record in clf.ledger_] == list(range(X.shape[1]))


@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 30), st.integers(0, 99))
def test_hands_are_of_one_size_and_no_item_is_dealt_twice_as_often(items, hands, size, seed):
    size = min(size, items)
    dealt = deal(np.random.default_rng(seed), items, hands, size)
    assert [len(np.unique(hand)) for hand in dealt] == [size] * hands
    counts = np.bincount(np.concatenate(dealt), minlength=items)
    assert counts.max() - counts.min() <= 1
    assert all((np.diff(hand) > 0).all() for hand in dealt)


def test_blocks_are_added_up_place_by_place():
    view = BlockSum(
        np.array([0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 2]), np.array([1, 10, 100.0]), 2
    )
    rows = np.array([[1.0, 2, 3, 4, 5], [0, 0, 0, 1, 0]])
    assert view.apply(rows).tolist() == [[531, 42], [0, 10]]
    thin = view.apply(sparse.csr_array(rows))
    assert sparse.issparse(thin)
    assert thin.toarray().tolist() == [[531, 42], [0, 10]]


@pytest.mark.parametrize("place", [[0, 2], [-1, 0]])
def test_places_beyond_the_width_are_refused(place):
    with pytest.raises(ValueError, match="BlockSum: places must be 0 to 1"):
        BlockSum(np.array(place), np.array([0, 1]), np.ones(2), 2)


@pytest.mark.parametrize(
    ("view", "names"),
    [
        (Columns(np.array([2, 0])), ("c", "a")),
        (Scaling("minmax"), ("a", "b", "c")),
        (Chain((Scaling("minmax"), Columns(np.array([1])))), ("b",)),
        (LinearMap(np.eye(3)), None),
    ],
)
def test_a_view_says_what_its_features_are_called(view, names):
    assert view.fit(np.eye(3)).names(("a", "b", "c")) == names
