"""Compatibility of decomposer, learner and combiner, checked before training."""

from __future__ import annotations

from collections.abc import Iterator

from dcsvm.base.combiner import Combiner
from dcsvm.base.decomposer import GROUPS, Decomposer, Repeat
from dcsvm.base.errors import CompositionError
from dcsvm.base.learner import LocalLearner
from dcsvm.base.member import Member
from dcsvm.drive.registry import Registry, default_registry


def check_compatible(
    decomposer: Decomposer, learner: LocalLearner, combiner: Combiner, registry: Registry
) -> None:
    """Raise if the components do not fit together, or one has conflicting settings."""
    check_composition(decomposer, combiner, registry)
    for each in (*iterate_nested(decomposer), learner):
        each.check()
    check_support(decomposer, learner, registry)


def check_composition(decomposer: Decomposer, combiner: Combiner, registry: Registry) -> None:
    """Raise if the combiner cannot work with what the decomposer yields."""
    unfit = decomposer.yields - combiner.accepts
    if not unfit:
        return
    combiners = [
        offer.name
        for offer in registry.of_kind("combiner")
        if decomposer.yields <= offer.what.accepts
    ]
    yields, accepts = _join(decomposer.yields - {GROUPS}), _join(combiner.accepts - {GROUPS})
    if GROUPS in unfit:
        yields, accepts = f"{yields} in several groups", f"{accepts} in one group"
    raise CompositionError(
        f"combiner {_title(combiner)!r} does not fit decomposer {_title(decomposer)!r}, which "
        f"yields {yields}: it works with {accepts}; "
        f"combiners that fit: {', '.join(combiners) or 'none'}"
    )


def check_support(decomposer: Decomposer, learner: LocalLearner, registry: Registry) -> None:
    """Raise if the decomposer needs support vectors and the learner never has them."""
    if learner.keeps_support is False and needs_support(decomposer):
        raise lacks_support_error(decomposer, learner, registry)


def check_kept(decomposer: Decomposer, learner: LocalLearner, members: list[Member]) -> None:
    """Raise if the decomposer needs support vectors and a model of the learner has none."""
    own = [each for each in members if each.part is None or each.part.learner is None]
    if needs_support(decomposer) and not all(each.model.tells_support for each in own):
        raise lacks_support_error(decomposer, learner, default_registry())


def needs_support(decomposer: Decomposer) -> bool:
    """Whether a decomposer, or one nested in it, needs support vectors."""
    return any(each.needs_support for each in iterate_nested(decomposer))


def lacks_support_error(
    decomposer: Decomposer, learner: LocalLearner, registry: Registry
) -> CompositionError:
    """The error for a learner without support vectors; it names learners that have them."""
    needing = next((each for each in iterate_nested(decomposer) if each.needs_support), decomposer)
    while isinstance(inner := getattr(learner, "learner", None), (str, LocalLearner)):
        learner = registry.resolve("learner", inner)
    learners = [
        offer.name for offer in registry.of_kind("learner") if offer.what.keeps_support is True
    ]
    return CompositionError(
        f"learner {_title(learner)!r} does not fit decomposer {_title(needing)!r}, which needs "
        "support vectors: its models have none; "
        f"learners that fit: {', '.join(learners) or 'none'}"
    )


def without_levels(decomposer: Decomposer, registry: Registry) -> str:
    """The message for a decomposer without levels, naming others; empty if it has some."""
    while isinstance(decomposer, Repeat) and isinstance(decomposer.decomposer, Decomposer):
        decomposer = decomposer.decomposer
    if type(decomposer).levels is not Decomposer.levels:
        return ""
    others = [
        offer.name
        for offer in registry.of_kind("decomposer")
        if offer.what.levels is not Decomposer.levels
    ]
    return (
        f"decomposer {_title(decomposer)!r} has no levels to search through; decomposers that "
        f"have: {', '.join(others) or 'none'}"
    )


def iterate_nested(decomposer: Decomposer) -> Iterator[Decomposer]:
    """Yield a decomposer and those nested in its settings."""
    yield decomposer
    for value in decomposer.get_params(deep=False).values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, Decomposer):
                yield from iterate_nested(each)


def _title(component: Decomposer | LocalLearner | Combiner) -> str:
    return component.name or type(component).__name__


def _join(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
