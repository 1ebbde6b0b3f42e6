"""A plugin to start from: files by name, with tests that pass before anything is installed."""

from __future__ import annotations

from collections.abc import Mapping

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
"""Every law of dcsvm on {name}."""

from pathlib import Path

import pytest

from dcsvm.drive.registry import default_registry
from dcsvm.testing import checks_of

# Without an installation, too: the module beside this file is the plugin.
if ("{kind}", "{name}") not in default_registry().offers:
    default_registry().add_file(Path(__file__).with_name("dcsvm_{name}.py"))


@pytest.mark.parametrize("check", checks_of("{kind}", "{name}"), ids=str)
def test_{name}_conforms(check):
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


@dcsvm.component
class {title}(dcsvm.Decomposer):
    """Rows dealt at random into parts of about the same size.

    >>> clf = dcsvm.DivideAndConquerClassifier("{name}", "kernel_svm", "mean")
    """

    name = "{name}"
    yields = frozenset({{"subsets"}})

    parts: int = dcsvm.setting(2, at_least=1, help="how many parts, at the most")

    def divide(self, problem):
        order = problem.seed.generator().permutation(problem.n_rows)
        dealt = np.array_split(order, min(self.parts, problem.n_rows))
        yield [dcsvm.part(np.sort(rows)) for rows in dealt]


@dcsvm.hookimpl
def dcsvm_decomposers():
    return [{title}]
''',
    "learner": '''\
"""Nearest class means: a learner to start from."""

import numpy as np

import dcsvm


@dcsvm.component
class {title}(dcsvm.LocalLearner):
    """Scores by the distance to the weighted mean of each class, as hyperplanes.

    >>> clf = dcsvm.DivideAndConquerClassifier("tree", "{name}", "route")
    """

    name = "{name}"

    def fit(self, problem):
        weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        member = (problem.y[:, None] == np.arange(problem.n_classes)) * weights[:, None]
        means = np.asarray(problem.X.T @ member) / member.sum(axis=0)
        # |x - m|^2 = |x|^2 - 2 x.m + |m|^2, and |x|^2 is the same for every class.
        planes, biases = 2.0 * means, -(means**2).sum(axis=0)
        if problem.n_classes == 2:
            planes, biases = planes[:, 1:] - planes[:, :1], biases[1:] - biases[:1]
        return dcsvm.Hyperplanes(planes, biases)


@dcsvm.hookimpl
def dcsvm_learners():
    return [{title}]
''',
    "combiner": '''\
"""The mean of all scores: a combiner to start from."""

import dcsvm


@dcsvm.component
class {title}(dcsvm.Combiner):
    """The mean score of each class over the members that can speak for it.

    >>> clf = dcsvm.DivideAndConquerClassifier("chunks", "kernel_svm", "{name}")
    """

    name = "{name}"

    def combine(self, committee, X):
        return committee.mean_scores(X)


@dcsvm.hookimpl
def dcsvm_combiners():
    return [{title}]
''',
}


def scaffold(name: str, kind: str) -> Mapping[str, str]:
    """The files of a new plugin that offers one component of that kind, by their names."""
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
