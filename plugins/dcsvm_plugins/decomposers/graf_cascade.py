"""A tree of merged support vectors that is climbed until it is the global machine."""

import warnings
from collections.abc import Generator
from typing import Any

import numpy as np

from dcsvm import DataError, Decomposer, Member, Part, Problem, component, setting, support_of
from dcsvm.numeric import ConvergenceWarning, IntArray
from dcsvm.toolbox import Constant, Stages, deal_rows

#: Rows that are asked about together while violations are looked for.
BLOCK_ROWS = 8192
#: Parts that any number of rows may be dealt into; those without a row are left out.
FEW_PARTS = 4


@component
class GrafCascade(Decomposer):
    """Support vectors merged pair by pair up a tree, and fed back until none is missing.

    The rows are dealt into parts; the support vectors of two parts are learned together, and so
    on, until one set is left. Its support vectors then join every first part, and the tree is
    climbed again. With two classes it ends when no row that the last set lacks is inside the
    margin: then the last machine is the machine of the whole problem. With more classes it ends
    when the support vectors stay the same.

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
    needs_support = True

    parts: int = setting(4, at_least=2, help="parts of the first layer")
    passes: int = setting(20, at_least=1, help="how often the tree is climbed at most")
    # Two machines, each exact to kernel_svm's own 1e-3, judge a row: more than the sum of both.
    tol: float = setting(3e-3, above=0, help="how far inside the margin a row may be left out")
    warm: bool = setting(True, help="whether a step starts from the duals of the one before")

    def divide(self, problem: Problem) -> Stages:
        most = max(problem.n_rows // 2, FEW_PARTS)
        if self.parts > most:
            raise DataError(
                f"graf_cascade: parts = {self.parts} is too many for {problem.n_rows} rows, each "
                f"part needs two rows or more; set parts to {most} or less"
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
            f"graf_cascade: {len(missing)} rows outside the last set still belong into it after "
            f"{self.passes} passes; set passes to more",
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
        """Climb the tree once, from the rows of the first layer and what the last pass kept.

        Rows still missing after half of all passes join the set at the top: a layer below leaves
        them out again and again, by no more than its tolerance.
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
    """A first part, together with the support vectors of the last pass."""
    if last is None:
        return Part(rows, about=about)
    return _add_rows(support_of(last, warm=warm, about=about), rows)


def _add_rows(kept: Part, rows: IntArray) -> Part:
    """A part with further rows, which start from nothing."""
    together = np.union1d(kept.rows, rows)
    start = None
    if kept.start is not None:
        start = np.zeros(len(together))
        start[np.searchsorted(together, kept.rows)] = kept.start
    return Part(together, start=start, about=kept.about)


def _find_missing(problem: Problem, before: Member | None, last: Member, tol: float) -> IntArray:
    """The rows outside the last set that break optimality: those inside the margin.

    Where that cannot be told, the support vectors that changed since the pass before.
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
