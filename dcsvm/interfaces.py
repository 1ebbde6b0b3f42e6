"""The three abstract pieces: Decomposer, LocalLearner, Combiner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from sklearn.base import BaseEstimator, clone

from dcsvm.division import Division, Level
from dcsvm.errors import CompositionError, SettingError
from dcsvm.models import LocalModel
from dcsvm.numbered import gathered, nested, numbered
from dcsvm.numeric.matrix import FloatArray, Matrix
from dcsvm.problem import Problem
from dcsvm.settings import component, setting, settings_of
from dcsvm.stages import Stages, concluded, together

if TYPE_CHECKING:
    from dcsvm.committee import Committee
    from dcsvm.drawing import Scene

#: Work in steps: lists of jobs go out, the list of their outcomes comes back.
Steps: TypeAlias = "Generator[list[Any], list[Any], LocalModel]"

ONE_PART = "one part"
REGIONS = "regions"
SUBSETS = "subsets"
SUBSPACES = "subspaces"
CLASS_PAIRS = "class pairs"
CLASS_CODES = "class codes"
GROUPS = "groups"
#: Everything a decomposer can say it yields; GROUPS comes from adding decomposers.
YIELDS = frozenset({ONE_PART, REGIONS, SUBSETS, SUBSPACES, CLASS_PAIRS, CLASS_CODES, GROUPS})


class Component(BaseEstimator, ABC):
    """What a plugin offers: an attrs class whose fields are its hyper-parameters.

    Decorate every subclass with `@component`. `get_params`, `set_params` and `clone` come from
    the fields, so nested keys such as `decomposer__ceiling` work in a `GridSearchCV`; components
    in a list go by their numbers, as in `decomposer__learners__0__gamma`.
    """

    name: ClassVar[str] = ""
    #: attrs classes that this component leaves in a fitted model: saved and loaded by the core.
    stored_types: ClassVar[tuple[type, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; with `deep`, those of components in settings and lists too."""
        own = {name: getattr(self, name) for name in sorted(settings_of(type(self)))}
        return own | (nested(own) | numbered(own) if deep else {})

    def set_params(self, **params: Any) -> Any:
        """Change settings by name; a list is replaced where one of its components changes."""
        title = self.name or type(self).__name__
        return super().set_params(**gathered(title, self.get_params(deep=False), params))

    def check(self) -> None:
        """Refuse settings that cannot work together; called before anything is trained."""
        return


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
            raise SettingError("sum: summands must name one decomposer or more, not none")
        divisions = yield from together(
            [
                concluded(each.divide(problem.seeded(place)))
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
            self.decomposer.levels(problem.seeded(place), factor) for place in range(self.times)
        ]
        for groups in zip(*each, strict=False):
            settings = {f"decomposer__{key}": value for key, value in groups[0].settings.items()}
            yield Level(settings, groups=groups)


class LocalLearner(Component):
    """Turns one Problem into a LocalModel.

    It never sees a problem of one class, nor a class without rows: the core answers those.
    """

    #: Whether fitting lets other threads run; if not, parts are trained in processes.
    releases_gil: ClassVar[bool] = True
    #: Whether it looks at labels and weights only: a baseline, which need not learn what is easy.
    labels_only: ClassVar[bool] = False
    #: Whether its models say which training rows they kept; None: seen when they are learned.
    keeps_support: ClassVar[bool | None] = None

    @abstractmethod
    def fit(self, problem: Problem) -> LocalModel:
        """Learn from `problem` (already cut, viewed and encoded 0 .. k-1), which stays unchanged.

        Called from worker threads or processes, several at once: keep nothing on `self`.
        Row weights, where given, must count as repeated rows would.
        """

    def fit_path(
        self, problem: Problem, grid: Iterable[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], LocalModel]]:
        """Yield (cell, model) for many parameter values; override to share work between cells."""
        for cell in grid:
            yield cell, clone(self).set_params(**cell).fit(problem)

    def fit_together(self, problems: Sequence[Problem]) -> list[LocalModel]:
        """Learn several small problems; override to do so in one call.

        The models must be those that `fit` makes of each: the engine may put any together, also
        problems with other features.
        """
        return [self.fit(problem) for problem in problems]

    def fit_in_steps(self, problem: Problem) -> Steps | None:
        """Hand the work to the one engine, for a learner made of others; None: `fit` does it."""
        return None

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes that fitting takes beside the problem, where they are known; 0 where not.

        Asked by those who can choose what is learned, such as the fusion of many answers.
        """
        return 0.0

    def simpler(self) -> LocalLearner | None:
        """The next simpler learner of this kind, one that takes less memory, if there is one."""
        return None

    @property
    def pairwise(self) -> bool:
        """Whether X is a kernel matrix between rows, to be cut in both directions."""
        return False


class Combination(Protocol):
    """A combiner after fitting: all that is asked of it is to combine."""

    def combine(self, committee: Committee, X: Matrix) -> FloatArray: ...


class Combiner(Component):
    """Turns the committee's answers into one score per class and row."""

    #: The words of YIELDS this combiner can work with.
    accepts: ClassVar[frozenset[str]] = YIELDS
    #: Whether `fit` wants the members' answers on the training rows.
    wants_answers: ClassVar[bool] = False
    #: With `wants_answers`: 0 for in-sample answers, k for answers from k folds.
    folds: int = 0

    def fit(
        self, committee: Committee, problem: Problem, answers: FloatArray | None
    ) -> Combination:
        """Learn how to combine; most combiners have nothing to learn and return themselves.

        Called once per fit when every member is trained. `answers` is (n, columns), what
        `committee.table` says of the training rows (with `folds`, what committees without the row
        say), or None where the class does not want them. What is returned must be `self` or one of
        the `stored_types`.
        """
        return self

    @abstractmethod
    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        """Score rows X (n, d) as (n, n_classes); NaN where no member can speak for a class.

        Ask through `committee.answers(X)`, or lazily through `committee.ask(...)`: both count
        what was asked.
        """

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        """Say in sentences how the answer for the single row x (1, d) came about."""
        return []

    def overview(self, scene: Scene) -> str:
        """Draw as SVG how answers are combined, like `Router.overview`.

        A combiner that learns is asked through what its `fit` returned, if that has the method.
        """
        return ""
