"""One execution of a recipe: read, split, search, train, measure, and return the results."""

import time
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from dcsvm.base.row_splitting import TrainTestRows, hold_out
from dcsvm.datasets.dataset import Dataset
from dcsvm.drive.engine import Engine
from dcsvm.drive.observers import Observer
from dcsvm.drive.validation import find_costs
from dcsvm.experiments.portfolio.budget import Budget, forecast_report
from dcsvm.experiments.recipe import Candidate, Recipe
from dcsvm.experiments.recipe.sections import CLASS_WEIGHT
from dcsvm.experiments.run.load_data import (
    build_pipeline,
    fit_pipeline,
    load,
    resolve_class_weight,
)
from dcsvm.experiments.run.measures import (
    Measures,
    Predictions,
    measure_structure,
    predict_in_blocks,
)
from dcsvm.experiments.run.parameter_search import search
from dcsvm.experiments.run.run_context import RunContext
from dcsvm.experiments.run.run_messages import (
    RareClass,
    RarestClass,
    find_rare_classes,
    find_rarest_class,
)
from dcsvm.experiments.run.scores import (
    check_scores,
    compute_baseline,
    list_scores,
    score_classes,
    score_folds,
)
from dcsvm.experiments.run.search_result import SearchContext, SearchResult
from dcsvm.experiments.run.train_test_splits import split_rows
from dcsvm.model_selection.named_scores import Answered, compute_score
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.mapped_rows import select_rows

__all__ = ["Measures", "Observer", "RunContext", "RunResult", "load", "run_recipe"]

#: Training sets of this size or more get a pilot, to estimate the total time.
LARGE = 6000
#: Rows of a pilot.
PILOT = 1500


@attrs.frozen(eq=False)
class TrainedCandidate:
    """A trained candidate: its model, predictions of the test rows, and measures.

    `refitted` is the same pipeline learned from all rows, if that was asked for.
    """

    measures: Measures
    model: Pipeline
    answers: Any
    found: tuple[SearchResult, ...] = ()
    probabilities: FloatArray | None = None
    refitted: Pipeline | None = None


@attrs.frozen(eq=False)
class RunResult:
    """What a run leaves: facts about the data, the measures, and the fitted models.

    `test_rows` are the numbers of the test rows in the data, in the order of the answers, and
    `folds` says which fold each belonged to.
    """

    recipe: str
    about: str
    data: str
    n_train: int
    n_test: int
    n_features: int
    n_classes: int
    scale: str
    seed: int
    n_jobs: int
    trained: tuple[TrainedCandidate, ...]
    truth: Any
    test_rows: Any
    folds: Any
    dataset: Dataset

    @property
    def measures(self) -> tuple[Measures, ...]:
        return tuple(each.measures for each in self.trained)

    @property
    def model(self) -> Pipeline:
        """The recipe's own model: trained on all rows if `split.refit` is set."""
        own = self.trained[0]
        return own.model if own.refitted is None else own.refitted

    @property
    def n_kept(self) -> int:
        """The number of rows that the model to keep was learned from."""
        return self.n_train if self.trained[0].refitted is None else self.dataset.n_rows

    @property
    def rare(self) -> list[RareClass]:
        """The classes of few rows, and how the recipe's own model did on them."""
        return find_rare_classes(self.dataset.y, self.truth, self.trained[0].answers)

    @property
    def rarest(self) -> RarestClass | None:
        """Describe the scores of the recipe's model on the rarest class, if it is rare."""
        own = self.trained[0]
        return find_rarest_class(self.truth, own.answers, own.model.classes_, own.probabilities)

    @property
    def missed(self) -> dict[str, int]:
        """Test rows of each class that some model never predicted right, largest first."""
        labels, counts = np.unique(self.truth, return_counts=True)
        rows = {
            str(labels[place]): int(counts[place]) for place in np.argsort(-counts, kind="stable")
        }
        recalls = [each.more for each in self.measures]
        return {
            name: rows[name]
            for name in rows
            if any(each[f"recall.{name}"] == 0 for each in recalls)
        }

    def as_dict(self) -> dict[str, Any]:
        """Everything but models and rows, ready for JSON: unknown numbers are None."""
        hidden = ("trained", "truth", "test_rows", "folds", "dataset")
        facts = attrs.asdict(self, filter=lambda field, _: field.name not in hidden)
        models = [{"model": each.model, **each.flatten()} for each in self.measures]
        rare = [attrs.asdict(each) for each in self.rare]
        return {**facts, "n_kept": self.n_kept, "rare_classes": rare, "models": models}

    def metrics(self) -> dict[str, Any]:
        """All measures on one level: the recipe's own by their names, a rival's with a prefix."""
        own, *rivals = self.measures
        flat = own.flatten()
        for rival in rivals:
            flat |= {
                f"compare.{rival.model}.{key}": value for key, value in rival.flatten().items()
            }
        return flat


