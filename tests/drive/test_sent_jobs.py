"""Jobs for other processes: they carry their own rows or a handle, and give the same bits."""

import pickle

import cloudpickle
import numpy as np
import pytest
from fakes import Centroids

from dcsvm import Part, Problem
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.toolbox import Columns

X = np.random.default_rng(0).normal(size=(20_000, 54))
y = (X[:, 0] > 0).astype(int)
LEAF = np.sort(np.random.default_rng(1).choice(len(X), 300, replace=False))


def job(rows=X, **others):
    return Subproblem(Problem(rows, y, 2), Part(LEAF, **others), Centroids(), Seed(3))


def test_a_leaf_of_a_matrix_of_nine_megabytes_sends_its_own_rows():
    own = X[LEAF].nbytes
    assert X.nbytes > 8.6e6
    assert own < len(cloudpickle.dumps(job())) < own + 24 * len(LEAF) + 2_000


def test_a_leaf_of_rows_on_disk_sends_their_numbers(tmp_path):
    np.save(tmp_path / "X.npy", X)
    sent = cloudpickle.dumps(job(map_rows(tmp_path / "X.npy")))
    assert len(sent) < 40 * len(LEAF) + 2_000
    np.testing.assert_array_equal(pickle.loads(sent).problem.X, X[LEAF])


REPEATED = np.array([5, 3, 3, 19_999, 5, 8])


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"view": Columns(np.array([1, 4]))},
        {"rows": REPEATED},
        {"rows": REPEATED, "weights": np.arange(1.0, 7.0), "start": np.arange(6.0)},
        {"rows": REPEATED, "labels": np.array([0, 1, 2, 1, 0, 2]), "n_labels": 3},
    ],
    ids=["plain", "view", "repeats", "weights", "labels"],
)
def test_a_sent_job_learns_the_same_problem_and_names_the_same_rows(others):
    weights = np.linspace(1, 2, len(X))
    part = Part(**({"rows": LEAF} | others))
    here = Subproblem(Problem(X, y, 2, weights=weights), part, Centroids(), Seed(3))
    there = pickle.loads(cloudpickle.dumps(here))
    one, other = here.extract().problem, there.extract().problem
    assert one.total_rows == other.total_rows == len(X)
    for name in ("X", "y", "weights", "start"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    here, there = here.run(), there.run()
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_array_equal(here.code, there.code)
    assert here.n_rows == there.n_rows
