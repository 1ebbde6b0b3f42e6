"""Fitted strategies, and their prediction in chunks of rows."""

import functools
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

import attrs
import joblib
import numpy as np
from scipy import sparse

from dcsvm.base.combiner import Combination
from dcsvm.base.cost import Cost
from dcsvm.base.errors import CompositionError, ContractError, SettingError
from dcsvm.base.models import Constant, Hyperplanes, KernelExpansion, LocalModel, winners
from dcsvm.base.stored_fields import PlainState
from dcsvm.base.threads import find_blas
from dcsvm.drive.calibration import Calibration, equalize_ties, exponentiate
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.committee.group import describe_size, find_yields
from dcsvm.drive.committee.strategy_plan import NOTHING, add_margins_to_plan, add_strategy_to_plan
from dcsvm.drive.masked_scores import floor_masked
from dcsvm.drive.validation import check_jobs
from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.expansion.expansion import NATIVE_KINDS
from dcsvm.numeric.plan_runner import PlanRunner
from dcsvm.numeric.row_plan import Plan, Step

Answer = TypeVar("Answer")
Method = TypeVar("Method", bound=Callable[..., Any])

#: Rows per chunk. It grows with the number of regions, for enough rows in each, up to a limit. It
#: does not depend on the machine, so neither do the results.
CHUNK_ROWS, EACH_REGION, MOST_ROWS = 2**15, 256, 2**18
#: Below this many rows, limiting the threads of BLAS would take longer than the prediction.
SMALL = 256
#: Up to this many rows are predicted by the plan, more by those that run in blocks. Such a block
#: has at most PLANNED rows; rows below SHARED are one block. No result depends on blocks.
FEW, PLANNED, SHARED = 32, 2**16, 2**13


