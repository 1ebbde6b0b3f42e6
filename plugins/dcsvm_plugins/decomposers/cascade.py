"""Crossed parts whose support vectors are learned again, step by step."""

from collections.abc import Callable, Generator
from math import isqrt
from typing import Any

import attrs
import numpy as np

from dcsvm import (
    Decomposer,
    Member,
    Part,
    Problem,
    SettingError,
    component,
    setting,
    support_of,
    together,
)
from dcsvm.numeric import IntArray
from dcsvm.toolbox import Stages, duals_of

#: A cascade of more parts than these, by a forecast, is refused: they would be too many to climb.
MOST_PARTS = 100_000
#: Stages that end with one member.
Climb = Generator[list[Part], list[Member], Member]


@component
class Cascade(Decomposer):
    """Three steps that drop what is no support vector, and one machine in the end.

    Every class is cut into pieces. First, every piece of one class is learned with every piece of
    the other: parts (1, 1), (2, 2) and (1, 2), (2, 1) with two pieces, in two groups, each of
    which holds every row once. Then the support vectors of each group are learned together, then
    those of all groups. A part above the ceiling is learned by a cascade of its own; all parts of
    one depth are learned at the same time.

    With k pieces there are k x k parts in k groups. With more than two classes, part i of group g
    has piece i + g c of class c (mod k): exact for two classes, and a good mixture for others;
    nest the cascade in class pairs to have every pair crossed in full.

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
    needs_support = True

    ratio: float | None = setting(
        None, above=0, at_most=0.5, help="share of a class in its first piece; none: equal pieces"
    )
    pieces: int = setting(2, at_least=2, help="pieces of each class")
    ceiling: int | None = setting(
        None, at_least=2, help="a crossed part with more rows is a cascade of its own; none: never"
    )
    in_turn: bool = setting(
        False, help="whether a group starts from the one before, instead of all at the same time"
    )
    warm: bool = setting(True, help="whether a step starts from the duals of the one before")

    def divide(self, problem: Problem) -> Stages:
        self._check_part_count(problem.n_rows)
        yield from self._climb(problem, np.arange(problem.n_rows), ())
        return None

    def _check_part_count(self, n_rows: int) -> None:
        """Refuse settings that cut so many rows into more parts than can be climbed."""
        if self.pieces * min(self.pieces, n_rows) > MOST_PARTS:
            raise SettingError(
                f"cascade: pieces = {self.pieces} crosses {n_rows} rows in more than {MOST_PARTS} "
                f"parts; set pieces to {max(isqrt(MOST_PARTS), MOST_PARTS // n_rows)} or less"
            )
        if self.ceiling is not None and self._forecast_parts(n_rows / self.ceiling) > MOST_PARTS:
            least = int(np.ceil(n_rows / MOST_PARTS ** (1.0 / self._find_exponent())))
            instead = "" if self.ratio is None else ", or raise the ratio"
            raise SettingError(
                f"cascade: ceiling = {self.ceiling} cuts {n_rows} rows into more than "
                f"{MOST_PARTS} parts; set ceiling to {least} or more{instead}"
            )

    def _forecast_parts(self, times: float) -> float:
        """About how many parts come of a set that is so many times as large as the ceiling."""
        return float(np.exp(min(self._find_exponent() * np.log(max(times, 1.0)), 100.0)))

    def _find_exponent(self) -> float:
        """The power of a set's size with which the number of its parts grows.

        Crossed parts hold the shares s of their set, so it is the power p for which the sum of
        s ** p is 1: large, where one of them is nearly the whole set.
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
        """Learn the rows by a cascade; `path` leads to them from the whole problem."""
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
        """Learn a group when the one before is done, and start from its duals."""
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
        """How one crossed part of a set of `above` rows is learned, given members to start from.

        A large one is learned by a cascade of its own, which starts from nothing.
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
        """The rows of the crossed parts, group by group; parts without rows are left out."""
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
        """Where a class of that size is cut: the first piece has its share, rounded up."""
        share = 1.0 / self.pieces if self.ratio is None else self.ratio
        # What rounding adds to a whole number must not be rounded up.
        first = min(int(np.ceil(share * size - 1e-9)), size)
        others = np.arange(self.pieces - 1) * (size - first) / (self.pieces - 1)
        return first + np.floor(others).astype(np.intp)
