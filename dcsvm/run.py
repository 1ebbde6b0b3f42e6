"""One execution of a recipe: read, split, train, measure."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import attrs
import numpy as np

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.dataset import Dataset, Halves, load_embedded, load_file, split
from dcsvm.engine import Done, Engine, Runnable
from dcsvm.errors import UsageError
from dcsvm.models import Cost
from dcsvm.preparation import Scaled
from dcsvm.recipe import Candidate, Recipe

#: Rows that are predicted at a time, so that progress can be told.
BLOCK_ROWS = 4096


class Audience(Protocol):
    """Who is told how a run goes on: an engine's watcher that also hears of the steps between."""

    def step_begins(self, title: str, n_rows: int = 0) -> None: ...

    def rows_done(self, n_rows: int) -> None: ...

    def round_begins(self, n_jobs: int) -> None: ...

    def part_done(self, job: Runnable, outcome: Done) -> None: ...

    def round_ends(self) -> None: ...


class Nobody:
    """An audience that listens to nothing."""

    def step_begins(self, title: str, n_rows: int = 0) -> None: ...

    def rows_done(self, n_rows: int) -> None: ...

    def round_begins(self, n_jobs: int) -> None: ...

    def part_done(self, job: Runnable, outcome: Done) -> None: ...

    def round_ends(self) -> None: ...


@attrs.frozen
class Measures:
    """What one pipeline did on the rows held out, and what it took; NaN means unknown."""

    model: str
    test_accuracy: float
    fit_seconds: float
    predict_seconds: float
    n_parts: int
    kernel_evaluations_mean: float
    kernel_evaluations_max: float
    unique_kernel_evaluations_mean: float
    unique_kernel_evaluations_max: float
    hyperplanes_mean: float
    hyperplanes_max: float


@attrs.frozen(eq=False)
class Result:
    """What a run leaves: facts about the data, the measures, and the recipe's own fitted model."""

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
    measures: tuple[Measures, ...]
    model: DivideAndConquerClassifier

    def as_dict(self) -> dict[str, Any]:
        """Everything but the model, ready for JSON: unknown numbers are None."""
        facts = attrs.asdict(self, filter=lambda field, _: field.name not in ("measures", "model"))
        rows = [attrs.asdict(each) for each in self.measures]
        known = [{key: _none_if_unknown(row[key]) for key in row} for row in rows]
        return {**facts, "models": known}


def run_recipe(
    recipe: Recipe,
    *,
    seed: int | None = None,
    n_jobs: int = 1,
    audience: Audience | None = None,
) -> Result:
    """Train and measure every candidate of a recipe on the same rows.

    Parameters
    ----------
    recipe : Recipe
    seed : int, optional
        Of the split and of the models, in place of the recipe's.
    n_jobs : int
        How many parts are trained at the same time.
    audience : Audience, optional
        Who is told of the progress.
    """
    audience = audience or Nobody()
    seed = recipe.split.seed if seed is None else seed
    audience.step_begins("reading data")
    data = _load(recipe)
    halves = split(data, recipe.split.test, seed)
    trained = [
        _train_and_measure(each, recipe.data.scale, data, halves, seed, n_jobs, audience)
        for each in recipe.candidates
    ]
    return Result(
        recipe=recipe.title,
        about=recipe.about,
        data=data.title,
        n_train=len(halves.train),
        n_test=len(halves.test),
        n_features=data.X.shape[1],
        n_classes=len(np.unique(data.y)),
        scale=recipe.data.scale,
        seed=seed,
        n_jobs=n_jobs,
        measures=tuple(measures for measures, _ in trained),
        model=trained[0][1],
    )


def check_writable(path: Path) -> None:
    """Refuse, before anything is trained, a path that no model could be written to."""
    if path.is_dir():
        raise UsageError(f"cannot write the model to {str(path)!r}: it is a directory")
    if not path.parent.is_dir():
        raise UsageError(
            f"cannot write the model to {str(path)!r}: there is no directory {str(path.parent)!r}"
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageError(f"cannot write the model to {str(path)!r}: {error.strerror}") from error


def _load(recipe: Recipe) -> Dataset:
    if recipe.data.use is not None:
        return load_embedded(recipe.data.use, recipe.data.rows)
    return load_file(recipe.folder / str(recipe.data.path), recipe.data.target)


def _prepared(pipeline: DivideAndConquerClassifier, scale: str) -> DivideAndConquerClassifier:
    """The pipeline behind a scaler that it keeps, so that the model answers raw rows."""
    if scale == "none":
        return pipeline
    return DivideAndConquerClassifier(Scaled(scale), pipeline)


def _train_and_measure(
    candidate: Candidate,
    scale: str,
    data: Dataset,
    halves: Halves,
    seed: int,
    n_jobs: int,
    audience: Audience,
) -> tuple[Measures, DivideAndConquerClassifier]:
    model = _prepared(candidate.classifier, scale).set_params(random_state=seed, n_jobs=n_jobs)
    audience.step_begins(f"training {candidate.name}", len(halves.train))
    started = time.perf_counter()
    model.fit_with(Engine(n_jobs, (audience,)), data.X[halves.train], data.y[halves.train])
    fitted = time.perf_counter()
    audience.step_begins(f"predicting with {candidate.name}", len(halves.test))
    hits, seconds, costs = 0, 0.0, []
    for rows in _blocks(halves.test):
        X = data.X[rows]
        asked = time.perf_counter()
        answers = model.predict(X)
        seconds += time.perf_counter() - asked
        hits += int(np.count_nonzero(answers == data.y[rows]))
        costs.append(model.cost(X))
        audience.rows_done(len(rows))
    return Measures(
        model=candidate.name,
        test_accuracy=hits / len(halves.test),
        fit_seconds=fitted - started,
        predict_seconds=seconds,
        n_parts=_n_parts(model),
        **_cost_by_row(costs),
    ), model


def _n_parts(model: DivideAndConquerClassifier) -> int:
    """How many parts were learned; one that a nested pipeline divided further is none itself."""
    divided = {record.path[:-2] for record in model.ledger_}
    return sum(record.path not in divided for record in model.ledger_)


def _blocks(rows: Any) -> Iterator[Any]:
    for start in range(0, len(rows), BLOCK_ROWS):
        yield rows[start : start + BLOCK_ROWS]


def _cost_by_row(costs: list[Cost]) -> dict[str, float]:
    found = {}
    for field in attrs.fields(Cost):
        counts = np.concatenate([np.atleast_1d(getattr(cost, field.name)) for cost in costs])
        found[f"{field.name}_mean"] = float(counts.mean())
        found[f"{field.name}_max"] = float(counts.max())
    return found


def _none_if_unknown(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value
