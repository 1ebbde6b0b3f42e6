"""Regions around centres: who belongs where, what asking costs, borders, pictures, files."""

import numpy as np
import pytest
from fakes import Average, Centroids
from scipy import sparse

import dcsvm
from dcsvm import DivideAndConquerClassifier, Problem
from dcsvm.base.component import component
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.seed import Seed
from dcsvm.drawing import Scene
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Hyperplanes, Regions, find_regions

RBF = Kernel("rbf", gamma=0.5)
LINEAR = Kernel("linear")


def blobs(rows=120, seed=0):
    generator = np.random.default_rng(seed)
    home = np.arange(rows) % 3
    X = 6.0 * np.eye(3)[home][:, :2] + generator.normal(size=(rows, 2))
    return Problem(X, generator.integers(2, size=rows), 2, Seed(seed)), home


@component
class Around(Decomposer):
    """Regions of a kernel, without a plugin."""

    name = "around"
    yields = frozenset({"regions"})

    kernel: object = RBF

    def divide(self, problem):
        regions = find_regions(problem, self.kernel, 3)
        yield regions.parts(problem)
        return regions


@pytest.mark.parametrize("kernel", [RBF, LINEAR])
def test_regions_are_the_blobs(kernel):
    problem, home = blobs()
    parts = find_regions(problem, kernel, 3, starts=5).parts(problem)
    assert len(parts) == 3
    assert all(np.bincount(home[part.rows]).max() >= 0.97 * len(part.rows) for part in parts)


@pytest.mark.parametrize("kernel", [RBF, LINEAR])
def test_rows_are_routed_to_the_part_that_held_them(kernel):
    problem, _ = blobs()
    regions = find_regions(problem, kernel, 7, sample=50, balance=1.1)
    member = regions.route(problem.X).member
    for number, part in enumerate(regions.parts(problem)):
        assert np.flatnonzero(member == number).tolist() == part.rows.tolist()
    csr = regions.route(sparse.csr_array(problem.X)).member
    np.testing.assert_array_equal(member, csr)


def test_regions_where_no_row_lives_do_not_exist():
    problem, _ = blobs()
    planes = Hyperplanes(np.zeros((2, 3)), np.array([0.0, -1.0, 1.0]))
    assert set(Regions(planes).route(problem.X).member) == {2}
    for kernel in (RBF, LINEAR):
        found = find_regions(problem, kernel, 100, sample=100, balance=1.0)
        assert all(len(part.rows) for part in found.parts(problem))


def test_a_sample_may_be_chosen_from_some_rows_only():
    problem, home = blobs()
    found = find_regions(problem, RBF, 2, rows=np.flatnonzero(home == 1), sample=10)
    points = found.affinity.points.rows()
    inside = {tuple(row) for row in problem.X[home == 1].tolist()}
    assert len(points) == 10
    assert {tuple(row) for row in points.tolist()} <= inside


def test_what_routing_takes_is_counted():
    problem, _ = blobs()
    for kernel, word, count in ((RBF, "kernel_evaluations", 120), (LINEAR, "hyperplanes", 3)):
        alone = DivideAndConquerClassifier(Around(kernel), Centroids(), Average(), random_state=0)
        alone.fit(problem.X, problem.y)
        cost = alone.cost(problem.X[:5])
        routing = find_regions(problem, kernel, 3).route(problem.X[:5])
        assert getattr(routing, word).tolist() == [count] * 5
        inside = 1 if word == "hyperplanes" else 0
        assert getattr(cost, word).tolist() == [count + inside] * 5
        if word == "kernel_evaluations":
            assert cost.unique_kernel_evaluations.tolist() == [count] * 5


def test_a_border_adds_the_nearest_rows_from_outside():
    problem, _ = blobs()
    regions = find_regions(problem, LINEAR, 3, starts=5)
    away = regions.distances(problem.X)
    own = away.min(axis=1)
    for number, (part, wider) in enumerate(
        zip(regions.parts(problem), regions.parts(problem, 0.25), strict=True)
    ):
        added = wider.rows[len(part.rows) :]
        assert wider.rows[: len(part.rows)].tolist() == part.rows.tolist()
        assert len(added) == round(0.25 * len(part.rows))
        outside = np.setdiff1d(np.arange(120), part.rows)
        further = np.setdiff1d(outside, added)
        lead = away[:, number] - own
        assert lead[added].max() <= lead[further].min()


def test_a_region_of_one_class_needs_no_border():
    problem, home = blobs()
    pure = Problem(problem.X, (home == 0).astype(int), 2, problem.seed)
    sizes = [len(part.rows) for part in find_regions(pure, LINEAR, 3, starts=5).parts(pure, 1.0)]
    assert sizes == [40, 40, 40]


def test_a_border_cannot_be_wider_than_the_problem():
    problem, _ = blobs()
    for part in find_regions(problem, LINEAR, 3).parts(problem, 50.0):
        assert sorted(part.rows.tolist()) == list(range(120))


def test_a_trace_says_by_how_much_the_nearest_is_nearer():
    planes = Hyperplanes(np.array([[2.0, -2.0]]), np.array([-1.0, -1.0]))
    assert Regions(planes).trace(np.array([[0.25]])) == [
        "region 0: nearer than any other centre by 1 of squared distance"
    ]
    alone = Regions(Hyperplanes(np.array([[2.0]]), np.array([-1.0])))
    assert alone.trace(np.array([[0.25]])) == ["region 0, the only one"]


@pytest.mark.parametrize(
    ("clusters", "words"), [(2, "nearer to the first centre"), (3, "the nearest of 3 centres")]
)
def test_regions_are_drawn_with_their_rows(clusters, words):
    problem, _ = blobs()
    regions = find_regions(problem, LINEAR, clusters)
    scene = Scene(
        committee=None,
        members=[None] * clusters,
        classes=("a", "b"),
        features=("x", "y"),
        X=problem.X,
        y=problem.y,
        wrong=np.zeros(120, dtype=bool),
    )
    picture = regions.overview(scene)
    assert words in picture
    assert picture.count("<text") == clusters + 1


def test_regions_are_kept_in_model_files(tmp_path):
    problem, _ = blobs()
    before = DivideAndConquerClassifier(Around(), Centroids(), Average(), random_state=0)
    before.fit(problem.X, problem.y)
    regions = before.model_.committee.groups[0].router
    from dcsvm.persistence.stored_types import CORE_TYPES

    assert type(regions) in CORE_TYPES
    assert dcsvm.toolbox.Regions is Regions
