"""What dividing rows on disk takes in memory: as little as each decomposer says, or less."""

import tracemalloc

import numpy as np
import pytest
from registered import components

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import MemoryLimitError
from dcsvm.base.problem import Problem
from dcsvm.base.seed import DIVISION, PARTS, Seed
from dcsvm.base.stages import StagedDivision
from dcsvm.base.subproblem import subproblems
from dcsvm.datasets.mapped_tables import map_rows
from dcsvm.drive import memory_limit

N_ROWS, N_FEATURES = 4_000, 400
#: What samples, blocks, labels and row numbers may take, as a share of all rows.
FEW = 0.5
NAMES = [name for kind, name in components() if kind == "decomposer"]
#: Settings under which samples and blocks are small beside all rows.
SETTINGS = {
    "balls": {"neighbours": 400, "cover": 400},
    "bayesian_committee": {"ceiling": 200},
    "boosting": {"rounds": 2},
    "dc_svm": {"depth": 1, "sample": 100},
    "growing_bags": {"size": 100, "most": 2},
    "kernel_kmeans": {"sample": 100},
    "kmeans": {"sample": 100},
    "landmark_voronoi": {"size": 500},
    "learned_metric": {"rounds": 1, "sample": 100},
    "mixture": {"experts": 2, "gate": build("learner", "linear_svm")},
    "piecewise_tree": {"iterations": 2},
    "repeat": {"decomposer": build("decomposer", "tree"), "times": 2},
    "sum": {"summands": (build("decomposer", "tree"), build("decomposer", "chunks"))},
    "svm_tree": {"splitter": build("learner", "linear_svm"), "nodes": 2},
    "tree": {"ceiling": 500},
}
#: Trees are grown from bins of all rows and a sample of 131,072 rows, here all of them.
SAMPLED = {"tree": 0.8, "repeat": 0.9, "sum": 0.9}


#: The sizes of blocks of rows, made small enough for several of them.
BLOCKS = {
    "dcsvm.numeric.mapped_rows.BLOCK_ROWS": 256,
    "dcsvm.toolbox.lazy_model.BLOCK_BYTES": 1 << 20,
    "dcsvm_plugins.decomposers.graf_cascade.BLOCK_ROWS": 256,
    "dcsvm_plugins.decomposers.oblique_tree.BLOCK_ROWS": 256,
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "X.npy"
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES))
    X[:, 0] += 40 * (np.arange(N_ROWS) % 2)
    np.save(path, X)
    return map_rows(path)


def build_division(name):
    return build("decomposer", name, **SETTINGS.get(name, {}))


def measure_division(decomposer, problem):
    """The most bytes that any step of a division takes, without the training between them."""
    learner = build("learner", "kernel_svm" if decomposer.needs_support else "majority")
    division = StagedDivision(decomposer.divide(problem.with_child_seed(DIVISION)))
    stages, peaks = iter(division), []
    tracemalloc.start()
    try:
        for stage in range(100):
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            parts = next(stages, None)
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
            if parts is None:
                return max(peaks)
            seed = problem.seed.child(PARTS, stage)
            jobs = subproblems(problem, parts, decomposer, learner, seed)
            division.reply([job.member(job.run()) for job in jobs])
    finally:
        tracemalloc.stop()
    raise AssertionError("the division does not end")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_division_takes_no_more_memory_than_it_says(name, rows, monkeypatch):
    for constant, size in BLOCKS.items():
        monkeypatch.setattr(constant, size)
    problem = Problem(rows, np.arange(N_ROWS) % 2, 2, Seed(0))
    decomposer = build_division(name)
    allowed = decomposer.memory(*rows.shape) + max(FEW, SAMPLED.get(name, 0.0)) * rows.nbytes
    assert measure_division(decomposer, problem) < allowed


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_all_rows_names_a_sibling_that_does_not(name):
    decomposer = build_division(name)
    if not decomposer.memory(1, 1):
        return
    sibling = build("decomposer", decomposer.sibling)
    assert not sibling.memory(1000, 10)
    assert sibling.yields & decomposer.yields


def test_a_division_that_does_not_fit_is_refused_before_rows_are_read(rows, monkeypatch):
    monkeypatch.setattr(memory_limit, "measure_available", lambda: 20e6)
    monkeypatch.setattr(type(rows), "__getitem__", None)
    clf = DivideAndConquerClassifier("pca_subspaces", "linear_svm", "mean")
    with pytest.raises(MemoryLimitError) as raised:
        clf.fit(rows, np.arange(N_ROWS) % 2)
    assert str(raised.value) == (
        "pca_subspaces holds rows in memory to divide them: 32 MB for 4,000 rows x 400 features x "
        "8 bytes, 2.5 times; rd_subspaces, as set by default, leaves them on disk; 20 MB are left"
    )


def test_a_large_division_that_fits_is_announced(rows, monkeypatch):
    monkeypatch.setattr(memory_limit, "TOLD_BYTES", 12e6)
    clf = DivideAndConquerClassifier("lsh", "majority", "route", random_state=0)
    with pytest.warns(UserWarning, match=r"^lsh holds .* 12.8 MB .* 1 times; kmeans, as set"):
        clf.fit(rows, np.arange(N_ROWS) % 2)


def test_sums_and_repetitions_take_what_their_summands_do():
    lsh, chunks = build("decomposer", "lsh"), build("decomposer", "chunks")
    assert (chunks + lsh).memory(10, 2) == (3 * lsh).memory(10, 2) == 160.0
    assert (chunks + lsh).sibling == (3 * lsh).sibling == "kmeans"
    assert (chunks + chunks).memory(10, 2) == 0.0


def test_trees_hold_rows_to_be_pruned_or_to_search_all_thresholds():
    for settings in ({"growth": "exact"}, {"prune": 0.2}):
        assert build("decomposer", "tree", **settings).memory(10, 2) == 320.0
