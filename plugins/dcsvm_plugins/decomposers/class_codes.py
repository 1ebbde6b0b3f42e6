"""One part for every column of an output code."""

from collections.abc import Iterator
from itertools import product
from math import ceil, log2
from typing import Literal

import numpy as np

from dcsvm import Decomposer, Part, Problem, SettingError, Task, component, setting
from dcsvm.numeric import IntArray
from dcsvm.toolbox import Level, Stages

#: Classes up to which `auto` takes every column there is, as Dietterich and Bakiri advise.
FEW_CLASSES = 7
#: Classes up to which all columns can be listed: 2,047 dense ones, 261,625 sparse ones.
LISTED = 12


@component
class ClassCodes(Decomposer):
    """Error-correcting output codes: each column sets some classes against others.

    No two columns ask the same question, the other way round included, none has one side only,
    and any two classes are told apart by at least one column. Of random codes the best of several
    tries is taken: the one whose nearest two code words are farthest apart.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_digits(return_X_y=True)
    >>> codes = build("decomposer", "class_codes", code="dense", length=15)
    >>> clf = DivideAndConquerClassifier(codes, "linear_svm", "decode", random_state=0)
    >>> len(clf.fit(X / 16, y).ledger_)
    15

    References
    ----------
    Dietterich, Bakiri: Solving multiclass learning problems via error-correcting output codes
    (1995). Allwein, Schapire, Singer: Reducing multiclass to binary (2000).
    """

    name = "class_codes"
    yields = frozenset({"class codes"})

    code: Literal["auto", "exhaustive", "dense", "sparse", "one_per_class"] = setting(
        "auto",
        help=(
            "all columns, random ones with every class, random ones with half of the classes, "
            "one class against the others; auto: all for up to 7 classes, otherwise dense"
        ),
    )
    length: int | None = setting(
        None,
        at_least=1,
        help="columns of a random code; none means 10 log2(classes) dense, 15 log2 sparse",
    )
    tries: int = setting(100, at_least=1, help="random codes drawn, of which the best is taken")

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, next(self.divide(problem)))

    def divide(self, problem: Problem) -> Stages:
        present = np.unique(problem.y)
        generator = problem.seed.generator()
        parts = []
        for column in self.columns(len(present), generator):
            asked = np.zeros(problem.n_classes, dtype=np.int8)
            asked[present] = column
            task = Task(
                tuple(np.flatnonzero(asked > 0).tolist()),
                tuple(np.flatnonzero(asked < 0).tolist()),
            )
            word = "".join("+0-"[1 - sign] for sign in asked.tolist())
            parts.append(Part(np.flatnonzero(asked[problem.y]), task=task, about={"code": word}))
        yield parts
        return None

    def columns(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        """The code, one row for each of its columns: (columns, n_classes) of +1, -1 and 0."""
        kind = self.code
        if kind == "auto":
            kind = "exhaustive" if n_classes <= FEW_CLASSES else "dense"
        if kind == "one_per_class":
            columns = 2 * np.eye(n_classes, dtype=np.int8) - 1
            return columns if n_classes > 2 else columns[:1]
        if kind == "exhaustive":
            if n_classes > LISTED:
                raise SettingError(
                    f"class_codes: an exhaustive code of {n_classes} classes has "
                    f"{2 ** (n_classes - 1) - 1} columns; set code to 'dense' beyond {LISTED}"
                )
            return _list_columns(n_classes, (-1, 1))
        return self._draw_code(n_classes, (-1, 1) if kind == "dense" else (-1, 0, 1), generator)

    def _draw_code(
        self, n_classes: int, signs: tuple[int, ...], generator: np.random.Generator
    ) -> IntArray:
        # All columns but those without one of the two sides; a column and its opposite are one.
        one_sided = 2 * (len(signs) - 1) ** n_classes - (len(signs) - 2)
        possible = (len(signs) ** n_classes - one_sided) // 2
        factor = 10 if len(signs) == 2 else 15
        length = self.length or min(ceil(factor * log2(n_classes)), possible)
        if length > possible:
            raise SettingError(
                f"class_codes: length is {length}, but {n_classes} classes have {possible} "
                "different columns only"
            )
        pool = _list_columns(n_classes, signs) if possible < 4 * length else None
        best, widest = None, 0
        for _ in range(self.tries):
            if pool is None:
                columns = _draw_columns(n_classes, signs, length, generator)
            else:
                columns = pool[np.sort(generator.permutation(len(pool))[:length])]
            distance = _measure_distance(columns)
            if distance > widest:
                best, widest = columns, distance
        if best is None:
            raise SettingError(
                f"class_codes: none of {self.tries} random codes of {length} columns tells "
                f"{n_classes} classes apart; set length to {ceil(2 * log2(n_classes))} or more"
            )
        return best


def _list_columns(n_classes: int, signs: tuple[int, ...]) -> IntArray:
    """Every column with two sides, of a column and its opposite the one that starts with +1."""
    columns = np.array(list(product(signs[::-1], repeat=n_classes)), dtype=np.int8)
    return columns[_is_proper(columns)]


def _draw_columns(
    n_classes: int, signs: tuple[int, ...], length: int, generator: np.random.Generator
) -> IntArray:
    """Different random columns with two sides each; zeros, where there are any, for a half."""
    shares = [0.5, 0.5] if len(signs) == 2 else [0.25, 0.5, 0.25]
    columns = np.zeros((0, n_classes), dtype=np.int8)
    while len(columns) < length:
        more = generator.choice(np.array(signs, dtype=np.int8), (2 * length, n_classes), p=shares)
        leading = np.take_along_axis(more, (more != 0).argmax(axis=1)[:, None], axis=1)
        more = more * leading
        columns = np.vstack([columns, more[_is_proper(more)]])
        _, first = np.unique(columns, axis=0, return_index=True)
        columns = columns[np.sort(first)]
    return columns[:length]


def _is_proper(columns: IntArray) -> IntArray:
    """Whether columns have two sides and start with +1 (zeros apart)."""
    leading = np.take_along_axis(columns, (columns != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.asarray((leading == 1) & (columns == -1).any(axis=1))


def _measure_distance(columns: IntArray) -> int:
    """In how many columns the two classes that are nearest stand on opposite sides."""
    plus, minus = (columns > 0).astype(np.int64), (columns < 0).astype(np.int64)
    opposite = plus.T @ minus
    opposite = opposite + opposite.T
    return int(opposite[np.triu_indices(len(opposite), 1)].min())