def run_recipe(
    recipe: Recipe,
    *,
    seed: int | None = None,
    n_jobs: int = 1,
    observer: Observer | None = None,
    session: RunContext | None = None,
) -> RunResult:
    """Train and measure every candidate of a recipe on the same rows.

    `seed` replaces that of the recipe. A `session`, which keeps what is finished, replaces seed,
    n_jobs and observer.
    """
    if session is None:
        session = RunContext(
            recipe.split.seed if seed is None else seed, n_jobs, observer or Observer()
        )
    session.observer.on_step_begin("reading data")
    data = load(recipe.data, session.memory, recipe.decomposers)
    splits = split_rows(data, recipe.split, session.seed)
    for candidate in recipe.candidates:
        check_scores(recipe, candidate, len(np.unique(data.y)))
        find_costs(candidate.classifier.threshold, candidate.classifier.costs, np.unique(data.y))
        for cell in ({}, *({CLASS_WEIGHT: each} for each in candidate.grid.get(CLASS_WEIGHT, ()))):
            resolve_class_weight(
                candidate.build_classifier(cell), data
            )  # raises early if a class is unknown
    session.record_plan(recipe, data, splits)
    trained = tuple(
        _CandidateRun(recipe, candidate, data, splits, session).execute()
        for candidate in recipe.candidates
    )
    test_rows = np.concatenate([rows.test for rows in splits])
    chosen = trained[0].found[-1].values if trained[0].found else {}
    return RunResult(
        recipe=recipe.title,
        about=recipe.about,
        data=data.title,
        n_train=trained[0].measures.n_train,
        n_test=len(test_rows),
        n_features=data.X.shape[1],
        n_classes=len(np.unique(data.y)),
        scale=str(chosen.get("data.scale", recipe.data.scale)),
        seed=session.seed,
        n_jobs=session.n_jobs,
        trained=trained,
        truth=data.y[test_rows],
        test_rows=test_rows,
        folds=np.repeat(np.arange(len(splits)), [len(rows.test) for rows in splits]),
        dataset=data,
    )


