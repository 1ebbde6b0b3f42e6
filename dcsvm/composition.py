"""Whether a decomposer and a combiner fit together, known before anything is trained."""

from __future__ import annotations

from dcsvm.errors import CompositionError
from dcsvm.interfaces import GROUPS, Combiner, Decomposer
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
    yields, accepts = _listed(decomposer.yields - {GROUPS}), _listed(combiner.accepts - {GROUPS})
    if GROUPS in unfit:
        yields, accepts = f"{yields} in several groups", f"{accepts} in one group"
    raise CompositionError(
        f"combiner {_title(combiner)!r} does not fit decomposer {_title(decomposer)!r}, which "
        f"yields {yields}: it works with {accepts}; "
        f"combiners that fit: {', '.join(combiners) or 'none'}"
    )


def _title(component: Decomposer | Combiner) -> str:
    return component.name or type(component).__name__


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
