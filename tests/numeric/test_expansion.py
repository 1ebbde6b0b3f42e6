"""Expansions, votes and walks against brute force and against libsvm's own predictions."""

import os
import subprocess
import sys

import numpy as np
import pytest
from one_row import vote_one, walk_one
from scipy import sparse
from sklearn.svm import SVC

from dcsvm.numeric import Kernel
from dcsvm.numeric.expansion.expansion import evaluate, prepare
from dcsvm.numeric.expansion.pair_votes import vote, walk

KERNELS = [
    Kernel("rbf", gamma=0.4),
    Kernel("linear"),
    Kernel("poly", gamma=0.5, degree=3, coef0=1.0),
    Kernel("laplacian", gamma=0.2),
    Kernel("trbf", gamma=0.1, degree=2),
]


def rows(count, features=5, seed=0):
    return np.random.default_rng(seed).normal(size=(count, features))


def fitted(classes=5, seed=0, C=10.0):
    """A machine of libsvm on several classes, its expansion, and new rows."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(classes, 4))
    y = random.integers(classes, size=300)
    y[:classes] = np.arange(classes)
    X = centres[y] + 0.7 * random.normal(size=(300, 4))
    model = SVC(C=C, gamma=0.5).fit(X, y)
    expansion = prepare(
        *(Kernel("rbf", gamma=0.5), model.support_vectors_, model.dual_coef_.T),
        *(model.intercept_, model.n_support_),
    )
    new = centres[random.integers(classes, size=2000)] + random.normal(size=(2000, 4))
    return model, expansion, new


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
@pytest.mark.parametrize("points", [1, 7, 300])
@pytest.mark.parametrize("outputs", [1, 3, 40])
def test_sums_equal_brute_force(either, kernel, points, outputs):
    P, X = rows(points), rows(23, seed=1)
    coefficients, biases = rows(points, outputs, seed=2), rows(1, outputs, seed=3)[0]
    expansion = prepare(kernel, P, coefficients, biases)
    expected = kernel(X, P) @ coefficients + biases
    np.testing.assert_allclose(evaluate(expansion, X), expected, rtol=1e-9, atol=1e-10)
    single = evaluate(expansion, X, precision="float32")
    size = np.abs(kernel(X, P)) @ np.abs(coefficients) + 1
    assert (np.abs(single - expected) <= 1e-5 * size).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
@pytest.mark.parametrize("constant", [[1, 3], [0, 1, 2, 3, 4]])
def test_columns_in_which_all_points_agree_still_count(either, kernel, constant):
    P, X = rows(31), rows(23, seed=1)
    P[:, constant] = 0.1
    coefficients, counts = rows(31, 2, seed=2), [9, 12, 10]
    expansion = prepare(kernel, P, coefficients, np.zeros(3), counts)
    values, ends = kernel(X, P), np.cumsum(counts)
    sums = [
        values[:, end - size : end] @ coefficients[end - size : end]
        for size, end in zip(counts, ends, strict=True)
    ]
    pairs = [sums[0][:, 0] + sums[1][:, 0], sums[0][:, 1] + sums[2][:, 0]]
    pairs.append(sums[1][:, 1] + sums[2][:, 1])
    np.testing.assert_allclose(
        evaluate(expansion, X), np.stack(pairs, axis=1), rtol=1e-9, atol=1e-10
    )
    labels = vote(expansion, X)
    np.testing.assert_array_equal(vote(expansion, X, precision="float32"), labels)
    assert [vote_one(expansion, x) for x in X] == labels.tolist()


def test_sparse_rows_and_points_give_the_same(either):
    P, X = rows(40), rows(23, seed=1)
    P[P < 0.2], X[X < 0.2] = 0.0, 0.0
    coefficients = rows(40, 2, seed=2)
    expected = evaluate(prepare(Kernel("rbf"), P, coefficients, [0.0, 1.0]), X)
    for points in (P, sparse.csr_matrix(P)):
        expansion = prepare(Kernel("rbf"), points, coefficients, [0.0, 1.0])
        np.testing.assert_allclose(
            evaluate(expansion, sparse.csr_array(X)), expected, rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize("classes", [3, 5, 12])
def test_decisions_and_votes_are_those_of_libsvm(either, classes):
    model, expansion, X = fitted(classes)
    winners = model.decision_function(X).argmax(axis=1)
    np.testing.assert_array_equal(vote(expansion, X), winners)
    model.decision_function_shape = "ovo"
    np.testing.assert_allclose(evaluate(expansion, X), model.decision_function(X), atol=1e-9)


def test_of_equal_votes_the_larger_sum_of_decisions_wins(either):
    # Three classes in a circle: each beats the next and has one vote.
    expansion = prepare(
        Kernel("linear"), np.ones((3, 1)), np.zeros((3, 2)), [0.1, -0.3, 0.5], counts=[1, 1, 1]
    )
    for precision in ("float64", "float32"):
        assert vote(expansion, np.ones((2, 1)), precision=precision).tolist() == [1, 1]
    assert vote_one(expansion, np.ones(1)) == 1


@pytest.mark.parametrize("C", [1.0, 1e3, 1e5])
def test_float32_gives_the_same_labels(either, C):
    _, expansion, X = fitted(6, C=C)
    np.testing.assert_array_equal(vote(expansion, X, precision="float32"), vote(expansion, X))
    np.testing.assert_array_equal(walk(expansion, X, precision="float32"), walk(expansion, X))


def test_rows_on_the_border_are_asked_again_in_float64():
    # Both sides of the border differ by less than float32 can tell.
    points = np.array([[0.0], [1.0]])
    expansion = prepare(Kernel("rbf"), points, [[1.0], [-1.0]], [0.0], counts=[1, 1])
    X = 0.5 + np.linspace(-1e-9, 1e-9, 41)[:, None]
    expected = np.where(evaluate(expansion, X)[:, 0] > 0, 0, 1)
    assert 0 < expected.sum() < 41
    np.testing.assert_array_equal(vote(expansion, X, precision="float32"), expected)
    np.testing.assert_array_equal(walk(expansion, X, precision="float32"), expected)
    assert [vote_one(expansion, x) for x in X] == expected.tolist()
    assert [walk_one(expansion, x) for x in X] == expected.tolist()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.kind)
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-3, 1.0, 1e3, 1e30, 1e100])
def test_one_row_of_any_size_is_answered_as_in_float64(either, kernel, size):
    X = size * rows(40)
    expansion = prepare(kernel, rows(60), 1e-4 * rows(60, 3, seed=4), np.zeros(6), counts=[15] * 4)
    # Machines that nearly agree with their mirror images leave decisions of rounding's size.
    twice = prepare(
        *(kernel, np.vstack([rows(60)] * 2)),
        *(np.vstack([rows(60, 1, seed=4), -(1.0 + 1e-9) * rows(60, 1, seed=4)]), [0.0]),
        counts=[60, 60],
    )
    for machines in (expansion, twice):
        votes, walks = vote(machines, X), walk(machines, X)
        assert [vote_one(machines, x) for x in X] == votes.tolist()
        assert [walk_one(machines, x) for x in X] == walks.tolist()


def test_a_walk_drops_one_class_at_each_step(either):
    _, expansion, X = fitted(5)
    decisions = evaluate(expansion, X)
    pairs = {pair: i for i, pair in enumerate((a, b) for a in range(5) for b in range(a + 1, 5))}
    expected = []
    for row in decisions:
        left = list(range(5))
        while len(left) > 1:
            left.remove(left[-1] if row[pairs[left[0], left[-1]]] > 0 else left[0])
        expected.append(left[0])
    np.testing.assert_array_equal(walk(expansion, X), expected)


def test_one_row_gets_the_label_that_it_gets_among_many(either):
    for classes in (2, 3, 12):
        _, expansion, X = fitted(classes) if classes > 2 else (None, _binary(), rows(300, 5))
        votes, walks = vote(expansion, X), walk(expansion, X)
        for row in range(100):
            assert vote_one(expansion, X[row]) == votes[row]
            assert walk_one(expansion, X[row]) == walks[row]


def _binary():
    return prepare(Kernel("rbf"), rows(30), rows(30, 1, seed=5), [0.1], counts=[12, 18])


def test_a_class_without_points_still_has_its_machines(either):
    expansion = prepare(Kernel("rbf"), rows(10), rows(10, 2, seed=1), [0.5, -0.5, 0.25], [4, 0, 6])
    X = rows(50, seed=2)
    labels = vote(expansion, X)
    assert [vote_one(expansion, x) for x in X] == labels.tolist()


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_bits_do_not_depend_on_the_number_of_threads(either, precision):
    _, expansion, X = fitted(5)
    alone = evaluate(expansion, X, precision=precision)
    for threads in (2, 3):
        many = evaluate(expansion, X, precision=precision, threads=threads)
        np.testing.assert_array_equal(alone, many)


MEASURE = """
import resource, sys
import numpy as np
from scipy import sparse
from dcsvm.numeric import Kernel
from dcsvm.numeric import prepare, vote

