"""Levels of kernel k-means that lead to the global machine, or stop early."""

from typing import Literal

import numpy as np

from dcsvm import Decomposer, Member, Part, Problem, SettingError, component, setting, support_of
from dcsvm.numeric import IntArray
from dcsvm.toolbox import GAMMA_HELP, Constant, Gamma, Regions, Stages, duals_of, find_regions


@component
class DCSVM(Decomposer):
    """From many small clusters to few large ones to the whole, each level from the last duals.

    Level l has `branching ** l` clusters of kernel k-means; the finest comes first. Clusters of
    the next level are made around a sample of the support vectors of the last, and their machines
    start from its duals. Then the support vectors of level 1 are learned together, and last the
    whole problem: the exact global machine, from a start that leaves little to do. With `early`
    the clusters of that level answer, each for the rows that are nearest to it; they may then have
    any learner, and one without support vectors starts from nothing.

    The kernel should be the learner's. Duals are carried on between two classes only; nest it in
    class pairs for more.

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

    depth: int = setting(3, at_least=1, help="the finest level")
    branching: int = setting(4, at_least=2, help="clusters of a level for each of the level below")
    early: int = setting(
        0, at_least=0, help="the level whose clusters answer; 0 goes on to the whole problem"
    )
    kernel: Literal["rbf", "laplacian", "poly", "linear"] = setting(
        "rbf", help="whose feature space the clusters are in"
    )
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    degree: int = setting(3, at_least=1, help="of the polynomial kernel")
    coef0: float = setting(0.0, help="constant of the polynomial kernel")
    sample: int = setting(1000, at_least=1, help="rows that the centres of a level are made of")
    balance: float = setting(
        2.0, at_least=1, help="how many times the mean size a cluster of the sample may have"
    )
    refine: bool = setting(True, help="whether support vectors are learned alone before the whole")
    warm: bool = setting(True, help="whether a level starts from the duals of the one before")

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({"regions"}) if self.early else frozenset({"one part"})

    @property
    def needs_support(self) -> bool:  # type: ignore[override]
        return not self.early

    def check(self) -> None:
        """Refuse to answer by clusters of a level that there is not."""
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
        """The clusters of a level, around the support vectors of the last where there are any."""
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
        """The parts, told their level and given the duals of the members of the last."""
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
    """The rows that any member kept as a support vector."""
    kept = [each.support for each in _drop_constants(members)]
    return np.unique(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.intp)
