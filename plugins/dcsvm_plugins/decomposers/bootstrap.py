"""Random samples with replacement."""

import numpy as np

from dcsvm import Decomposer, Problem, SettingError, component, part, setting
from dcsvm.toolbox import Stages

#: A larger sample is a slip of the pen: no machine could learn from it.
MOST_ROWS = 100_000_000


@component
class Bootstrap(Decomposer):
    """Random samples of rows, with replacement: bagging.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> bags = build("decomposer", "bootstrap", samples=5, size=40)
    >>> clf = DivideAndConquerClassifier(bags, "kernel_svm", "vote", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Breiman: Bagging predictors (1996).
    """

    name = "bootstrap"
    yields = frozenset({"subsets"})
    covers = False

    samples: int = setting(10, at_least=1, help="how many samples")
    size: int | float = setting(
        1.0, above=0, help="rows in a sample: a whole number of them, or a share of the problem's"
    )

    def divide(self, problem: Problem) -> Stages:
        generator = problem.seed.generator()
        size = self.size
        if isinstance(size, float):
            size = max(1, round(size * problem.n_rows))
        if size > MOST_ROWS:
            raise SettingError(
                f"bootstrap: a sample may have {MOST_ROWS} rows at the most; with size = "
                f"{self.size:g} it would have {size:g}"
            )
        yield [
            part(np.sort(generator.integers(problem.n_rows, size=size)))
            for _ in range(self.samples)
        ]
        return None
