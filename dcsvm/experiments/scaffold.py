"""The recipe and the plugin that `dcsvm recipes init` and `dcsvm plugins init` write."""

from __future__ import annotations

from collections.abc import Mapping

RECIPE = """\
about = "what this recipe is good for"

[data]
path = "mine.csv"            # .csv, .npz, ...; or, for an embedded set: use = "iris"
target = "class"             # the column that holds the classes
scale = "standard"           # or minmax, robust, none
missing = "error"            # or impute, mark

[split]
test = 0.25                  # share of the rows held out; or: use = "folds", folds = 5
seed = 0

[decomposer]                 # dcsvm plugins lists what there is
use = "tree"
ceiling = 1500

[learner]
use = "kernel_svm"

[combiner]
use = "route"

[search]                     # values to choose from, by rows that are held out for that
rows = 3000
seconds = 30.0
learner.C = [1.0, 10.0, 100.0]
learner.gamma = [0.1, 1.0, 10.0]

[compare.undivided]          # the same learner without a division
decomposer = "whole"
"""

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "dcsvm-{dashed}"
version = "0.1.0"
dependencies = ["dcsvm"]

[project.optional-dependencies]
test = ["dcsvm[test]", "pytest"]

[project.entry-points.dcsvm]
{name} = "dcsvm_{name}"

[tool.hatch.build.targets.wheel]
only-include = ["dcsvm_{name}.py"]
"""

TESTS = '''\
"""Every check of dcsvm on {name}."""

from pathlib import Path

import pytest

from dcsvm.drive.registry import default_registry
from dcsvm.testing import Check, checks_of

# Not installed: load the module beside this file.
if ("{kind}", "{name}") not in default_registry().offers:
    default_registry().add_file(Path(__file__).with_name("dcsvm_{name}.py"))


@pytest.mark.parametrize("check", checks_of("{kind}", "{name}"), ids=str)
def test_{name}_conforms(check: Check) -> None:
    check()
'''

README = """\
# dcsvm-{dashed}

A {kind} for dcsvm, called `{name}`.

    pip install -e '.[test]'
    python -m pytest
    dcsvm plugins show {name}
"""

MODULES = {
    "decomposer": '''\
"""Random halves: a decomposer to start from."""

import numpy as np

import dcsvm
from dcsvm.toolbox import Stages


@dcsvm.component
class {title}(dcsvm.Decomposer):
    """Split the rows at random into parts of about the same size.

    >>> clf = dcsvm.DivideAndConquerClassifier("{name}", "kernel_svm", "mean")
    """

    name = "{name}"
    yields = frozenset({{"subsets"}})

    parts: int = dcsvm.setting(2, at_least=1, help="how many parts, at the most")

    def divide(self, problem: dcsvm.Problem) -> Stages:
        order = problem.seed.generator().permutation(problem.n_rows)
        dealt = np.array_split(order, min(self.parts, problem.n_rows))
        yield [dcsvm.part(np.sort(rows)) for rows in dealt]
        return None  # no router: every model answers every row


@dcsvm.hookimpl
def dcsvm_decomposers() -> list[type[dcsvm.Decomposer]]:
    return [{title}]
''',
    "learner": '''\
"""Nearest class means: a learner to start from."""

import numpy as np

import dcsvm
from dcsvm.toolbox import Hyperplanes


@dcsvm.component
class {title}(dcsvm.LocalLearner):
    """Score a row by its distance to the weighted mean of each class.

    >>> clf = dcsvm.DivideAndConquerClassifier("tree", "{name}", "route")
    """

    name = "{name}"

    def fit(self, problem: dcsvm.Problem) -> dcsvm.LocalModel:
        weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        member = (problem.y[:, None] == np.arange(problem.n_classes)) * weights[:, None]
        means = np.asarray(problem.X.T @ member) / member.sum(axis=0)
        # |x - m|^2 = |x|^2 - 2 x.m + |m|^2, and |x|^2 is the same for every class.
        planes, biases = 2.0 * means, -(means**2).sum(axis=0)
        if problem.n_classes == 2:
            planes, biases = planes[:, 1:] - planes[:, :1], biases[1:] - biases[:1]
        return Hyperplanes(planes, biases)


@dcsvm.hookimpl
def dcsvm_learners() -> list[type[dcsvm.LocalLearner]]:
    return [{title}]
''',
    "combiner": '''\
"""The mean of all scores: a combiner to start from."""

import dcsvm
from dcsvm.numeric import FloatArray, Matrix


@dcsvm.component
class {title}(dcsvm.Combiner):
    """Average the scores of each class over the models that know it.

    >>> clf = dcsvm.DivideAndConquerClassifier("chunks", "kernel_svm", "{name}")
    """

    name = "{name}"

    def combine(self, committee: dcsvm.Committee, X: Matrix) -> FloatArray:
        return committee.mean_scores(X)


@dcsvm.hookimpl
def dcsvm_combiners() -> list[type[dcsvm.Combiner]]:
    return [{title}]
''',
}


def build_plugin_files(name: str, kind: str) -> Mapping[str, str]:
    """Return the text of each file of a new plugin with one component of that kind."""
    words = {
        "name": name,
        "dashed": name.replace("_", "-"),
        "title": "".join(word.capitalize() for word in name.split("_")),
        "kind": kind,
    }
    return {
        f"dcsvm_{name}.py": MODULES[kind].format(**words),
        f"test_{name}.py": TESTS.format(**words),
        "pyproject.toml": PYPROJECT.format(**words),
        "README.md": README.format(**words),
    }
