"""A new strategy takes ten lines, and works everywhere at once."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from dcsvm import Decomposer, DivideAndConquerClassifier, component, part, setting

pytest.importorskip("dcsvm_plugins", reason="the learner and the combiner are built-in plugins")


@component
class Interleaved(Decomposer):
    """Every n-th row of the problem, n times."""

    name = "interleaved"
    yields = frozenset({"subsets"})
    parts: int = setting(3, at_least=1, help="how many parts")

    def divide(self, problem):
        yield [part(np.arange(k, problem.n_rows, self.parts)) for k in range(self.parts)]


X, y = load_iris(return_X_y=True)


def test_it_has_ten_lines():
    lines = [line for line in inspect.getsource(Interleaved).splitlines() if line.strip()]
    assert len(lines) <= 10


def test_it_works_in_the_classifier():
    clf = DivideAndConquerClassifier(Interleaved(), "kernel_svm", "vote").fit(X, y)
    assert clf.score(X, y) > 0.9
    assert [record.rows for record in clf.ledger_] == [50, 50, 50]


def test_it_works_in_a_grid_search():
    clf = DivideAndConquerClassifier(Interleaved(), "kernel_svm", "vote")
    search = GridSearchCV(clf, {"decomposer__parts": [1, 2, 5]}, cv=3).fit(X, y)
    assert search.best_params_["decomposer__parts"] in (1, 2, 5)
    assert search.best_score_ > 0.9


PLUGIN = """
import numpy as np
from dcsvm import Decomposer, component, hookimpl, part, setting


{decomposer}

@hookimpl
def dcsvm_decomposers():
    return [Interleaved]
"""

RECIPE = """
[data]
use = "iris"

[decomposer]
use = "interleaved"
parts = 2

[learner]
use = "kernel_svm"

[combiner]
use = "vote"
"""


@pytest.mark.slow
def test_it_works_through_the_command_line(tmp_path):
    plugin = tmp_path / "interleaved.py"
    plugin.write_text(PLUGIN.format(decomposer=inspect.getsource(Interleaved)))
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    command = [sys.executable, "-m", "dcsvm", "run", str(recipe), "--plugin", str(plugin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
