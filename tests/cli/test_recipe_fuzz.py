"""Recipes that nobody would write: read, or refused in sentences, and never anything else.

`DCSVM_FUZZ=10000 python -m pytest tests -k fuzz` tries that many of each kind.
"""

from pathlib import Path

import pytest
from fuzzing import fuzzed, in_time
from hypothesis import given
from hypothesis import strategies as st

from dcsvm.base.errors import DcsvmError
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import Recipe, find_recipe, parse, serialize_recipe, to_toml

thoroughly = fuzzed(100)

SHIPPED = [offer.what for offer in default_registry().of_kind("recipe")]
VOCABULARY = (
    "use data split search measure compare extends decomposer learner combiner name about suits "
    "C gamma kernel_svm tree whole route vote chunks repeat sum times summands scale minmax iris "
    "path target rows seconds folds test validation grid random granularity quickstart td_svm "
    "global_svm settings transformers 0 sklearn classifier x"
)
WORDS = st.sampled_from(VOCABULARY.split())
VALUES = st.recursive(
    st.one_of(
        WORDS,
        st.integers(-3, 10**6),
        st.sampled_from([-(10**30), 2**63, 10**400, float("nan")]),
        st.floats(allow_nan=False),
        st.booleans(),
        st.text(max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)
    ),
    max_leaves=8,
)


def read(text, *overrides):
    """Whatever a recipe's text leads to that may be seen by a user."""
    try:
        with in_time():
            recipe = parse(text, "fuzzed.toml", Path("nowhere"), default_registry(), overrides)
    except DcsvmError:
        return None
    assert isinstance(recipe, Recipe)
    again = parse(serialize_recipe(recipe), "again.toml", Path(), default_registry())
    assert serialize_recipe(again) == serialize_recipe(recipe)
    return recipe


@pytest.mark.slow
@thoroughly
@given(table=st.dictionaries(WORDS, VALUES, max_size=6))
def test_any_table_is_read_or_refused(table):
    read(to_toml(table))


@pytest.mark.slow
@thoroughly
@given(data=st.data(), text=st.sampled_from(SHIPPED))
def test_a_recipe_with_lines_lost_moved_or_mangled_is_read_or_refused(data, text):
    lines = text.splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["drop", "double", "swap", "word", "letter"]))
        if what == "drop" and len(lines) > 1:
            del lines[place]
        elif what == "double":
            lines.insert(place, lines[place])
        elif what == "swap":
            lines[0], lines[place] = lines[place], lines[0]
        elif what == "word":
            key, equals, _ = lines[place].partition("=")
            lines[place] = f"{key}{equals} {data.draw(WORDS)!r}"
        else:
            at = data.draw(st.integers(0, len(lines[place])))
            letter = data.draw(st.characters(codec="utf-8"))
            lines[place] = lines[place][:at] + letter + lines[place][at + 1 :]
    read("\n".join(lines))


@pytest.mark.slow
@thoroughly
@given(
    keys=st.lists(WORDS, min_size=1, max_size=4),
    value=st.one_of(VALUES.map(str), st.text(max_size=8)),
    text=st.sampled_from(SHIPPED),
)
def test_any_value_on_the_command_line_is_taken_or_refused(keys, value, text):
    read(text, f"{'.'.join(keys)}={value}")


@thoroughly
@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    read(text)


@thoroughly
@given(name=st.text(max_size=30))
def test_any_name_is_found_or_refused(name):
    try:
        with in_time():
            recipe = find_recipe(name, default_registry())
    except DcsvmError:
        return
    assert isinstance(recipe, Recipe)
