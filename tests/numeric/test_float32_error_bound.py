"""Labels in float32 are those of float64: the bound on rounding, and attempts to break it."""

import numpy as np
import pytest
from fuzzing import fuzzed
from hypothesis import given
from hypothesis import strategies as st

from dcsvm.numeric import Kernel, native
from dcsvm.numeric.expansion.expansion import evaluate, prepare
from dcsvm.numeric.expansion.pair_votes import vote, walk

pytestmark = pytest.mark.skipif(
    native.implementation() != "native", reason="numpy answers in float64 whatever is asked"
)


def make_kernel(kind, gamma):
    return Kernel(kind, gamma=gamma, degree=3, coef0=0.5)


def hard_case(random, kernel, classes, features, scale, offset, size):
    """An expansion, and rows of which many lie on a border as well as bisection can put them."""
    counts = random.integers(0, 40, size=classes)
    counts[0] += 1
    points = scale * (random.normal(size=(counts.sum(), features)) + offset)
    coefficients = size * random.normal(size=(counts.sum(), classes - 1))
    biases = 0.1 * size * random.normal(size=classes * (classes - 1) // 2)
    expansion = prepare(kernel, points, coefficients, biases, counts)
    low = scale * (2.0 * random.normal(size=(60, features)) + offset)
    high = scale * (2.0 * random.normal(size=(60, features)) + offset)
    columns = random.integers(len(biases), size=60)
    sign = np.sign(evaluate(expansion, low)[np.arange(60), columns])
    for _ in range(50):
        middle = 0.5 * (low + high)
        same = np.sign(evaluate(expansion, middle)[np.arange(60), columns]) == sign
        low, high = np.where(same[:, None], middle, low), np.where(same[:, None], high, middle)
    return expansion, np.vstack([low, high, scale * random.normal(size=(60, features))])


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["rbf", "linear", "poly"]),
    classes=st.integers(2, 6),
    features=st.sampled_from([1, 2, 7, 30]),
    gamma=st.sampled_from([1e-6, 1e-2, 1.0, 1e3, 1e6]),
    scale=st.sampled_from([1e-18, 1e-6, 1.0, 1e6, 1e18]),
    offset=st.sampled_from([0.0, 1.0, 1e6]),
    size=st.sampled_from([1e-30, 1.0, 1e6, 1e30]),
)
@fuzzed(150)
def test_no_label_changes(seed, kind, classes, features, gamma, scale, offset, size):
    random = np.random.default_rng(seed)
    kernel = make_kernel(kind, gamma)
    expansion, X = hard_case(random, kernel, classes, features, scale, offset, size)
    np.testing.assert_array_equal(vote(expansion, X, precision="float32"), vote(expansion, X))
    np.testing.assert_array_equal(walk(expansion, X, precision="float32"), walk(expansion, X))


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["rbf", "linear", "poly"]),
    features=st.sampled_from([1, 5, 60]),
    gamma=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    offset=st.sampled_from([0.0, 3.0, 100.0]),
    points=st.sampled_from([1, 40, 700]),
)
@fuzzed(100)
def test_sums_are_off_by_no_more_than_the_bound(seed, kind, features, gamma, offset, points):
    random = np.random.default_rng(seed)
    P = random.normal(size=(points, features)) + offset
    X = 2.0 * random.normal(size=(50, features)) + offset
    coefficients = 10.0 ** random.uniform(-3, 6, size=(points, 3)) * random.normal(
        size=(points, 3)
    )
    packed = prepare(make_kernel(kind, gamma), P, coefficients, np.zeros(3)).packed
    exact, _ = packed.ask(native.library, X, "float64")
    rounded, shares = packed.ask(native.library, X, "float32")
    known = np.isfinite(shares)
    errors = np.abs(rounded[:, 0, :3] - exact[:, 0])
    bounds = shares[:, None] * rounded[:, 0, 3:]
    assert (errors[known] <= bounds[known]).all()
    # A bound that doubts everything would be safe and of no use.
    assert known.all() or kind == "poly" or gamma * offset**2 >= 100.0


def test_rows_that_float32_cannot_hold_are_asked_in_float64():
    expansion = prepare(
        Kernel("rbf"), np.array([[0.0], [1.0]]), [[1.0], [-1.0]], [0.0], counts=[1, 1]
    )
    X = np.array([[0.2], [1e30], [1e200], [-1e30], [0.8]])
    with np.errstate(over="ignore"):
        expected = vote(expansion, X)
        np.testing.assert_array_equal(vote(expansion, X, precision="float32"), expected)


def test_few_rows_are_asked_again(monkeypatch):
    random = np.random.default_rng(0)
    P, X = random.normal(size=(300, 10)), random.normal(size=(2000, 10))
    expansion = prepare(
        *(Kernel("rbf", gamma=0.1), P, random.normal(size=(300, 1)), [0.1]),
        counts=[100, 200],
    )
    asked = []
    ask = type(expansion.packed).ask

    def counted(self, library, rows, precision):
        asked.append((precision, len(rows)))
        return ask(self, library, rows, precision)

    monkeypatch.setattr(type(expansion.packed), "ask", counted)
    vote(expansion, X, precision="float32")
    assert sum(rows for precision, rows in asked if precision == "float32") == 2000
    assert sum(rows for precision, rows in asked if precision == "float64") < 40
