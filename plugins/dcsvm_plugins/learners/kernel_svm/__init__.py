"""The kernel support vector machine."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Literal

import attrs
import numpy as np

from dcsvm import DataError, LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import FloatArray, IntArray, Kernel, Matrix
from dcsvm.toolbox import GAMMA_HELP, Gamma, KernelExpansion, ProblemStack
from dcsvm_plugins.learners.kernel_svm.dual_solvers import (
    Solution,
    solve,
    solve_parts,
    solve_tasks,
)
from dcsvm_plugins.learners.kernel_svm.gram import Gram
from dcsvm_plugins.learners.kernel_svm.memory_forecast import GRID_ROWS, MemoryForecast
from dcsvm_plugins.learners.kernel_svm.multiclass import (
    OneVsOneSolution,
    OneVsRestSolution,
    iterate_grams,
    solve_grid,
)
from dcsvm_plugins.learners.kernel_svm.size_dispatch import solve_pairs_large, solve_part

#: In larger parts with fewer rows of other classes than this share, few are support vectors.
LARGE_ROWS, FEW = 2500, 0.05
#: One matrix of a problem with no more rows than this serves all of its parts that have a task.
SHARED_ROWS = 4096
#: Up to this many rows a problem is always solved with all of its kernel matrix.
SMALL_ROWS = 400
#: Tolerances: LIBSVM's, that of models that only score held-out rows, that of fits of few rows.
TOLERANCE, COARSE, FINE_TOLERANCE, FINE_ROWS = 1e-3, 1e-2, 1e-8, 300
#: The rounding errors of a gradient, relative to the largest coefficient times kernel value.
ROUNDING = 1e-13
#: The kernels that a setting means something to; a function of one's own is given neither.
LOOKED_AT = {"degree": ("poly", "trbf"), "coef0": ("poly", "sigmoid")}


@component
class KernelSVM(LocalLearner):
    """The soft-margin support vector machine with a kernel.

    Several classes are trained one against one with a vote, or one against the rest. Training
    takes between quadratic and cubic time in the rows, which is why parts should be small; up to
    some thousands of rows the kernel matrix is kept in memory. Prediction costs one kernel
    evaluation per support vector. `fit_path` solves a grid of C and gamma from one matrix of
    distances, with each C warm-started from the one before.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = build("learner", "kernel_svm", C=10.0, gamma=0.5)
    >>> DivideAndConquerClassifier("whole", svm, "route").fit(X, y).score(X, y) > 0.95
    True

    References
    ----------
    Cortes, Vapnik: Support-vector networks (1995).
    Fan, Chen, Lin: Working set selection using second order information (2005).
    """

    name = "kernel_svm"
    keeps_support = True

    C: float = setting(1.0, above=0, help="cost of margin violations")
    kernel: (
        Literal["rbf", "linear", "poly", "laplacian", "sigmoid", "trbf", "precomputed"]
        | Callable[..., Any]
    ) = setting("rbf", help="kernel name, or a function of two matrices")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    degree: int = setting(3, at_least=1, help="degree of the polynomial kernel, order of trbf")
    coef0: float = setting(0.0, help="constant of the polynomial and sigmoid kernels")
    multiclass: Literal["pairs", "rest"] = setting(
        "pairs", help="one against one with a vote, or one against the rest"
    )
    tol: Literal["auto"] | float = setting(
        "auto",
        above=0,
        help="stopping tolerance; 'auto' is 1e-3, and about 1e-8 for fits of up to 300 rows",
    )
    solver: Literal["own", "libsvm"] = setting(
        "own", help="dcsvm's own solver, or scikit-learn's libsvm as a reference"
    )
    precision: Literal["float64", "float32"] = setting(
        "float64",
        help="precision of labels; with float32, uncertain rows are recomputed in float64",
    )
    cache_size: float = setting(200.0, above=0, help="megabytes for kernel rows of large parts")

    @property
    def pairwise(self) -> bool:
        return self.kernel == "precomputed"

    def memory(self, n_rows: int, n_features: int) -> float:
        return MemoryForecast.of(self).estimate(n_rows, n_features)

    def memory_like(self, sample: Problem, n_rows: int) -> float:
        return MemoryForecast.of(self).estimate_like(sample, n_rows, self.fit)

    def coarse(self) -> "KernelSVM":
        return self if self.tol != "auto" else type(self)(**self.get_params() | {"tol": COARSE})

    def fit(self, problem: Problem) -> LocalModel:
        self._check_shape(problem)
        batch = _Batch(self, [self._build_kernel(problem)], [float(self.C)], {})
        return next(batch.solve(problem))[2]

    def fit_path(
        self, problem: Problem, grid: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], LocalModel]]:
        """Yield (cell, model) for every cell; cells that differ in C and gamma only share work."""
        self._check_shape(problem)
        for batch in _group_cells(self, grid, problem):
            for kernel, C, model in batch.solve(problem):
                for cell in batch.cells[kernel.gamma, C]:
                    yield cell, model

    def fit_together(self, problems: Sequence[Problem]) -> list[LocalModel]:
        """Train small binary parts in one compiled call, all others one by one."""
        is_plain = (self.solver, self.kernel, self.multiclass) == ("own", "rbf", "pairs")
        stack = ProblemStack.of(problems) if is_plain else None
        if stack is None or np.diff(stack.offsets).max() > SMALL_ROWS:
            return [self.fit(problem) for problem in problems]
        parts = stack if stack.whole is None else stack[:1]
        kernels = [self._build_kernel(problem) for problem in parts]
        one = _Batch(self, kernels[:1], [float(self.C)], {})
        some = parts if self._has_one_tolerance(stack) else stack
        tols = {one._find_tolerance(each) for each in some}
        grams = [one._share_gram(*each) for each in zip(parts, kernels, strict=True)]
        kernels *= len(stack) // len(parts)
        if len(tols) > 1 or any(gram is not grams[0] for gram in grams):
            return [self.fit(problem) for problem in problems]
        X: Any = stack.X
        offsets, signs = stack.offsets, 2.0 * stack.y - 1.0
        bounds = self.C * (np.ones(len(signs)) if stack.weights is None else stack.weights)
        if grams[0] is None:
            gammas = [kernel.gamma for kernel in kernels]
            found = solve_parts(X, offsets, gammas, signs, bounds, tol=tols.pop())
        else:
            assert stack.rows is not None
            found = solve_tasks(grams[0], stack.rows, offsets, signs, bounds, tol=tols.pop())
        return list(KernelExpansion.of_parts(X, offsets, kernels, *found))

    def _has_one_tolerance(self, stack: ProblemStack) -> bool:
        """Whether all problems have the tolerance of the first, whatever their rows."""
        return stack.whole is not None and (
            self.tol != "auto" or stack.whole.total_rows > FINE_ROWS
        )

    def _check_shape(self, problem: Problem) -> None:
        if self.pairwise and problem.n_features != problem.n_rows:
            shape = problem.X.shape
            raise DataError(f"kernel_svm: a precomputed kernel must be square, got {shape}")

    def _build_kernel(self, problem: Problem) -> Kernel:
        return problem.kernel(self.kernel, self.gamma, self.degree, self.coef0)


@attrs.frozen(eq=False)
class _Batch:
    """Cells of a grid that differ only in C and gamma: every C for every gamma."""

    machine: KernelSVM
    kernels: list[Kernel]
    Cs: list[float]
    cells: dict[tuple[float, float], list[Mapping[str, Any]]]

    def solve(self, problem: Problem) -> Iterator[tuple[Kernel, float, LocalModel]]:
        if self.machine.solver == "libsvm":
            return self._solve_libsvm(problem)
        if self._fits_grid(problem):
            return self._solve_grid(problem)
        if problem.n_classes == 2:
            return self._solve_two_classes(problem)
        if self.machine.multiclass == "pairs":
            return self._solve_pairs(problem)
        return self._solve_rest(problem)

    def _solve_libsvm(self, problem: Problem) -> Iterator[tuple[Kernel, float, LocalModel]]:
        from dcsvm_plugins.learners.kernel_svm.libsvm_reference import fit_libsvm

        tol = TOLERANCE if self.machine.tol == "auto" else self.machine.tol
        options = tol, self.machine.cache_size, self.machine.precision
        for kernel, C in product(self.kernels, self.Cs):
            yield kernel, C, fit_libsvm(kernel, C, problem, *options)

    def _fits_grid(self, problem: Problem) -> bool:
        """Whether one matrix of all distances serves: many cells, no start, and it is small."""
        if self.kernels[0].kind == "precomputed" and problem.start is None:
            return True
        one_cell = len(self.kernels) * len(self.Cs) == 1 and self.machine.multiclass == "pairs"
        if problem.n_rows > LARGE_ROWS:
            others = problem.n_rows - int(np.bincount(problem.y).max())
            if others < FEW * problem.n_rows:
                return False
        return not one_cell and problem.start is None and problem.n_rows <= GRID_ROWS

    def _find_tolerance(self, problem: Problem) -> float:
        """The tolerance that is set, or a fine one if the whole fit has few rows."""
        machine = self.machine
        if machine.tol != "auto":
            return float(machine.tol)
        if problem.total_rows > FINE_ROWS or callable(machine.kernel):
            return TOLERANCE
        heaviest = 1.0 if problem.weights is None else float(problem.weights.max())
        bounds = [kernel.bound(problem.X) for kernel in self.kernels]
        largest = float(np.abs(problem.X).max()) if machine.pairwise else max(bounds)
        reachable = ROUNDING * max(self.Cs) * heaviest * largest
        return min(max(FINE_TOLERANCE, reachable), TOLERANCE)

    def _solve_two_classes(self, problem: Problem) -> Iterator[tuple[Kernel, float, LocalModel]]:
        """Cell after cell, in any size; the first from the problem's start if it has one."""
        signs = 2.0 * problem.y - 1.0
        for kernel in self.kernels:
            start = None if problem.start is None else problem.start * signs
            for C in self.Cs:
                solution = self._solve(problem, kernel, signs, C, start)
                start = solution.alphas
                duals = (signs * solution.alphas)[:, None]
                yield kernel, C, _keep_support(duals, [solution], kernel, problem)

    def _solve_pairs(self, problem: Problem) -> Iterator[tuple[Kernel, float, LocalModel]]:
        """Cell after cell of several classes, pair by pair, in any size."""
        for kernel in self.kernels:
            machines = None
            for C in self.Cs:
                machines = solve_pairs_large(
                    kernel,
                    problem.X,
                    problem.y,
                    C,
                    weights=problem.weights,
                    start=machines,
                    tol=self._find_tolerance(problem),
                    cache_bytes=int(self.machine.cache_size * 2**20),
                    threads=problem.threads,
                )
                model = _build_expansion(machines, kernel, problem, self.machine.precision)
                yield kernel, C, model

    def _solve_rest(self, problem: Problem) -> Iterator[tuple[Kernel, float, LocalModel]]:
        """Cell after cell of several classes, one against the rest, in any size."""
        labels = np.arange(problem.n_classes)
        sides = np.where(problem.y[:, None] == labels, 1.0, -1.0)
        for kernel in self.kernels:
            starts: list[FloatArray | None] = [None] * len(labels)
            for C in self.Cs:
                found = [self._solve(problem, kernel, sides[:, c], C, starts[c]) for c in labels]
                starts = [solution.alphas for solution in found]
                duals = sides * np.column_stack([solution.alphas for solution in found])
                yield kernel, C, _keep_support(duals, found, kernel, problem)

    def _solve(
        self,
        problem: Problem,
        kernel: Kernel,
        signs: FloatArray,
        C: float,
        start: FloatArray | None,
    ) -> Solution:
        bounds = C if problem.weights is None else C * problem.weights
        gram, tol = self._share_gram(problem, kernel), self._find_tolerance(problem)
        if gram is not None:
            return solve(gram, signs, bounds, start=start, rows=problem.rows, tol=tol)
        return solve_part(
            kernel,
            problem.X,
            signs,
            bounds,
            start=start,
            tol=tol,
            cache_bytes=int(self.machine.cache_size * 2**20),
            threads=problem.threads,
        )

    def _share_gram(self, problem: Problem, kernel: Kernel) -> Gram | None:
        """The matrix of the problem that this one is a part of, if all its parts can share it."""
        whole = problem.whole
        if whole is None or whole.n_rows > SHARED_ROWS:
            return None
        return whole.once(
            ("gram", kernel), lambda: next(iterate_grams(kernel, whole.X, [kernel.gamma]))[1]
        )

    def _solve_grid(self, problem: Problem) -> Iterator[tuple[Kernel, float, LocalModel]]:
        """All cells from one matrix of distances, each C from the one before."""
        cells = solve_grid(
            self.kernels[0],
            problem.X,
            problem.y,
            self.Cs,
            [kernel.gamma for kernel in self.kernels],
            scheme=self.machine.multiclass if problem.n_classes > 2 else "pairs",
            weights=problem.weights,
            tol=self._find_tolerance(problem),
        )
        for C, gamma, machines in cells:
            kernel = attrs.evolve(self.kernels[0], gamma=gamma)
            yield kernel, C, _build_expansion(machines, kernel, problem, self.machine.precision)


