"""The kit has teeth: bugs seeded into every built-in component are caught, in a sentence."""

from collections import Counter

import pytest
from hypothesis import Phase, settings

from dcsvm.testing import checks_of

from . import combiner_mutations, decomposer_mutations, learner_mutations  # noqa: F401
from .mutations import mutations_of
from .registered import components, small

SEEDED = [
    (kind, name, mutation)
    for kind, name in components()
    for mutation in mutations_of(kind, small(kind, name))
]


@pytest.fixture(scope="module", autouse=True)
def _no_shrinking():
    """A mutant need not be caught with the smallest example: finding that one takes long."""
    before = settings.get_current_profile_name()
    settings.register_profile("no shrinking", phases=[Phase.explicit, Phase.generate])
    settings.load_profile("no shrinking")
    yield
    settings.load_profile(before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "mutation"),
    SEEDED,
    ids=lambda value: getattr(value, "name", value).replace(" ", "_"),
)
def test_a_seeded_bug_is_caught_by_its_law(kind, name, mutation, record_property):
    checks = {check.law.__name__: check for check in checks_of(mutation.made(small(kind, name)))}
    with pytest.raises(AssertionError) as failure:
        checks[mutation.law]()
    sentence = str(failure.value)
    assert sentence.startswith(f"{kind} {name} breaks a law: {checks[mutation.law].sentence}. But")
    seen = sentence.partition("But ")[2]
    record_property("seeded bug caught", (f"{kind} {name}", mutation.name, mutation.law, seen))


def test_every_component_has_at_least_five_seeded_bugs():
    counts = Counter((kind, name) for kind, name, _ in SEEDED)
    assert {
        component: counts[component] for component in components() if counts[component] < 5
    } == {}
