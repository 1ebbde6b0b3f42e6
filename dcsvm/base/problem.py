"""Problem, ProblemStack and Part: the data to learn from, and its pieces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import getitem
from typing import Any, Literal, TypeAlias, TypeVar

import attrs
import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.base.feature_views import View
from dcsvm.base.seed import Seed
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.kernels.kernel import Kernel, make_kernel

#: The type and the help text of the `gamma` of every component with a kernel.
Gamma: TypeAlias = Literal["scale", "auto"] | float
GAMMA_HELP = "kernel width; 'scale' is 1 / (features * variance), 'auto' is 1 / features"


Made = TypeVar("Made")
#: The largest allowed kernel value; squares and sums of larger ones may overflow.
LARGEST_KERNEL = 1e100


class Memo:
    """Values computed from a problem and shared by its parts; not pickled."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.made: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Memo, ()


@attrs.frozen(eq=False)
class Problem:
    """Rows to learn from. Immutable: its arrays must not be written to.

    Parameters
    ----------
    X : (n, d) float array or CSR matrix
    y : (n,) int array
        Classes as numbers 0 .. n_classes - 1.
    n_classes : int
        A learner's problem holds every one of its classes at least once.
    seed : Seed
    weights : (n,) float array, optional
        Row weights, all positive. None means 1 for every row.
    start : (n,) float array, optional
        Signed dual values by row for a warm start; the solver projects them to feasible ones.
    threads : int
        How many cores a learner may use. Results must not depend on it.
    names : tuple of str, optional
        The names of the features, if they have any.
    total_rows : int
        How many rows the outermost problem has, of which this one is a part.
    whole, rows : Problem and (n,) int array, or None
        For a part with a task and all features: the problem that it is part of, and the ids of
        its rows there. Such parts overlap, so a learner can compute a value of the whole `once`
        for all of them.
    """

    X: Matrix
    y: IntArray
    n_classes: int
    seed: Seed = attrs.field(default=Seed(0))
    weights: FloatArray | None = None
    start: FloatArray | None = None
    threads: int = attrs.field(default=1, metadata={"stored": False})
    names: tuple[str, ...] | None = None
    total_rows: int = attrs.field(
        default=attrs.Factory(lambda problem: problem.n_rows, takes_self=True)
    )
    whole: Problem | None = attrs.field(
        default=None, init=False, repr=False, metadata={"stored": False}
    )
    rows: IntArray | None = attrs.field(
        default=None, init=False, repr=False, metadata={"stored": False}
    )
    _memo: Memo = attrs.field(factory=Memo, init=False, repr=False, metadata={"stored": False})

    def __attrs_post_init__(self) -> None:
        kind = getattr(self.y, "dtype", None)
        if kind is None or kind.kind not in "iu":
            raise DataError(
                "the y of a Problem must be an array of whole numbers, 0 to n_classes - 1, got "
                + (f"dtype {kind}" if kind is not None else f"a {type(self.y).__name__}")
            )

    def place_within(self, whole: Problem, rows: IntArray) -> None:
        """Set the problem that it is part of, and its rows there, (n,).

        Called by the core before a learner is given a part with a task and all features.
        """
        object.__setattr__(self, "whole", whole)
        object.__setattr__(self, "rows", rows)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return `make()`, called at most once per key and kept as long as the problem."""
        memo = self._memo
        with memo.lock:
            if key not in memo.made:
                memo.made[key] = make()
            made: Made = memo.made[key]
        return made

    @property
    def n_rows(self) -> int:
        """The number of rows, n in all shapes; called by components."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of columns of X, d in all shapes; called by components."""
        return int(self.X.shape[1])

    @property
    def masses(self) -> FloatArray:
        """The weight of each row, (n,), 1 where none are given; called by components."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def targets(self) -> FloatArray:
        """+1 for the rows of a class and -1 for others, (n, n_classes); called by learners.

        Two classes have one column, +1 for the second, like the scores of a model.
        """
        labels = np.arange(1, 2) if self.n_classes == 2 else np.arange(self.n_classes)
        return np.where(self.y[:, None] == labels, 1.0, -1.0)

    def kernel(
        self,
        kind: str | Callable[[Any, Any], Any],
        gamma: str | float,
        degree: int = 3,
        coef0: float = 0.0,
    ) -> Kernel:
        """The kernel with these settings for these rows; raise if its values are too large.

        Called by learners and decomposers with a kernel. Parts with a task use the kernel of the
        whole problem, like the pairs of scikit-learn's SVC, so that they can share kernel values.
        """
        if self.whole is not None:
            whole, settings = self.whole, (kind, gamma, degree, coef0)
            return whole.once(("kernel", *settings), lambda: whole.kernel(*settings))
        weights = None if self.weights is None else self.weights.astype(np.float64, copy=False)
        kernel = make_kernel(kind, gamma, degree, coef0, self.X, weights)
        if kernel.bound(self.X) > LARGEST_KERNEL:
            raise DataError(
                f"the {kernel.kind} kernel of these rows reaches {kernel.bound(self.X):.0e}, too "
                "large to compute with: scale the features, or make gamma, degree or coef0 smaller"
            )
        return kernel

    def rows_of(self, label: int) -> IntArray:
        """The ids (m,) of the rows of one class, ascending; called by components."""
        return np.flatnonzero(self.y == label)

    def with_child_seed(self, *steps: int) -> Problem:
        """Return the same problem with a child of its seed; they share what is made `once`.

        Called by decomposers that call another one, and by the core for folds.
        """
        child = attrs.evolve(self, seed=self.seed.child(*steps))
        object.__setattr__(child, "_memo", self._memo)
        return child

    def subset(self, rows: IntArray, take: Callable[[Any, Any], Any] = getitem) -> Problem:
        """Return the problem of some of the rows, ids (m,), with the same classes.

        Called by the core for each part, and by components. `take` is how to get rows of X.
        """
        return attrs.evolve(
            self,
            X=take(self.X, rows),
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            start=None if self.start is None else self.start[rows],
        )


class ProblemStack(Sequence[Problem]):
    """Problems of two classes in common arrays, for learners that solve many in one call.

    The engine passes one to `fit_together` for parts with tasks, and `ProblemStack.of` makes one
    of any problems that fit. Each problem is made when it is asked for, by its number.

    Parameters
    ----------
    X : (n, d) float array
        The rows of all problems.
    y : (n,) int array
    offsets : (problems + 1,) int array
        Where the rows of each problem begin, and where those of the last one end.
    make : function of a number
        Makes a problem.
    weights : (n,) float array, optional
    whole, rows : Problem and (n,) int array, or None
        The problem that all are part of, and their rows there, as in `Problem`.
    """

    def __init__(
        self,
        X: FloatArray,
        y: IntArray,
        offsets: IntArray,
        make: Callable[[int], Problem],
        weights: FloatArray | None = None,
        whole: Problem | None = None,
        rows: IntArray | None = None,
    ) -> None:
        self.X, self.y, self.offsets, self.weights = X, y, offsets, weights
        self.whole, self.rows = whole, rows
        self._make, self._made = make, dict[int, Problem]()

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> ProblemStack | None:
        """Stack problems; None unless all are dense, of two classes, equally wide, without start.

        Called by learners that override `fit_together`.
        """
        if isinstance(problems, cls):
            return problems
        if not all(_can_be_stacked(each, problems[0].n_features) for each in problems):
            return None
        weights = whole = rows = None
        if any(each.weights is not None for each in problems):
            weights = np.concatenate([each.masses for each in problems])
        if len({id(each.whole) for each in problems}) == 1 and problems[0].whole is not None:
            whole = problems[0].whole
            rows = np.concatenate([np.asarray(each.rows) for each in problems])
        return cls(
            np.concatenate([each.X for each in problems]),
            np.concatenate([each.y for each in problems]),
            np.cumsum([0, *(each.n_rows for each in problems)]),
            problems.__getitem__,
            *(weights, whole, rows),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        place = range(len(self))[place]
        if place not in self._made:
            self._made[place] = self._make(place)
        return self._made[place]


def _can_be_stacked(problem: Problem, n_features: int) -> bool:
    return (
        problem.n_classes == 2
        and problem.start is None
        and isinstance(problem.X, np.ndarray)
        and problem.X.shape[1] == n_features
    )


@attrs.frozen
class Task:
    """A binary task: some classes are +1, some are -1, the others are left out."""

    plus: tuple[int, ...]
    minus: tuple[int, ...]

    def code(self, n_classes: int) -> IntArray:
        """Return +1, -1 or 0 for each class, as (n_classes,).

        Called by the core for the labels of a part, and by decomposers with tasks.
        """
        code = np.zeros(n_classes, dtype=np.int8)
        code[list(self.plus)] = 1
        code[list(self.minus)] = -1
        return code


@attrs.frozen(eq=False)
class RowIdUnion:
    """Row ids as several disjoint sets, concatenated on demand.

    Thousands of class pairs can share the row ids of each class in memory.
    """

    sets: tuple[IntArray, ...]
    size: int = attrs.field(init=False)

    @size.default
    def _count(self) -> int:
        return sum(map(len, self.sets))

    def __len__(self) -> int:
        return self.size

    def ids(self) -> IntArray:
        """All ids, ascending."""
        return np.sort(np.concatenate(self.sets))


@attrs.frozen(eq=False)
class Part:
    """One local problem cut from a Problem. Data only.

    Parameters
    ----------
    rows : (m,) int array, or RowIdUnion
        Ids into the Problem that the decomposer was given. Repeats are allowed (bootstrap).
    view : View, optional
        The feature view of the part. None means all features, unchanged.
    task : Task, optional
        The binary task of the part. None means all classes. The core drops the rows of classes
        that the task leaves out.
    weights : (m,) float array, optional
        Multiplied with the problem's own row weights.
    learner : LocalLearner, optional
        The learner of this part. None means the strategy's learner.
    start : (m,) float array, optional
        Signed duals by row, for learners with a warm start.
    labels : (m,) int array, optional
        Labels of its own instead of the classes of its rows, for what is learned on the side: a
        gate, an error model. With a task, they are what its sides name.
    n_labels : int, optional
        How many labels there are. None means that `labels` are classes of the problem. The member
        of a part with `n_labels` cannot predict classes: a router or a structure may hold it.
    about : mapping
        Small facts for the ledger.
    """

    _rows: IntArray | RowIdUnion = attrs.field(alias="rows")
    view: View | None = None
    task: Task | None = None
    weights: FloatArray | None = None
    learner: Any = None
    start: FloatArray | None = None
    about: Mapping[str, Any] = attrs.field(factory=dict)
    labels: IntArray | None = None
    n_labels: int | None = None

    @property
    def rows(self) -> IntArray:
        """The ids of its rows, (m,); called by the core, and by components that read parts."""
        return self._rows.ids() if isinstance(self._rows, RowIdUnion) else self._rows

    @property
    def is_plain_task(self) -> bool:
        """Whether it has a task on joined rows, and nothing of its own; called by the core."""
        if self.task is None or not isinstance(self._rows, RowIdUnion):
            return False
        return self.view is None and self.labels is None and self.weights is self.start is None

    @property
    def sets(self) -> tuple[IntArray, ...]:
        """Its rows as given: several id arrays for RowIdUnion rows, otherwise one.

        Called by the core, which joins them once a worker needs them.
        """
        return self._rows.sets if isinstance(self._rows, RowIdUnion) else (self._rows,)

    @property
    def n_rows(self) -> int:
        """The number m of its rows, repeats counted; called by the core for the ledger."""
        return len(self._rows)


def part(*rows: IntArray, **others: Any) -> Part:
    """Make a part from one or more disjoint sets of row ids."""
    return Part(np.concatenate([_as_ids(each) for each in rows]), **others)


def _as_ids(given: Any) -> IntArray:
    rows = np.asarray(given)
    if rows.size and rows.dtype.kind not in "iu":
        hint = "; np.flatnonzero turns a mask into ids" if rows.dtype.kind == "b" else ""
        raise DataError(f"part: row ids must be whole numbers, got dtype {rows.dtype}{hint}")
    return rows.astype(np.intp, copy=False)


def parts_by(assignment: IntArray, n_parts: int, **others: Any) -> list[Part]:
    """Make `n_parts` parts, where row i belongs to part `assignment[i]`."""
    order = np.argsort(assignment, kind="stable")
    edges = np.searchsorted(assignment[order], np.arange(1, n_parts))
    return [Part(rows, **others) for rows in np.split(order, edges)]


def union(sets: Iterable[IntArray]) -> IntArray:
    """The row ids in any of the sets, ascending, each once."""
    arrays = list(sets)
    return np.unique(np.concatenate(arrays)) if arrays else np.zeros(0, dtype=np.intp)
