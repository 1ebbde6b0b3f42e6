"""The classifier and its loop: divide the problem, train each stage, combine the answers."""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, overload

import attrs
import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from dcsvm.base.combiner import Combiner, fit_combination
from dcsvm.base.component import ModelFact, component
from dcsvm.base.cost import Cost
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.errors import DataError, SettingError, did_you_mean
from dcsvm.base.learner import LocalLearner, Steps
from dcsvm.base.models import LocalModel
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Division
from dcsvm.base.seed import DIVISION, PARTS, Seed
from dcsvm.base.stages import StagedDivision
from dcsvm.base.subproblem import FitResult, Record, Subproblem, record_results, subproblems
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.engine import Engine, run_inline
from dcsvm.drive.fitted_strategy import (
    FittedStrategy,
    answer_dask,
    ask_in_chunks,
    count_cost,
    is_finite,
)
from dcsvm.drive.held_out_margins import calibrate
from dcsvm.drive.memory_limit import check_division
from dcsvm.drive.observers import CallbackSupport, SklearnCallbacks, with_callbacks
from dcsvm.drive.out_of_fold import training_answers
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.drive.row_weights import compute_row_weights
from dcsvm.drive.validation import (
    Method,
    check_compatible,
    check_decision,
    check_kept,
    check_labels,
    check_method,
    find_costs,
    has_probabilities,
    learn_from_dask,
    validate_input,
)
from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, Matrix
from dcsvm.numeric.mapped_rows import MappedRows

Result = TypeVar("Result")
#: A generator for the engine: it yields lists of subproblems and is sent their results.
Work: TypeAlias = Generator[list[Subproblem], list[FitResult], Result]


@attrs.frozen(eq=False)
class Strategy:
    """A decomposer, a learner and a combiner that fit together, and the loop that uses them."""

    decomposer: Decomposer
    learner: LocalLearner
    combiner: Combiner
    probability: Method = "off"
    keep_rows: bool = False
    threshold: float | str | None = None
    costs: FloatArray | None = None

    @classmethod
    def of(
        cls,
        decomposer: object,
        learner: object,
        combiner: object,
        probability: Any = "off",
        keep_rows: bool = False,
    ) -> Strategy:
        """Look up names, and raise if the components do not fit together."""
        registry = default_registry()
        strategy = cls(
            registry.resolve("decomposer", decomposer),
            registry.resolve("learner", learner),
            registry.resolve("combiner", combiner),
            check_method(probability),
            keep_rows,
        )
        check_compatible(strategy.decomposer, strategy.learner, strategy.combiner, registry)
        return strategy

    def conquer(self, problem: Problem) -> Work[FittedStrategy]:
        """Divide the problem, train each stage, combine the answers.

        A generator, so that one engine can run strategies nested to any depth: it yields the
        subproblems of a stage and is sent their results.
        """
        ledger: list[Record] = []
        division = yield from self.train(problem, problem.seed, ledger)
        model = yield from self.combine(division, problem, ledger)
        if self.probability == "off":
            return model
        calibration = yield from calibrate(self, division, model, problem)
        return attrs.evolve(model, calibration=calibration)

    def combine(
        self, division: Division, problem: Problem, ledger: list[Record]
    ) -> Work[FittedStrategy]:
        """Fit the combiner to the trained members."""
        committee = Committee.of(division, problem.n_classes, self.keep_rows)
        answers = None
        if self.combiner.wants_answers:
            answers = yield from training_answers(self, committee, problem)
        combination = fit_combination(self.combiner, committee, problem, answers)
        return FittedStrategy(committee, combination, ledger=ledger)

    def train(self, problem: Problem, seed: Seed, ledger: list[Record]) -> Work[Division]:
        """Divide with the problem's seed, and train the parts with `seed`."""
        division = StagedDivision(self.decomposer.divide(problem.with_child_seed(DIVISION)))
        for stage, parts in enumerate(division):
            place = seed.child(PARTS, stage)
            jobs = subproblems(problem, parts, self.decomposer, self.learner, place)
            results = yield jobs
            members = [job.member(result) for job, result in zip(jobs, results, strict=True)]
            check_kept(self.decomposer, self.learner, members)
            record_results(ledger, stage, jobs, results)
            division.reply(members)
        return division.result