@lru_cache(maxsize=1024)
def _build_machine(
    kind: type[KernelSVM], own: tuple[Any, ...], cell: tuple[Any, ...]
) -> KernelSVM:
    """A machine with the values of a cell: each part of a search asks for the same ones."""
    machine: KernelSVM = kind(**dict(own)).set_params(**dict(cell))
    return machine


def _group_cells(
    machine: KernelSVM, grid: Iterable[Mapping[str, Any]], problem: Problem
) -> Iterator[_Batch]:
    """The cells of a grid, put together where they can share work."""
    found: dict[Any, _Batch] = {}
    own = tuple(machine.get_params(deep=False).items())
    for cell in grid:
        one = _build_machine(type(machine), own, tuple(cell.items()))
        kernel = one._build_kernel(problem)
        # Settings that its kernel does not look at make no other cell.
        unused = [name for name, kinds in LOOKED_AT.items() if one.kernel not in kinds]
        others = {**one.get_params(deep=False), **dict.fromkeys(("C", "gamma", *unused))}
        batch = found.setdefault(tuple(others.values()), _Batch(one, [], [], {}))
        batch.cells.setdefault((kernel.gamma, float(one.C)), []).append(cell)
        if all(kernel.gamma != other.gamma for other in batch.kernels):
            batch.kernels.append(kernel)
    for batch in found.values():
        by_values: dict[tuple[float, ...], list[Kernel]] = {}
        for kernel in batch.kernels:
            Cs = sorted(C for gamma, C in batch.cells if gamma == kernel.gamma)
            by_values.setdefault(tuple(Cs), []).append(kernel)
        for values, kernels in by_values.items():
            yield attrs.evolve(batch, kernels=kernels, Cs=list(values))


