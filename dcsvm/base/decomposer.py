"""Decomposer: divides a Problem into Parts, in one or more stages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dcsvm.base.component import Component, component, setting
from dcsvm.base.errors import CompositionError, SettingError
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Division, Level
from dcsvm.base.stages import Stages, finish_stages, together

if TYPE_CHECKING:
    from dcsvm.drawing import Scene

ONE_PART = "one part"
REGIONS = "regions"
SUBSETS = "subsets"
SUBSPACES = "subspaces"
CLASS_PAIRS = "class pairs"
CLASS_CODES = "class codes"
GROUPS = "groups"
WEIGHTS = "weights"
#: Words that come with another one: GROUPS from adding decomposers, WEIGHTS of members.
MODIFIERS = frozenset({GROUPS, WEIGHTS})
#: The core's words for what decomposers can yield; components can declare more.
YIELDS = MODIFIERS | {ONE_PART, REGIONS, SUBSETS, SUBSPACES, CLASS_PAIRS, CLASS_CODES}


class Decomposer(Component):
    """Divides a Problem into Parts, in one or more stages.

    A complete one::

        @component
        class Halves(Decomposer):
            name = "halves"
            yields = frozenset({"subsets"})

            def divide(self, problem):
                order = problem.seed.generator().permutation(problem.n_rows)
                yield [part(half) for half in np.array_split(order, 2)]
    """

    #: What it yields, as words of YIELDS or declared ones; combiners accept some of them.
    yields: ClassVar[frozenset[str]]
    #: Words of its own in `yields`, with their meaning. A combiner that accepts one fits.
    declares: ClassVar[Mapping[str, str]] = {}
    #: Whether every training row is in a part or held back; False for a sampler.
    covers: ClassVar[bool] = True
    #: Whether later stages use the support vectors of earlier ones.
    needs_support: ClassVar[bool] = False
    #: Whether the router tells classes apart by itself, so that its own training rows do not show
    #: how sure its regions are: their probabilities are learned from another division.
    separates_classes: ClassVar[bool] = False
    #: Whether it learns by giving rows of its parts unequal weights, so that a learner that
    #: refuses row weights does not fit.
    needs_row_weights: ClassVar[bool] = False
    #: Whether every part names its learner, so that the strategy's own is never used.
    brings_learners: ClassVar[bool] = False
    #: How many copies of all rows `divide` holds in memory; 0 if it reads rows on disk block by
    #: block, or a sample of them.
    rows_held: ClassVar[float] = 1.0
    #: A decomposer of the same kind that holds none, to be named where memory is short.
    sibling: ClassVar[str] = ""

    @abstractmethod
    def divide(self, problem: Problem) -> Stages:
        """Yield stages, each a list of Parts that can be trained at the same time.

        The classifier calls this once per fit and sends back the Members of each stage, in the
        order of its Parts. Row ids refer to `problem`, which must not be modified. All random
        numbers must come from `problem.seed`. Do not modify `self`: several divisions may run in
        threads. Return a Router, a Division, or None (every member of the last stage is queried
        for every row).
        """

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes that `divide` takes for so many rows, or 0 if they may stay on disk.

        Called for rows on disk, before any of them is read. Labels, row numbers, samples and
        blocks of rows do not count.
        """
        return 8.0 * self.rows_held * n_rows * n_features

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        """Yield the division at several granularities, from fine to coarse.

        Called by the granularity search. The first level is the division of `divide`. Parts of
        each further level are unions of parts of the level before and about `factor` times
        larger; the last level has a single part. Parts with different tasks cannot be merged and
        have a single level. Only a division of one stage has levels.
        """
        raise CompositionError(
            f"decomposer {self.name or type(self).__name__!r} has no levels to search through"
        )

    def overview(self, scene: Scene) -> str:
        """Draw the division as SVG, like `Router.overview`, for a division without a router.

        Called once per report of a run. `scene` must not be modified.
        """
        return ""

    def __add__(self, other: Decomposer | str) -> Any:
        return _sum_of(self, other)

    def __radd__(self, other: object) -> Any:
        """Allow a name as the first summand, and the 0 that `sum` starts with."""
        return self if isinstance(other, int) and other == 0 else _sum_of(other, self)

    def __mul__(self, times: int) -> Repeat:
        return Repeat(self, times)

    __rmul__ = __mul__


