"""Small problems for the laws: easy ones, and unusual ones by hypothesis."""

from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from dcsvm.base.problem import Problem
from dcsvm.base.seed import Seed
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix


def easy_problem(
    n_classes: int = 3, rows: int = 60, features: int = 3, *, gap: float = 6.0, seed: int = 0
) -> Problem:
    """Generate one blob for each class, with centers `gap` deviations apart along a diagonal.

    Examples
    --------
    >>> from dcsvm.testing import easy_problem
    >>> easy_problem(rows=40).X.shape
    (40, 3)
    """
    generator = np.random.default_rng(seed)
    y = generator.permutation(np.arange(rows) % n_classes)
    centres = generator.permuted(np.tile(np.arange(n_classes), (features, 1)), axis=1).T
    X = gap * centres[y] + generator.normal(size=(rows, features))
    return freeze(Problem((X - X.mean(axis=0)) / X.std(), y, n_classes, Seed(seed)))


@st.composite
def problems(
    draw: Any,
    *,
    min_rows: int = 2,
    max_rows: int = 40,
    all_present: bool = False,
    weighted: bool | None = None,
    sparse_too: bool = True,
) -> Problem:
    """Draw problems with ties, duplicates, constant features, rare and absent classes.

    With `all_present`, every class has a row, as learners expect; otherwise at least two have one.
    Rows have weights in some problems if `weighted` is None, and with `sparse_too` some problems
    are CSR.
    """
    n_classes = draw(st.integers(2, 4))
    least = n_classes if all_present else 2
    rows = draw(st.integers(max(least, min_rows), max_rows))
    features = draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 2**16)))
    y = _labels(generator, rows, n_classes, least, draw(st.sampled_from(["even", "rare"])))
    X = generator.normal(size=(rows, features)) + y[:, None] * draw(st.sampled_from([0.0, 2.0]))
    kind = draw(st.sampled_from(["continuous", "rounded", "constant"]))
    if kind == "rounded":
        X = np.round(X)
    elif kind == "constant":
        X[:, 0] = 1.5
    has_weights = draw(st.booleans()) if weighted is None else weighted
    weights = generator.choice([0.25, 1.0, 2.0, 3.0], size=rows) if has_weights else None
    if sparse_too and draw(st.booleans()):
        X = sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    return freeze(Problem(X, y, n_classes, Seed(draw(st.integers(0, 99))), weights))


def freeze(problem: Problem) -> Problem:
    """Return a copy of the problem with read-only arrays."""
    copy = attrs.evolve(
        problem,
        X=problem.X.copy(),
        y=problem.y.copy(),
        weights=None if problem.weights is None else problem.weights.copy(),
    )
    for array in _arrays(copy):
        array.setflags(write=False)
    return copy


def fingerprint(problem: Problem) -> tuple[bytes, ...]:
    """Return the bytes of a problem, to check later whether it changed."""
    return tuple(array.tobytes() for array in _arrays(problem))


def identify(example: Any) -> Any:
    """Return something that is equal for equal examples."""
    if not isinstance(example, Problem):
        return repr(example)
    return (*fingerprint(example), example.X.shape, example.n_classes, example.seed)


def as_sparse(X: FloatArray) -> Matrix:
    """Return the same rows as CSR."""
    return sparse.csr_array(X)


def new_rows(problem: Problem, count: int = 25, seed: int = 1) -> Matrix:
    """Return rows that are not in the problem, near its rows and far away."""
    generator = np.random.default_rng(seed)
    X = generator.normal(scale=2.0, size=(count, problem.n_features))
    X[0] = 0.0
    X[1] = 1e6
    X[2] = -1e6
    return as_sparse(X) if sparse.issparse(problem.X) else X


def describe_problem(example: Any) -> str:
    """Describe a problem in a few words."""
    if not isinstance(example, Problem):
        return repr(example)
    facts = [
        f"{example.n_rows} rows",
        f"{example.n_features} features",
        f"{len(np.unique(example.y))} of {example.n_classes} classes",
    ]
    facts += ["row weights"] if example.weights is not None else []
    facts += ["CSR"] if sparse.issparse(example.X) else []
    return ", ".join(facts)


def _labels(
    generator: np.random.Generator, rows: int, n_classes: int, least: int, kind: str
) -> IntArray:
    present = min(rows, int(generator.integers(least, n_classes + 1)))
    chosen = np.sort(generator.permutation(n_classes)[:present])
    if kind == "even":
        y = chosen[np.arange(rows) % len(chosen)]
    else:  # one class has nearly all rows
        y = np.full(rows, chosen[0])
        y[: len(chosen)] = chosen
    return generator.permutation(y)


def _arrays(problem: Problem) -> list[Any]:
    X = problem.X
    features = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
    others = [problem.y, problem.weights, problem.start]
    return features + [array for array in others if array is not None]
