"""The numeric core: kernels, dual solvers, ridge regression and fast kernel expansions."""

from dcsvm.numeric.backend import gram_of_distances, implementation, rbf_gram
from dcsvm.numeric.borders import BoxBorders
from dcsvm.numeric.clusters import Clusters, fair_prices, kernel_kmeans
from dcsvm.numeric.descent import AxisTree, single_thresholds
from dcsvm.numeric.distances import products, squared_distances
from dcsvm.numeric.distinct import Condensed, condense
from dcsvm.numeric.dual import DualSettings, dual_plane
from dcsvm.numeric.expansion import Expansion, evaluate, prepare, vote, vote_one, walk, walk_one
from dcsvm.numeric.global_pairs import solve_pairs_large, solve_part
from dcsvm.numeric.gram import Gram, as_gram
from dcsvm.numeric.growing import GrowthSettings, grow_oblique
from dcsvm.numeric.kernels import Kernel, kernel_of
from dcsvm.numeric.large import solve_large
from dcsvm.numeric.machines import Pairs, Rest
from dcsvm.numeric.manhattan import manhattan_distances
from dcsvm.numeric.matrix import BoolArray, FloatArray, IntArray, Matrix
from dcsvm.numeric.moments import block_products, covariance, directions, means
from dcsvm.numeric.multiclass import grams, solve_grid, solve_pairs, solve_rest
from dcsvm.numeric.oblique import PlaneTree
from dcsvm.numeric.parts import solve_parts, solve_tasks
from dcsvm.numeric.pegasos import PegasosSettings, Plane, Rows, best_bias, pegasos_plane
from dcsvm.numeric.ridge import Ridge, kernel_matrices, ridge_grid, ridge_path
from dcsvm.numeric.settling import settle_oblique
from dcsvm.numeric.svm import ConvergenceWarning, Solution, feasible, solve, solve_path

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
