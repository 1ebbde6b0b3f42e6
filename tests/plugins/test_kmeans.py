"""k-means as regions: nearest centres, balance, borders, what a row costs."""

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, Problem, build


def blobs(rows=200, seed=0):
    generator = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    home = (np.arange(rows) // 2) % 4
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    X = centres[home] + generator.normal(scale=0.7, size=(rows, 2))
    X[:, 0] += 1.5 * y
    return X, y, home


def fitted(X, y, **settings):
    clusters = build("decomposer", "kmeans", **settings)
    return DivideAndConquerClassifier(clusters, "kernel_svm", "route", random_state=0).fit(X, y)


def test_blobs_are_found_and_each_has_its_machine():
    X, y, home = blobs()
    clf = fitted(X, y, clusters=4, starts=5)
    assert [record.rows for record in clf.ledger_] == [50, 50, 50, 50]
    member = clf.model_.committee.groups[0].router.route(X).member
    assert len(set(zip(home.tolist(), member.tolist(), strict=True))) == 4


def test_a_row_goes_to_the_nearest_mean_where_no_price_is_due():
    X, y, _ = blobs()
    (parts,) = stages = [next(build("decomposer", "kmeans", clusters=5).divide(Problem(X, y, 2)))]
    assert len(stages) == 1
    centres = np.array([X[part.rows].mean(axis=0) for part in parts])
    nearest = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    for number, part in enumerate(parts):
        assert np.flatnonzero(nearest == number).tolist() == part.rows.tolist()


@pytest.mark.parametrize("balance", [1.0, 1.5])
def test_balanced_clusters_have_no_more_than_their_share(balance):
    generator = np.random.default_rng(0)
    X = np.concatenate([generator.normal(0, 0.3, (360, 2)), generator.normal(6, 0.3, (40, 2))])
    clf = fitted(X, np.arange(400) % 2, clusters=4, balance=balance)
    assert max(record.rows for record in clf.ledger_) <= np.ceil(balance * 100)


def test_a_border_is_learned_and_not_asked_for():
    X, y, _ = blobs()
    plain, wide = (
        fitted(X, y, clusters=4, starts=5),
        fitted(X, y, clusters=4, starts=5, border=0.2),
    )
    assert [record.rows for record in wide.ledger_] == [60, 60, 60, 60]
    routes = [each.model_.committee.groups[0].router.route(X).member for each in (plain, wide)]
    np.testing.assert_array_equal(*routes)


def test_asking_takes_a_product_with_every_centre():
    X, y, _ = blobs()
    assert fitted(X, y, clusters=4).cost(X[:3]).hyperplanes.tolist() == [4.0, 4.0, 4.0]


def test_more_clusters_than_rows_are_as_many_as_rows_differ():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    clf = fitted(X, np.arange(12) % 2, clusters=50)
    assert [record.rows for record in clf.ledger_] == [4, 4, 4]
