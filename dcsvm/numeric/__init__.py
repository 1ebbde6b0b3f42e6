"""The numeric core: kernels, dual solvers, ridge regression and fast kernel expansions."""

from dcsvm.numeric.distances import manhattan_distances, products, squared_distances
from dcsvm.numeric.kernels import Kernel

__all__ = ["Kernel", "manhattan_distances", "products", "squared_distances"]
