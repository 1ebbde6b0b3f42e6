"""The page of the reference about the laws of the conformance kit; see generate_reference.py."""

from collections.abc import Iterator
from typing import Any

import dcsvm
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.testing import checks_of, laws_of

#: Settings of components that are composed of others.
COMPOSED: dict[str, dict[str, Any]] = {
    "sum": {"summands": [dcsvm.build("decomposer", each) for each in ("tree", "chunks")]},
    "repeat": {"decomposer": dcsvm.build("decomposer", "bootstrap")},
}


def laws(command: str) -> Iterator[str]:
    """The lines of the page: every law, and how many of them each component keeps."""
    yield from ("# Laws", "", f"Written by `{command}`; do not edit.")
    yield "What the conformance kit checks of every component, see"
    yield "[Plugins](../plugins.md#test-it). `tests/plugins/test_mutations.py` seeds bugs into the"
    yield "components to see that each law finds those that it is for."
    of_any = list(dict.fromkeys(laws_of("any")))
    for title, mine in {
        "components of any kind": of_any,
        **{f"{kind}s": [each for each in laws_of(kind) if each not in of_any] for kind in KINDS},
    }.items():
        yield from ("", f"## Of {title}", "", "| law | what holds |", "|---|---|")
        for each in mine:
            yield f"| `{each.__name__}` | {(each.__doc__ or ' ').splitlines()[0].strip()} |"
    yield from ("", "## By component", "", "Laws that do not apply are skipped, with the reason.")
    yield "`sum` is that of `tree` and `chunks`, `repeat` that of `bootstrap`."
    yield from ("", "| component | laws checked | skipped |", "|---|---|---|")
    for kind in KINDS:
        for offer in default_registry().of_kind(kind):
            if offer.distribution == "dcsvm":
                checks = checks_of(dcsvm.build(kind, offer.name, **COMPOSED.get(offer.name, {})))
                skipped = sum(bool(each.skip) for each in checks)
                yield f"| {kind} `{offer.name}` | {len(checks) - skipped} | {skipped} |"
