"""AutoClassifier: `dcsvm run auto` as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from dcsvm.base.component import check_value, component, settings_of
from dcsvm.base.errors import DataError
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.observers import ObserverGroup
from dcsvm.drive.registry import default_registry
from dcsvm.drive.validation import check_jobs, check_labels
from dcsvm.experiments.portfolio.portfolio_search import search_portfolio
from dcsvm.experiments.recipe import Recipe, find_recipe
from dcsvm.experiments.recipe.sections import change_search, find_search_mistakes
from dcsvm.experiments.run.load_data import build_pipeline
from dcsvm.experiments.run.run_context import RunContext
from dcsvm.experiments.run.search_result import LeaderboardEntry, SearchResult
from dcsvm.numeric.array_types import FloatArray
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.table_schema import TableSchema

#: The recipe that says what a blend is made of, and how missing values are treated.
AUTO = "auto"


@component
class AutoClassifier(ClassifierMixin, BaseEstimator):
    """Tries the recipes of a portfolio within a time budget, and keeps the best or a blend.

    Recipes are tried on growing samples, and the better half goes on. The last ones are judged by
    up to five folds; a blend of several takes the place of the best one where it has less
    log-loss and is not clearly less accurate. What was chosen then learns all rows. Rows may be
    arrays, sparse, or data frames with text, categories and missing values. Which recipes are
    tried, and how far they get, depends on the time that they take, so that two fits may differ.

    Parameters
    ----------
    seconds : float, default=120
        The time for everything.
    scoring : str, default="accuracy"
        What makes a model better: a score of [measure], or the name of a scorer of scikit-learn.
    recipes : list of str, optional
        The recipes to try, in this order; None: all that join the portfolio and suit the data.
    exclude : list of str, optional
        Recipes not to try.
    members : int, default=4
        How many models a blend may have; 1 keeps the best one alone.
    class_weight : dict or "balanced", optional
    n_jobs : int, optional
        How many parts are trained at the same time.
    random_state : int, RandomState instance or None
    observers : sequence of Observer, optional
        Who is told of the progress.

    Attributes
    ----------
    classes_ : (n_classes,) array
    best_estimator_ : Pipeline
        A TablePreparation and a DivideAndConquerClassifier; `dcsvm.save` writes it.
    best_score_ : float
        The score of what was chosen, by held-out rows; losses are negative.
    leaderboard_ : list of LeaderboardEntry
        What was tried, how good it was on how many rows, and what it took.
    reason_ : str
        Why the winner won.
    n_features_in_ : int
    feature_names_in_ : (d,) array of str, only for input with column names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import AutoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> auto = AutoClassifier(seconds=5, recipes=["kernel_logistic"], random_state=0).fit(X, y)
    >>> [each.recipe for each in auto.leaderboard_]
    ['kernel_logistic']
    >>> auto.predict_proba(X).shape
    (150, 3)

    References
    ----------
    Feurer et al.: Auto-sklearn 2.0 (2022), for portfolios and successive halving. Caruana et al.:
    Ensemble selection from libraries of models (2004).
    """

    name = "auto"

    # scikit-learn wants constructors that accept anything: `fit` checks these, not attrs.
    seconds: float = attrs.field(default=120.0, metadata={"limits": {"above": 0}})
    scoring: str = "accuracy"
    recipes: list[str] | None = None
    exclude: list[str] | None = None
    members: int = attrs.field(default=4, metadata={"limits": {"at_least": 1}})
    class_weight: Any = None
    n_jobs: Any = None
    random_state: Any = None
    observers: Any = ()

    def fit(self, X: Any, y: Any) -> AutoClassifier:
        """Search and fit on rows X (n, d) and labels y (n,)."""
        recipe, context = self._build_context()
        data = self._read_table(X, y)
        self.classes_ = np.unique(data.y)
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise DataError(f"y has only one class ({only!r}); a classifier needs at least two")
        all_rows = np.arange(data.n_rows)
        try:
            found = search_portfolio(recipe, data, all_rows, [(data.n_rows, 0)], context)
            self.best_estimator_ = self._build(recipe, data, found, context.seed)
            self.best_estimator_.fit(X, data.y)
        except KeyboardInterrupt:
            if context.best is None:
                raise
            warnings.warn("interrupted: the best model so far is kept", stacklevel=2)
            self.best_estimator_ = context.best
            return self
        self.best_score_, self.reason_ = found.score, found.stopped
        self.leaderboard_: list[LeaderboardEntry] = list(found.leaderboard)
        return self

    def predict(self, X: Any) -> Any:
        """The labels of rows X (n, d)."""
        return self._get_best(X).predict(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities of the classes for rows X (n, d): (n, n_classes)."""
        return np.asarray(self._get_best(X).predict_proba(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of rows X: (n, n_classes), or (n,) for two classes, positive for the second."""
        return np.asarray(self._get_best(X).decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _build_context(self) -> tuple[Recipe, _Interruptible]:
        """The recipe with these settings, and the context of the search."""
        for name in settings_of(type(self)):
            check_value(type(self), name, getattr(self, name))
        check_jobs(self.n_jobs)
        given = {
            name: getattr(self, name) for name in ("seconds", "recipes", "exclude", "members")
        }
        recipe = find_recipe(AUTO, default_registry())
        search = change_search(recipe.search, score=self.scoring, **given)
        for _, sentence in find_search_mistakes(search):
            raise DataError(sentence)
        weights = self.class_weight
        if isinstance(weights, Mapping):  # a recipe gives them by name
            weights = {str(label): weight for label, weight in weights.items()}
        recipe.candidates[0].classifier.set_params(class_weight=weights)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        context = _Interruptible(seed, self.n_jobs or 1, ObserverGroup(*self.observers))
        return attrs.evolve(recipe, search=search), context

    def _read_table(self, X: Any, y: Any) -> Dataset:
        """The rows as numbers, with indices for levels and NaN where a value is missing."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        validate_data(self, X, skip_check_array=True)
        prepare = TablePreparation(missing="impute")
        rows = prepare.read(X)
        self.n_features_in_ = rows.shape[1]
        given, y = y, column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_labels(given)
        check_classification_targets(y)
        check_consistent_length(rows, y)
        columns = prepare.columns_ if not hasattr(rows, "indptr") else ()
        schema = TableSchema(columns) if columns else None
        names = tuple(each.name for each in columns)
        return Dataset("X", rows, np.asarray(y), names, schema=schema)

    def _build(self, recipe: Recipe, data: Dataset, found: SearchResult, seed: int) -> Pipeline:
        """The pipeline that was chosen, for rows as they were given."""
        classifier = recipe.candidates[0].build_classifier(found.values)
        classifier.set_params(
            random_state=seed, n_jobs=self.n_jobs, class_weight=self.class_weight
        )
        raw = attrs.evolve(data, schema=None)
        return build_pipeline(classifier, recipe.data, raw, found.values)

    def _get_best(self, X: Any) -> Pipeline:
        check_is_fitted(self, "best_estimator_")
        if getattr(X, "ndim", 2) != 1:  # the preparation tells what to do about a single row
            validate_data(self, X, reset=False, skip_check_array=True)
        return self.best_estimator_


class _Interruptible(RunContext):
    """A context that remembers the best pipeline so far."""

    @property
    def best(self) -> Pipeline | None:
        return self.found.get("best")

    def record_best(self, model: Pipeline) -> None:
        self.found["best"] = model
