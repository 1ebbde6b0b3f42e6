"""A column of the data says the part of a row."""

import attrs
import numpy as np

from dcsvm import (
    Decomposer,
    Division,
    Problem,
    Router,
    Routing,
    SettingError,
    component,
    part,
    setting,
)
from dcsvm.numeric import FloatArray, IntArray, Matrix, Plan, Step, as_dense, axes
from dcsvm.toolbox import Columns, Stages


@attrs.frozen(eq=False)
class GroupRouter(Router):
    """Sends a row to the member of its value of a column; other values go to the last member.

    A text column has an indicator for each of its levels; its value is the number of the level.
    """

    columns: IntArray = attrs.field(
        metadata=axes("keys", dtype=np.integer, at_least=0, below="features")
    )
    values: FloatArray = attrs.field(metadata=axes("values"))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        if sizes.get("members", len(self.values) + 1) != len(self.values) + 1:
            raise ValueError(f"GroupRouter.values are {len(self.values)}: one less than members")
        if (np.diff(self.values) <= 0).any() or not len(self.columns):
            raise ValueError("GroupRouter.values must ascend, and columns must not be empty")
        return sizes

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        if len(self.columns) > 1:
            return None
        column, n = int(self.columns[0]), len(self.values)
        return plan.lookup(n_features, column, self.values, np.arange(n), n)

    def route(self, X: Matrix) -> Routing:
        given = read_values(X, self.columns)
        known, place = np.isin(given, self.values), np.searchsorted(self.values, given)
        return Routing.to_one(np.where(known, place, len(self.values)))

    def trace(self, x: Matrix) -> list[str]:
        (member,), (value,) = self.route(x).member, read_values(x, self.columns)
        level = max(int(value) - 1, 0) if len(self.columns) > 1 else 0
        known = "an unseen or rare value" if member == len(self.values) else "a group of its own"
        return [f"feature {self.columns[level]} has {known}: member {member}"]


def read_values(X: Matrix, columns: IntArray) -> FloatArray:
    """The value (n,) of one column of rows X, or the number, from 1, of the indicator that is set.

    0 if no indicator is set.
    """
    return np.asarray(as_dense(X[:, columns]) @ np.arange(1.0, len(columns) + 1.0))


@component
class Groups(Decomposer):
    """A model for each value of a column, such as a shop or a season, and one for the rest.

    Values with fewer than `smallest` rows have no model of their own. They, and values that no
    training row had, go to a fallback that is trained on all rows. Give the column by its number
    or, for data with names, by its name: `shop` also for the indicators `shop=north` and
    `shop=south` of a text column. Routing costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> X = np.column_stack([X, np.arange(150) % 2])
    >>> shops = build("decomposer", "groups", column=4)
    >>> clf = DivideAndConquerClassifier(shops, "kernel_svm", "route").fit(X, y)
    >>> [record.rows for record in clf.ledger_]
    [75, 75, 150]

    References
    ----------
    Warmerdam et al.: scikit-lego, GroupedPredictor (2019).
    """

    name = "groups"
    yields = frozenset({"regions"})
    rows_held = 0.0
    stored_types = (GroupRouter,)

    column: int | str = setting(0, help="number or name of the column")
    smallest: int = setting(20, at_least=1, help="rows that a value needs for a model of its own")
    hide: bool = setting(True, help="leave the column out of the features of the models")

    def divide(self, problem: Problem) -> Stages:
        columns = self._find(problem)
        given = read_values(problem.X, columns)
        values, group, counts = np.unique(given, return_inverse=True, return_counts=True)
        large = np.flatnonzero(counts >= self.smallest)
        others = np.delete(np.arange(problem.n_features), columns)
        view = Columns(others) if self.hide and len(others) else None
        rows = [np.flatnonzero(group == each) for each in large]
        yield [part(each, view=view) for each in (*rows, np.arange(problem.n_rows))]
        return Division(GroupRouter(columns, values[large]))

    def _find(self, problem: Problem) -> IntArray:
        """The columns: one, or the indicators of a text column."""
        names, wanted = list(problem.names or ()), self.column
        if isinstance(wanted, str):
            found = [n for n, name in enumerate(names) if name == wanted]
            found = found or [n for n, name in enumerate(names) if name.startswith(f"{wanted}=")]
        else:
            found = [wanted] if 0 <= wanted < problem.n_features else []
        if not found:
            known = f"0 to {problem.n_features - 1}" + "".join(f", {name}" for name in names)
            raise SettingError(f"groups: there is no column {wanted!r}; columns: {known}")
        return np.array(found)
