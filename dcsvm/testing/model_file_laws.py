"""Law of model files: a classifier predicts the same after saving and loading."""

import tempfile
from pathlib import Path
from typing import Any

import attrs

from dcsvm.base.component import settings_of
from dcsvm.base.decomposer import ONE_PART
from dcsvm.base.errors import CompositionError
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.drive.validation import needs_support
from dcsvm.testing.checks import expect, law
from dcsvm.testing.problems import easy_problem, new_rows


def _is_registered(component: Any) -> bool:
    offers = default_registry().offers.values()
    return any(offer.kind in KINDS and offer.what is type(component) for offer in offers)


@law(
    "any",
    when=_is_registered,
    otherwise=(
        "a model file names components that a plugin offers, and no loaded plugin offers this "
        "class: build it by kind and name, after load_plugin for a single file"
    ),
)
def survives_its_model_file(component: Any) -> None:
    """a strategy that was saved and loaded gives the same scores and routes, bit for bit"""
    from dcsvm.persistence.model_file import load, save

    problem = easy_problem(gap=1.0)
    strategy = _build_classifier(component).fit(problem.X, problem.y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.dcsvm"
        save(strategy, path)
        loaded = load(path)
    X = new_rows(problem)
    expect(
        loaded.decision_function(X).tobytes() == strategy.decision_function(X).tobytes(),
        "the scores after loading differ from those before saving",
    )
    for before, after in zip(
        strategy.model_.committee.groups, loaded.model_.committee.groups, strict=True
    ):
        if before.router is not None:
            same = (before.router.route(X).member == after.router.route(X).member).all()
            expect(same, "rows are routed otherwise after loading")


def _build_classifier(component: Any) -> DivideAndConquerClassifier:
    """Combine the component with built-in components that fit it, or others if none does."""
    kind = next(kind for kind, base in KINDS.items() if isinstance(component, base))
    chosen = {kind: component}
    if kind == "learner":
        chosen["decomposer"] = _find(
            "decomposer", lambda each: each.yields == {ONE_PART} and _takes(each, component)
        )
    elif kind == "combiner":
        chosen["decomposer"] = _find("decomposer", lambda each: each.yields <= component.accepts)
    needs = "decomposer" in chosen and needs_support(chosen["decomposer"])
    chosen.setdefault("learner", _find("learner", lambda each: each.keeps_support or not needs))
    words = chosen["decomposer"].yields
    if kind != "combiner":
        chosen["combiner"] = _find("combiner", lambda each: words <= each.accepts)
    return DivideAndConquerClassifier(**chosen, random_state=0)


def _takes(decomposer: Any, learner: Any) -> bool:
    """Return whether the decomposer accepts the learner; some need support vectors."""
    problem = easy_problem(gap=1.0)
    try:
        DivideAndConquerClassifier(decomposer, learner, random_state=0).fit(problem.X, problem.y)
    except CompositionError:
        return False
    return True


def _find(kind: str, fits: Any) -> Any:
    offers = default_registry().of_kind(kind)
    for offer in sorted(offers, key=lambda offer: offer.distribution != "dcsvm"):
        fields = settings_of(offer.what).values()
        if all(field.default is not attrs.NOTHING for field in fields):
            made = offer.what()
            if fits(made) and getattr(made, "summands", None) != ():
                return made
    raise LookupError(f"no registered {kind} fits")