def _build_expansion(
    machines: OneVsOneSolution | OneVsRestSolution,
    kernel: Kernel,
    problem: Problem,
    precision: str,
) -> KernelExpansion:
    effort = {
        "iterations": int(machines.iterations.sum()),
        "objective": float(machines.objectives.sum()),
    }
    if isinstance(machines, OneVsRestSolution):
        return _build_from_duals(machines.coefficients, machines.biases, kernel, problem, effort)
    kept = machines.compress()
    if problem.n_classes > 2:
        return KernelExpansion(
            points=_take_points(kernel, problem, kept.order),
            coefficients=kept.coefficients,
            biases=kept.biases,
            kernel=kernel,
            support_rows=kept.order,
            class_sizes=kept.counts,
            precision=precision,
            effort=effort,
        )
    # A pair speaks for its first class, a model of two classes for its second.
    return KernelExpansion(
        *(_take_points(kernel, problem, kept.order), -kept.coefficients, -kept.biases),
        *(kernel, kept.order),
        effort=effort,
    )


def _keep_support(
    duals: FloatArray, solutions: list[Solution], kernel: Kernel, problem: Problem
) -> KernelExpansion:
    """The expansion of solutions with signed duals (n, solutions)."""
    names = "iterations", "objective"
    effort = {name: sum(getattr(each, name) for each in solutions) for name in names}
    biases = np.array([solution.bias for solution in solutions])
    return _build_from_duals(duals, biases, kernel, problem, effort)


def _build_from_duals(
    duals: FloatArray,
    biases: FloatArray,
    kernel: Kernel,
    problem: Problem,
    effort: dict[str, float],
) -> KernelExpansion:
    support = np.flatnonzero(duals.any(axis=1))
    points = _take_points(kernel, problem, support)
    return KernelExpansion(points, duals[support], biases, kernel, support, effort=effort)


def _take_points(kernel: Kernel, problem: Problem, rows: IntArray) -> Matrix:
    return rows if kernel.kind == "precomputed" else problem.X[rows]
