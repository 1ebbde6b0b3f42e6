"""The kernel SVM by scikit-learn's libsvm, as a reference for dcsvm's own solvers."""

import numpy as np
from sklearn.svm import SVC

from dcsvm import Problem
from dcsvm.numeric import Kernel
from dcsvm.toolbox import KernelExpansion


def fit_libsvm(
    kernel: Kernel, C: float, problem: Problem, tol: float, cache_size: float, precision: str
) -> KernelExpansion:
    """Train one against one with libsvm; `C`, `tol` and `cache_size` are those of `SVC`."""
    n, direct = problem.n_rows, kernel.kind in ("rbf", "linear", "poly", "sigmoid", "precomputed")
    svc = SVC(
        C=C,
        kernel=kernel.kind if direct else kernel,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        tol=tol,
        cache_size=cache_size,
        # LIBSVM's own limit, which scikit-learn leaves out, and less for the few rows of a part.
        max_iter=min(max(10_000_000, 100 * n), 10_000 * n),
    ).fit(problem.X, problem.y, sample_weight=problem.weights)
    duals = svc.dual_coef_
    duals = duals.toarray() if hasattr(duals, "toarray") else duals
    support = svc.support_.astype(np.intp)
    return KernelExpansion(
        points=support if kernel.kind == "precomputed" else problem.X[support],
        coefficients=np.ascontiguousarray(duals.T),
        biases=svc.intercept_.copy(),
        kernel=kernel,
        support_rows=support,
        class_sizes=svc.n_support_.astype(np.intp) if problem.n_classes > 2 else None,
        precision=precision,
        effort={"iterations": int(np.sum(svc.n_iter_))},
    )
