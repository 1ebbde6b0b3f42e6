"""Blend: several learners of all rows side by side, each with a weight and its own features."""

from typing import Any

import numpy as np

from dcsvm import Decomposer, Division, Part, Problem, SettingError, component, setting
from dcsvm.toolbox import Stages, TableView

#: The keys of a member's preparation.
PREPARED = {"scale", "encode", "min_frequency"}


@component
class Blend(Decomposer):
    """Several learners, each of all rows, each with its own preparation of the columns.

    With `mean` and `probability = "auto"` a row's probabilities are the weighted mean of those of
    the members, so learners should have some: a nested strategy with a `probability` of its own
    has them in any case. The recipe `auto` fills a blend in; it can be written by hand, too.
    Without `learners` the strategy's learner learns all rows. A prediction costs what all members
    cost together.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> linear = build("learner", "logistic")
    >>> trees = build("learner", "sklearn", classifier="ExtraTreesClassifier")
    >>> both = build("decomposer", "blend", learners=(linear, trees), weights=[0.3, 0.7])
    >>> clf = DivideAndConquerClassifier(both, linear, "mean", probability="auto", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Caruana, Niculescu-Mizil, Crew, Ksikes: Ensemble selection from libraries of models (2004).
    """

    name = "blend"
    yields = frozenset({"subsets", "weights"})
    rows_held = 0.0

    learners: tuple[Any, ...] = setting((), kind="learner", help="the members' learners")
    weights: list[float] | None = setting(None, help="how much each counts; none: all the same")
    preparations: list[Any] | None = setting(
        None, help="for each learner a table with `scale`, `encode` and `min_frequency` of [data]"
    )
    n_levels: list[int] | None = setting(
        None, help="how many levels each column has that holds their indices, 0 for numbers"
    )

    @property
    def brings_learners(self) -> bool:  # type: ignore[override]
        return bool(self.learners)

    def check(self) -> None:
        """Raise if there is not one weight and one preparation for each learner."""
        for name, given in (("weights", self.weights), ("preparations", self.preparations)):
            if given is not None and len(given) != len(self.learners):
                raise SettingError(
                    f"blend: {name} must be one for each of the {len(self.learners)} learners, "
                    f"got {len(given)}"
                )
        if any(weight <= 0 for weight in self.weights or ()):
            raise SettingError(f"blend: weights must be above 0, got {self.weights}")
        for table in self.preparations or ():
            if not isinstance(table, dict) or not table.keys() <= PREPARED:
                raise SettingError(
                    "blend: a preparation is a table with scale, encode and min_frequency, got "
                    f"{table!r}"
                )

    def divide(self, problem: Problem) -> Stages:
        everyone = np.arange(problem.n_rows)
        members = yield [
            Part(
                everyone,
                view=self._describe_view(number),
                learner=learner,
                about={"blend": number},
            )
            for number, learner in enumerate(self.learners or (None,))
        ]
        return Division(members=members, weights=np.array(self.weights or [1.0] * len(members)))

    def _describe_view(self, number: int) -> TableView | None:
        if self.preparations is None:
            return None
        return TableView(tuple(self.n_levels or ()), **self.preparations[number])
