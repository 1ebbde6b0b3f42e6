"""Fits on rows on disk: the bits of a fit in memory, without the memory."""

import subprocess
import sys

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.datasets.mapped_tables import map_rows

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(6_000, 5))
y = (np.sin(3 * X[:, 0]) + X[:, 1] > GENERATOR.normal(size=6_000) / 3).astype(int) + (X[:, 2] > 1)


def pipelines():
    tree = build("decomposer", "tree", ceiling=400)
    yield "tree", tree, "kernel_svm", "route"
    yield "forest", 2 * tree, "linear_svm", "mean"
    yield "chunks", build("decomposer", "chunks", parts=20), "krr", "mean"
    yield "bootstrap", build("decomposer", "bootstrap", samples=3, size=500), "kernel_svm", "vote"
    yield "pairs", "class_pairs", "linear_svm", "vote"
    yield "kmeans", build("decomposer", "kmeans", clusters=8), "linear_svm", "route"
    yield "oblique", "oblique_tree", "majority", "route"
    subspaces = build("decomposer", "rd_subspaces", subspaces=2)
    yield "subspaces", subspaces, "linear_svm", "fusion"


@pytest.mark.parametrize(
    "pipeline",
    [
        pytest.param(each, id=each[0], marks=[pytest.mark.slow] * (each[0] == "oblique"))
        for each in pipelines()
    ],
)
def test_rows_on_disk_give_the_bits_of_rows_in_memory(pipeline, tmp_path):
    np.save(tmp_path / "X.npy", X)
    _, *pieces = pipeline
    classifier = DivideAndConquerClassifier(*pieces, random_state=0, n_jobs=2)
    expected = classifier.fit(X, y).decision_function(X[:500])
    found = classifier.fit(map_rows(tmp_path / "X.npy"), y).decision_function(X[:500])
    np.testing.assert_array_equal(found, expected)


def test_rows_of_weight_zero_are_dropped_from_rows_on_disk(tmp_path):
    np.save(tmp_path / "X.npy", X)
    weights = GENERATOR.integers(3, size=len(X)).astype(float)
    classifier = DivideAndConquerClassifier("tree", "linear_svm", "route", random_state=0)
    expected = classifier.fit(X, y, weights).decision_function(X[:500])
    found = classifier.fit(map_rows(tmp_path / "X.npy"), y, weights).decision_function(X[:500])
    np.testing.assert_array_equal(found, expected)


FIT_IN_LITTLE_MEMORY = """
import resource, sys
import numpy as np
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.datasets.mapped_tables import map_rows
X = map_rows(sys.argv[1])
y = (X[:, 0] > 0).astype(int)
settings = {"tree": {"ceiling": 20_000}, "kmeans": {"clusters": 50}}[sys.argv[4]]
division = build("decomposer", sys.argv[4], **settings)
warm = np.random.default_rng(0).normal(size=(3_000, 32))
classifier = DivideAndConquerClassifier(division, "majority", "route", random_state=0)
classifier.fit(warm, warm[:, 1] > 0)
with open("/proc/self/statm") as statm:
    own = int(statm.read().split()[5]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_DATA, (own + int(sys.argv[2]),) * 2)
if sys.argv[3] == "memory":
    X = np.array(X)
print(len(classifier.fit(X, y).ledger_))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of private memory are of Linux")
@pytest.mark.parametrize(
    ("where", "division"), [("disk", "tree"), ("disk", "kmeans"), ("memory", "tree")]
)
def test_a_fit_from_disk_needs_less_memory_than_its_rows(where, division, tmp_path):
    n_rows, n_features = 300_000, 32
    out = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (n_rows, n_features))
    block = GENERATOR.normal(size=(50_000, n_features))
    for start in range(0, n_rows, len(block)):
        out[start : start + len(block)] = block
    out.flush()
    allowed = int(0.8 * out.nbytes)
    given = tmp_path / "X.npy", str(allowed), where, division
    command = [sys.executable, "-c", FIT_IN_LITTLE_MEMORY, *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if where == "disk":
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) >= 1
    else:
        assert "MemoryError" in done.stderr
