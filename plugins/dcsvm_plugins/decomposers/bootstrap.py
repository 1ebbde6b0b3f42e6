"""Random samples of the rows, drawn with replacement."""

import numpy as np

from dcsvm import Decomposer, Problem, SettingError, component, part, setting
from dcsvm.toolbox import Stages

#: A larger sample is taken for a typing error.
MOST_ROWS = 100_000_000


@component
class Bootstrap(Decomposer):
    """Bagging: random samples of the rows, drawn with replacement.

    Every member sees every new row, so prediction costs `samples` times as much as with one
    member. Members differ only by their sample; use it to reduce the variance of an unstable
    learner, or with a small `size` to train on data that is too large for one model.

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
    rows_held = 0.0

    samples: int = setting(10, at_least=1, help="number of samples")
    size: int | float = setting(
        1.0, above=0, help="rows per sample: a whole number, or a share of all rows"
    )

    def divide(self, problem: Problem) -> Stages:
        generator = problem.seed.generator()
        size = self.size
        if isinstance(size, float):
            size = max(1, round(size * problem.n_rows))
        if size > MOST_ROWS:
            raise SettingError(
                f"bootstrap: a sample may have at most {MOST_ROWS} rows, but size = "
                f"{self.size:g} gives {size:g}"
            )
        yield [
            part(np.sort(generator.integers(problem.n_rows, size=size)))
            for _ in range(self.samples)
        ]
        return None