@component
class Sum(Decomposer):
    """Several decomposers of the same problem, each with its own seed and router.

    Made by `a + b`. The members of each summand are one group of the committee.

    Examples
    --------
    >>> from dcsvm import build
    >>> sorted((build("decomposer", "tree") + build("decomposer", "chunks")).yields)
    ['groups', 'regions', 'subsets']
    """

    name = "sum"

    summands: tuple[Any, ...] = setting((), kind="decomposer", help="the decomposers to add")

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({GROUPS}).union(*(each.yields for each in self.summands))

    @property
    def covers(self) -> bool:  # type: ignore[override]
        return all(each.covers for each in self.summands)

    @property
    def separates_classes(self) -> bool:  # type: ignore[override]
        return any(each.separates_classes for each in self.summands)

    @property
    def brings_learners(self) -> bool:  # type: ignore[override]
        return bool(self.summands) and all(each.brings_learners for each in self.summands)

    @property
    def sibling(self) -> str:  # type: ignore[override]
        names = (each.sibling for each in self.summands if each.memory(1, 1))
        return next(iter(names), "")

    def memory(self, n_rows: int, n_features: int) -> float:
        return max((each.memory(n_rows, n_features) for each in self.summands), default=0.0)

    def divide(self, problem: Problem) -> Stages:
        if not self.summands:
            raise SettingError("sum: summands must name at least one decomposer")
        divisions = yield from together(
            [
                finish_stages(each.divide(problem.with_child_seed(place)))
                for place, each in enumerate(self.summands)
            ]
        )
        return Division(groups=divisions)


def _sum_of(*given: Any) -> Any:
    """Add decomposers or their names; nested sums are flattened."""
    if not all(isinstance(each, Decomposer | str) for each in given):
        return NotImplemented
    summands = [each.summands if isinstance(each, Sum) else (each,) for each in given]
    return Sum(tuple(one for several in summands for one in several))


@component
class Repeat(Decomposer):
    """A decomposer repeated with different seeds: a forest is `n * tree`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = 5 * build("decomposer", "tree", ceiling=60, splitter="random")
    >>> clf = DivideAndConquerClassifier(forest, "kernel_svm", "mean", random_state=0).fit(X, y)
    >>> len(clf.model_.committee.groups)
    5
    """

    name = "repeat"

    decomposer: Any = setting(kind="decomposer", help="what to repeat")
    times: int = setting(10, at_least=1, help="how often")

    @property
    def yields(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset({GROUPS, *self.decomposer.yields})

    @property
    def covers(self) -> bool:  # type: ignore[override]
        return bool(self.decomposer.covers)

    @property
    def separates_classes(self) -> bool:  # type: ignore[override]
        return bool(self.decomposer.separates_classes)

    @property
    def brings_learners(self) -> bool:  # type: ignore[override]
        return bool(self.decomposer.brings_learners)

    @property
    def sibling(self) -> str:  # type: ignore[override]
        return str(self.decomposer.sibling)

    def memory(self, n_rows: int, n_features: int) -> float:
        return float(self.decomposer.memory(n_rows, n_features))

    def divide(self, problem: Problem) -> Stages:
        return (yield from Sum((self.decomposer,) * self.times).divide(problem))

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        each = [
            self.decomposer.levels(problem.with_child_seed(place), factor)
            for place in range(self.times)
        ]
        for groups in zip(*each, strict=False):
            settings = {f"decomposer__{key}": value for key, value in groups[0].settings.items()}
            yield Level(settings, groups=groups)