@attrs.frozen(eq=False)
class _CandidateRun:
    """One candidate on its way through a run."""

    recipe: Recipe
    candidate: Candidate
    data: Dataset
    splits: list[TrainTestRows]
    session: RunContext

    def execute(self) -> TrainedCandidate:
        found, predictions = [], []
        searching = fitting = 0.0
        for number, rows in enumerate(self.splits):
            chosen, seconds = self._search(rows.train, number)
            model, fit_seconds = self._fit(rows.train, chosen, number)
            predictions.append(self._predict("predicting", model, rows.test))
            found += [] if chosen is None else [chosen]
            searching, fitting = searching + seconds, fitting + fit_seconds
        train = self.splits[0].train
        if len(self.splits) > 1:
            train = np.arange(self.data.n_rows)
            chosen, _ = self._search(train, len(self.splits))
            found += [] if chosen is None else [chosen]
            model, _ = self._fit(train, chosen, len(self.splits))
        answers = Predictions.concatenate(predictions)
        measures = self._measure(model, train, answers, fitting, searching)
        refits = self.is_refitted and self._has_time(fitting)
        refitted = self._refit(found[-1] if found else None) if refits else None
        return TrainedCandidate(
            measures, model, answers.answers, tuple(found), answers.probabilities, refitted
        )

    @property
    def is_refitted(self) -> bool:
        """Whether it learns all rows after it was measured; with folds, it has already."""
        is_own = self.candidate is self.recipe.candidates[0]
        is_wanted = self.session.keeps_model and self.recipe.split.refit
        return is_wanted and is_own and len(self.splits) == 1 and len(self.splits[0].test) > 0

    def _has_time(self, fit_seconds: float) -> bool:
        """Whether a portfolio's budget lasts to learn all rows, judged by the fit before."""
        seconds, n_rows = self.recipe.search.seconds, self.data.n_rows
        if not self._searches_portfolio or seconds is None:
            return True
        budget = Budget(seconds, began=self.session.began, overhead=forecast_report(n_rows))
        return budget.can_learn_again(fit_seconds, n_rows / len(self.splits[0].train))

    def _refit(self, chosen: SearchResult | None) -> Pipeline:
        n_rows = self.data.n_rows
        title = f"training {self.candidate.name} on all rows"
        self.session.observer.on_step_begin(title, n_rows)
        model = self._make({} if chosen is None else chosen.values)
        return fit_pipeline(model, self.session.engine, self.data.X, self.data.y)

    @property
    def _searches(self) -> bool:
        found = bool(self.candidate.grid) or self.candidate.uses_levels(self.recipe.search)
        return found or self._searches_portfolio

    @property
    def _searches_portfolio(self) -> bool:
        is_own = self.candidate is self.recipe.candidates[0]
        return is_own and self.recipe.search.use == "portfolio"

    def _make(self, cell: Mapping[str, Any]) -> Pipeline:
        classifier = clone(resolve_class_weight(self.candidate.build_classifier(cell), self.data))
        classifier.set_params(random_state=self.session.seed, n_jobs=self.session.n_jobs)
        return build_pipeline(classifier, self.recipe.data, self.data, cell)

    def _search(self, train: Any, number: int) -> tuple[SearchResult | None, float]:
        """Search on these rows; return the result and the seconds."""
        if not self._searches:
            return None, 0.0
        key = f"{self.candidate.name}/{number}"
        if key in self.session.found:
            before = SearchResult.from_dict(self.session.found[key])
            return before, before.seconds
        if self._searches_portfolio:
            found = self._search_portfolio(train, number)
            self.session.record_search(key, found)
            return found, found.seconds
        self.session.observer.on_step_begin(f"choosing parameters of {self.candidate.name}")
        context = SearchContext(self.session.engine, self.session.seed, self.session.observer)
        found = search(
            self.candidate,
            self._make,
            self.recipe.search,
            self.recipe.split,
            self.data.X,
            self.data.y,
            train,
            context,
        )
        found = attrs.evolve(found, seconds=context.spent)
        self.session.record_search(key, found)
        return found, found.seconds

    def _search_portfolio(self, train: Any, number: int) -> SearchResult:
        """Search the portfolio; the time for the fits that follow is part of its budget."""
        from dcsvm.experiments.portfolio.portfolio_search import search_portfolio

        finals = [(len(train), sum(len(rows.test) for rows in self.splits[number:][:1]))]
        finals += [(self.data.n_rows, 0)] if self.is_refitted else []
        return search_portfolio(self.recipe, self.data, train, finals, self.session)

    def _fit(self, train: Any, chosen: SearchResult | None, number: int) -> tuple[Pipeline, float]:
        fold = f", fold {number + 1}" if 1 < len(self.splits) > number else ""
        self.session.observer.on_step_begin(f"training {self.candidate.name}{fold}", len(train))
        model = self._make({} if chosen is None else chosen.values)
        if self.session.observer.wants_pilot() and len(train) >= LARGE:
            self._pilot(model, train)
        began = time.perf_counter()
        X, y = select_rows(self.data.X, train), self.data.y[train]
        fit_pipeline(model, self.session.engine, X, y)
        return model, time.perf_counter() - began

    def _pilot(self, model: Pipeline, train: Any) -> None:
        """Train on a few rows, to estimate how long all of them will take."""
        context = SearchContext(Engine(1), self.session.seed, self.session.observer)
        some = hold_out(self.data.y[train], PILOT / len(train), True, self.session.seed).test
        y = self.data.y[train[some]]
        if len(np.unique(y)) > 1:
            engine = Engine(1, (context,))
            fit_pipeline(clone(model), engine, self.data.X[train[some]], y)

    def _predict(self, title: str, model: Pipeline, rows: Any) -> Predictions:
        title = f"{title} with {self.candidate.name}"
        self.session.observer.on_step_begin(title, len(rows))
        cost = self.recipe.measure.cost
        return predict_in_blocks(model, self.data.X, rows, self.session.observer, cost=cost)

    def _measure(
        self,
        model: Pipeline,
        train: Any,
        predictions: Predictions,
        fitting: float,
        searching: float,
    ) -> Measures:
        tests = [rows.test for rows in self.splits]
        truth = self.data.y[np.concatenate(tests)]
        answered = Answered(truth, predictions.answers, model.classes_, predictions.probabilities)
        accuracy = compute_score("accuracy", answered)
        train_accuracy = float("nan")
        if self.recipe.measure.train:
            title = f"predicting what {self.candidate.name} learned"
            self.session.observer.on_step_begin(title, len(train))
            learned = predict_in_blocks(
                model, self.data.X, train, self.session.observer, cost=False
            )
            train_accuracy = float(np.mean(learned.answers == self.data.y[train]))
        cost: dict[str, Any] = predictions.summarize_cost()
        names = list_scores(self.recipe.measure, self.recipe.search, self._searches)
        return Measures(
            model=self.candidate.name,
            test_accuracy=accuracy,
            test_error=1.0 - accuracy,
            baseline_accuracy=compute_baseline(truth),
            train_accuracy=train_accuracy,
            fit_seconds=fitting,
            predict_seconds=predictions.seconds,
            search_seconds=searching,
            n_train=len(train),
            n_test=len(truth),
            **measure_structure(model[-1]),
            **cost,
            more=score_classes(answered, names),
            by_fold=score_folds(self.data.y, tests, answered, names),
        )
