"""Member: a part with the model trained on it."""

import attrs
import numpy as np

from dcsvm.base.cost import Cost
from dcsvm.base.errors import ContractError
from dcsvm.base.feature_views import View
from dcsvm.base.models import Constant, LocalModel, winners
from dcsvm.base.problem import Part
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.numeric.stored_arrays import Stored, axes

#: No problem has more rows.
MOST_ROWS = 2**48


@attrs.frozen(eq=False)
class Member(Stored):
    """A part with its fitted view and the model trained on it.

    `code` (columns, classes) gives the meaning of each column of the scores: +1 for a class that
    it favors, -1 for one that it opposes, 0 for one that it does not score. `support` holds the
    ids of the support vectors in the divided Problem. `part` is set only during division; with
    `keep_rows` of the classifier, `rows` are the ids of the part's rows afterwards. The `code` of
    a part with labels of its own has a column for each label instead of each class.
    """

    model: LocalModel
    code: IntArray = attrs.field(
        metadata=axes("columns", "classes", dtype=np.integer, at_least=-1, at_most=1)
    )
    view: View | None = None
    support: IntArray = attrs.field(
        factory=lambda: np.zeros(0, dtype=np.intp),
        metadata=axes("support", dtype=np.integer, at_least=0, at_most=MOST_ROWS),
    )
    n_rows: int = 0
    part: Part | None = attrs.field(default=None, metadata={"stored": False})
    rows: IntArray | None = attrs.field(
        default=None, metadata=axes("rows", dtype=np.integer, at_least=0, at_most=MOST_ROWS)
    )

    def __repr__(self) -> str:
        classes = np.flatnonzero(self.code.any(axis=0)).tolist()
        return f"Member({type(self.model).__name__} of {self.n_rows} rows, classes {classes})"

    def check_stored(self, **sizes: int) -> dict[str, int]:
        """Raise ValueError unless view, model and code suit each other.

        Called by `save` and `load`, and with `features` also by `with_committee`.
        """
        features = sizes.pop("features", None)
        sizes = super().check_stored(**sizes)
        if not len(self.code) or not self.code.any(axis=1).all():
            raise ValueError("Member.code must have columns that score a class each")
        if features is not None:
            seen = features if self.view is None else self.view.count_features(features)
            self.model.check_stored(features=seen, columns=sizes["columns"])
        return sizes

    def without_part(self, keep_rows: bool = False) -> "Member":
        """The member as it predicts; with `keep_rows` it knows the rows (m,) of its part.

        Called by the core after the division, and by decomposers that put members in routers.
        """
        if self.part is None:
            return self
        rows = self.part.rows if keep_rows else None
        return Member(self.model, self.code, self.view, self.support, self.n_rows, None, rows)

    def with_model(self, model: LocalModel) -> "Member":
        """The member with another model, such as one whose points are pooled.

        Called by the core when members share points, and by authors who replace members.
        """
        return Member(
            *(model, self.code, self.view, self.support, self.n_rows, self.part, self.rows)
        )

    @property
    def duals(self) -> FloatArray | None:
        """Signed duals of the `support` rows, (m, columns), if the model has them.

        Called by decomposers through `duals_of`, for the warm start of a later stage.
        """
        return self.model.duals

    def scores(self, X: Matrix, votes: bool = True) -> FloatArray:
        """Score rows X (n, d) of the divided problem's features: (n, columns).

        Called by the committee, and by decomposers between stages. Without `votes`, by the margins
        of the model.
        """
        seen = self._apply_view(X)
        return self._check_shape(self.model.scores(seen) if votes else self.model.margins(seen), X)

    def probabilities(self, X: Matrix) -> FloatArray | None:
        """The probabilities (n, classes) of the problem's classes for rows X (n, d), or None.

        Classes that the part lacks have zero: rows sum to less than one by `missing_class_mass`.
        Called by `Committee.mean_probabilities` and by combiners.
        """
        classes = self.label_classes
        if classes is None:
            return None
        if isinstance(self.model, Constant):
            classes, known = classes[-1:], np.ones((X.shape[0], 1))
        else:
            own = self.model.probabilities(self._apply_view(X))
            if own is None:
                return None
            known = self._check_columns(own, len(classes), X)
        shares = np.zeros((X.shape[0], self.code.shape[1]))
        shares[:, classes] = known * (1.0 - self.missing_class_mass)
        return shares

    @property
    def missing_class_mass(self) -> float:
        """The probability of a class that the part lacks, from its number of rows.

        Laplace's rule: of n rows none was of such a class. Called by `probabilities`.
        """
        lacks = not np.asarray(self.code).any(axis=0).all()
        return 1.0 / (self.n_rows + 2.0) if lacks else 0.0

    def labels(self, X: Matrix) -> IntArray | None:
        """The predicted class of the divided problem for each row of X (n, d), as (n,).

        None if a side of the member's task has several classes. Called by `routed_labels`, and by
        decomposers between stages.
        """
        classes = self.label_classes
        if classes is None:
            return None
        if type(self.model).labels is LocalModel.labels:
            return np.asarray(classes[winners(self.scores(X))])
        labels = np.asarray(self.model.labels(self._apply_view(X)))
        if labels.shape != X.shape[:1] or labels.dtype.kind not in "iu":
            raise ContractError(
                f"{type(self.model).__name__}.labels returned {labels.dtype} of shape "
                f"{labels.shape} where ({X.shape[0]},) whole numbers, 0 for the first class, "
                "were expected"
            )
        return np.asarray(classes[labels])

    @property
    def label_classes(self) -> IntArray | None:
        """The class of the divided problem for each class of the model, (k,); None as in `labels`.

        Called by `labels` and `probabilities`.
        """
        if len(self.code) > 1:
            return np.asarray(self.code.argmax(axis=1))
        second, first = np.flatnonzero(self.code[0] > 0), np.flatnonzero(self.code[0] < 0)
        if len(first) > 1 or len(second) > 1:
            return None
        # A constant has one side only, and never predicts the other.
        return np.concatenate([first if len(first) else second, second if len(second) else first])

    def add_to_plan(self, plan: Plan, n_features: int, view: Step | None = None) -> Step:
        """Add the member to a plan for rows (n, n_features); called by the core and combiners.

        `view` is the step of its view, if there is one already.
        """
        if self.view is not None and view is None:
            view = self.view.add_to_plan_or_ask(plan, n_features)
        width, columns = n_features if view is None else plan.outputs(view), len(self.code)
        step = self.model.add_to_plan(plan, width)
        if step is None:
            asked = self.model.scores if plan.votes else self.model.margins
            step = plan.ask(asked, width, columns)
        if plan.outputs(step) != columns:
            raise ValueError(
                f"plan: a member gives {plan.outputs(step)} scores instead of {columns}"
            )
        return plan.chain(view, step)

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        """Return `scores(X)` of rows X (n, d) and their cost; called if the cost is counted."""
        values, cost = self.model.answer(self._apply_view(X))
        return self._check_shape(values, X), cost

    def _apply_view(self, X: Matrix) -> Matrix:
        return X if self.view is None else self.view.apply(X)

    def _check_shape(self, values: FloatArray, X: Matrix) -> FloatArray:
        return self._check_columns(values, len(self.code), X, "scores")

    def _check_columns(
        self, values: FloatArray, columns: int, X: Matrix, what: str = "probabilities"
    ) -> FloatArray:
        if np.shape(values) != (X.shape[0], columns):
            raise ContractError(
                f"{type(self.model).__name__}.{what} returned shape {np.shape(values)} "
                f"where ({X.shape[0]}, {columns}) was expected"
            )
        return values
