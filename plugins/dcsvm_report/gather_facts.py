"""The facts of a report, gathered from fitted models and rows in memory."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import attrs
import numpy as np
from sklearn.pipeline import Pipeline

from dcsvm.numeric import describe_implementation
from dcsvm.toolbox import Cost, find_best, find_classifier, unwrap
from dcsvm_report.evidence import gather_evidence
from dcsvm_report.facts import Contender, Facts, TrialScore, encode_labels

#: Distributions whose versions decide what comes out.
LIBRARIES = ("dcsvm", "scikit-learn", "numpy", "scipy", "joblib")


def gather_facts(
    classifier: Any,
    rows: tuple[Any, Any, Any, Any],
    against: Mapping[str, Any],
    search: Any,
    title: str,
    about: str,
    features: Sequence[str],
) -> Facts:
    """Gather what a report shows of a fitted classifier; see `dcsvm_report.report`."""
    X_test, y_test, X_train, _ = rows
    if search is None and hasattr(classifier, "best_estimator_"):
        search = classifier
    model = getattr(classifier, "best_estimator_", classifier)
    fitted = {_make_unique(against, _name(model)): model, **against}
    predictions = {name: each.predict(X_test) for name, each in fitted.items()}
    classes, (truth, *answers) = encode_labels(y_test, *predictions.values())
    assert truth is not None
    contenders = tuple(
        Contender(name, _metrics(each, X_test, float(np.mean(answer == truth))), answer)
        for (name, each), answer in zip(fitted.items(), answers, strict=True)
    )
    n_features = int(np.shape(X_test)[1])
    names = tuple(features) or tuple(map(str, getattr(model, "feature_names_in_", ())))
    learned = () if X_train is None else (("rows learned", f"{np.shape(X_train)[0]:,}"),)
    return Facts(
        title=title or _name(model),
        about=about,
        contenders=contenders,
        classes=classes,
        truth=truth,
        asked=(
            *learned,
            ("rows held out", f"{len(truth):,}"),
            ("features", f"{n_features:,}"),
            ("classes", f"{len(classes):,}"),
            *_list_components(model),
        ),
        ledger=tuple(
            flatten_record(each) for each in getattr(find_classifier(model), "ledger_", ())
        ),
        evidence=gather_evidence(
            *(model, *rows),
            features=names,
            answers=predictions[contenders[0].name],
            probabilities=model.predict_proba(X_test) if hasattr(model, "predict_proba") else None,
        ),
        trials=() if search is None else tuple(read_trials(search)),
        environment=tuple(_environment()),
    )


def flatten_record(record: Any) -> dict[str, Any]:
    """A ledger's record as plain data."""
    found = attrs.asdict(record, recurse=False)
    return {**found, "step": str(record.about.get("step", ""))}


def read_trials(search: Any) -> list[TrialScore]:
    """What a fitted search tried: scikit-learn's `cv_results_`, or a granularity search's."""
    table = getattr(search, "results_", None)
    if table is None:
        table = getattr(search, "cv_results_", None)
    if table is None:
        return []
    pairs = zip(table["params"], np.asarray(table["mean_test_score"]).tolist(), strict=True)
    return [TrialScore(_plain(parameters), score) for parameters, score in pairs if score == score]


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, bool | int | float | str) else _format(value)
        for name, value in parameters.items()
    }


def _make_unique(names: Mapping[str, Any], name: str) -> str:
    """A name that no rival has."""
    while name in names:
        name += " (own)"
    return name


def _name(model: Any) -> str:
    model = find_classifier(model)
    decomposer = getattr(model, "decomposer", None)
    if decomposer is None:
        return type(model).__name__
    inner = getattr(model, "learner", None)
    if hasattr(inner, "decomposer"):
        return _name(inner)
    return decomposer if isinstance(decomposer, str) else decomposer.name


def _list_components(model: Any, depth: int = 0) -> list[tuple[str, str]]:
    """The components and their settings, nested strategies below one another."""
    if isinstance(model, Pipeline):
        before = [("preparation", _format(step)) for _, step in model.steps[:-1]]
        return [*before, *_list_components(find_best(model[-1]))]
    if not hasattr(model, "decomposer"):
        return [("model", _format(model))]
    found = []
    for kind in ("decomposer", "learner", "combiner"):
        component = getattr(model, kind)
        title = f"{'inner ' * depth}{kind}"
        if kind == "learner" and hasattr(component, "decomposer"):
            found += _list_components(component, depth + 1)
        else:
            found.append((title, component if isinstance(component, str) else _format(component)))
    return found


def _format(value: Any) -> str:
    """A component as its name and the settings that were changed, anything else in one line."""
    if getattr(value, "name", "") and hasattr(value, "get_params"):
        settings = value.get_params(deep=False)
        defaults = {field.name: field.default for field in attrs.fields(type(value))}
        listed = ", ".join(
            f"{key} = {_format(each)}"
            for key, each in settings.items()
            if each is not defaults.get(key) and each != defaults.get(key)
        )
        return f"{value.name} ({listed})" if listed else str(value.name)
    if isinstance(value, tuple | list):
        return ", ".join(_format(each) for each in value)
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:
        return " ".join(repr(value).split())


def _metrics(model: Any, X: Any, accuracy: float) -> dict[str, Any]:
    metrics: dict[str, Any] = {"test_accuracy": accuracy}
    if hasattr(find_classifier(model), "cost"):
        model, X = unwrap(model, X, "report")
        cost = model.cost(X)
        for field in attrs.fields(Cost):
            counts = np.atleast_1d(getattr(cost, field.name))
            metrics[f"{field.name}_mean"] = _replace_nan(float(counts.mean()))
            metrics[f"{field.name}_max"] = _replace_nan(float(counts.max()))
    ledger = [flatten_record(each) for each in getattr(model, "ledger_", ())]
    if ledger:
        divided = {tuple(record["path"][:-2]) for record in ledger}
        metrics["n_parts"] = sum(tuple(record["path"]) not in divided for record in ledger)
    return metrics


def _replace_nan(value: float) -> float | None:
    return None if value != value else value


def _environment() -> list[tuple[str, str]]:
    found = [("Python", platform.python_version()), ("system", platform.platform(terse=True))]
    found.append(("numeric", describe_implementation()))
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
