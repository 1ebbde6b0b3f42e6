"""A decomposer of one's own: each part is the neighbourhood of a row drawn at random."""

import attrs
import numpy as np

import dcsvm
from dcsvm.numeric import FloatArray, axes, squared_distances


@attrs.frozen(eq=False)
class CellRouter(dcsvm.Router):
    centres: FloatArray = attrs.field(metadata=axes("members", "features"))

    def route(self, X):
        return dcsvm.Routing.to_one(squared_distances(X, self.centres).argmin(axis=1))


@dcsvm.component
class Cells(dcsvm.Decomposer):
    """The Voronoi cells of rows drawn at random.

    >>> clf = dcsvm.DivideAndConquerClassifier("cells", "kernel_svm", "route")
    """

    name = "cells"
    yields = frozenset({"regions"})
    stored_types = (CellRouter,)
    cells: int = dcsvm.setting(4, at_least=1, help="how many cells, at the most")

    def divide(self, problem):
        drawn = problem.seed.generator().permutation(problem.n_rows)[: self.cells]
        home = CellRouter(problem.X[drawn]).route(problem.X).member
        kept = np.unique(home)  # of equal rows the first has them all
        yield [dcsvm.part(np.flatnonzero(home == cell)) for cell in kept]
        return CellRouter(problem.X[drawn[kept]])


@dcsvm.hookimpl
def dcsvm_decomposers():
    return [Cells]
