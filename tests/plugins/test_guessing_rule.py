"""From a name in a recipe to its file, its class and its test, by guessing."""

import re
from pathlib import Path

import pytest

import dcsvm
from dcsvm.drive.registry import KINDS, default_registry

HERE = Path(__file__).parent
BUILT_IN = [
    offer
    for offer in default_registry().offers.values()
    if offer.kind in KINDS and offer.distribution == "dcsvm"
]
#: What decomposers are made of others with, and what recipes scale with, lives in the core: the
#: operators `+` and `*` and the run of a recipe need them, whatever plugins there are.
IN_THE_CORE = {"sum", "repeat"}


@pytest.mark.parametrize("offer", BUILT_IN, ids=lambda offer: f"{offer.kind}-{offer.name}")
def test_a_name_leads_to_a_file_a_class_and_a_test(offer):
    if offer.name in IN_THE_CORE:
        assert offer.what.__module__.startswith("dcsvm.")
    else:
        assert offer.what.__module__ == f"dcsvm_plugins.{offer.kind}s.{offer.name}"
    assert offer.what.__name__.lower() == offer.name.replace("_", "")
    assert (HERE / f"test_{offer.name}.py").is_file()


@pytest.mark.parametrize("offer", BUILT_IN, ids=lambda offer: f"{offer.kind}-{offer.name}")
def test_names_are_lower_case_words(offer):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", offer.name)


@pytest.mark.parametrize("offer", BUILT_IN, ids=lambda offer: f"{offer.kind}-{offer.name}")
def test_who_looks_for_its_class_is_told_how_to_build_it(offer):
    name = offer.what.__name__
    if name in dcsvm.__all__:
        assert offer.name in IN_THE_CORE
        return
    with pytest.raises(ImportError) as refusal:
        exec(f"from dcsvm import {name}", {})
    assert str(refusal.value) == (
        f"dcsvm has no class {name!r}: components come from plugins, by name; make this one with "
        f'build("{offer.kind}", "{offer.name}")'
    )


def test_nothing_of_the_core_is_listed_but_what_must_be():
    core = {offer.name for offer in BUILT_IN if offer.what.__module__.startswith("dcsvm.")}
    assert core == IN_THE_CORE
