"""The hot loops: kernels and solvers that any plugin may use."""

from dcsvm.numeric.kernels import Kernel, kernel_of
from dcsvm.numeric.matrix import BoolArray, FloatArray, IntArray, Matrix

__all__ = ["BoolArray", "FloatArray", "IntArray", "Kernel", "Matrix", "kernel_of"]
