"""Recipes as objects: what a text is turned into."""

from pathlib import Path

import fakes
import pytest

from dcsvm.base.decomposer import Repeat, Sum
from dcsvm.base.errors import RecipeError
from dcsvm.drive.registry import Offer, Registry
from dcsvm.experiments.recipe import find_recipe, parse


@pytest.fixture
def registry():
    """A registry of the core's own components and a few fakes: no plugin is needed."""
    registry = Registry(())
    for kind, classes in {
        "decomposer": [fakes.Everything, fakes.Strips, Repeat, Sum],
        "learner": [fakes.Centroids],
        "combiner": [fakes.Average],
    }.items():
        for cls in classes:
            registry.offers[kind, cls.name] = Offer(kind, cls.name, cls, "fakes", "0")
    return registry


HEAD = 'learner = "centroids"\ncombiner = "average"\ndata = { use = "iris" }\n'


def read(registry, text):
    return parse(text, "some.toml", Path("folder"), registry)


def test_a_name_and_a_table_mean_the_same(registry):
    for given in ('"strips"', '{ use = "strips" }'):
        (own,) = read(registry, f"decomposer = {given}\n" + HEAD).candidates
        assert type(own.classifier.decomposer) is fakes.Strips
        assert own.classifier.decomposer.strips == 3


def test_settings_reach_the_component(registry):
    recipe = read(registry, 'decomposer = { use = "strips", strips = 7 }\n' + HEAD)
    assert recipe.candidates[0].classifier.decomposer.strips == 7


def test_what_is_not_said_has_a_sensible_default(registry):
    recipe = read(registry, 'decomposer = "everything"\n' + HEAD)
    assert (recipe.title, recipe.about) == ("some.toml", "")
    assert recipe.candidates[0].name == "some"
    assert (recipe.data.scale, recipe.split.test, recipe.split.seed) == ("minmax", None, 0)


def test_components_inside_components_are_built(registry):
    text = """
    [decomposer]
    use = "sum"
    summands = ["everything", { use = "repeat", times = 2, decomposer = { use = "strips" } }]
    """
    decomposer = read(registry, HEAD + text).candidates[0].classifier.decomposer
    first, second = decomposer.summands
    assert type(first) is fakes.Everything
    assert (type(second), second.times) == (Repeat, 2)
    assert type(second.decomposer) is fakes.Strips


def test_a_learner_may_hold_a_pipeline_that_holds_a_pipeline(registry):
    three = HEAD.splitlines()
    inner = "\n".join(three[:2]) + '\ndecomposer = "strips"\n'
    text = f"""
decomposer = "everything"
{three[1]}
{three[2]}
[learner]
decomposer = "everything"
{three[1]}
[learner.learner]
{inner}
"""
    classifier = read(registry, text).candidates[0].classifier
    assert type(classifier.learner.learner.decomposer) is fakes.Strips
    assert type(classifier.learner.learner.learner) is fakes.Centroids


def test_a_rival_is_as_the_recipe_except_for_what_it_says(registry):
    text = 'name = "mine"\ndecomposer = { use = "strips", strips = 5 }\n' + HEAD
    text += '[compare.undivided]\ndecomposer = "everything"\n'
    own, rival = read(registry, text).candidates
    assert (own.name, rival.name) == ("mine", "undivided")
    assert type(rival.classifier.decomposer) is fakes.Everything
    assert type(rival.classifier.learner) is type(own.classifier.learner)
    assert rival.classifier.learner.get_params() == own.classifier.learner.get_params()


def test_a_mistake_that_a_rival_shares_is_told_once(registry):
    text = 'decomposer = "everything"\n' + HEAD.replace("learner =", "learner = 3 #")
    text += '[compare.other]\ndecomposer = "strips"\n'
    with pytest.raises(RecipeError) as caught:
        read(registry, text)
    assert str(caught.value) == (
        "some.toml:2: a learner is a name, or a table with the key 'use', not 3"
    )


def test_a_registered_recipe_is_found_by_its_name_and_a_file_comes_first(
    registry, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    text = 'decomposer = "everything"\n' + HEAD
    registry.offers["recipe", "plain"] = Offer("recipe", "plain", text, "fakes", "0")
    assert find_recipe("plain", registry).about == ""
    (tmp_path / "plain").write_text('about = "from the file"\n' + text)
    assert find_recipe("plain", registry).about == "from the file"
