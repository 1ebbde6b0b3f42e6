"""Whether the components of a pipeline fit together, known before anything is trained."""

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
    """Raise if the three components do not fit together or one has settings that cannot work."""
    check_composition(decomposer, combiner, registry)
    for each in (*with_inner(decomposer), learner):
        each.check()
    check_support(decomposer, learner, registry)


def check_composition(decomposer: Decomposer, combiner: Combiner, registry: Registry) -> None:
    """Refuse a combiner that cannot work with what the decomposer yields; name those that can."""
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
    """Refuse a learner that says it keeps no support vectors, where the decomposer needs them."""
    if learner.keeps_support is False and needs_support(decomposer):
        raise without_support(decomposer, learner, registry)


def check_kept(decomposer: Decomposer, learner: LocalLearner, members: list[Member]) -> None:
    """Raise if the decomposer needs support vectors and a model of the learner has none."""
    own = [each for each in members if each.part is None or each.part.learner is None]
    if needs_support(decomposer) and not all(each.model.tells_support for each in own):
        raise without_support(decomposer, learner, default_registry())


def needs_support(decomposer: Decomposer) -> bool:
    """Whether a decomposer, or one that it is made of, lives on what members kept."""
    return any(each.needs_support for each in with_inner(decomposer))


def without_support(
    decomposer: Decomposer, learner: LocalLearner, registry: Registry
) -> CompositionError:
    """What to raise where a learner keeps no support vectors: it names those that do."""
    needing = next((each for each in with_inner(decomposer) if each.needs_support), decomposer)
    while isinstance(inner := getattr(learner, "learner", None), (str, LocalLearner)):
        learner = registry.resolve("learner", inner)
    learners = [
        offer.name for offer in registry.of_kind("learner") if offer.what.keeps_support is True
    ]
    return CompositionError(
        f"learner {_title(learner)!r} does not fit decomposer {_title(needing)!r}, which goes on "
        "with the training rows that a learner kept: it keeps no support vectors; "
        f"learners that fit: {', '.join(learners) or 'none'}"
    )


def without_levels(decomposer: Decomposer, registry: Registry) -> str:
    """What is to say where no search can go through a division's levels; else nothing.

    It names decomposers that have some.
    """
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


def with_inner(decomposer: Decomposer) -> Iterator[Decomposer]:
    """A decomposer and those among its settings, at any depth."""
    yield decomposer
    for value in decomposer.get_params(deep=False).values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, Decomposer):
                yield from with_inner(each)


def _title(component: Decomposer | LocalLearner | Combiner) -> str:
    return component.name or type(component).__name__


def _join(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