@component
class DivideAndConquerClassifier(CallbackSupport, ClassifierMixin, LocalLearner):
    """A classifier that divides a problem, learns each part and combines the predictions.

    Parameters
    ----------
    decomposer : Decomposer or str, default="tree"
    learner : LocalLearner or str, default="kernel_svm"
        May itself be a DivideAndConquerClassifier, to any depth.
    combiner : Combiner or str, default="route"
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with the row weights.
    probability : {"off", "auto", "scaling", "temperature"}, default="off"
        How `predict_proba` gets its probabilities. "auto" takes those of the members where these
        and the combiner have some, and otherwise learns a "scaling" of the scores: a sigmoid for
        two classes, a softmax for several. A "temperature" scales all classes alike. Learning
        takes half as long as training, or as long for few rows, since half of the rows are held
        out, or each half in turn. `predict` is then the class with the largest probability, and
        `decision_function` returns log-odds, or log-probabilities for several classes.
    threshold : float or "best f1", "best accuracy", "best balanced_accuracy", "best mcc", optional
        Of two classes, `predict` answers the one with fewer rows from this probability on; the
        "best" one is chosen by held-out rows.
    costs : dict, optional
        What it costs to miss a row of a class, or dicts of that by the class that is answered, 1
        by default: `predict` answers the class of least expected cost.
    n_jobs : int, optional
        How many parts are trained in parallel. The result does not depend on it.
    random_state : int, RandomState instance or None
        Seed of the random numbers; ignored in a nested classifier, which is seeded by its parent.
    keep_rows : bool, default=False
        Whether fitted members know the training rows of their parts, as `member.rows`.

    Attributes
    ----------
    classes_ : (n_classes,) array
    model_ : FittedStrategy
        The fitted committee and combination.
    ledger_ : list of Record
        One record for every part trained, nested ones included.
    n_rows_ : int, the number of training rows, without those of weight zero
    n_features_in_ : int
    feature_names_in_ : (d,) array of str, only for input with column names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y).score(X, y) > 0.9
    True
    """

    name = "divide_and_conquer"

    # scikit-learn requires that constructors accept anything; `fit` validates these.
    decomposer: Any = attrs.field(default="tree", metadata={"kind": "decomposer"})
    learner: Any = attrs.field(default="kernel_svm", metadata={"kind": "learner"})
    combiner: Any = attrs.field(default="route", metadata={"kind": "combiner"})
    class_weight: Any = None
    probability: Any = "off"
    threshold: Any = None
    costs: Any = None
    n_jobs: Any = attrs.field(default=None, metadata={"stored": False})
    random_state: Any = None
    keep_rows: Any = False

    @overload
    def fit(self, X: Problem) -> LocalModel: ...
    @overload
    def fit(self, X: Any, y: Any, sample_weight: Any = ...) -> DivideAndConquerClassifier: ...

    @learn_from_dask
    @with_callbacks  # type: ignore[untyped-decorator, unused-ignore]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from rows X (n, d) and labels y (n,); or, as a LocalLearner, from a Problem."""
        if isinstance(X, Problem):
            return run_inline(self.fit_in_steps(X))
        engine = Engine(self.n_jobs)
        if isinstance(X, MappedRows):
            check_division(self._strategy().decomposer, X.shape, engine.executor.memory)
        return self.fit_with(engine, X, y, sample_weight)

    def fit_with(
        self,
        engine: Engine,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        names: Sequence[str] | None = None,
    ) -> DivideAndConquerClassifier:
        """Fit on an engine with observers or checkpoints; `names` are the features of an array."""
        if native.missing:
            native.warn_of_numpy()
        strategy = self._strategy()
        problem = self._problem(X, y, sample_weight, names)
        costs = find_costs(self.threshold, self.costs, self.classes_)
        strategy = attrs.evolve(strategy, threshold=self.threshold, costs=costs)
        callbacks = [SklearnCallbacks(self)] if getattr(self, "_skl_callbacks", ()) else []
        engine = attrs.evolve(engine, observers=(*engine.observers, *callbacks))
        self.model_: FittedStrategy = engine.run(strategy.conquer(problem))
        self.ledger_ = self.model_.ledger
        for each in callbacks:
            each.on_fit_end()
        return self

    def fit_in_steps(self, problem: Problem) -> Steps:
        return self._strategy().conquer(problem)

    def set_params(self, **params: Any) -> DivideAndConquerClassifier:
        """Set parameters; a component given by name is built when one of its settings is set."""
        for name, depth in sorted((key.partition("__")[0], key.count("__")) for key in params):
            given = params.get(name, getattr(self, name, None))
            if name in KINDS and (depth > 1 or (depth and isinstance(given, str))):
                params = {**params, name: default_registry().resolve(name, given)}
        known = set(self.get_params(deep=False))
        for name in params:
            if name.partition("__")[0] not in known:
                raise SettingError(
                    f"{self.name} has no setting {name!r}; {self._suggest_setting(name)}"
                )
        super().set_params(**params)
        return self

    def _suggest_setting(self, name: str) -> str:
        """Suggest nested settings with this name, or list all settings."""
        settings = self.get_params()
        for kind in KINDS:
            given = getattr(self, kind)
            if isinstance(given, str) and (kind, given) in default_registry().offers:
                built = default_registry().build(kind, given)
                settings |= {f"{kind}__{key}": None for key in built.get_params()}
        paths = [repr(key) for key in sorted(settings) if key.rpartition("__")[2] == name]
        return f"did you mean {' or '.join(paths)}?" if paths else did_you_mean(name, settings)

    def check(self) -> None:
        self._strategy()

    @answer_dask
    def decision_function(self, X: Any) -> FloatArray:
        """Scores of rows X: (n, n_classes), or (n,) for two classes, positive for the second."""
        rows = self.check_rows(X)
        model = self.model_
        ask = model.scores if model.calibration is None else model.log_odds
        scores = np.concatenate(ask_in_chunks(model, ask, rows, self.n_jobs))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @answer_dask
    def predict(self, X: Any) -> Any:
        """Predict the labels of rows X (n, d)."""
        rows = self.check_rows(X)
        model = self.model_
        ask = model.labels if model.calibration is None else model.decide
        winners = ask_in_chunks(model, ask, rows, self.n_jobs)
        return self.classes_[winners[0] if len(winners) == 1 else np.concatenate(winners)]

    @available_if(has_probabilities)  # type: ignore[untyped-decorator, unused-ignore]
    @answer_dask
    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of the classes for rows X (n, d): (n, n_classes)."""
        rows = self.check_rows(X)
        model = self.model_
        return np.concatenate(ask_in_chunks(model, model.probabilities, rows, self.n_jobs))

    @available_if(has_probabilities)  # type: ignore[untyped-decorator, unused-ignore]
    @answer_dask
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of `predict_proba`."""
        return np.asarray(np.log(self.predict_proba(X)))

    def cost(self, X: Any) -> Cost:
        """The cost of predicting each row of X."""
        rows = self.check_rows(X)
        return count_cost(self.model_, rows, self.n_jobs)

    def with_committee(self, committee: Committee) -> DivideAndConquerClassifier:
        """Return a fitted copy that predicts by another committee of the same classes.

        `Committee.replace` and `Committee.merge` make one. What was learned elsewhere stays.
        """
        check_is_fitted(self)
        other, accepts = copy.copy(self), self._strategy().combiner.accepts
        other.model_ = self.model_.with_committee(committee, accepts, self.n_features_in_)
        return other

    @property
    def releases_gil(self) -> bool:  # type: ignore[override]
        return bool(self._strategy().learner.releases_gil)

    @property
    def keeps_support(self) -> bool | None:  # type: ignore[override]
        kept: bool | None = getattr(self.learner, "keeps_support", None)
        return kept

    @property
    def row_weights(self) -> Literal["approximate", "refused"]:  # type: ignore[override]
        """Whether its learner refuses row weights; no division is exact about them."""
        return "refused" if self._strategy().learner.row_weights == "refused" else "approximate"

    @property
    def pairwise(self) -> bool:
        return bool(getattr(self.learner, "pairwise", False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.pairwise
        return tags

    def check_rows(self, X: Any) -> Matrix:
        """Validate rows X (n, d), as `predict` does."""
        if self._is_valid(X):
            return X
        check_is_fitted(self)
        rows: Matrix = validate_input(self, X, reset=False)
        return rows

    def facts(self, classifier: DivideAndConquerClassifier, X: Any, y: Any) -> Iterable[ModelFact]:
        strategy = self._strategy()
        for each in (strategy.decomposer, strategy.learner, strategy.combiner):
            yield from each.facts(classifier, X, y)

    def _is_valid(self, X: Any) -> bool:
        """A fast check that X needs no validation, which takes longer than predicting a row."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and hasattr(self, "model_")
            and X.shape[1:] == (self.n_features_in_,)
            and len(X) > 0
            and not hasattr(self, "feature_names_in_")
            and is_finite(X)
        )

    def _strategy(self) -> Strategy:
        check_decision(self.threshold, self.costs, self.probability)
        kinds = self.decomposer, self.learner, self.combiner
        return Strategy.of(*kinds, self.probability, bool(self.keep_rows))

    def _problem(
        self, X: Any, y: Any, sample_weight: Any = None, names: Sequence[str] | None = None
    ) -> Problem:
        given, file = y, X if isinstance(X, MappedRows) else None
        X, y = validate_input(self, X, y)
        X = X if file is None else file
        check_labels(given)
        check_classification_targets(y)
        weights = None
        if sample_weight is not None or self.class_weight is not None:
            weights = compute_row_weights(X, y, sample_weight, self.class_weight)
            used = weights > 0
            X = X if file is not None and used.all() else X[used]
            y, weights = y[used], weights[used]
        self.classes_, y = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            found = ", ".join(repr(label) for label in self.classes_.tolist())
            weighing = "" if weights is None else f" in the {len(y)} rows with positive weight"
            raise DataError(
                f"y has only one class{weighing} ({found}); a classifier needs at least two"
            )
        self.n_rows_ = len(y)
        entropy = int(check_random_state(self.random_state).randint(2**31 - 1))
        names = getattr(self, "feature_names_in_", names)
        known = None if names is None else tuple(names)
        return Problem(X, y, len(self.classes_), Seed(entropy), weights, names=known)
