"""The numeric core: kernels, dual solvers, trees and fast kernel expansions."""

from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.backend import gram_from_distances, rbf_gram
from dcsvm.numeric.clusters import Clusters, fair_prices, kernel_kmeans
from dcsvm.numeric.duplicate_rows import UniqueRows, merge_duplicates
from dcsvm.numeric.expansion.expansion import Expansion, evaluate, prepare
from dcsvm.numeric.expansion.pair_votes import vote, vote_one, walk, walk_one
from dcsvm.numeric.kernels.distances import manhattan_distances, products, squared_distances
from dcsvm.numeric.kernels.gram import Gram, as_gram
from dcsvm.numeric.kernels.kernel import Kernel, KernelMatrices, make_kernel
from dcsvm.numeric.linear.dual_coordinate_descent import DualSettings, fit_linear_dual
from dcsvm.numeric.linear.pegasos_solver import (
    Float32Rows,
    Hyperplane,
    PegasosSettings,
    best_bias,
    fit_pegasos,
)
from dcsvm.numeric.moments import block_products, covariance, directions, means
from dcsvm.numeric.native import implementation
from dcsvm.numeric.svm.large_solver import solve_large
from dcsvm.numeric.svm.multiclass import iterate_grams, solve_grid, solve_pairs, solve_rest
from dcsvm.numeric.svm.multiclass_coefficients import OneVsOneSolution, OneVsRestSolution
from dcsvm.numeric.svm.size_dispatch import solve_pairs_large, solve_part
from dcsvm.numeric.svm.solver import (
    ConvergenceWarning,
    Solution,
    make_feasible,
    solve,
    solve_parts,
    solve_path,
    solve_tasks,
)
from dcsvm.numeric.trees.alternating_optimization import optimize_oblique
from dcsvm.numeric.trees.axis_tree import AxisTree, round_thresholds
from dcsvm.numeric.trees.box_neighbors import BoxNeighbors
from dcsvm.numeric.trees.hyperplane_tree import PlaneTree
from dcsvm.numeric.trees.oblique_growth import GrowthSettings, grow_oblique

__all__ = [
    "AxisTree",
    "BoolArray",
    "BoxNeighbors",
    "Clusters",
    "ConvergenceWarning",
    "DualSettings",
    "Expansion",
    "Float32Rows",
    "FloatArray",
    "Gram",
    "GrowthSettings",
    "Hyperplane",
    "IntArray",
    "Kernel",
    "KernelMatrices",
    "Matrix",
    "OneVsOneSolution",
    "OneVsRestSolution",
    "PegasosSettings",
    "PlaneTree",
    "Solution",
    "UniqueRows",
    "as_gram",
    "best_bias",
    "block_products",
    "covariance",
    "directions",
    "evaluate",
    "fair_prices",
    "fit_linear_dual",
    "fit_pegasos",
    "gram_from_distances",
    "grow_oblique",
    "implementation",
    "iterate_grams",
    "kernel_kmeans",
    "make_feasible",
    "make_kernel",
    "manhattan_distances",
    "means",
    "merge_duplicates",
    "optimize_oblique",
    "prepare",
    "products",
    "rbf_gram",
    "round_thresholds",
    "solve",
    "solve_grid",
    "solve_large",
    "solve_pairs",
    "solve_pairs_large",
    "solve_part",
    "solve_parts",
    "solve_path",
    "solve_rest",
    "solve_tasks",
    "squared_distances",
    "vote",
    "vote_one",
    "walk",
    "walk_one",
]
