"""Stacking: a second-level learner trained on the answers of the members."""

import logging
from collections.abc import Iterator
from typing import Any, Literal

import attrs
import numpy as np
from sklearn.base import clone

from dcsvm import (
    Combiner,
    Committee,
    LocalLearner,
    LocalModel,
    Problem,
    Routing,
    SettingError,
    component,
    setting,
)
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step, axes, check_array
from dcsvm.toolbox import Combination, Constant, Scaling, View, rank_classes

#: Rows that the second level predicts at a time; its feature space may be large.
BLOCK_ROWS = 1024
#: Answers with a deviation below this share of the largest answer count as constant.
FAINT = 1e-9
#: The answer for a class that no member covers: a certain no.
UNSPOKEN = -1.0

log = logging.getLogger("dcsvm.fusion")


@attrs.frozen(eq=False)
class Fused(Combination):
    """What fusion has learned: who sees which answers, and what becomes of them.

    There is one model for all classes, or one for each class that is `present` (k,), and the
    `columns` of the committee's table that it sees. `limits` (2, columns) are the least and the
    largest answers that were learned from; others count as these, since nothing is known of what
    lies beyond. `answers` is "scores" or "labels", and `about` says how the second level was made.
    """

    models: tuple[LocalModel, ...]
    columns: tuple[IntArray, ...]
    present: IntArray = attrs.field(
        metadata=axes("present", dtype=np.integer, at_least=0, below="classes")
    )
    scaling: View
    limits: FloatArray = attrs.field(metadata=axes(2, "answers"))
    answers: Literal["scores", "labels"]
    about: str

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        n, k = len(self.models), sizes["present"]
        if n not in (1, k) or n != len(self.columns) or len(np.unique(self.present)) < k or not n:
            raise ValueError(
                f"Fused.models must be one, or one for each of {k} classes, with columns for each"
            )
        width = 1 if n > 1 or k == 2 else k
        for model, columns in zip(self.models, self.columns, strict=True):
            check_array(
                *("Fused.columns", columns, "columns"),
                dtype=np.integer,
                at_least=0,
                below=sizes["answers"],
            )
            model.check_stored(features=len(columns), columns=width)
        if self.scaling.count_features(sizes["answers"]) != sizes["answers"]:
            raise ValueError("Fused.scaling must keep the number of answers")
        return sizes

    def check_committee(self, committee: Committee) -> None:
        self.check_stored(classes=committee.n_classes, answers=len(committee.table_code))

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        scores = fill_gaps(committee, committee.table(X), self.answers)
        seen = self.scaling.apply(np.clip(scores, *self.limits))
        scores = np.full((X.shape[0], committee.n_classes), np.nan)
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            scores[rows, self.present] = self._score_classes(seen[rows])
        self._count_cost(committee, seen)
        return scores

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step | None:
        width = len(committee.table_code)
        scaling = self.scaling.add_to_plan(plan, width)
        models = []
        for model, columns in zip(self.models, self.columns, strict=True):
            step = model.add_to_plan(plan, len(columns))
            if step is None:
                step = plan.ask(model.scores, len(columns), self._count_outputs())
            models.append(plan.chain(plan.columns(width, columns), step))
        if scaling is None:
            return None
        by_label = self.answers == "labels"
        return plan.stack(models, self.present, self.limits, scaling, by_label=by_label)

    def _count_outputs(self) -> int:
        """The columns of scores of each model."""
        return 1 if len(self.models) > 1 else max(1, len(self.present) * (len(self.present) > 2))

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        return [self.about] + [
            f"class {label} has the fused score {scores[label]:.4g}"
            for label in rank_classes(scores)
        ]

    def _score_classes(self, seen: FloatArray) -> FloatArray:
        """The scores (n, k) of the classes that are present."""
        scores = [
            model.scores(seen[:, columns])
            for model, columns in zip(self.models, self.columns, strict=True)
        ]
        if len(scores) == 1 and len(self.present) == 2:
            return np.hstack([-scores[0], scores[0]])
        return np.hstack(scores)

    def _count_cost(self, committee: Committee, seen: FloatArray) -> None:
        """Let the committee's cost counter know what the second level took."""
        if committee.cost_counter is None:
            return
        none = np.zeros(0, dtype=np.intp)
        for model, columns in zip(self.models, self.columns, strict=True):
            # A nested classifier may have a different cost for each row.
            cost, ones = model.answer(seen[:, columns])[1], np.ones(len(seen))
            committee.cost_counter.add_routing(
                Routing(
                    none,
                    none,
                    None,
                    cost.hyperplanes * ones,
                    cost.unique_kernel_evaluations * ones,
                )
            )


