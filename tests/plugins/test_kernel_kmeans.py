"""Kernel k-means as regions: rings that k-means cannot part, samples, what a row costs."""

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, Problem, build
from dcsvm.numeric import Kernel


def rings(rows=300, seed=0):
    generator = np.random.default_rng(seed)
    outer = np.arange(rows) % 3 > 0
    angle = generator.uniform(0, 2 * np.pi, size=rows)
    radius = np.where(outer, 4.0, 0.5) + generator.normal(scale=0.1, size=rows)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, (X[:, 0] > 0).astype(int), outer


def divided(X, y, **settings):
    work = build("decomposer", "kernel_kmeans", **settings).divide(Problem(X, y, 2))
    return next(work)


def test_a_kernel_parts_what_no_straight_line_can():
    generator = np.random.default_rng(0)
    outer = np.arange(90) % 3 > 0
    X = np.where(outer, generator.choice([-4.0, 4.0], size=90), 0.0)[:, None]
    X += generator.normal(scale=0.1, size=(90, 1))
    parts = divided(X, np.arange(90) % 2, clusters=2, kernel="poly", degree=2, gamma=1.0)
    shares = sorted(outer[part.rows].mean() for part in parts)
    assert shares == [0.0, 1.0]


def test_every_row_joins_the_nearest_centre_in_feature_space():
    X, y, _ = rings(120)
    parts = divided(X, y, clusters=4, gamma=0.3, balance=10.0)
    gram = Kernel("rbf", gamma=0.3)(X)
    centres = [
        gram[:, part.rows].mean(axis=1) * -2.0 + gram[np.ix_(part.rows, part.rows)].mean()
        for part in parts
    ]
    nearest = np.argmin(centres, axis=0)
    for number, part in enumerate(parts):
        assert np.flatnonzero(nearest == number).tolist() == part.rows.tolist()


def test_the_centres_are_made_of_a_sample_and_every_row_of_it_is_asked():
    X, y, _ = rings()
    clusters = build("decomposer", "kernel_kmeans", clusters=3, sample=40)
    clf = DivideAndConquerClassifier(clusters, "linear_svm", "route", random_state=0).fit(X, y)
    cost = clf.cost(X[:2])
    assert cost.kernel_evaluations.tolist() == [40.0, 40.0]
    assert cost.unique_kernel_evaluations.tolist() == [40.0, 40.0]
    assert sum(record.rows for record in clf.ledger_) == 300


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
def test_every_kernel_divides_and_answers(kernel):
    X, y, _ = rings()
    clusters = build("decomposer", "kernel_kmeans", clusters=3, kernel=kernel)
    clf = DivideAndConquerClassifier(clusters, "kernel_svm", "route", random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9


def test_with_the_linear_kernel_it_is_k_means():
    X, y, _ = rings()
    mine = divided(X, y, clusters=4, kernel="linear", sample=300)
    other = next(build("decomposer", "kmeans", clusters=4, sample=300).divide(Problem(X, y, 2)))
    assert [part.rows.tolist() for part in mine] == [part.rows.tolist() for part in other]
