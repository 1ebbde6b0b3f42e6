"""Arrays of the steps of a plan, checked before C reads them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.expansion.expansion import Expansion, PackedExpansion


def list_packed(packed: PackedExpansion, n_features: int) -> list[Any]:
    """The arrays of an expansion with packed points."""
    if len(packed.origin) != n_features:
        raise ValueError(f"plan: points have {len(packed.origin)} features, rows {n_features}")
    return [packed, None, None, packed.origin, as_places(packed.columns, n_features)]


def list_plain(expansion: Expansion, sizes: IntArray, n_features: int) -> list[Any]:
    """The arrays of an expansion whose kernel is computed plainly."""
    points, table = expansion.points, expansion.coefficients
    width = n_features
    if expansion.kernel.kind == "precomputed":
        points, width = as_places(points, n_features)[:, None], 1
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = as_floats(points, len(table), width)
    return [rows, as_floats(table, *table.shape), as_places(starts, len(table) + 1)]


def list_monomials(n_features: int, degree: int) -> tuple[IntArray, IntArray, FloatArray]:
    """By monomial, in the order of `truncated_rbf_features`: the one before, variable and root."""
    parents, variables, roots, level = [0], [0], [1.0], [(0, 0, 0)]
    for _ in range(degree):
        following = []
        for parent, first, power in level:
            for variable in range(first, n_features):
                raised = power + 1 if variable == first else 1
                following.append((len(parents), variable, raised))
                parents.append(parent)
                variables.append(variable)
                roots.append(float(np.sqrt(raised)))
        level = following
    return np.array(parents), np.array(variables), np.array(roots)


def as_floats(values: Any, *shape: int) -> npt.NDArray[np.float64]:
    """A contiguous float64 array, checked to have this shape."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"plan: an array must have shape {shape}, got {array.shape}")
    return array


def as_places(values: Any, below: int, lowest: int = 0) -> npt.NDArray[np.int64]:
    """A contiguous int64 array, checked to hold `lowest` to `below - 1`."""
    array = np.ascontiguousarray(values, dtype=np.int64)
    if array.ndim != 1 or (array.size and not lowest <= array.min() <= array.max() < below):
        raise ValueError(f"plan: an array must hold numbers from {lowest} to {below - 1}")
    return array


def check_children(children: IntArray, nodes: IntArray) -> None:
    """Raise unless the children (n, 2) of `nodes` come after them, so that no way is a circle."""
    if (children <= nodes[:, None]).any():
        raise ValueError("plan: every child of a tree must come after its parent")
