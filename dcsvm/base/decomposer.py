"""Decomposer: divides a Problem into Parts, in one or more stages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from dcsvm.base.component import Component, component, setting
from dcsvm.base.errors import CompositionError, SettingError
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Division, Level
from dcsvm.base.stages import Stages, conclude, together

if TYPE_CHECKING:
    from dcsvm.drawing import Scene

ONE_PART = "one part"
REGIONS = "regions"
SUBSETS = "subsets"
SUBSPACES = "subspaces"
CLASS_PAIRS = "class pairs"
CLASS_CODES = "class codes"
GROUPS = "groups"
#: Everything a decomposer can say it yields; GROUPS comes from adding decomposers.
YIELDS = frozenset({ONE_PART, REGIONS, SUBSETS, SUBSPACES, CLASS_PAIRS, CLASS_CODES, GROUPS})


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

    #: Words of YIELDS that tell combiners what to expect.
    yields: ClassVar[frozenset[str]]
    #: Whether every training row must be in a part (or held back). A sampler says False.
    covers: ClassVar[bool] = True
    #: Whether X may hold NaN. One that says True fills the gaps before any learner sees them.
    allows_missing: ClassVar[bool] = False
    #: Whether later stages live on the training rows that members of earlier ones kept.
    needs_support: ClassVar[bool] = False
    #: Whether every part brings its learner, so that the pipeline's own is never asked.
    brings_learners: ClassVar[bool] = False

    @abstractmethod
    def divide(self, problem: Problem) -> Stages:
        """Yield stages, each a list of Parts that can be trained at the same time.

        The classifier calls this once per fit and sends back the Members of each stage, in the
        order of its Parts. Row ids are always those of `problem`, which must not be changed; all
        randomness comes from `problem.seed`. Several divisions may go on at once, in threads: keep
        nothing on `self`. The value returned is a Router, a Division or None
        (every member of the last stage sees every row).
        """

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        """Yield the same division from fine to coarse, without dividing again.

        Called by the granularity search. The first level is what `divide` would yield; each of
        the following has parts about `factor` times larger, every one of them a union of parts of
        the level before; the last has a single part. Parts that ask different questions about
        classes cannot be joined: they have one level, which is also the last. Only a division of
        one stage has levels.
        """
        raise CompositionError(
            f"decomposer {self.name or type(self).__name__!r} has no levels to search through"
        )

    def overview(self, scene: Scene) -> str:
        """Draw as SVG how the problem was divided, like `Router.overview`, where no router can."""
        return ""

    def __add__(self, other: Decomposer | str) -> Any:
        return _sum_of(self, other)

    def __radd__(self, other: object) -> Any:
        """Let a sum begin with a name, and `sum` with its 0."""
        return self if isinstance(other, int) and other == 0 else _sum_of(other, self)

    def __mul__(self, times: int) -> Repeat:
        return Repeat(self, times)

    __rmul__ = __mul__


@component
class Sum(Decomposer):
    """Several decomposers of the same problem side by side; each keeps its router and its seed.

    Made by `a + b`. A combiner sees the answers of all of them, group by group.

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
    def brings_learners(self) -> bool:  # type: ignore[override]
        return bool(self.summands) and all(each.brings_learners for each in self.summands)

    def divide(self, problem: Problem) -> Stages:
        if not self.summands:
            raise SettingError("sum: summands must name at least one decomposer")
        divisions = yield from together(
            [
                conclude(each.divide(problem.with_child_seed(place)))
                for place, each in enumerate(self.summands)
            ]
        )
        return Division(groups=divisions)


def _sum_of(*given: Any) -> Any:
    """A sum of decomposers or their names; those of sums among them stand for themselves."""
    if not all(isinstance(each, Decomposer | str) for each in given):
        return NotImplemented
    summands = [each.summands if isinstance(each, Sum) else (each,) for each in given]
    return Sum(tuple(one for several in summands for one in several))


@component
class Repeat(Decomposer):
    """One decomposer several times, each with its own seed: a forest is `n * tree`.

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
    def brings_learners(self) -> bool:  # type: ignore[override]
        return bool(self.decomposer.brings_learners)

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