form = sys.argv[1]
random = np.random.default_rng(0)
X = sparse.random_array((200_000, 40), density=0.1, format="csr", rng=0)
X = X if form == "sparse" else X.toarray()
expansion = prepare(
    *(Kernel("rbf"), X[:100], random.normal(size=(100, 4)), np.zeros(10)), counts=[20] * 5
)
vote(expansion, X[:5000], precision="float32", threads=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
labels = vote(expansion, X, precision="float32", threads=2)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if sys.platform == "darwin" else 1024
print(len(labels), len(set(labels)), (after - before) * unit)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
@pytest.mark.parametrize("implementation", ["native", "numpy"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_predicting_200000_rows_takes_less_than_64_megabytes(implementation, form):
    # In a process of its own, so that what C code allocates is seen as well.
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, form],
        env=os.environ | {"DCSVM_NUMERIC": implementation, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows, labels, grown = map(int, done.stdout.split())
    assert rows == 200_000
    assert labels > 1
    assert grown < 64 << 20


def test_wrong_arguments_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="as many rows of coefficients"):
        prepare(Kernel("rbf"), rows(3), rows(2, 1), [0.0])
    with pytest.raises(ValueError, match="do not fit"):
        prepare(Kernel("rbf"), rows(3), rows(3, 1), [0.0], counts=[1, 1])
    plain = prepare(Kernel("rbf"), rows(3), rows(3, 1), [0.0])
    with pytest.raises(ValueError, match="need an expansion with class counts"):
        vote(plain, rows(2))
    with pytest.raises(ValueError, match="'float64' or 'float32'"):
        evaluate(plain, rows(2), precision="half")
