"""Growth of oblique trees, in C or numpy."""

import ctypes

import attrs
import numpy as np

from dcsvm.numeric import (
    Float32Rows,
    FloatArray,
    IntArray,
    PegasosSettings,
    PlaneTree,
    address,
    native,
)
from dcsvm_plugins.decomposers.oblique_tree.oblique_numpy import PlaneFitter, grow_numpy


@attrs.frozen
class GrowthSettings:
    """Settings of growth.

    `pegasos` are those of the hyperplanes, whose `iterations` are the limit for each node;
    `passes` over its rows are another limit, 0 for none. A node with at most `fewest` rows or at
    depth `deepest` is a leaf. With `by_impurity`, thresholds have the lowest entropy, instead of
    the learned bias. With `sum_one`, weights at a node add up to one, and batches average over its
    rows once more; otherwise their mean is one.
    """

    pegasos: PegasosSettings = attrs.field(factory=PegasosSettings)
    passes: float = 20.0
    fewest: int = 1
    deepest: int = 2**31 - 1
    by_impurity: bool = True
    sum_one: bool = False

    def structure(self) -> native.GrowthStructure:
        return native.GrowthStructure(
            *(self.pegasos.structure(), self.passes),
            *(self.fewest, self.deepest, self.by_impurity, self.sum_one),
        )


def grow_oblique(
    rows: Float32Rows,
    y: IntArray,
    n_classes: int,
    masses: FloatArray | None,
    order: IntArray,
    settings: GrowthSettings,
    fit_plane: PlaneFitter | None = None,
) -> PlaneTree:
    """Grow an oblique tree, with a hyperplane between two groups of classes at each node.

    `masses` (n,) are row weights: at each node, both groups are scaled to the same total weight.
    `order` (n,) is a random permutation of the rows, the only source of randomness. `fit_plane`
    fits the hyperplane of a node from rows, signs and weights (m,), by default with Pegasos.

    References
    ----------
    Rodriguez-Lujan, Santa Cruz, Huerta: Hierarchical linear support vector machine (2012).
    """
    if masses is not None:  # the scale of the weights must not matter
        masses = np.ascontiguousarray(masses / masses.mean(), dtype=np.float64)
    compiled = native.library
    if compiled is None or fit_plane is not None:
        return PlaneTree(*grow_numpy(rows, y, n_classes, masses, order, settings, fit_plane))
    n, stride = rows.n_rows, rows.stride
    # Memory beyond the last node is never touched.
    weights = np.empty((max(n - 1, 0), stride), dtype=np.float32)
    thresholds, children = np.empty(max(n - 1, 0)), np.empty((max(n - 1, 0), 2), dtype=np.int32)
    tree = native.ObliqueStructure(
        stride, address(weights), address(thresholds), address(children)
    )
    given, wanted = rows.structure(), settings.structure()
    labels = np.ascontiguousarray(y, dtype=np.int32)
    places = np.array(order, dtype=np.int64)
    nodes = compiled.dcsvm_oblique_grow(
        *(ctypes.byref(given), n, address(labels), n_classes, address(masses), address(places)),
        *(ctypes.byref(wanted), ctypes.byref(tree)),
    )
    if nodes < 0:
        raise MemoryError("oblique tree: not enough memory to grow")
    return PlaneTree(
        *(weights[:nodes].copy(), thresholds[:nodes].copy(), children[:nodes].copy()),
        rows.n_features,
    )
