"""Recipes on top of recipes, and recipes written out again."""

import tomllib

import fakes
import pytest

from dcsvm.base.decomposer import Repeat, Sum
from dcsvm.base.digest import digest
from dcsvm.drive.registry import Offer, Registry
from dcsvm.experiments.recipe import find_recipe, parse, serialize_recipe, to_toml

BASE = """
name = "base"
about = "what it stands on"
combiner = "average"
data = { path = "rows.csv", target = "kind", scale = "standard" }

[decomposer]
use = "strips"
strips = 7

[learner]
use = "centroids"

[search]
seconds = 2.0
decomposer.strips = [2, 3]
data.scale = ["minmax", "none"]
"""


@pytest.fixture
def registry():
    registry = Registry(())
    for kind, classes in {
        "decomposer": [fakes.Everything, fakes.Strips, Repeat, Sum],
        "learner": [fakes.Centroids],
        "combiner": [fakes.Average],
    }.items():
        for cls in classes:
            registry.offers[kind, cls.name] = Offer(kind, cls.name, cls, "fakes", "0")
    return registry


@pytest.fixture
def read(registry, tmp_path, monkeypatch):
    """Read a recipe that may extend `below/base.toml`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "base.toml").write_text(BASE)

    def read(text, *overrides):
        (tmp_path / "own.toml").write_text(text)
        return find_recipe("own.toml", registry, overrides)

    return read


EXTENDS = 'extends = "below/base.toml"\n'


def test_what_is_not_said_is_as_in_the_recipe_below(read):
    recipe = read(EXTENDS)
    (own,) = recipe.candidates
    assert (own.name, recipe.about) == ("own", "what it stands on")
    assert own.classifier.decomposer.strips == 7
    assert own.grid == {"decomposer.strips": [2, 3], "data.scale": ["minmax", "none"]}
    assert recipe.search.seconds == 2.0


def test_a_file_is_seen_from_the_recipe_that_names_it(read):
    assert read(EXTENDS).data.path == "below/rows.csv"


def test_settings_without_a_name_join_and_end_the_search_for_them(read):
    (own,) = read(EXTENDS + "[decomposer]\nstrips = 4\n").candidates
    assert own.classifier.decomposer.strips == 4
    assert own.grid == {"data.scale": ["minmax", "none"]}


def test_a_component_with_a_name_is_given_anew(read):
    (own,) = read(EXTENDS + '[decomposer]\nuse = "strips"\n').candidates
    assert own.classifier.decomposer.strips == 3
    assert "decomposer.strips" not in own.grid


def test_another_source_of_data_leaves_only_how_to_treat_it(read):
    data = read(EXTENDS + 'data = { use = "iris" }\n').data
    assert (data.use, data.path, data.target, data.scale) == ("iris", None, None, "standard")


def test_a_search_of_ones_own_may_stand_beside_a_value(read):
    text = EXTENDS + "search.decomposer.strips = [5]\ndecomposer.strips = 5\n"
    assert read(text).candidates[0].grid["decomposer.strips"] == [5]


def test_overrides_win_one_after_the_other(read):
    recipe = read(EXTENDS, "decomposer.strips=4", "decomposer.strips=6", "data.scale=none")
    assert recipe.candidates[0].classifier.decomposer.strips == 6
    assert recipe.candidates[0].grid == {}
    assert recipe.data.scale == "none"


def test_a_rival_searches_for_what_it_does_not_give(read):
    text = EXTENDS + '[compare.all]\ndecomposer = "everything"\n[compare.four.decomposer]\n'
    _, everything, four = read(text + "strips = 4\n").candidates
    assert everything.grid == {"data.scale": ["minmax", "none"]}
    assert four.grid == {"data.scale": ["minmax", "none"]}
    assert four.classifier.decomposer.strips == 4


def test_a_resolved_recipe_reads_as_the_same(read, registry, tmp_path):
    text = (
        EXTENDS
        + """
    [compare.all]
    decomposer = "everything"
    [compare."two times".decomposer]
    use = "repeat"
    times = 2
    decomposer = { use = "sum", summands = ["strips", { use = "strips", strips = 9 }] }
    [compare.nested.learner]
    decomposer = "strips"
    learner = "centroids"
    combiner = "average"
    """
    )
    recipe = read(text)
    again = parse(serialize_recipe(recipe), "resolved.toml", tmp_path / "elsewhere", registry)
    assert serialize_recipe(again).replace("elsewhere/", "") != ""
    for one, other in zip(recipe.candidates, again.candidates, strict=True):
        assert (one.name, one.grid) == (other.name, other.grid)
        assert digest(one.classifier) == digest(other.classifier)


@pytest.mark.parametrize(
    "table",
    [
        {"a": 1, "b": {"c": [1.5, 'x\n"y"', True], "d": {"e f": -3}}},
        {"list": [{"use": "x", "n": {"m": []}}], "empty": {}},
        {"text": "\x7f\u00e9\t\\", "large": 1e300, "small": 1e-7, "infinite": float("inf")},
    ],
)
def test_toml_is_read_as_it_was_written(table):
    assert tomllib.loads(to_toml(table)) == table


def test_a_setting_of_a_decomposer_in_a_decomposer_joins_the_others(read):
    text = BASE.replace('use = "strips"\nstrips = 7', NESTED).replace(
        "decomposer.strips = [2, 3]", "decomposer.decomposer.strips = [2, 3]"
    )
    recipe = read(text, "decomposer.decomposer.strips=5")
    decomposer = recipe.candidates[0].classifier.decomposer
    assert decomposer.times == 2
    assert decomposer.decomposer.strips == 5


NESTED = 'use = "repeat"\ntimes = 2\ndecomposer = { use = "strips", strips = 7 }'
