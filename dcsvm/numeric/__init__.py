"""The numeric core: kernels, dual solvers, ridge regression and fast kernel expansions."""

from dcsvm.numeric.backend import gram_of_distances, implementation, rbf_gram
from dcsvm.numeric.distances import manhattan_distances, products, squared_distances
from dcsvm.numeric.expansion import Expansion, evaluate, prepare, vote, vote_one, walk, walk_one
from dcsvm.numeric.global_pairs import solve_pairs_large
from dcsvm.numeric.gram import Gram, as_gram
from dcsvm.numeric.kernels import Kernel
from dcsvm.numeric.large import solve_large
from dcsvm.numeric.multiclass import Pairs, Rest, grams, solve_grid, solve_pairs, solve_rest
from dcsvm.numeric.ridge import Ridge, Spectrum, decompose, ridge_grid, solve_ridge
from dcsvm.numeric.svm import ConvergenceWarning, Solution, feasible, solve, solve_path

__all__ = [
    "ConvergenceWarning",
    "Expansion",
    "Gram",
    "Kernel",
    "Pairs",
    "Rest",
    "Ridge",
    "Solution",
    "Spectrum",
    "as_gram",
    "decompose",
    "evaluate",
    "feasible",
    "gram_of_distances",
    "grams",
    "implementation",
    "manhattan_distances",
    "prepare",
    "products",
    "rbf_gram",
    "ridge_grid",
    "solve",
    "solve_grid",
    "solve_large",
    "solve_pairs",
    "solve_pairs_large",
    "solve_path",
    "solve_rest",
    "solve_ridge",
    "squared_distances",
    "vote",
    "vote_one",
    "walk",
    "walk_one",
]
