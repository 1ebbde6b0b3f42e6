"""Every law on every registered component."""

import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from registered import VARIANTS, components, settings_of

from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.testing import checks_of, summary

CHECKS = [
    check
    for kind, name in components()
    for check in checks_of(kind, name, **settings_of(kind, name))
]


# Worker processes are slow to start: one check with them for each component is enough.
CHECKS += [
    check
    for kind, name, settings in VARIANTS
    for check in checks_of(kind, name, **settings)
    if check.law.__name__ != "is_the_same_in_two_processes"
]


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conforms(check):
    check()


def test_the_components_checked_are_those_that_the_registry_lists():
    registry = default_registry()
    assert not registry.broken
    listed = {(kind, name) for kind, name in registry.offers if kind in KINDS}
    assert {(check.kind, check.name) for check in CHECKS} == listed


def test_the_reference_says_how_many_laws_each_component_keeps():
    page = Path(__file__).parents[2] / "docs" / "reference" / "laws.md"
    written = re.findall(
        r"^\| (\w+) `(\w+)` \| (\d+) \| (\d+) \|$", page.read_text(), re.MULTILINE
    )
    found = {(kind, name): (int(kept), int(skipped)) for kind, name, kept, skipped in written}
    assert set(found) == set(components())
    for kind, name in components():
        checks = checks_of(kind, name, **settings_of(kind, name))
        skipped = sum(bool(check.skip) for check in checks)
        assert found[kind, name] == (len(checks) - skipped, skipped)


def test_the_summary_counts_every_check_of_this_run(request, monkeypatch):
    chosen = [item for item in request.session.items if item.originalname == "test_conforms"]
    if len(chosen) < len(CHECKS):
        pytest.skip("only a selection of the checks was run")
    monkeypatch.setattr(summary, "_ran", Counter())
    monkeypatch.setattr(summary, "_failed", Counter())
    monkeypatch.setattr(summary, "_skipped", Counter())
    for item in chosen:  # other workers may have run them
        told = SimpleNamespace(
            callspec=item.callspec, user_properties=[], when="call", failed=0, skipped=0
        )
        summary.pytest_runtest_setup(told)
        summary.pytest_runtest_logreport(told)
    assert {(kind, name): ran for kind, name, ran, *_ in summary.counts()} == Counter(
        (check.kind, check.name) for check in CHECKS
    )