@component
class Fusion(Combiner):
    """Stacking: a second-level learner whose features are the answers of the members.

    A group whose members all see every row gives their decision values; a group with a router
    gives one value per class. Answers are standardized with equal weight for each class, because
    the rows of a rare class would otherwise lie far out, and `learner` is trained on them.

    By default it trains on the answers for the members' own training rows, as in the paper.
    Members that overfit are then trusted too much; `folds` uses out-of-fold answers instead, at
    `folds` times the cost of training.

    Many members of many classes give many answers. If the learner would need more than `gigabytes`
    for all of them, each class gets a problem of its own with the answers for that class; if that
    is still too much, a simpler learner is used. Both are logged.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> spaces = build("decomposer", "rd_subspaces") + build("decomposer", "pca_subspaces")
    >>> clf = DivideAndConquerClassifier(spaces, "linear_svm", "fusion", random_state=0)
    >>> clf.fit((X - X.mean(axis=0)) / X.std(axis=0), y).model_.combination.about
    'fusion: trbf_krr learns from 8 answers, all at once'

    References
    ----------
    Wolpert: Stacked generalization (1992).
    Guo, Chen, Jiang, Ji, Kung: Efficient divide-and-conquer classification based on feature-space
    decomposition (2015).
    """

    name = "fusion"
    # It learns how much each member counts, so weights of members would be lost.
    accepts = frozenset(
        {"one part", "regions", "subsets", "subspaces", "class pairs", "class codes", "groups"}
    )
    wants_answers = True
    stored_types = (Fused,)

    learner: Any = setting("trbf_krr", kind="learner", help="second-level learner")
    answers: Literal["scores", "labels"] = setting(
        "scores", help="use the decision values of the members, or only the winning class"
    )
    folds: int = setting(
        0,
        at_least=0,
        at_most=100,
        help="number of folds for out-of-fold answers; 0 or 1 for in-sample answers",
    )
    centre: Literal["classes", "rows"] = setting(
        "classes", help="standardize with classes of equal weight, or with rows of equal weight"
    )
    form: Literal["auto", "joint", "by_class"] = setting(
        "auto", help="one problem for all classes, or one per class; auto decides by memory"
    )
    gigabytes: float = setting(1.0, above=0, help="memory limit of the second level")

    def fit(self, committee: Committee, problem: Problem, answers: FloatArray | None) -> Fused:
        assert answers is not None
        table = fill_gaps(committee, answers, self.answers)
        present, y = np.unique(problem.y, return_inverse=True)
        masses = None if self.centre == "rows" else 1.0 / np.bincount(y)[y]
        scaling = standardize(table, masses)
        seen = scaling.apply(table)
        columns: list[IntArray] = [
            np.flatnonzero(committee.table_code[:, label]) for label in present.tolist()
        ]
        learner, joint, about = self._plan(problem.n_rows, table.shape[1], columns)
        if learner.pairwise:
            raise SettingError(
                "fusion: the learner must not use a precomputed kernel; its features are answers"
            )
        if joint:
            columns, sides = [np.arange(table.shape[1])], [(y, len(present))]
        else:
            sides = [((y == label).astype(np.intp), 2) for label in range(len(present))]
        models = [
            self._fit_model(
                learner, attrs.evolve(problem.with_child_seed(place), X=seen[:, mine], y=side), k
            )
            for place, (mine, (side, k)) in enumerate(zip(columns, sides, strict=True))
        ]
        limits = np.array([table.min(axis=0), table.max(axis=0)])
        return Fused(tuple(models), tuple(columns), present, scaling, limits, self.answers, about)

    def check_committee(self, committee: Committee) -> None:
        raise ValueError("fusion must be fitted: a classifier holds what it has learned as Fused")

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        raise NotImplementedError("fusion must be fitted first")

    def _fit_model(self, learner: LocalLearner, problem: Problem, n_classes: int) -> Any:
        if n_classes == 1:
            return Constant()
        if problem.n_features == 0:  # no member speaks of this class: it is never the answer
            return Constant(-1.0)
        return learner.fit(attrs.evolve(problem, n_classes=n_classes, start=None, names=None))

    def _plan(
        self, n_rows: int, n_answers: int, columns: list[IntArray]
    ) -> tuple[LocalLearner, bool, str]:
        """Choose the learner and whether it trains on all classes at once; describe the choice."""
        widest = max(len(each) for each in columns)
        joint = self.form == "joint" or len(columns) <= 2
        if self.form == "auto" and not joint:
            needed = self.learner.memory(n_rows, n_answers)
            joint = needed <= self.gigabytes * 1e9
            if not joint:
                log.info(
                    "fusion: %d answers at once would take %.3g GB; each of %d classes has a "
                    "problem of %d answers instead",
                    n_answers,
                    needed / 1e9,
                    len(columns),
                    widest,
                )
        learner = self.learner
        for smaller in _simplify(learner):
            if learner.memory(n_rows, n_answers if joint else widest) <= self.gigabytes * 1e9:
                break
            learner = smaller
        name = learner.name or type(learner).__name__
        about = f"fusion: {name} learns from {n_answers} answers, all at once"
        if not joint:
            about = f"fusion: {name} learns each class from up to {widest} of {n_answers} answers"
        if learner is not self.learner:
            about += f", as {_describe_change(self.learner, learner)} to fit {self.gigabytes:g} GB"
            log.warning(about)
        return learner, joint, about


