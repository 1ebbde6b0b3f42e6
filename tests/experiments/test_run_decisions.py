"""A run with a threshold or costs, and the model that it keeps."""

import re

import numpy as np
import pytest

from dcsvm.base.errors import RecipeError
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import parse
from dcsvm.experiments.recipe.toml_writer import serialize_recipe
from dcsvm.experiments.run.run_messages import describe_decision
from dcsvm.experiments.run.runner import run_recipe

pytest.importorskip("dcsvm_plugins", reason="the recipes are made of the built-in plugins")
HEAD = """
data = { use = "two_moons", rows = 400 }
decomposer = "whole"
learner = "kernel_svm"
combiner = "route"
"""


def read(text):
    return parse(HEAD + text, "recipe.toml", ".", default_registry())


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ('threshold = "best f1"', r"labels: \S+ from a probability of \S+ on \(best f1 of held"),
        ("threshold = 0.1", r"labels: \S+ from a probability of 0\.1 on$"),
        ("costs = { 1 = 9.0 }", r"labels: \S+ from a probability of (0\.1|0\.9) on$"),
    ],
)
def test_a_run_decides_as_the_recipe_says(lines, sentence):
    recipe = read(f'probability = "auto"\n{lines}')
    assert lines.partition(" ")[0] in serialize_recipe(recipe)
    result = run_recipe(recipe)
    model = result.trained[0].model
    assert re.match(sentence, describe_decision(model[-1]))
    rows = result.dataset.X[result.test_rows]
    assert (result.trained[0].answers == model.predict(rows)).all()
    likeliest = model.classes_[model.predict_proba(rows).argmax(axis=1)]
    if lines != 'threshold = "best f1"':
        assert not np.array_equal(likeliest, model.predict(rows))


def test_a_threshold_without_probabilities_is_a_mistake_of_the_recipe():
    with pytest.raises(RecipeError, match=r"recipe.toml:6: threshold needs probabilities"):
        read("threshold = 0.1")
    assert read('threshold = "none"').candidates[0].classifier.threshold is None
