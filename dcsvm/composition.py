"""Whether a decomposer and a combiner fit together, known before anything is trained."""

from __future__ import annotations

from dcsvm.errors import CompositionError
from dcsvm.interfaces import Combiner, Decomposer
from dcsvm.registry import Registry


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
    raise CompositionError(
        f"combiner {_title(combiner)!r} does not fit decomposer {_title(decomposer)!r}, which "
        f"yields {_listed(decomposer.yields)}: it works with {_listed(combiner.accepts)}; "
        f"combiners that fit: {', '.join(combiners) or 'none'}"
    )


def _title(component: Decomposer | Combiner) -> str:
    return component.name or type(component).__name__


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