def standardize(table: FloatArray, masses: FloatArray | None = None) -> View:
    """Return a scaling to mean 0 and deviation 1 of rows with weights `masses`.

    Columns that vary a billion times less than the largest answer count as constant, so that
    rounding errors are not amplified.
    """
    means = np.average(table, axis=0, weights=masses)
    deviations = np.sqrt(np.average((table - means) ** 2, axis=0, weights=masses))
    varying = deviations > FAINT * np.abs(table).max()
    factors = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varying)
    return Scaling("standard", means, factors)


def fill_gaps(committee: Committee, table: FloatArray, answers: str) -> FloatArray:
    """Return the table without NaN; for labels, +1 for the winning class and -1 otherwise."""
    values = np.where(np.isnan(table), UNSPOKEN, table)
    if answers == "scores":
        return values
    wins = np.where(values > 0, 1.0, -1.0)
    for columns in _split_columns(committee):
        if len(columns) > 1:
            block = np.full((len(values), len(columns)), -1.0)
            block[np.arange(len(values)), values[:, columns].argmax(axis=1)] = 1.0
            wins[:, columns] = block
    return wins


def _split_columns(committee: Committee) -> Iterator[IntArray]:
    """Yield the columns of the committee's table of each member or routed group."""
    start = 0
    for group in committee.groups:
        codes = [member.code for member in committee.members[group.first : group.last]]
        widths = [len(code) for code in codes]
        if group.router is not None:
            widths = [1 if committee.n_classes == 2 else committee.n_classes]
        for width in widths:
            yield np.arange(start, start + width)
            start += width


def _simplify(learner: LocalLearner) -> Iterator[LocalLearner]:
    """Yield simpler and simpler learners, as long as there is one."""
    following = learner.simpler()
    while following is not None:
        yield following
        following = following.simpler()


def _describe_change(before: LocalLearner, after: LocalLearner) -> str:
    """Describe the settings that have changed: `order 1 instead of 2`."""
    was, now = clone(before).get_params(deep=False), after.get_params(deep=False)
    return ", ".join(
        f"{name} {now[name]} instead of {was[name]}" for name in now if now[name] != was[name]
    )
