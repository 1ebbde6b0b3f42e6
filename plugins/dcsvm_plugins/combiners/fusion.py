"""A second-level learner that weighs what the members say."""

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
    Problem,
    Routing,
    SettingError,
    component,
    setting,
)
from dcsvm.numeric import FloatArray, IntArray, Matrix
from dcsvm.toolbox import Combination, Constant, Scaling, View, rank_classes

#: Rows that the second level answers at a time: its feature space may be large.
BLOCK_ROWS = 1024
#: Answers whose deviation is below this share of the largest answer are taken as constant.
FAINT = 1e-9
#: What stands for a class that no member asked could speak for: a certain no.
UNSPOKEN = -1.0

log = logging.getLogger("dcsvm.fusion")


@attrs.frozen(eq=False)
class Fused(Combination):
    """What fusion has learned: who sees which answers, and what becomes of them.

    Parameters
    ----------
    models : tuple of LocalModel
        One for all classes, or one for each of `present`.
    columns : tuple of (f,) int arrays
        The columns of the committee's table that each model sees.
    present : (k,) int array
        The classes that there were to learn.
    scaling : View
    limits : (2, columns) array
        The least and the largest answers that were learned from. Others count as these: nothing
        is known of what lies beyond.
    answers : {"scores", "labels"}
    about : str
        How the second level was made, in a sentence.
    """

    models: tuple[Any, ...]
    columns: tuple[IntArray, ...]
    present: IntArray
    scaling: View
    limits: FloatArray
    answers: str
    about: str

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        said = fill_gaps(committee, committee.table(X), self.answers)
        seen = self.scaling.apply(np.clip(said, *self.limits))
        scores = np.full((X.shape[0], committee.n_classes), np.nan)
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            scores[rows, self.present] = self._score_classes(seen[rows])
        self._count_cost(committee, seen)
        return scores

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        return [self.about] + [
            f"class {label} has the fused score {scores[label]:.4g}"
            for label in rank_classes(scores)
        ]

    def _score_classes(self, seen: FloatArray) -> FloatArray:
        """The scores (n, k) of the classes that are present."""
        said = [
            model.scores(seen[:, columns])
            for model, columns in zip(self.models, self.columns, strict=True)
        ]
        if len(said) == 1 and len(self.present) == 2:
            return np.hstack([-said[0], said[0]])
        return np.hstack(said)

    def _count_cost(self, committee: Committee, seen: FloatArray) -> None:
        """Let the committee's cost counter know what the second level took."""
        if committee.cost_counter is None:
            return
        none = np.zeros(0, dtype=np.intp)
        for model, columns in zip(self.models, self.columns, strict=True):
            # A pipeline as a second level takes something else for each row.
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
    """A learner of the second level, whose features are the answers of the members.

    A group that every row asks gives the decision values of all its members; one whose router
    sends rows to regions gives a value for each class. Answers are brought to mean 0 and deviation
    1, and `learner` learns the classes from them. Classes weigh the same in that mean: with the
    rows as they are, those of a rare class would lie so far out that a cut kernel forgets them.

    By default it learns from what members say of the rows they were trained on, as in the paper.
    Members that know their training rows by heart are then trusted too much; with `folds` it
    learns from members that have not seen the row, at `folds` times the cost of training.

    Many members of many classes give many answers. Where the learner would need more than
    `gigabytes` for all of them at once, each class has a problem of its own, with the answers that
    speak of that class only; where that is still too much, the learner is made simpler. Both are
    said in the log.

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
    wants_answers = True
    stored_types = (Fused,)

    learner: Any = setting("trbf_krr", kind="learner", help="who learns from the answers")
    answers: Literal["scores", "labels"] = setting(
        "scores", help="what members are asked for: decision values, or only who wins"
    )
    folds: int = setting(
        0,
        at_least=0,
        at_most=100,
        help="answers from so many folds; 0 or 1: of the rows that members learned",
    )
    centre: Literal["classes", "rows"] = setting(
        "classes", help="whose answers have mean 0: classes of equal weight, or rows as they are"
    )
    form: Literal["auto", "joint", "by_class"] = setting(
        "auto", help="one problem for all classes, or one for each; auto: by its size"
    )
    gigabytes: float = setting(
        1.0, above=0, help="what the second level may take before it is made smaller"
    )

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
                "fusion: its learner takes answers as features, and can have no precomputed kernel"
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

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        raise NotImplementedError("fusion combines after it was fitted")

    def _fit_model(self, learner: LocalLearner, problem: Problem, n_classes: int) -> Any:
        if n_classes == 1:
            return Constant()
        if problem.n_features == 0:  # no member speaks of this class: it is never the answer
            return Constant(-1.0)
        return learner.fit(attrs.evolve(problem, n_classes=n_classes, start=None, names=None))

    def _plan(
        self, n_rows: int, n_answers: int, columns: list[IntArray]
    ) -> tuple[LocalLearner, bool, str]:
        """The learner, whether it learns all classes at once, and that in a sentence."""
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
    """A scaling to mean 0 and deviation 1, of rows that weigh `masses`.

    It does not blow rounding errors up: an answer that changes a billion times less than all do
    says nothing, and counts as constant.
    """
    means = np.average(table, axis=0, weights=masses)
    deviations = np.sqrt(np.average((table - means) ** 2, axis=0, weights=masses))
    spoken = deviations > FAINT * np.abs(table).max()
    factors = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=spoken)
    return Scaling("standard", means, factors)


def fill_gaps(committee: Committee, table: FloatArray, answers: str) -> FloatArray:
    """The committee's table without gaps; of labels, +1 for the class that wins and -1 else."""
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
    """The columns of the committee's table that each member, or each routed group, has."""
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
    """Ever simpler learners, as long as there is one."""
    following = learner.simpler()
    while following is not None:
        yield following
        following = following.simpler()


def _describe_change(before: LocalLearner, after: LocalLearner) -> str:
    """The settings that are not what they were: `order 1 instead of 2`."""
    was, now = clone(before).get_params(deep=False), after.get_params(deep=False)
    return ", ".join(
        f"{name} {now[name]} instead of {was[name]}" for name in now if now[name] != was[name]
    )
