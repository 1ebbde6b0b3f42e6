"""The numeric core: kernels, dual solvers, ridge regression and fast kernel expansions."""

from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.backend import gram_of_distances, implementation, rbf_gram
from dcsvm.numeric.clusters import Clusters, fair_prices, kernel_kmeans
from dcsvm.numeric.duplicate_rows import Condensed, condense
from dcsvm.numeric.expansion.expansion import (
    Expansion,
    evaluate,
    prepare,
    vote,
    vote_one,
    walk,
    walk_one,
)
from dcsvm.numeric.kernels.distances import products, squared_distances
from dcsvm.numeric.kernels.gram import Gram, as_gram
from dcsvm.numeric.kernels.kernel import Kernel, kernel_of
from dcsvm.numeric.kernels.manhattan import manhattan_distances
from dcsvm.numeric.linear.dual_coordinate_descent import DualSettings, dual_plane
from dcsvm.numeric.linear.pegasos_solver import (
    PegasosSettings,
    Plane,
    Rows,
    best_bias,
    pegasos_plane,
)
from dcsvm.numeric.moments import block_products, covariance, directions, means
from dcsvm.numeric.ridge.ridge_path import Ridge, kernel_matrices, ridge_grid, ridge_path
from dcsvm.numeric.svm.batch_solve import solve_parts, solve_tasks
from dcsvm.numeric.svm.global_pairs import solve_pairs_large, solve_part
from dcsvm.numeric.svm.large_solver import solve_large
from dcsvm.numeric.svm.multiclass import grams, solve_grid, solve_pairs, solve_rest
from dcsvm.numeric.svm.multiclass_coefficients import Pairs, Rest
from dcsvm.numeric.svm.solver import ConvergenceWarning, Solution, feasible, solve, solve_path
from dcsvm.numeric.trees.alternating_optimization import settle_oblique
from dcsvm.numeric.trees.axis_tree import AxisTree, single_thresholds
from dcsvm.numeric.trees.box_neighbors import BoxBorders
from dcsvm.numeric.trees.hyperplane_tree import PlaneTree
from dcsvm.numeric.trees.oblique_growth import GrowthSettings, grow_oblique

__all__ = [
    "AxisTree",
    "BoolArray",
    "BoxBorders",
    "Clusters",
    "Condensed",
    "ConvergenceWarning",
    "DualSettings",
    "Expansion",
    "FloatArray",
    "Gram",
    "GrowthSettings",
    "IntArray",
    "Kernel",
    "Matrix",
    "Pairs",
    "PegasosSettings",
    "Plane",
    "PlaneTree",
    "Rest",
    "Ridge",
    "Rows",
    "Solution",
    "as_gram",
    "best_bias",
    "block_products",
    "condense",
    "covariance",
    "directions",
    "dual_plane",
    "evaluate",
    "fair_prices",
    "feasible",
    "gram_of_distances",
    "grams",
    "grow_oblique",
    "implementation",
    "kernel_kmeans",
    "kernel_matrices",
    "kernel_of",
    "manhattan_distances",
    "means",
    "pegasos_plane",
    "prepare",
    "products",
    "rbf_gram",
    "ridge_grid",
    "ridge_path",
    "settle_oblique",
    "single_thresholds",
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
