"""The numeric core: kernels, dual solvers, ridge regression and fast kernel expansions."""

from dcsvm.numeric.backend import gram_of_distances, implementation, rbf_gram
from dcsvm.numeric.distances import manhattan_distances, products, squared_distances
from dcsvm.numeric.gram import Gram, as_gram
from dcsvm.numeric.kernels import Kernel
from dcsvm.numeric.svm import (
    ConvergenceWarning,
    Solution,
    solve,
    solve_path,
)

__all__ = [
    "ConvergenceWarning",
    "Gram",
    "Kernel",
    "Solution",
    "as_gram",
    "gram_of_distances",
    "implementation",
    "manhattan_distances",
    "products",
    "rbf_gram",
    "solve",
    "solve_path",
    "squared_distances",
]
