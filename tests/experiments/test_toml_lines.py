"""The line of a key, found in every way that TOML lets one write it."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcsvm.experiments.recipe.toml_lines import LineIndex

TEXT = '''\
about = "[not a table]" # [nor this]
[data]
path = """
target = "not a key"
"""
"quoted key" = 'a = 1'
[learner.decomposer]
use = "tree"
inline = {a = 1.5, b = [1, {use = "x"}]}
list = [
  # a comment, and [brackets]
  {use = "a"},

  "b",
]
[[stage]]
a = 1
[[stage]]
a = 1979-05-27
[stage.sub]
q.r = true
'''


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("about",), 1),
        (("data",), 2),
        (("data", "path"), 3),
        (("data", "quoted key"), 6),
        (("learner",), 7),
        (("learner", "decomposer"), 7),
        (("learner", "decomposer", "use"), 8),
        (("learner", "decomposer", "inline", "a"), 9),
        (("learner", "decomposer", "inline", "b", 1, "use"), 9),
        (("learner", "decomposer", "list", 0, "use"), 12),
        (("learner", "decomposer", "list", 1), 14),
        (("stage", 0, "a"), 17),
        (("stage", 1, "a"), 19),
        (("stage", 1, "sub", "q", "r"), 21),
    ],
)
def test_every_key_is_found_on_its_line(key, line):
    tomllib.loads(TEXT)
    assert LineIndex(TEXT).line_of[key] == line


def keys_of(value, at=()):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*at, key)
        if isinstance(inner, dict | list):
            yield from keys_of(inner, (*at, key))


names = st.text("ab", min_size=1, max_size=2)
values = st.recursive(
    st.sampled_from(["1", "-2.5e3", "true", '"a = [1"', "'{'", "'''\n]'''", "07:32:00"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda each: "[\n" + ",\n".join(each) + "]")
        | st.dictionaries(names, inner, max_size=2).map(
            lambda table: "{" + ", ".join(f"{key} = {each}" for key, each in table.items()) + "}"
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(names, values, max_size=3), st.dictionaries(names, values, max_size=2))
def test_any_valid_text_is_read_to_its_end_and_every_key_has_a_line(top, table):
    lines = [f"{key} = {value}" for key, value in top.items()]
    lines += ["[[c.d]]  # comment", *(f"{key} = {value}" for key, value in table.items())]
    text = "\n".join(lines)
    found = LineIndex(text)
    for key in keys_of(tomllib.loads(text)):
        assert key in found.line_of
        assert 1 <= found.line_of[key] <= text.count("\n") + 1
