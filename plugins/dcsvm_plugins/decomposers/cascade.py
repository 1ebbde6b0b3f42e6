"""Crossed parts whose support vectors are merged and trained again."""

from collections.abc import Callable, Generator
from math import isqrt
from typing import Any

import attrs
import numpy as np

from dcsvm import Decomposer, Member, Part, Problem, SettingError, component, setting, support_of
from dcsvm.numeric import IntArray
from dcsvm.toolbox import Stages, duals_of, together

#: More parts than this, by a forecast, raise an error.
MOST_PARTS = 100_000
#: Stages that end with one member.
Climb = Generator[list[Part], list[Member], Member]


@component
class Cascade(Decomposer):
    """Train on crossed parts, then on the support vectors that are left, in three steps.

    Each class is split into `pieces`. First, every piece of one class is trained with every piece
    of the other: with two pieces, parts (1, 1) and (2, 2) form one group, (1, 2) and (2, 1)
    another, and each group holds every row once. Then the support vectors of each group are
    trained together, and finally those of all groups. The last model is the only one that
    predicts.

    A part above the ceiling is trained by a cascade of its own; parts of the same depth are
    trained in parallel. The result approximates the SVM of all rows; it is not exact. With k
    pieces there are k x k parts in k groups. With more than two classes, part i of group g holds
    piece i + g c of class c (mod k): every row is still used once per group, but not every pair of
    pieces meets. Nest the cascade in class pairs to cross every pair in full. The learner must
    keep its support vectors.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("cascade", "kernel_svm", "route", random_state=0)
    >>> [record.about["step"] for record in clf.fit(X, y).ledger_]
    ['crossed', 'crossed', 'crossed', 'crossed', 'group', 'group', 'last']

    References
    ----------
    Wen, Lu: A cascade method for reducing training time and the number of support vectors (2004).
    """

    name = "cascade"
    yields = frozenset({"one part"})
    rows_held = 0.0
    needs_support = True

    ratio: float | None = setting(
        None,
        above=0,
        at_most=0.5,
        help="share of a class in its first piece; none for equal pieces",
    )
    pieces: int = setting(2, at_least=2, help="number of pieces per class")
    ceiling: int | None = setting(
        None,
        at_least=2,
        help="a crossed part with more rows is trained by a cascade; none for never",
    )
    in_turn: bool = setting(
        False, help="train the groups one after the other, each from the duals of the last"
    )
    warm: bool = setting(True, help="start each step from the duals of the step before")

    def divide(self, problem: Problem) -> Stages:
        self._check_part_count(problem.n_rows)
        yield from self._climb(problem, np.arange(problem.n_rows), ())
        return None

    def _check_part_count(self, n_rows: int) -> None:
        """Raise if the settings split so many rows into too many parts."""
        if self.pieces * min(self.pieces, n_rows) > MOST_PARTS:
            raise SettingError(
                f"cascade: pieces = {self.pieces} splits {n_rows} rows into more than "
                f"{MOST_PARTS} parts; set pieces to "
                f"{max(isqrt(MOST_PARTS), MOST_PARTS // n_rows)} or less"
            )
        if self.ceiling is not None and self._forecast_parts(n_rows / self.ceiling) > MOST_PARTS:
            least = int(np.ceil(n_rows / MOST_PARTS ** (1.0 / self._find_exponent())))
            instead = "" if self.ratio is None else ", or raise the ratio"
            raise SettingError(
                f"cascade: ceiling = {self.ceiling} splits {n_rows} rows into more than "
                f"{MOST_PARTS} parts; set ceiling to {least} or more{instead}"
            )

    def _forecast_parts(self, times: float) -> float:
        """Estimate the number of parts of a set that is so many times larger than the ceiling."""
        return float(np.exp(min(self._find_exponent() * np.log(max(times, 1.0)), 100.0)))

    def _find_exponent(self) -> float:
        """Find p such that the number of parts grows as the size of a set to the power p.

        Crossed parts hold shares s of their set, so the sum of s ** p is 1. The exponent is large
        if one part holds nearly the whole set.
        """
        first = 1.0 / self.pieces if self.ratio is None else self.ratio
        rest = (1.0 - first) / (self.pieces - 1)
        pieces = np.array([first, *([rest] * (self.pieces - 1))])
        shares = (pieces[:, None] + pieces) / 2
        low, high = 1.0, 1e4
        for _ in range(60):
            power = (low + high) / 2
            low, high = (power, high) if (shares**power).sum() > 1.0 else (low, power)
        return high

    def _climb(self, problem: Problem, rows: IntArray, path: tuple[int, ...]) -> Climb:
        """Train on the rows by a cascade; `path` leads to them from the whole problem."""
        about = {"depth": len(path)}
        groups = [
            [
                self._plan_part(problem, each, len(rows), (*path, g * self.pieces + place))
                for place, each in enumerate(group)
            ]
            for g, group in enumerate(self._cross_pieces(problem, rows, path))
        ]
        if self.in_turn:
            merged = yield from self._train_in_turn(groups, {"step": "group", **about})
        else:
            learned = yield from together(climb([]) for group in groups for climb in group)
            crossed = [[learned.pop(0) for _ in group] for group in groups]
            merged = yield [
                support_of(*each, warm=self.warm, about={"step": "group", **about})
                for each in crossed
            ]
        (last,) = yield [support_of(*merged, warm=self.warm, about={"step": "last", **about})]
        return last

    def _train_in_turn(
        self, groups: list[list[Callable[[list[Member]], Climb]]], about: dict[str, Any]
    ) -> Generator[list[Part], list[Member], list[Member]]:
        """Train the groups one after the other, each from the duals of the one before."""
        crossed: list[list[Member]] = []
        for group in groups:
            before = crossed[-1] if crossed and self.warm else []
            crossed.append((yield from together(climb(before) for climb in group)))
        merged: list[Member] = []
        for members in crossed:
            each = support_of(*members, warm=self.warm, about=about)
            if merged and self.warm:
                each = attrs.evolve(each, start=duals_of(merged[-1], rows=each.rows))
            merged += yield [each]
        return merged

    def _plan_part(
        self, problem: Problem, rows: IntArray, above: int, path: tuple[int, ...]
    ) -> Callable[[list[Member]], Climb]:
        """Return a function that trains one crossed part, given members to start from.

        A part above the ceiling is trained by a cascade of its own, from a cold start. `above` is
        the number of rows of the set that the part is taken from.
        """
        too_large = self.ceiling is not None and self.ceiling < len(rows) < above
        if too_large and len(np.unique(problem.y[rows])) > 1:
            return lambda before: self._climb(problem, rows, path)

        def train(before: list[Member]) -> Climb:
            start = duals_of(*before, rows=rows) if before else None
            about = {"step": "crossed", "depth": len(path) - 1}
            (member,) = yield [Part(rows, start=start, about=about)]
            return member

        return train

    def _cross_pieces(
        self, problem: Problem, rows: IntArray, path: tuple[int, ...]
    ) -> list[list[IntArray]]:
        """Return the rows of the crossed parts by group, without empty parts."""
        k, generator = self.pieces, problem.seed.child(*path).generator()
        present, classes = np.unique(problem.y[rows], return_inverse=True)
        pieces = []
        for number in range(len(present)):
            mine = generator.permutation(rows[classes == number])
            pieces.append(np.split(mine, self._cut_class(len(mine))))
        crossed = [
            [
                np.sort(np.concatenate([piece[(i + g * c) % k] for c, piece in enumerate(pieces)]))
                for i in range(k)
            ]
            for g in range(k)
        ]
        return [[each for each in group if len(each)] for group in crossed]

    def _cut_class(self, size: int) -> IntArray:
        """Return the positions that split a class of that size; the first piece is rounded up."""
        share = 1.0 / self.pieces if self.ratio is None else self.ratio
        # A rounding error above a whole number must not be rounded up.
        first = min(int(np.ceil(share * size - 1e-9)), size)
        others = np.arange(self.pieces - 1) * (size - first) / (self.pieces - 1)
        return first + np.floor(others).astype(np.intp)
