"""Levels of kernel k-means clusters that lead to the global SVM, or stop early."""

from typing import Literal

import numpy as np

from dcsvm import Decomposer, Member, Part, Problem, SettingError, component, setting, support_of
from dcsvm.numeric import IntArray
from dcsvm.toolbox import GAMMA_HELP, Constant, Gamma, Regions, Stages, duals_of, find_regions


@component
class DCSVM(Decomposer):
    """DC-SVM: levels of ever larger clusters up to the whole problem, each warm-started.

    Level l has `branching ** l` clusters of kernel k-means; the finest level is trained first. The
    clusters of the next level are found on a sample of the last support vectors, and their models
    start from the last duals. After level 1 its support vectors are trained together, and then the
    whole problem: the exact global SVM, with little left to do for the solver.

    With `early` the clusters of that level predict, each for the rows closest to it. This is much
    cheaper and only approximate; any learner may then be used, but one without support vectors
    gets no warm start. The kernel should be the learner's. Duals are passed on in binary problems
    only; nest it in class pairs for more classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> levels = build("decomposer", "dc_svm", depth=2, branching=2)
    >>> clf = DivideAndConquerClassifier(levels, "kernel_svm", "route", random_state=0).fit(X, y)
    >>> [record.about["level"] for record in clf.ledger_]
    [2, 2, 2, 2, 1, 1, 0, 0]

    References
    ----------
    Hsieh, Si, Dhillon: A divide-and-conquer solver for kernel support vector machines (2014).
    """

    name = "dc_svm"
    rows_held = 0.0

    depth: int = setting(3, at_least=1, help="the finest level")
    branching: int = setting(
        4, at_least=2, help="clusters of a level per cluster of the coarser level"
    )
    early: int = setting(
        0,
        at_least=0,
        help="stop at this level and predict by its clusters; 0 trains the whole problem",
    )
    kernel: Literal["rbf", "laplacian", "poly", "linear"] = setting(
        "rbf", help="kernel of the clustering"
    )
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    degree: int = setting(3, at_least=1, help="degree of the polynomial kernel")
    coef0: float = setting(0.0, help="constant of the polynomial kernel")
    sample: int = setting(1000, at_least=1, help="rows that the clusters of a level are found on")
    balance: float = setting(
        2.0, at_least=1, help="largest size of a cluster, as a multiple of the mean size"
    )
    refine: bool = setting(True, help="train on the support vectors before the whole problem")
    warm: bool = setting(True, help="start each level from the duals of the level before")

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({"regions"}) if self.early else frozenset({"one part"})

    @property
    def needs_support(self) -> bool:  # type: ignore[override]
        return not self.early

    def check(self) -> None:
        """Raise if `early` is a level that does not exist."""
        if self.early > self.depth:
            raise SettingError(
                f"dc_svm: early must be at most depth, the finest level ({self.depth}), "
                f"got {self.early}"
            )

    def divide(self, problem: Problem) -> Stages:
        members: list[Member] = []
        for level in range(self.depth, max(self.early, 1) - 1, -1):
            trained, support = _drop_constants(members), _collect_support(members)
            if level > self.early and trained and not len(support):
                continue  # there are no duals to start from
            regions = self._build_regions(problem, level, members)
            members = yield self._start_parts(problem, regions.parts(problem), members, level)
            if level == self.early:
                return regions
        everyone = np.arange(problem.n_rows)
        if self.refine and len(_collect_support(members)):
            members = yield [
                support_of(
                    *_drop_constants(members),
                    warm=self.warm,
                    about={"step": "refined", "level": 0},
                )
            ]
        yield self._start_parts(problem, [Part(everyone, about={"step": "whole"})], members, 0)
        return None

    def _build_regions(self, problem: Problem, level: int, members: list[Member]) -> Regions:
        """Cluster the rows of a level, by the last support vectors if there are any."""
        kernel = problem.kernel(self.kernel, self.gamma, self.degree, self.coef0)
        support = _collect_support(members)
        return find_regions(
            problem.with_child_seed(level),
            kernel,
            self.branching**level,
            rows=support if len(support) else None,
            sample=self.sample,
            balance=self.balance,
        )

    def _start_parts(
        self, problem: Problem, parts: list[Part], members: list[Member], level: int
    ) -> list[Part]:
        """Return the parts with their level and the duals of the last members to start from."""
        duals = duals_of(*members, rows=np.arange(problem.n_rows)) if self.warm else None
        started = []
        for each in parts:
            start = None if duals is None else duals[each.rows]
            about = {"step": f"level {level}", "level": level, **each.about}
            started.append(Part(each.rows, start=start, about=about))
        return started


def _drop_constants(members: list[Member]) -> list[Member]:
    return [each for each in members if not isinstance(each.model, Constant)]


def _collect_support(members: list[Member]) -> IntArray:
    """Return the rows that are a support vector of any member."""
    kept = [each.support for each in _drop_constants(members)]
    return np.unique(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.intp)
