"""One part for each pair of classes."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from dcsvm import Decomposer, Part, Problem, Task, component
from dcsvm.drawing import Scene, draw_pairs
from dcsvm.toolbox import Joined, Level, Stages


@component
class ClassPairs(Decomposer):
    """One against one: a part for each pair of classes, with the rows of these two classes.

    The first class of a pair is the positive side. K classes give K (K - 1) / 2 parts, but each
    row is in only K - 1 of them, and the parts are small: training is often faster than one
    against the rest. `vote` asks all members about a row, `dag` only K - 1 of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> len(DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y).ledger_)
    3

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification (2000).
    """

    name = "class_pairs"
    yields = frozenset({"class pairs"})

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, next(self.divide(problem)))

    def divide(self, problem: Problem) -> Stages:
        rows = [problem.rows_of(label) for label in range(problem.n_classes)]
        present = [label for label in range(problem.n_classes) if len(rows[label])]
        yield [
            Part(Joined((rows[i], rows[j])), task=Task((i,), (j,)))
            for i, j in combinations(present, 2)
        ]
        return None

    def overview(self, scene: Scene) -> str:
        wrong = {}
        for member in scene.members:
            sides = member.code[0]
            if np.count_nonzero(sides) != 2:
                continue
            rows = np.flatnonzero(sides[scene.y])
            said = member.scores(scene.X[rows])[:, 0] > 0 if len(rows) else np.zeros(0, bool)
            first, second = np.flatnonzero(sides).tolist()
            missed = int(np.count_nonzero(said != (sides[scene.y[rows]] > 0)))
            wrong[first, second] = (missed, len(rows))
        return draw_pairs(scene.classes, wrong)
