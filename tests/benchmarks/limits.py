"""Which share of what the machine can do the hot loops of fit and predict reach, on one core.

The limits are measured first: products of matrices by BLAS in single and double precision, and
reading numbers from memory and from a cache. Each loop is then held against the one that bounds
it. Operations and bytes are those that the task needs (a squared distance of d features counts 2 d
operations, its exponential none), so work that a loop does beyond them lowers its share.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.threads import CORES
from dcsvm.numeric import (
    FeatureBins,
    Kernel,
    Plan,
    PlaneTree,
    TreeGrowth,
    address,
    native,
    prepare,
    squared_distances,
    vote,
)
from dcsvm.numeric.linear.pegasos_solver import pad_width
from dcsvm.numeric.plan_runner import PlanRunner
from dcsvm_plugins.learners.kernel_svm.dual_solvers import Gram, solve
from dcsvm_plugins.learners.kernel_svm.gram import rbf_rows
from dcsvm_plugins.learners.kernel_svm.large_solver import solve_large

GIGA = 1e9
#: Numbers of a cached array: 1 MB of double precision.
CACHED = 2**17


@dataclass(frozen=True)
class Loop:
    """A loop, the operations or bytes of one call, and the limit that bounds it."""

    name: str
    amount: float
    limit: str
    call: Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print an object of loop to share")
    parser.add_argument("--repeats", type=int, default=5, help="the best of these is taken")
    parser.add_argument("--quick", action="store_true", help="few rows: only to see it run")
    options = parser.parse_args()
    share, repeats = (20, 1) if options.quick else (1, options.repeats)
    CORES.set(1)
    with threadpool_limits(1):
        limits = {
            loop.limit: rate(loop, repeats) for loop in measures_of_machine(4 if share > 1 else 1)
        }
        loops = [*loops_of_fit(share), *loops_of_prediction(share)]
        rates = [rate(loop, repeats) for loop in loops]
    if options.json:
        print(json.dumps({x.name: r / limits[x.limit] for x, r in zip(loops, rates, strict=True)}))
        return
    for name, value in limits.items():
        print(f"{name:40} {value:8.1f} {unit_of(name)}")
    print(f"\n{'loop':40} {'reached':>16}  {'of':18} {'share':>6}")
    for loop, found in zip(loops, rates, strict=True):
        reached = f"{found:.1f} {unit_of(loop.limit)}"
        percent = f"{100 * found / limits[loop.limit]:.0f} %"
        print(f"{loop.name:40} {reached:>16}  {loop.limit:18} {percent:>6}")


def unit_of(limit: str) -> str:
    return "GFLOP/s" if limit.startswith("BLAS") else "GB/s"


def rate(loop: Loop, repeats: int) -> float:
    """Billions of operations or bytes a second of the processor, of the best of some calls."""
    loop.call()
    best = np.inf
    for _ in range(repeats):
        calls, begin = 0, time.thread_time()
        while calls == 0 or time.thread_time() - begin < 0.02:
            loop.call()
            calls += 1
        best = min(best, (time.thread_time() - begin) / calls)
    return loop.amount / best / GIGA


def measures_of_machine(share: int) -> Iterator[Loop]:
    n, numbers = 2048 // share, 2**26 // share
    for dtype, name in ((np.float32, "BLAS, single"), (np.float64, "BLAS, double")):
        A = np.random.default_rng(0).random((n, n)).astype(dtype)
        yield Loop(name, 2.0 * n**3, name, lambda A=A: A @ A)
    for count, name in ((numbers, "memory"), (CACHED // share, "cache")):
        x = np.ones(count)
        yield Loop(name, 8.0 * count, name, lambda x=x: x @ x)


def loops_of_fit(share: int) -> Iterator[Loop]:
    generator = np.random.default_rng(0)
    n, d = 3000 // share, 54
    X = generator.random((n, d))
    Y = X[: n // 2].copy()
    entries = float(n * len(Y))
    double, single = "BLAS, double", "BLAS, single"
    yield Loop("squared distances", 2 * d * entries, double, lambda: squared_distances(X, Y))
    yield Loop("kernel matrix", 2 * d * entries, double, lambda: rbf_rows(X, Y, 0.5))
    yield pairwise_steps(X, generator)
    yield large_solver(generator, 12_000 // share)
    K = (np.exp(-squared_distances(X, X)) + np.eye(n)).astype(np.float32)
    yield Loop("Cholesky factor of a ridge", n**3 / 3, single, lambda: linalg.cholesky(K))
    yield from growth(generator, 1_000_000 // share)


def pairwise_steps(X: np.ndarray, generator: np.random.Generator) -> Loop:
    """Steps on two rows of a kernel matrix each, until the dual is solved."""
    y = np.where(X[:, 0] + 0.2 * generator.normal(size=len(X)) > 0.5, 1.0, -1.0)
    gram = Gram(np.ascontiguousarray(rbf_rows(X, X, 0.5)), 1.0)
    steps = solve(gram, y, 10.0).iterations
    bytes_read = 8.0 * len(X) * max(steps, 1)
    return Loop("pairwise steps of the dual", bytes_read, "memory", lambda: solve(gram, y, 10.0))


def large_solver(generator: np.random.Generator, n: int, d: int = 54) -> Loop:
    """A solution without a full matrix: distances of every support vector to all rows, once."""
    X = generator.random((n, d))
    y = np.where(X[:, 0] + 0.1 * generator.normal(size=n) > 0.5, 1.0, -1.0)
    kernel = Kernel("rbf", gamma=0.5)
    support = np.count_nonzero(solve_large(kernel, X, y, 1.0).alphas)
    operations = 2.0 * d * n * support
    return Loop(
        *("large solver", operations, "BLAS, double"), lambda: solve_large(kernel, X, y, 1.0)
    )


def growth(generator: np.random.Generator, n: int) -> Iterator[Loop]:
    """Binning features, and the histogram of a root: a code for each value, a row and a label."""
    X = generator.normal(size=(n, 28))
    y = (X[:, 0] > 0).astype(int)
    yield Loop("binning features", 9.0 * X.size, "memory", lambda: FeatureBins.of(X))
    bins, rows = FeatureBins.of(X), np.arange(n)
    prepared = TreeGrowth(X, y, 2, bins=bins)._prepare()
    structure, alive = prepared.structure()
    filled = np.zeros(int(bins.starts[-1]) * 2)
    assert native.library is not None
    fill = native.library.dcsvm_fill_histogram
    yield Loop(
        *("histogram of a node", float(X.size + 12 * n), "memory"),
        lambda _=alive: fill(structure, address(rows), n, address(filled)),
    )
    ceiling = max(n // 1000, 50)
    grown = grow_tree(X, y, bins, ceiling)
    # Every node is read once to be counted; siblings are differences, and leaves are not counted.
    inner = float(grown["count"][grown["left"] >= 0].sum()) - n
    yield Loop(
        *("growing a tree", (n + inner / 2) * (X.shape[1] + 12), "memory"),
        lambda: grow_tree(X, y, bins, ceiling),
    )
    few, labels = np.ascontiguousarray(X[:2000]), y[:2000]
    yield Loop(
        *("sorted search of a node", 8.0 * few.size, "cache"),
        lambda: grow_tree(few, labels, None, len(few) - 1),
    )


def grow_tree(X: np.ndarray, y: np.ndarray, bins: FeatureBins | None, ceiling: int) -> np.ndarray:
    """The nodes of a tree with leaves of at most `ceiling` rows, or of one class."""
    rows = np.arange(len(X))
    return TreeGrowth(X, y, 2, bins=bins, smallest=ceiling).grow(rows, 0, len(X), 0)


def loops_of_prediction(share: int) -> Iterator[Loop]:
    generator = np.random.default_rng(1)
    yield from expansions(generator, 3000 // share, 16, "16 features")
    yield from expansions(generator, 3000 // share, 256, "256 features")
    yield plane_tree(generator, 100_000 // share)
    yield from rows_of_forest(generator, 6000 // share)


def expansions(generator: np.random.Generator, n: int, d: int, name: str) -> Iterator[Loop]:
    """Labels by the votes of ten classes, for a batch and for one row."""
    X = generator.random((n, d))
    y = (10 * X[:, 0]).astype(int)
    svc = SVC(C=10.0, gamma=4.0 / d).fit(X, y)
    kernel = Kernel("rbf", gamma=4.0 / d)
    given = svc.support_vectors_, svc.dual_coef_.T, svc.intercept_, svc.n_support_
    expansion = prepare(kernel, *given)
    m, columns = svc.dual_coef_.T.shape
    operations = 2.0 * len(X) * m * (d + columns)
    for precision, limit in (("float32", "BLAS, single"), ("float64", "BLAS, double")):
        yield Loop(
            *(f"batch, {name}, {precision}", operations, limit),
            lambda precision=precision: vote(expansion, X, precision=precision),
        )
    plan = Plan()
    step = plan.expansion(expansion, d)
    assert step is not None
    plan.allow_float32_labels(step)
    runner, row = PlanRunner(plan, step), X[:1].copy()
    read = 4.0 * m * (d + columns)
    yield Loop(f"one row, {name}", read, "cache", lambda: runner.labels(row))


def rows_of_forest(generator: np.random.Generator, n: int, d: int = 16) -> Iterator[Loop]:
    """A whole plan: five trees, an SVM of several classes in each leaf, their mean."""
    X = generator.random((n, d))
    trees = 5 * build("decomposer", "tree", ceiling=n // 10, splitter="random")
    svm = build("learner", "kernel_svm", C=10.0, gamma=4.0 / d)
    forest = DivideAndConquerClassifier(trees, svm, "mean", n_jobs=1, random_state=0)
    forest.fit(X, (10 * X[:, 0]).astype(int))
    row = X[:1].copy()
    # a point has a number for each feature, and coefficients as far as they are not zero
    numbers = [
        float(np.sum(d * cost.unique_kernel_evaluations + cost.kernel_evaluations))
        for cost in (forest.cost(row), forest.cost(X))
    ]
    yield Loop("one row, five trees", 4.0 * numbers[0], "cache", lambda: forest.predict(row))
    yield Loop(*("batch, five trees", 2.0 * numbers[1], "BLAS, double"), lambda: forest.predict(X))


def plane_tree(generator: np.random.Generator, n: int, depth: int = 10, d: int = 54) -> Loop:
    """A product of a row and a hyperplane at every level of a full tree."""
    nodes = 2**depth - 1
    here = np.arange(nodes)
    sides = np.column_stack([2 * here + 1, 2 * here + 2])
    children = np.where(sides < nodes, sides, nodes - 1 - sides)
    weights = np.zeros((nodes, pad_width(d)), dtype=np.float32)
    weights[:, :d] = generator.normal(size=(nodes, d))
    tree = PlaneTree(weights, np.zeros(nodes), children.astype(np.int32), d)
    X = generator.normal(size=(n, d))
    operations = 2.0 * n * depth * d
    return Loop("tree of hyperplanes", operations, "BLAS, single", lambda: tree.route(X))


if __name__ == "__main__":
    main()
