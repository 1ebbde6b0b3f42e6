"""Feature subspaces: parts that have every row and some directions of the feature space."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.base.component import component, setting
from dcsvm.base.decomposer import SUBSPACES, Decomposer
from dcsvm.base.errors import DataError, SettingError, did_you_mean
from dcsvm.base.feature_views import Chain, LocalScaling, View, local_view
from dcsvm.base.problem import Part, Problem
from dcsvm.base.stages import Stages
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.stored_arrays import axes


@component
class Subspaces(Decomposer):
    """Base class of decomposers into feature subspaces: settings, and one part for each view.

    A complete decomposer::

        @component
        class FirstAndLast(Subspaces):
            name = "first_and_last"

            def views(self, problem):
                return [Columns(np.array([0])), Columns(np.array([problem.n_features - 1]))]
    """

    yields = frozenset({SUBSPACES})

    subspaces: int = setting(4, at_least=1, help="number of subspaces")
    features: int | float = setting(
        0.5,
        above=0,
        help="features in a subspace: their number, or a share of all features",
    )
    groups: tuple[Any, ...] = setting(
        (),
        help="features of each subspace, as a list of lists of numbers or names; none: random",
    )
    local_scaling: LocalScaling = setting(
        "none", help="rescale the features of a subspace: to [0, 1], to mean 0 and deviation 1"
    )
    learners: tuple[Any, ...] = setting(
        (),
        kind="learner",
        help="learners of the subspaces, in turn; none: the learner of the strategy",
    )

    @property
    def brings_learners(self) -> bool:  # type: ignore[override]
        return bool(self.learners)

    def divide(self, problem: Problem) -> Stages:
        everyone = np.arange(problem.n_rows)
        scaling = local_view(self.local_scaling)
        yield [
            Part(
                everyone,
                view=view if scaling is None else Chain((view, scaling)),
                learner=self.learners[number % len(self.learners)] if self.learners else None,
                about={"transform": self.name, "subspace": number},
            )
            for number, view in enumerate(self.views(problem))
        ]
        return None

    @abstractmethod
    def views(self, problem: Problem) -> list[View]:
        """Return the view of each subspace; called once per division."""

    def size(self, n_features: int) -> int:
        """Return the number of features in a subspace."""
        if isinstance(self.features, int):
            return min(self.features, n_features)
        if self.features > 1.0:
            raise SettingError(
                f"{self.name}: features must be an integer or a share of at most 1, "
                f"got {self.features}"
            )
        return int(np.ceil(self.features * n_features))

    def deal_features(self, problem: Problem, *, named: bool = True) -> list[IntArray]:
        """Return the sorted features of each subspace: those of `groups`, or random ones.

        Subspaces may overlap; random ones have all features nearly equally often. Without `named`,
        the groups hold directions of a transform, which have no names.
        """
        if self.groups:
            return self._parse_groups(problem, named)
        d = problem.n_features
        return deal(problem.seed.generator(), d, self.subspaces, self.size(d))

    def groupings(self, problem: Problem) -> list[list[IntArray]]:
        """Partition the features into groups, as often as the number of subspaces needs.

        The last partition may have more groups than are needed.
        """
        d = problem.n_features
        if self.groups:
            given = self._parse_groups(problem, named=True)
            counts = np.bincount(np.concatenate(given), minlength=d)
            if (counts != 1).any():
                feature = int(np.flatnonzero(counts != 1)[0])
                often = "in no group" if counts[feature] == 0 else "in several groups"
                called = feature if problem.names is None else repr(problem.names[feature])
                raise DataError(
                    f"{self.name}: groups must hold every feature once, but feature "
                    f"{called} is {often}"
                )
            return [given]
        n_groups = -(-d // self.size(d))
        generator = problem.seed.generator()
        return [
            [np.sort(group) for group in np.array_split(generator.permutation(d), n_groups)]
            for _ in range(-(-self.subspaces // n_groups))
        ]

    def check_width(self, problem: Problem, max_features: int) -> None:
        """Raise if a matrix of features by features would be too large."""
        if problem.n_features > max_features:
            raise DataError(
                f"{self.name} makes a matrix of features by features, and {problem.n_features} "
                f"features are more than max_features = {max_features}; use rd_subspaces or "
                "abd_subspaces, or raise max_features if the memory allows"
            )

    def _parse_groups(self, problem: Problem, named: bool) -> list[IntArray]:
        return [
            _parse_group(f"{self.name}: group {place}", group, problem, named)
            for place, group in enumerate(self.groups)
        ]


@attrs.frozen(eq=False)
class BlockSum(View):
    """A sum of blocks of features: feature j is added to feature `place[j]` of the result.

    Sparse rows stay sparse. The features of a `block` have different places, and `weights`
    (blocks,) are the factors of the blocks. The result has `width` features.
    """

    place: IntArray = attrs.field(
        metadata=axes("features", dtype=np.integer, at_least=0, below="width")
    )
    block: IntArray = attrs.field(
        metadata=axes("features", dtype=np.integer, at_least=0, below="blocks")
    )
    weights: FloatArray = attrs.field(metadata=axes("blocks"))
    width: int

    def __attrs_post_init__(self) -> None:
        """Raise for places out of bounds, which compiled code does not check."""
        if len(self.place) and not 0 <= self.place.min() <= self.place.max() < self.width:
            raise ValueError(f"BlockSum: places must be 0 to {self.width - 1}")

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes, width=self.width)
        if not 0 <= self.width <= sizes["features"]:
            raise ValueError(
                f"BlockSum.width is {self.width}, but must be 0 to {sizes['features']} features"
            )
        return sizes

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return plan.block_sum(self.place, self.weights[self.block], self.width)

    def apply(self, X: Matrix) -> Matrix:
        factors = self.weights[self.block]
        if sparse.issparse(X):
            summed = sparse.csr_array(
                (X.data * factors[X.indices], self.place[X.indices], X.indptr.copy()),
                shape=(X.shape[0], self.width),
            )
            summed.sum_duplicates()
            return summed
        result = np.zeros((X.shape[0], self.width))
        for number in range(len(self.weights)):
            mine = np.flatnonzero(self.block == number)
            result[:, self.place[mine]] += self.weights[number] * X[:, mine]
        return result


def deal(generator: np.random.Generator, n_items: int, n_hands: int, size: int) -> list[IntArray]:
    """Draw groups of `size` different items from a shuffled list, reshuffled when it is used up.

    All items are dealt equally often, up to one time.

    Examples
    --------
    >>> import numpy as np
    >>> from dcsvm.toolbox.subspaces import deal
    >>> [len(hand) for hand in deal(np.random.default_rng(0), 54, 4, 40)]
    [40, 40, 40, 40]
    """
    hands: list[IntArray] = []
    left: IntArray = np.zeros(0, dtype=np.intp)
    for _ in range(n_hands):
        hand = left[:size]
        left = left[size:]
        if len(hand) < size:
            order = generator.permutation(n_items)
            # Items that are already in the hand are left for the next one.
            again = np.isin(order, hand)
            fresh = order[~again]
            hand, left = (
                np.concatenate([hand, fresh[: size - len(hand)]]),
                np.concatenate([order[again], fresh[size - len(hand) :]]),
            )
        hands.append(np.sort(hand))
    return hands


def _parse_group(where: str, group: Any, problem: Problem, named: bool) -> IntArray:
    """Return the numbers of the features in a group."""
    if isinstance(group, str) or not isinstance(group, Sequence | np.ndarray):
        raise SettingError(f"{where} must be a list of features, got {group!r}")
    if not len(group):
        raise SettingError(f"{where} is empty")
    found = [_find_feature(where, each, problem, named) for each in group]
    if len(set(found)) < len(found):
        raise SettingError(f"{where} names a feature twice")
    return np.array(found, dtype=np.intp)


def _find_feature(where: str, feature: Any, problem: Problem, named: bool) -> int:
    d = problem.n_features
    if isinstance(feature, str):
        if not named:
            raise SettingError(
                f"{where} names {feature!r}, but directions have numbers only, 0 for the first"
            )
        if problem.names is None:
            raise DataError(f"{where} names {feature!r}, but the features have no names")
        if feature not in problem.names:
            raise DataError(
                f"{where}: no feature is called {feature!r}; "
                f"{did_you_mean(feature, problem.names)}"
            )
        return problem.names.index(feature)
    if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
        raise SettingError(f"{where} must hold numbers or names of features, got {feature!r}")
    if not 0 <= feature < d:
        raise DataError(f"{where} names feature {feature}, but the features are 0 to {d - 1}")
    return int(feature)
