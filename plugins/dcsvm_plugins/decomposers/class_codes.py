"""One part for each column of an output code."""

from collections.abc import Iterator
from itertools import product
from math import ceil, log2
from typing import Literal

import numpy as np

from dcsvm import Decomposer, Part, Problem, SettingError, Task, component, setting
from dcsvm.numeric import IntArray
from dcsvm.toolbox import Level, Stages

#: Up to this many classes `auto` uses all columns, as Dietterich and Bakiri advise.
FEW_CLASSES = 7
#: Up to this many classes all columns are listed: 2,047 dense ones, 261,625 sparse ones.
LISTED = 12


@component
class ClassCodes(Decomposer):
    """Error-correcting output codes: each column of the code sets some classes against others.

    Each column is one binary part, so the cost of training and prediction grows with the length of
    the code. Every column has both sides, no two columns are equal or opposite, and any two
    classes differ in at least one column. Of several random codes the one with the largest minimum
    distance between code words is taken.

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
    rows_held = 0.0

    code: Literal["auto", "exhaustive", "dense", "sparse", "one_per_class"] = setting(
        "auto",
        help=(
            "all columns, random columns of all classes, random columns of half of the classes, "
            "or one class against the rest; auto is exhaustive up to 7 classes, then dense"
        ),
    )
    length: int | None = setting(
        None,
        at_least=1,
        help="columns of a random code; none for 10 log2(classes) dense, 15 log2 sparse",
    )
    tries: int = setting(100, at_least=1, help="number of random codes to choose the best of")

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, next(self.divide(problem)))

    def divide(self, problem: Problem) -> Stages:
        present = np.unique(problem.y)
        generator = problem.seed.generator()
        parts = []
        for column in self.columns(len(present), generator):
            code = np.zeros(problem.n_classes, dtype=np.int8)
            code[present] = column
            task = Task(
                tuple(np.flatnonzero(code > 0).tolist()),
                tuple(np.flatnonzero(code < 0).tolist()),
            )
            word = "".join("+0-"[1 - sign] for sign in code.tolist())
            parts.append(Part(np.flatnonzero(code[problem.y]), task=task, about={"code": word}))
        yield parts
        return None

    def columns(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        """Return the code as (columns, n_classes) of +1, -1 and 0."""
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
        # Columns with both sides; a column and its opposite count once.
        one_sided = 2 * (len(signs) - 1) ** n_classes - (len(signs) - 2)
        possible = (len(signs) ** n_classes - one_sided) // 2
        factor = 10 if len(signs) == 2 else 15
        length = self.length or min(ceil(factor * log2(n_classes)), possible)
        if length > possible:
            raise SettingError(
                f"class_codes: length is {length}, but {n_classes} classes have only {possible} "
                "different columns"
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
    """Return all columns with both sides that start with +1, zeros apart."""
    columns = np.array(list(product(signs[::-1], repeat=n_classes)), dtype=np.int8)
    return columns[_is_proper(columns)]


def _draw_columns(
    n_classes: int, signs: tuple[int, ...], length: int, generator: np.random.Generator
) -> IntArray:
    """Draw different columns with both sides; in sparse codes half of the entries are 0."""
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
    """Return whether columns have both sides and start with +1, zeros apart."""
    leading = np.take_along_axis(columns, (columns != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.asarray((leading == 1) & (columns == -1).any(axis=1))


def _measure_distance(columns: IntArray) -> int:
    """Return in how many columns the two closest classes have opposite signs."""
    plus, minus = (columns > 0).astype(np.int64), (columns < 0).astype(np.int64)
    opposite = plus.T @ minus
    opposite = opposite + opposite.T
    return int(opposite[np.triu_indices(len(opposite), 1)].min())
