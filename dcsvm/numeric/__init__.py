"""The numeric core: kernels, hyperplanes, trees and fast kernel expansions."""

from dcsvm.numeric import native
from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.clusters import Clusters, kernel_kmeans
from dcsvm.numeric.duplicate_rows import merge_duplicates
from dcsvm.numeric.expansion.expansion import Expansion, class_sums, evaluate, prepare
from dcsvm.numeric.expansion.packed_coefficients import PairColumns
from dcsvm.numeric.expansion.pair_votes import vote, walk
from dcsvm.numeric.hadamard import HadamardDirections
from dcsvm.numeric.kernels.distances import (
    Floats,
    Rows,
    as_dense,
    as_rows,
    distances_within,
    manhattan_distances,
    products,
    row_slices,
    squared_distances,
    write_distances,
)
from dcsvm.numeric.kernels.kernel import Kernel, KernelMatrices, make_kernel
from dcsvm.numeric.linear.pegasos_solver import (
    Float32Rows,
    Hyperplane,
    PegasosSettings,
    best_bias,
    exact_products,
    fit_pegasos,
    solve_pegasos,
)
from dcsvm.numeric.log_loss import minimize_log_loss
from dcsvm.numeric.mapped_rows import MappedRows
from dcsvm.numeric.moments import block_products, covariance, directions, means
from dcsvm.numeric.native import (
    NumpyFallbackWarning,
    address,
    describe_implementation,
    implementation,
)
from dcsvm.numeric.online_svm import OnlineRun
from dcsvm.numeric.overlapping_split import grow_overlapping
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.squared_hinge import minimize_squared_hinge
from dcsvm.numeric.stored_arrays import Stored, axes, check_array, check_arrays, check_matrix
from dcsvm.numeric.trees.feature_bins import FeatureBins
from dcsvm.numeric.trees.histogram_tree import TreeGrowth
from dcsvm.numeric.trees.hyperplane_tree import PlaneTree, check_binary_tree

__all__ = [
    "BoolArray",
    "Clusters",
    "Expansion",
    "FeatureBins",
    "Float32Rows",
    "FloatArray",
    "Floats",
    "HadamardDirections",
    "Hyperplane",
    "IntArray",
    "Kernel",
    "KernelMatrices",
    "MappedRows",
    "Matrix",
    "NumpyFallbackWarning",
    "OnlineRun",
    "PairColumns",
    "PegasosSettings",
    "Plan",
    "PlaneTree",
    "Rows",
    "Step",
    "Stored",
    "TreeGrowth",
    "address",
    "as_dense",
    "as_rows",
    "axes",
    "best_bias",
    "block_products",
    "check_array",
    "check_arrays",
    "check_binary_tree",
    "check_matrix",
    "class_sums",
    "covariance",
    "describe_implementation",
    "directions",
    "distances_within",
    "evaluate",
    "exact_products",
    "fit_pegasos",
    "grow_overlapping",
    "implementation",
    "kernel_kmeans",
    "make_kernel",
    "manhattan_distances",
    "means",
    "merge_duplicates",
    "minimize_log_loss",
    "minimize_squared_hinge",
    "native",
    "prepare",
    "products",
    "row_slices",
    "solve_pegasos",
    "squared_distances",
    "vote",
    "walk",
    "write_distances",
]
