"""A random partition of the rows into parts of equal size."""

from dcsvm import DataError, Decomposer, Problem, component, part, setting
from dcsvm.toolbox import Stages, deal_rows


@component
class Chunks(Decomposer):
    """A random partition of the rows into parts of equal size, each with the same class shares.

    Training is fast and parallel: with a learner of cubic cost, k parts cost 1 / k^2 of the whole.
    Every member sees every new row, so prediction is not faster. Use it where rows are plenty and
    a model of one part is nearly good enough; the parts know nothing of each other, and small ones
    lose accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> chunks = build("decomposer", "chunks", parts=3)
    >>> clf = DivideAndConquerClassifier(chunks, "krr", "mean", random_state=0).fit(X, y)
    >>> [record.rows for record in clf.ledger_]
    [50, 50, 50]

    References
    ----------
    Zhang, Duchi, Wainwright: Divide and conquer kernel ridge regression (2013).
    """

    name = "chunks"
    yields = frozenset({"subsets"})
    rows_held = 0.0

    parts: int = setting(10, at_least=1, help="number of parts")

    def divide(self, problem: Problem) -> Stages:
        if problem.n_rows < self.parts:
            raise DataError(
                f"chunks: cannot split {problem.n_rows} rows into {self.parts} parts; "
                f"set parts to {problem.n_rows} or less"
            )
        yield [part(rows) for rows in deal_rows(problem.y, self.parts, problem.seed.generator())]
        return None
