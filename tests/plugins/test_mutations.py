"""The kit has teeth: bugs seeded into every built-in component are caught, in a sentence."""

from collections import Counter

import pytest
from hypothesis import Phase, settings
from registered import components, small

from dcsvm import build
from dcsvm.testing import checks_of

from . import combiner_mutations, decomposer_mutations, learner_mutations  # noqa: F401
from .mutations import mutations_of

SEEDED = [
    (kind, name, mutation)
    for kind, name in components()
    for mutation in mutations_of(kind, small(kind, name))
]
#: Learners by what they make of row weights, for the laws of which the defaults keep only one.
WEIGHING = [
    (build("learner", "sklearn", classifier=classifier), mutation)
    for classifier in ("RandomForestClassifier", "KNeighborsClassifier")
    for mutation in mutations_of("learner", build("learner", "sklearn", classifier=classifier))
    if mutation.law in ("leans_towards_heavier_rows", "refuses_row_weights_in_a_sentence")
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
    expect_caught(kind, name, mutation, small(kind, name), record_property)


@pytest.mark.parametrize(
    ("learner", "mutation"), WEIGHING, ids=lambda value: getattr(value, "classifier", None)
)
def test_a_seeded_bug_in_row_weights_is_caught(learner, mutation, record_property):
    expect_caught("learner", "sklearn", mutation, learner, record_property)


def expect_caught(kind, name, mutation, component, record_property):
    checks = {check.law.__name__: check for check in checks_of(mutation.made(component))}
    with pytest.raises(AssertionError) as failure:
        checks[mutation.law]()
    sentence = str(failure.value)
    assert sentence.startswith(f"{kind} {name} breaks a law: {checks[mutation.law].sentence}. But")
    seen = sentence.partition("But ")[2]
    record_property("seeded bug caught", (f"{kind} {name}", mutation.name, mutation.law, seen))


#: Laws that came with weights, structures, soft routers and declared words.
NEW = [
    "asks_a_member_that_learned_the_row",
    "declares_words_with_a_meaning",
    "honours_the_members_weights",
    "leaves_a_structure_that_can_be_stored",
    "leans_towards_heavier_rows",
    "refuses_row_weights_in_a_sentence",
    "says_what_row_weights_do",
    "shares_out_the_weight_of_a_row",
]


@pytest.mark.parametrize("law", NEW)
def test_a_law_is_tried_with_at_least_three_seeded_bugs(law):
    seeded = [*(mutation for *_, mutation in SEEDED), *(mutation for _, mutation in WEIGHING)]
    assert len({mutation.name for mutation in seeded if mutation.law == law}) >= 3


def test_every_component_has_at_least_five_seeded_bugs():
    counts = Counter((kind, name) for kind, name, _ in SEEDED)
    assert {
        component: counts[component] for component in components() if counts[component] < 5
    } == {}
