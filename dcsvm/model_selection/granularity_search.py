"""The granularity search as a scikit-learn meta-estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from dcsvm.base.component import check_value, component
from dcsvm.base.cost import Cost
from dcsvm.base.errors import CompositionError, SettingError, did_you_mean
from dcsvm.base.routing import Level
from dcsvm.base.seed import DIVISION
from dcsvm.classifier import DivideAndConquerClassifier, Strategy
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import CallbackSupport, SklearnCallbacks, with_callbacks
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.drive.validation import without_levels
from dcsvm.model_selection.levels import (
    SHARES_OF_ROWS,
    FixedDivision,
    LevelSearch,
    Step,
    assign_cells,
    is_undivided,
    parts_of,
)
from dcsvm.model_selection.named_scores import check_score
from dcsvm.model_selection.path_job import Cell
from dcsvm.model_selection.validation_rows import ValidationSplit
from dcsvm.numeric.array_types import FloatArray

#: The values of C and gamma that the TD paper tries: 63 cells.
PAPER_GRID: Mapping[str, Sequence[float]] = {
    "learner__C": [10.0**power for power in range(-1, 6)],
    "learner__gamma": [10.0**power for power in range(-4, 5)],
}
LEARNER, DECOMPOSER = "learner__", "decomposer__"


def _has_probabilities(search: GranularitySearch) -> bool:
    return hasattr(getattr(search, "best_estimator_", search.estimator), "predict_proba")


@component
class GranularitySearch(CallbackSupport, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Searches for the granularity of a division and the parameters of its learner.

    All parameters are tried on the smallest parts, where that is cheap, and the best few of them
    on ever larger parts, as long as the score on held-out rows improves. The decomposer must have
    levels.

    Parameters
    ----------
    estimator : DivideAndConquerClassifier
    param_grid : dict or list of dicts, optional
        Values by name, for settings of the learner: `{"learner__C": [1, 10]}`. None means C in
        10^-1 .. 10^5 and gamma in 10^-4 .. 10^4.
    top : int, default=5
        How many cells of the finest level are tried at coarser levels.
    factor : int, default=4
        The growth of the parts from one level to the next.
    min_gain : float, default=0.005
        The search stops at a level that gains less accuracy than this.
    levels : int, optional
        The maximum number of levels. 1 searches the grid on the division as it is.
    scoring : str, default="accuracy"
        The score of a cell: "accuracy", "balanced_accuracy", which gives every class the same
        weight, "log_loss", "brier", "roc_auc", "average_precision", "calibration_error", or the
        name of another scorer of scikit-learn for one label per row. Probabilities are learned
        from halves of the held-out rows; losses are negative.
    validation : float or array of row numbers, default=0.2
        The rows to hold out: a share of every class, or row numbers. Ignored if `fit` gets some.
    per_part : bool, default=False
        Whether each part uses the parameters that are best for its own held-out rows. The score
        of a level is then a maximum over many small samples, and too optimistic.
    seconds : float, optional
        The time budget; no further level is started after it.
    refit : bool or "training", default=True
        True: fit all rows with the best parameters, as the searches of scikit-learn do, undivided
        if that was best. "training": fit only the rows that were not held out, with the division
        that was searched, as the paper does; always so with `per_part`. False: only search.
    n_jobs : int, optional
        How many parts are trained at the same time; does not affect the result.
    random_state : int, RandomState instance or None
        Selects the held-out rows, and is the random state of the estimator if it has none.

    Attributes
    ----------
    best_params_ : dict
        The settings of the best level and its best cell, for `estimator.set_params`.
    best_score_ : float
        Its accuracy on the held-out rows.
    best_estimator_ : DivideAndConquerClassifier
    undivided_ : bool
        Whether the undivided problem scored best.
    part_params_ : list of dict
        With `per_part`: the best cell of each part of the chosen level.
    results_ : dict of arrays
        One entry for every level and cell tried: `level`, `parts`, `params`, a `param_...` for
        each name, `mean_test_score`, `rank_test_score`, `nsv` (kernel evaluations for a held-out
        row), `seconds` of work.
    stopped_ : str
        Why the search stopped.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from dcsvm import DivideAndConquerClassifier, GranularitySearch, build
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=300))
    >>> grid = {"learner__C": [1, 10], "learner__gamma": [0.1, 1, 10]}
    >>> search = GranularitySearch(clf, grid, random_state=0).fit(X[:1200] / 16, y[:1200])
    >>> search.score(X[1200:] / 16, y[1200:]) > 0.9
    True

    References
    ----------
    Chang, Guo, Lin, Lu: Tree decomposition for large-scale SVM problems (2010), section 2.2.
    """

    name = "granularity_search"

    # scikit-learn wants constructors that accept anything: `fit` checks these, not attrs.
    estimator: Any = attrs.field()
    param_grid: Any = None
    top: int = attrs.field(default=5, metadata={"limits": {"at_least": 1}})
    factor: int = attrs.field(default=4, metadata={"limits": {"at_least": 2}})
    min_gain: float = 0.005
    levels: int | None = attrs.field(default=None, metadata={"limits": {"at_least": 1}})
    scoring: str = "accuracy"
    validation: Any = 0.2
    per_part: bool = False
    seconds: float | None = attrs.field(default=None, metadata={"limits": {"above": 0}})
    refit: bool | Literal["training"] = True
    n_jobs: Any = None
    random_state: Any = None

    @with_callbacks  # type: ignore[untyped-decorator, unused-ignore]
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> GranularitySearch:
        """Search with rows X (n, d) and labels y (n,), judged by X_val and y_val if given."""
        return self.fit_with(Engine(self.n_jobs), X, y, sample_weight, X_val=X_val, y_val=y_val)

    def fit_with(
        self,
        engine: Engine,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
    ) -> GranularitySearch:
        """Like `fit`, on a given engine, which may have observers and checkpoints."""
        for name in self.get_params(deep=False):
            check_value(type(self), name, getattr(self, name))
        check_score(self.scoring)
        if self.per_part and self.scoring not in SHARES_OF_ROWS:
            raise SettingError(
                f"granularity_search: per_part compares the parts by accuracy, not by "
                f"{self.scoring!r}: leave out one of them"
            )
        validate_data(self, X, skip_check_array=True)
        random_state = check_random_state(self.random_state)
        estimator, strategy = self._resolve(random_state)
        cells = self._list_cells(strategy)
        if X_val is not None or y_val is not None:
            rows = ValidationSplit.from_validation(X, y, sample_weight, X_val, y_val)
        else:
            rows = ValidationSplit.split(
                X, y, sample_weight, estimator, self.validation, random_state
            )
        balanced = self.scoring == "balanced_accuracy"
        problem, held_out = rows.build_problems(estimator, balanced=balanced)
        if lacking := without_levels(strategy.decomposer, default_registry()):
            raise CompositionError(f"{lacking}; for any other there is GridSearchCV")
        callbacks = [SklearnCallbacks(self)] if getattr(self, "_skl_callbacks", ()) else []
        engine = attrs.evolve(engine, observers=(*engine.observers, *callbacks))
        work = None if self.seconds is None else self.seconds * engine.count_cores()
        search = LevelSearch(
            *(self.top, self.factor, self.min_gain, self.per_part, work, self.levels),
            self.scoring,
        )
        steps, best, self.stopped_ = engine.run(search.steps(strategy, problem, held_out, cells))
        self.classes_ = estimator.classes_
        self.results_ = _tabulate(steps)
        self.best_score_ = search.score(best)
        self.best_params_ = _name_params(best, best.best)
        self.undivided_ = is_undivided(best.level)
        if self.per_part:
            self.part_params_ = [
                _prefix_cell(best.cells[place]) for place in best.find_best_by_part()
            ]
        if self.refit:
            self.best_estimator_ = self._refit(engine, estimator, best, rows)
        for each in callbacks:
            each.on_fit_end()
        return self

    def predict(self, X: Any) -> Any:
        """The labels of rows X (n, d)."""
        return self._get_best().predict(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of rows X: (n, n_classes), or (n,) for two classes, positive for the second."""
        return self._get_best().decision_function(X)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator, unused-ignore]
    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of the classes for rows X (n, d): (n, n_classes)."""
        return self._get_best().predict_proba(X)  # type: ignore[no-any-return]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator, unused-ignore]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of `predict_proba`."""
        return self._get_best().predict_log_proba(X)  # type: ignore[no-any-return]

    def cost(self, X: Any) -> Cost:
        """The cost of predicting each row of X."""
        return self._get_best().cost(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = bool(getattr(self.estimator, "pairwise", False))
        return tags

    def _get_best(self) -> DivideAndConquerClassifier:
        check_is_fitted(self, "results_")
        if not self.refit:
            raise AttributeError("refit is False, so no model was fitted with the best parameters")
        return self.best_estimator_

    def _resolve(self, random_state: Any) -> tuple[DivideAndConquerClassifier, Strategy]:
        """The estimator with components instead of names and with a seed, and its strategy."""
        if not isinstance(self.estimator, DivideAndConquerClassifier):
            raise SettingError(
                "granularity_search: estimator must be a DivideAndConquerClassifier, got "
                f"{self.estimator!r}"
            )
        estimator = clone(self.estimator)
        strategy = Strategy.of(estimator.decomposer, estimator.learner, estimator.combiner)
        if strategy.combiner.wants_answers:
            raise CompositionError(
                f"combiner {strategy.combiner.name!r} is trained on the predictions of its "
                "members, so a search cannot score parts without it; search with another "
                "combiner, then set this one"
            )
        if estimator.random_state is None:
            estimator.random_state = int(random_state.randint(2**31 - 1))
        estimator.set_params(**{kind: getattr(strategy, kind) for kind in KINDS})
        return estimator, strategy

    def _list_cells(self, strategy: Strategy) -> list[Cell]:
        """The grid as settings of the learner; raise if a value is not allowed."""
        known = strategy.learner.get_params()
        cells: list[Cell] = []
        for point in ParameterGrid(PAPER_GRID if self.param_grid is None else self.param_grid):
            for name in point:
                if name.removeprefix(LEARNER) not in known or not name.startswith(LEARNER):
                    if name.startswith(DECOMPOSER):
                        raise SettingError(
                            f"granularity_search: the grid lists settings of the learner, not "
                            f"{name!r}: levels begin with what the decomposer is set to, and each "
                            f"is {self.factor} times as coarse as the one before (factor); try "
                            "its other settings with GridSearchCV, or with one search each"
                        )
                    names = [LEARNER + each for each in known]
                    meant = LEARNER + name.rpartition("__")[2]
                    raise SettingError(
                        f"granularity_search: the grid's {name!r} is no setting of learner "
                        f"{strategy.learner.name!r}; {did_you_mean(meant, names)}"
                    )
            cells.append({name.removeprefix(LEARNER): value for name, value in point.items()})
            clone(strategy.learner).set_params(**cells[-1])
        return cells

    def _refit(
        self,
        engine: Engine,
        estimator: DivideAndConquerClassifier,
        best: Step,
        rows: ValidationSplit,
    ) -> DivideAndConquerClassifier:
        chosen: DivideAndConquerClassifier = clone(estimator).set_params(**self.best_params_)
        if self.refit is True and not self.per_part and not rows.own_validation:
            if self.undivided_ and self.levels != 1:
                self.best_params_ |= self.build_undivided_params(*rows.everything)
                chosen.set_params(**self.best_params_)
            return chosen.fit_with(engine, *rows.everything)
        # The rows are those of the search, and so is the division: nothing is divided again.
        decomposer, level = chosen.decomposer, best.level
        if self.per_part:
            level = assign_cells(level, chosen.learner, best)
        chosen.set_params(decomposer=FixedDivision(level, decomposer))
        chosen.fit_with(engine, *rows.training)
        chosen.set_params(decomposer=decomposer)
        return chosen

    def build_undivided_params(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]:
        """The settings of the decomposer that leave rows X undivided; empty if none do."""
        estimator, strategy = self._resolve(check_random_state(self.random_state))
        problem = estimator._problem(X, y, sample_weight).with_child_seed(DIVISION)
        levels = strategy.decomposer.levels(problem, self.factor)
        return next((_prefix_level(each) for each in levels if is_undivided(each)), {})


def _name_params(step: Step, place: int) -> dict[str, Any]:
    """The parameters of an estimator for a level and one of its cells."""
    return _prefix_level(step.level) | _prefix_cell(step.cells[place])


def _prefix_level(level: Level) -> dict[str, Any]:
    return {DECOMPOSER + name: value for name, value in level.settings.items()}


def _prefix_cell(cell: Cell) -> dict[str, Any]:
    return {LEARNER + name: value for name, value in cell.items()}


def _tabulate(steps: Sequence[Step]) -> dict[str, Any]:
    """The results of all cells, in the layout of scikit-learn's `cv_results_`."""
    params = [_name_params(step, place) for step in steps for place in range(len(step.cells))]
    sizes = [len(step.cells) for step in steps]
    scores = np.concatenate([step.results.scores for step in steps])
    table: dict[str, Any] = {
        "level": np.repeat(np.arange(len(steps)), sizes),
        "parts": np.repeat([len(parts_of(step.level)) for step in steps], sizes),
        "params": params,
        "mean_test_score": scores,
        "rank_test_score": 1 + (scores[None, :] > scores[:, None]).sum(axis=1),
        "nsv": np.concatenate([step.results.evaluations for step in steps]),
        "seconds": np.concatenate([step.results.seconds for step in steps]),
    }
    for name in dict.fromkeys(name for each in params for name in each):
        values = np.empty(len(params), dtype=object)
        values[:] = [each.get(name) for each in params]
        missing = [name not in each for each in params]
        table[f"param_{name}"] = np.ma.MaskedArray(values, mask=missing)
    return table
