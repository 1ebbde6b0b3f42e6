"""Support vectors merged up a binary tree, pass after pass, until the SVM is global."""

import warnings
from collections.abc import Generator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dcsvm import DataError, Decomposer, Member, Part, Problem, component, setting, support_of
from dcsvm.numeric import IntArray
from dcsvm.toolbox import Constant, Stages, deal_rows

#: Rows that are checked for violations at a time.
BLOCK_ROWS = 8192
#: Up to this many parts are allowed for any number of rows; empty ones are left out.
FEW_PARTS = 4


@component
class GrafCascade(Decomposer):
    """Cascade SVM: merge support vectors pair by pair up a tree, and repeat until none is missing.

    The rows are split into parts. The support vectors of two parts are trained together, and so on
    up to a single set. Its support vectors then join every part of the first layer for the next
    pass. With two classes it stops when no row outside the last set violates the margin: the last
    model is then the SVM of the whole problem, up to `tol`. With more classes it stops when the
    support vectors no longer change.

    Each part needs only a fraction of the kernel matrix, but every pass trains all layers, and it
    pays only if the support vectors are few. The learner must keep its support vectors.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("graf_cascade", "kernel_svm", "route", random_state=0)
    >>> max(record.about["pass"] for record in clf.fit(X, y).ledger_) < 10
    True

    References
    ----------
    Graf, Cosatto, Bottou, Durdanovic, Vapnik: Parallel support vector machines: the cascade SVM
    (2005).
    """

    name = "graf_cascade"
    yields = frozenset({"one part"})
    rows_held = 0.0
    needs_support = True

    parts: int = setting(4, at_least=2, help="number of parts in the first layer")
    passes: int = setting(20, at_least=1, help="maximum number of passes over the tree")
    # Larger than the sum of the errors of two models, each solved to kernel_svm's 1e-3.
    tol: float = setting(3e-3, above=0, help="margin violation that is tolerated in rows left out")
    warm: bool = setting(True, help="start each step from the duals of the step before")

    def divide(self, problem: Problem) -> Stages:
        most = max(problem.n_rows // 2, FEW_PARTS)
        if self.parts > most:
            raise DataError(
                f"graf_cascade: parts = {self.parts} is too many for {problem.n_rows} rows: each "
                f"part needs at least two; set parts to {most} or less"
            )
        hands = deal_rows(problem.y, self.parts, problem.seed.generator())
        last: Member | None = None
        missing: IntArray = np.arange(problem.n_rows)
        stuck = missing[:0]
        for number in range(1, self.passes + 1):
            before = last
            last = yield from self._climb(hands, before, number, len(missing), stuck)
            missing = _find_missing(problem, before, last, self.tol)
            if 2 * number >= self.passes:
                stuck = np.union1d(stuck, missing)
            if not len(missing):
                return None
        warnings.warn(
            f"graf_cascade: not converged after {self.passes} passes: {len(missing)} rows are "
            "missing from the last set; increase passes",
            ConvergenceWarning,
            stacklevel=2,
        )
        return None

    def _climb(
        self,
        hands: list[IntArray],
        last: Member | None,
        number: int,
        missing: int,
        stuck: IntArray,
    ) -> Generator[list[Part], list[Member], Member]:
        """Climb the tree once, from the rows of the first layer and the last support vectors.

        Rows that are still missing after half of all passes join the set at the top, because
        lower layers keep dropping them within their tolerance.
        """

        def about(layer: int) -> dict[str, Any]:
            step = f"pass {number}, layer {layer}"
            return {"step": step, "pass": number, "layer": layer, "missing": missing}

        stage = [_join(hand, last, self.warm, about(1)) for hand in hands]
        layer = 1
        while True:
            members = yield stage
            if len(members) == 1:
                return members[0]
            layer += 1
            stage = [
                support_of(*members[place : place + 2], warm=self.warm, about=about(layer))
                for place in range(0, len(members), 2)
            ]
            if len(stage) == 1:
                stage = [_add_rows(stage[0], stuck)]


def _join(rows: IntArray, last: Member | None, warm: bool, about: dict[str, Any]) -> Part:
    """Return a part of the first layer, joined by the support vectors of the last pass."""
    if last is None:
        return Part(rows, about=about)
    return _add_rows(support_of(last, warm=warm, about=about), rows)


def _add_rows(kept: Part, rows: IntArray) -> Part:
    """Return the part with further rows, which start from zero."""
    together = np.union1d(kept.rows, rows)
    start = None
    if kept.start is not None:
        start = np.zeros(len(together))
        start[np.searchsorted(together, kept.rows)] = kept.start
    return Part(together, start=start, about=kept.about)


def _find_missing(problem: Problem, before: Member | None, last: Member, tol: float) -> IntArray:
    """Return the rows outside the last set that violate the margin.

    With more than two classes, return the support vectors that changed since the last pass.
    """
    learned = np.zeros(0, dtype=np.intp) if last.part is None else last.part.rows
    outside = np.setdiff1d(np.arange(problem.n_rows), learned)
    if not len(outside) or isinstance(last.model, Constant):
        return outside[:0]
    if len(last.code) > 1:
        kept = np.zeros(0, dtype=np.intp) if before is None else before.support
        return np.setxor1d(kept, last.support)
    signs = last.code[0][problem.y]
    broken = [outside[:0]]
    for start in range(0, len(outside), BLOCK_ROWS):
        rows = outside[start : start + BLOCK_ROWS]
        margins = signs[rows] * last.scores(problem.X[rows])[:, 0]
        broken.append(rows[(margins < 1.0 - tol) & (signs[rows] != 0)])
    return np.concatenate(broken)
