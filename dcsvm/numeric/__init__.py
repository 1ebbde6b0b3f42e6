"""The numeric core: kernels, dual solvers, ridge regression and fast kernel expansions."""

from dcsvm.numeric.borders import BoxBorders
from dcsvm.numeric.descent import AxisTree, single_thresholds
from dcsvm.numeric.distances import manhattan_distances, products, squared_distances
from dcsvm.numeric.kernels import Kernel, kernel_of
from dcsvm.numeric.matrix import BoolArray, FloatArray, IntArray, Matrix

__all__ = [
    "AxisTree",
    "BoolArray",
    "BoxBorders",
    "FloatArray",
    "IntArray",
    "Kernel",
    "Matrix",
    "kernel_of",
    "manhattan_distances",
    "products",
    "single_thresholds",
    "squared_distances",
]
