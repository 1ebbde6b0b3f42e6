"""The kit has teeth: bugs seeded into every built-in component are caught, in a sentence."""

from collections import Counter

import pytest
from hypothesis import Phase, settings
from registered import components, small

from dcsvm import build
from dcsvm.drive.registry import KINDS
from dcsvm.testing import checks_of, laws_of

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


#: Laws of the first kit that have fewer seeded bugs. Every other law has three or more.
FEWER = {
    "accepts_words_that_exist",
    "answers_one_row_as_many",
    "asks_questions_about_classes_there_are",
    "asks_through_the_committee",
    "bears_contradictions",
    "bears_tiny_problems",
    "can_be_added_to_another",
    "changes_nothing_it_is_given",
    "combines_sparse_rows_as_dense",
    "combines_the_same_twice",
    "comes_back_from_a_worker_process",
    "counts_a_weighted_row_as_repeated",
    "covers_every_row",
    "divides_an_easy_problem",
    "divides_and_answers_at_all",
    "does_not_care_how_rows_lie_in_memory",
    "draws_from_the_seed_alone",
    "explains_a_route",
    "explains_an_answer",
    "explains_every_setting",
    "fits_a_path_as_one_by_one",
    "fits_in_two_threads_at_once",
    "grows_coarser_by_level",
    "honours_the_routers_weights",
    "is_the_same_in_two_processes",
    "is_the_same_in_two_threads",
    "is_the_same_when_the_last_part_is_done_first",
    "keeps_its_settings_through_a_clone",
    "keeps_rows_that_it_was_given",
    "knows_its_cost_or_says_it_does_not",
    "learns_sparse_rows_as_dense",
    "learns_what_is_easy",
    "leaves_no_class_out",
    "leaves_something_that_can_be_stored",
    "lets_the_class_win_that_all_are_sure_of",
    "masks_a_class_nobody_can_speak_for",
    "may_be_given_a_start",
    "names_rows_of_the_problem",
    "passes_row_weights_on",
    "refuses_settings_of_the_wrong_type",
    "refuses_settings_out_of_range",
    "routes_one_row_as_many",
    "routes_sparse_rows_as_dense",
    "says_what_it_is_and_shows_an_example",
    "says_whether_threads_can_run_it",
    "scores_rows_in_any_order",
    "seats_members_in_any_order",
    "sends_every_row_somewhere",
    "sends_training_rows_home",
    "stores_attrs_classes_only",
    "survives_its_model_file",
    "travels_to_a_worker_process",
    "weighs_each_row_of_a_part_once",
}
LAWS = {law.__name__ for kind in KINDS for law in laws_of(kind)}


@pytest.mark.parametrize("law", sorted(LAWS - FEWER))
def test_a_law_is_tried_with_at_least_three_seeded_bugs(law):
    assert law in laws_with_bugs(3)


def test_no_law_is_excused_that_has_three_seeded_bugs():
    assert FEWER <= LAWS
    assert not FEWER & laws_with_bugs(3)


def laws_with_bugs(least):
    """The laws with at least so many bugs."""
    seeded = [*(mutation for *_, mutation in SEEDED), *(mutation for _, mutation in WEIGHING)]
    counts = Counter(law for law, _ in {(each.law, each.name) for each in seeded})
    return {law for law, bugs in counts.items() if bugs >= least}


def test_every_component_has_at_least_five_seeded_bugs():
    counts = Counter((kind, name) for kind, name, _ in SEEDED)
    assert {
        component: counts[component] for component in components() if counts[component] < 5
    } == {}