@attrs.frozen(eq=False, repr=False, slots=False)
class FittedStrategy(PlainState, LocalModel):
    """A committee with its combination: the model of a DivideAndConquerClassifier."""

    committee: Committee
    combination: Combination
    calibration: Calibration | None = None
    ledger: list[Any] = attrs.field(factory=list, metadata={"stored": False})
    #: The plans of scores (True) and of margins, once asked for: None if there is none.
    _plans: dict[bool, PlanRunner | None] = attrs.field(
        factory=dict, init=False, metadata={"stored": False}
    )

    def __repr__(self) -> str:
        return (
            f"FittedStrategy({describe_size(self.committee)}, {type(self.combination).__name__})"
        )

    def with_committee(
        self, committee: Committee, accepts: frozenset[str], n_features: int
    ) -> "FittedStrategy":
        """Return the same strategy with another committee; raise if it does not suit.

        `accepts` are the words of the combiner. Members of the former kinds suit in any case.
        """
        if committee.n_classes != self.committee.n_classes:
            raise SettingError(
                f"the committee is one of {committee.n_classes} classes, but the classifier has "
                f"{self.committee.n_classes}"
            )
        unfit = find_yields(committee) - find_yields(self.committee) - accepts
        if unfit:
            raise SettingError(
                f"the committee has {', '.join(sorted(unfit))}, but the combiner of the "
                f"classifier works with {', '.join(sorted(accepts))}"
            )
        regions = None if self.calibration is None else self.calibration.regions
        if regions is not None and len(regions) != len(committee.members):
            raise SettingError(
                f"the classifier has probabilities for the regions of {len(regions)} members, but "
                f"the committee has {len(committee.members)}: fit without probabilities to "
                "change their number"
            )
        try:
            committee.check_stored(features=n_features)
        except ValueError as error:
            raise SettingError(
                f"a member does not suit the {n_features} features of the classifier: {error}"
            ) from error
        try:
            self.combination.check_committee(committee)
        except ValueError as error:
            raise CompositionError(
                f"the new members cannot be combined like the old ones: {error}"
            ) from error
        return attrs.evolve(self, committee=committee)

    def check_stored(self, **sizes: int) -> dict[str, int]:
        columns = 1 if self.committee.n_classes == 2 else self.committee.n_classes
        if sizes.get("columns", columns) != columns:
            raise ValueError(
                f"FittedStrategy has {columns} columns of scores, but must have {sizes['columns']}"
            )
        if "features" in sizes:
            self.committee.check_stored(features=sizes["features"])
            self.combination.check_committee(self.committee)
        if self.calibration is not None:
            self.calibration.check_stored(
                classes=self.committee.n_classes,
                members=len(self.committee.members),
                **{key: sizes[key] for key in ("features",) if key in sizes},
            )
            known = [each.label_classes is not None for each in self.committee.members]
            if self.calibration.source == "members" and not all(known):
                raise ValueError("FittedStrategy has a member whose scores are not of classes")
        return sizes

    def scores(self, X: Matrix) -> FloatArray:
        plan = self._plan(X)
        scores = None if plan is None else plan.scores(X)
        return _in_columns(self._combine(self.committee, X)) if scores is None else scores

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        committee = self.committee.with_counter(X.shape[0])
        scores = _in_columns(self._combine(committee, X))
        assert committee.cost_counter is not None
        return scores, committee.cost_counter.cost(self.committee.members)

    def labels(self, X: Matrix) -> IntArray:
        plan = self._plan(X)
        labels = None if plan is None else plan.labels(X)
        if labels is None:
            labels = self.combination.labels(self.committee, X)
        return winners(self.scores(X)) if labels is None else labels

    def count_cost(self, X: Matrix) -> Cost:
        """The cost of predicting each row of X (n, d)."""
        committee = self.committee.with_counter(X.shape[0])
        counted = self.calibration is None and self.combination.counts_labels
        if not counted or self.combination.labels(committee, X) is None:
            return self.answer(X)[1]
        assert committee.cost_counter is not None
        return committee.cost_counter.cost(committee.members)

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        return add_strategy_to_plan(plan, self.committee, self.combination, n_features)

    def compile(self, n_features: int, votes: bool = True) -> PlanRunner | None:
        """The strategy as a plan; None if its combination has Python code only.

        Without votes, the plan gives margins, as `add_margins_to_plan` says.
        """
        if votes not in self._plans:
            plan = Plan(votes)
            add = add_strategy_to_plan if votes else add_margins_to_plan
            root = add(plan, self.committee, self.combination, n_features)
            self._plans[votes] = None if root is None else PlanRunner(plan, root)
        return self._plans[votes]

    def runs_in_blocks(self, X: Matrix, votes: bool = True) -> bool:
        """Whether rows X, however many, are predicted by the plan."""
        if native.library is None or sparse.issparse(X) or not self._suits_blocks:
            return False
        runner = self.compile(X.shape[1], votes)
        return runner is not None and runner.in_blocks

    @cached_property
    def _suits_blocks(self) -> bool:
        """Whether this is a forest of simple models, for which a plan is as fast as numpy."""
        groups, members = self.committee.groups, self.committee.members
        regions = any(group.router is not None for group in groups)
        return regions and len(groups) > 1 and all(_is_fast(each.model) for each in members)

    def _plan(self, X: Matrix, votes: bool = True) -> PlanRunner | None:
        """The plan for rows X, if it is faster than asking members one by one."""
        if native.library is None or sparse.issparse(X) or not X.shape[0]:
            return None
        few = X.shape[0] <= FEW
        return self.compile(X.shape[1], votes) if few or self.runs_in_blocks(X, votes) else None

    def margins(self, X: Matrix) -> FloatArray:
        return _in_columns(floor_masked(self.class_margins(X)))

    def class_margins(self, X: Matrix) -> FloatArray:
        """The margins of rows X by class, (n, n_classes), NaN where no member knows a class."""
        margins = self.combination.margins(self.committee.without_votes(), X)
        self._check_shape(margins, X, "margins")
        return margins

    def log_probabilities(self, X: Matrix) -> FloatArray:
        """The logarithms of the probabilities of rows X, (n, n_classes), of a calibrated model."""
        calibration = self.calibration
        assert calibration is not None
        if calibration.source == "members":
            return equalize_ties(calibration.complete(self.member_probabilities(X)))
        effects = calibration.effects
        added = None if effects is None else effects.evaluate(X)
        return equalize_ties(calibration.apply(*self._ask_margins(X), added))

    def _ask_margins(
        self, X: Matrix
    ) -> tuple[FloatArray, Callable[[IntArray], FloatArray], IntArray | None]:
        """What a calibration must know of rows X: margins, unknown classes and regions."""
        assert self.calibration is not None
        regional = self.calibration.regions is not None
        runner = self._plan(X, votes=False)
        scores = None if runner is None else runner.scores(X)
        if scores is None:
            regions = self.committee.find_assigned_members(X) if regional else None
            return (
                self.class_margins(X),
                lambda rows: self.committee.missing_class_mass(X[rows]),
                regions,
            )
        margins, least, region = scores[:, :-2], scores[:, -2], scores[:, -1]
        margins[margins == NOTHING] = np.nan
        if regional and region[0] < 0.0:
            return margins, lambda rows: least[rows], self.committee.find_assigned_members(X)
        return margins, lambda rows: least[rows], region.astype(np.intp) if regional else None

    def decide(self, X: Matrix) -> IntArray:
        """The classes (n,) of a calibrated model: the likeliest ones, or of the least cost."""
        assert self.calibration is not None
        logs = self.log_probabilities(X)
        return self.calibration.decide(
            logs if self.calibration.costs is None else exponentiate(logs)
        )

    def log_odds(self, X: Matrix) -> FloatArray:
        """Log-odds of the second of two classes, (n, 1); log-probabilities of several classes."""
        logs = self.log_probabilities(X)
        return logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs

    def member_probabilities(self, X: Matrix) -> FloatArray:
        """The probabilities of the combination; rows sum to less where members lack classes."""
        probabilities = self.combination.probabilities(self.committee, X)
        if probabilities is None:
            raise ContractError(
                f"{type(self.combination).__name__}.probabilities returned None for new rows"
            )
        return probabilities

    def probabilities(self, X: Matrix) -> FloatArray | None:
        if self.calibration is None:
            return self.combination.probabilities(self.committee, X)
        return exponentiate(self.log_probabilities(X))

    def _combine(self, committee: Committee, X: Matrix) -> FloatArray:
        """Return a finite score for each row and class: (n, classes)."""
        scores = self.combination.combine(committee, X)
        self._check_shape(scores, X, "combine")
        return floor_masked(scores)

    def _check_shape(self, scores: FloatArray, X: Matrix, method: str) -> None:
        wanted = (X.shape[0], self.committee.n_classes)
        if scores.shape != wanted:
            raise ContractError(
                f"{type(self.combination).__name__}.{method} returned shape {scores.shape} "
                f"where {wanted} was expected"
            )

    def find_division(self, X: Matrix) -> tuple[Committee, Matrix]:
        """The committee below strategies of a single member, and rows X as it sees them."""
        if len(self.committee.members) == 1:
            (member,) = self.committee.members
            if isinstance(member.model, FittedStrategy):
                return member.model.find_division(
                    X if member.view is None else member.view.apply(X)
                )
        return self.committee, X

    @property
    def support(self) -> IntArray:
        return self.committee.support

    @property
    def tells_support(self) -> bool:
        """Whether all members, at any depth, know their support vectors."""
        return all(member.model.tells_support for member in self.committee.members)

    @property
    def cost(self) -> Cost:
        raise ContractError("the cost of a strategy differs by row: use answer(X)")


