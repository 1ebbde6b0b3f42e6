"""Any scikit-learn classifier, by its class name."""

import threading
from functools import cache
from typing import Any, Literal

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators
from sklearn.utils.validation import has_fit_parameter

from dcsvm import DataError, LocalLearner, LocalModel, Problem, SettingError, component, setting
from dcsvm.numeric import Matrix, as_dense
from dcsvm.toolbox import BoostedTrees, Wrapped, did_you_mean, limit_openmp

#: Parameters of classifiers that draw, hold out or bin rows: for these, a row of weight 2 is not
#: the same as two rows.
DRAWS = frozenset({"bootstrap", "subsample", "early_stopping", "max_bins", "validation_fraction"})
#: Sparse rows of so many numbers, zeros included, are made dense for boosted trees: 1 GB.
MOST_NUMBERS = 2**27
_LISTING = threading.Lock()


@component
class Sklearn(LocalLearner):
    """Any scikit-learn classifier by its class name, optionally behind transformers.

    Only names that scikit-learn registers are accepted; nothing else is imported. Cost and limits
    are those of the classifier. Parts with row weights need a classifier that takes
    `sample_weight`. Saving a model needs skops, `pip install 'dcsvm[sklearn]'`, but for a
    HistGradientBoostingClassifier without categorical features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = build("learner", "sklearn", classifier="RandomForestClassifier",
    ...                settings={"n_estimators": 10})
    >>> DivideAndConquerClassifier("whole", forest, "route").fit(X, y).score(X, y) > 0.9
    True
    """

    name = "sklearn"
    keeps_support = False
    releases_gil = False

    classifier: str = setting("LogisticRegression", help="class name of the classifier")
    settings: dict[str, Any] | None = setting(None, help="parameters of the classifier")
    transformers: list[Any] | None = setting(
        None,
        help="transformers: class names, or tables with the key 'use' and parameters",
    )

    @property
    def row_weights(self) -> Literal["exact", "approximate", "refused"]:  # type: ignore[override]
        machine = _build("classifier", self.classifier, self.settings or {})
        if not has_fit_parameter(machine, "sample_weight"):
            return "refused"
        approximate = self.transformers or DRAWS & machine.get_params().keys()
        return "approximate" if approximate else "exact"

    def check(self) -> None:
        """Raise if scikit-learn does not know a name or a parameter."""
        _build("classifier", self.classifier, self.settings or {})
        for each in self.transformers or []:
            _build("transformer", *_parse_transformer(each))

    def fit(self, problem: Problem) -> LocalModel:
        machine = _build_seeded("classifier", self.classifier, self.settings or {}, problem)
        weighted = {}
        if problem.weights is not None:
            if not has_fit_parameter(machine, "sample_weight"):
                raise SettingError(f"sklearn: {self.classifier} does not take row weights")
            weighted = {"sample_weight": problem.weights}
        steps = [
            _build_seeded("transformer", *_parse_transformer(each), problem)
            for each in self.transformers or []
        ]
        if steps:
            machine = make_pipeline(*steps, machine)
            last = machine.steps[-1][0]
            weighted = {f"{last}__{key}": value for key, value in weighted.items()}
        try:
            with limit_openmp(problem.n_rows):
                return _wrap(machine.fit(_convert_rows(problem.X, machine), problem.y, **weighted))
        # Classifiers reject data with different errors.
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            raise DataError(
                f"sklearn: {self.classifier} cannot learn from a part of {problem.n_rows} rows: "
                + " ".join(str(error).split())
            ) from error


def _convert_rows(X: Matrix, machine: Any) -> Matrix:
    """Convert sparse rows for boosted trees, which take dense rows only, unless too many."""
    return as_dense(X) if _is_boosted(machine) and np.prod(X.shape) <= MOST_NUMBERS else X


def _is_boosted(machine: Any) -> bool:
    return type(machine).__name__ == "HistGradientBoostingClassifier"


def _wrap(machine: Any) -> LocalModel:
    """Wrap boosted trees as arrays, which are fast to store, and other models unchanged."""
    trees = BoostedTrees.take(machine) if _is_boosted(machine) else None
    return Wrapped(machine) if trees is None else trees


def _parse_transformer(transformer: Any) -> tuple[str, dict[str, Any]]:
    """Return the class name of a transformer and its parameters."""
    table = {"use": transformer} if isinstance(transformer, str) else transformer
    if not isinstance(table, dict) or "use" not in table:
        raise SettingError(f"sklearn: the transformer {transformer!r} needs the key 'use'")
    return str(table["use"]), {key: table[key] for key in table if key != "use"}


def _build_seeded(kind: str, name: str, settings: dict[str, Any], problem: Problem) -> Any:
    made = _build(kind, name, settings)
    if "random_state" in made.get_params() and "random_state" not in settings:
        made.set_params(random_state=problem.seed.integer() % 2**31)
    return made


def _build(kind: str, name: str, settings: dict[str, Any]) -> Any:
    registered = _list_registered(kind)
    if name not in registered:
        raise SettingError(
            f"sklearn: there is no {kind} called {name!r}; {did_you_mean(name, registered)}"
        )
    try:
        return registered[name](**settings)
    except TypeError as error:
        raise SettingError(f"sklearn: {name} cannot be made with {settings!r}: {error}") from error


def _list_registered(kind: str) -> dict[str, Any]:
    # Listing imports all of scikit-learn, which two threads must not do at the same time.
    with _LISTING:
        return _import_registered(kind)


@cache
def _import_registered(kind: str) -> dict[str, Any]:
    return dict(all_estimators(type_filter=kind))
