"""Data sets that need no file: those of scikit-learn, and generated ones."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray

Rows = tuple[FloatArray, Any, tuple[str, ...]]


@attrs.frozen
class Embedded:
    """How to load a data set, its number of rows, and whether that number can be chosen."""

    load: Callable[[int], Rows]
    rows: int
    generated: bool = False


def _load_sklearn(name: str) -> Callable[[int], Rows]:
    def load(rows: int) -> Rows:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")()
        names = getattr(bunch, "target_names", None)
        y = bunch.target if names is None or name == "digits" else np.asarray(names)[bunch.target]
        return bunch.data, y, tuple(map(str, bunch.feature_names))

    return load


def _two_moons(rows: int) -> Rows:
    """Generate two interleaved half circles with enough noise to overlap."""
    from sklearn.datasets import make_moons

    X, y = make_moons(rows, noise=0.3, random_state=0)
    return X, y, ("x", "y")


def _checkerboard(rows: int) -> Rows:
    """Generate a checkerboard of 4 x 4 fields with 5 % label noise."""
    generator = np.random.default_rng(0)
    X = generator.uniform(0.0, 4.0, size=(rows, 2))
    y = (X.astype(int).sum(axis=1) + (generator.random(rows) < 0.05)) % 2
    return X, y, ("x", "y")


def _ringnorm(rows: int) -> Rows:
    """Generate Breiman's ringnorm: two Gaussians in 20 dimensions, one inside the other."""
    generator = np.random.default_rng(0)
    y: IntArray = generator.integers(2, size=rows)
    X = generator.normal(size=(rows, 20))
    inner = y == 1
    X[~inner] *= 2.0
    X[inner] += 2.0 / np.sqrt(20.0)
    return X, y, tuple(f"x{number}" for number in range(1, 21))


def _shops(rows: int) -> Rows:
    """Generate six shops where price and size decide in six different directions."""
    generator = np.random.default_rng(0)
    X, shop = generator.uniform(-1.0, 1.0, size=(rows, 2)), generator.integers(6, size=rows)
    turn = np.column_stack([np.cos(shop), np.sin(shop)])
    y: IntArray = ((X * turn).sum(axis=1) > 0.0).astype(np.intp)
    return np.column_stack([X, shop]), y, ("price", "size", "shop")


EMBEDDED: dict[str, Embedded] = {
    "iris": Embedded(_load_sklearn("iris"), 150),
    "wine": Embedded(_load_sklearn("wine"), 178),
    "breast_cancer": Embedded(_load_sklearn("breast_cancer"), 569),
    "digits": Embedded(_load_sklearn("digits"), 1797),
    "two_moons": Embedded(_two_moons, 10_000, generated=True),
    "checkerboard": Embedded(_checkerboard, 10_000, generated=True),
    "ringnorm": Embedded(_ringnorm, 10_000, generated=True),
    "shops": Embedded(_shops, 10_000, generated=True),
}