def _is_fast(model: LocalModel) -> bool:
    """Whether the step of a model meets many rows as fast as numpy."""
    if isinstance(model, KernelExpansion):
        is_dense = not sparse.issparse(model.points.pool)
        return model.kernel.kind in NATIVE_KINDS and is_dense and model.spilled is None
    return isinstance(model, Constant | Hyperplanes)


def answer_dask(ask: Method) -> Method:
    """Let a method of a classifier answer dataframes and arrays of Dask lazily."""

    @functools.wraps(ask)
    def call(self: Any, X: Any) -> Any:
        if not hasattr(X, "__dask_graph__"):
            return ask(self, X)
        from dcsvm.drive.dask_collections import answer

        return answer(ask, self, X)

    return cast(Method, call)


def ask_in_chunks(
    model: LocalModel, question: Callable[[Matrix], Answer], X: Matrix, n_jobs: int | None = None
) -> list[Answer]:
    """Call a method of the model on chunks of rows X; results are in order."""
    if n_jobs is not None:
        check_jobs(n_jobs)
    if X.shape[0] < SMALL:
        return [question(X)]
    with find_blas(len(sys.modules)).limit(limits=1, user_api="blas"):
        if isinstance(model, FittedStrategy) and model.runs_in_blocks(
            X, model.calibration is None
        ):
            size = _share_rows(X.shape[0], joblib.effective_n_jobs(n_jobs))
        else:
            size = CHUNK_ROWS if X.shape[0] <= CHUNK_ROWS else chunk_size(model)
        if X.shape[0] <= size:
            return [question(X)]
        chunks = (X[start : start + size] for start in range(0, X.shape[0], size))
        parallel = joblib.Parallel(n_jobs, prefer="threads", return_as="generator")
        return list(parallel(joblib.delayed(question)(chunk) for chunk in chunks))


def chunk_size(model: LocalModel) -> int:
    """The number of rows per chunk: small chunks are slow with thousands of regions."""
    if not isinstance(model, FittedStrategy):
        return CHUNK_ROWS
    groups = model.committee.groups
    regions = [group.last - group.first for group in groups if group.router is not None]
    inside = [chunk_size(member.model) for member in model.committee.members]
    return max(CHUNK_ROWS, *inside, *(min(EACH_REGION * each, MOST_ROWS) for each in regions))


def _share_rows(n_rows: int, jobs: int) -> int:
    """The number of rows per block of a plan, so that all jobs have as many blocks."""
    if n_rows < SHARED:
        return n_rows
    blocks = jobs * -(-n_rows // (jobs * PLANNED))
    return -(-n_rows // blocks)


def count_cost(model: FittedStrategy, X: Matrix, n_jobs: int | None = None) -> Cost:
    """The cost of predicting each row of X."""
    costs = ask_in_chunks(model, model.count_cost, X, n_jobs)
    return Cost(*np.hstack([attrs.astuple(cost) for cost in costs]))


def _in_columns(scores: FloatArray) -> FloatArray:
    """Turn scores by class into a model's columns: one for two classes."""
    return (scores[:, 1:] - scores[:, :1]) / 2 if scores.shape[1] == 2 else scores


def is_finite(X: FloatArray) -> bool:
    """Whether all numbers are finite; many numbers are checked by their sum."""
    if X.size < 4096:
        return bool(np.isfinite(X).all())
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))
