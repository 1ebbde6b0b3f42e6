"""Mistakes of plugins and errors in a part are told with what they concern."""

import numpy as np
import pytest
from fakes import Average, Centroids, Deal

from dcsvm import DivideAndConquerClassifier, LocalLearner, component, part
from dcsvm.base.errors import ContractError

X = np.random.default_rng(0).normal(size=(60, 2))
y = (X[:, 0] > 0).astype(int)


@component
class Explodes(LocalLearner):
    """Raises."""

    name = "explodes"

    def fit(self, problem):
        raise RuntimeError("solver exploded")


@component
class Forgets(LocalLearner):
    """Returns nothing."""

    name = "forgets"

    def fit(self, problem):
        return None


class ReturnsList(Deal):
    def divide(self, problem):
        return [part(np.arange(problem.n_rows))]


class YieldsPart(Deal):
    def divide(self, problem):
        yield part(np.arange(problem.n_rows))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_names_the_part(n_jobs):
    clf = DivideAndConquerClassifier(Deal(), Explodes(), Average(), n_jobs=n_jobs)
    with pytest.raises(RuntimeError, match="solver exploded") as raised:
        clf.fit(X, y)
    assert raised.value.__notes__[0].startswith("in part explodes")


@pytest.mark.parametrize(
    ("decomposer", "learner", "told"),
    [
        (Deal(), Forgets(), "fit must return a LocalModel, got NoneType"),
        (ReturnsList(), Centroids(), "divide must yield lists of parts, .* it returned list"),
        (YieldsPart(), Centroids(), "divide must yield a list of parts, got a single Part"),
    ],
)
def test_what_plugins_return_is_checked(decomposer, learner, told):
    with pytest.raises(ContractError, match=told):
        DivideAndConquerClassifier(decomposer, learner, Average()).fit(X, y)
