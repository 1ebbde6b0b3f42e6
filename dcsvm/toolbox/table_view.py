"""TableView: a TablePreparation as the feature view of a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from dcsvm.base.feature_views import View
from dcsvm.numeric.array_types import Matrix
from dcsvm.numeric.row_plan import Plan, Step
from dcsvm.toolbox.level_pooling import MinFrequency
from dcsvm.toolbox.table_preparation import FITTED, Encode, Scale, TablePreparation
from dcsvm.toolbox.table_schema import Column, TableSchema

#: A file may ask for the names of so many levels.
MOST_LEVELS = 1_000_000


@attrs.frozen(eq=False)
class TableView(View):
    """Columns scaled and encoded for one part, so that members of a blend can differ in that.

    Rows are those of a TablePreparation with `encode="codes"` and without missing values: a column
    with levels holds their indices. `levels` says how many levels each column has, 0 for numbers;
    it is empty for sparse rows. `scale`, `encode` and `min_frequency` are those of a
    TablePreparation, and `fitted` is what one learned, by attribute; empty before `fit`.
    """

    levels: tuple[int, ...]
    scale: Scale = "none"
    encode: Encode = "codes"
    min_frequency: MinFrequency = 0.0
    fitted: Mapping[str, Any] = attrs.field(factory=dict)
    _ready: list[TablePreparation] = attrs.field(
        factory=list, init=False, repr=False, metadata={"stored": False}
    )

    def fit(self, X: Matrix) -> TableView:
        # Indicators of missing values come after the columns, as many as there were gaps.
        more = (0,) * (X.shape[1] - len(self.levels)) if self.levels else ()
        view = attrs.evolve(self, levels=self.levels + more)
        prepare = view._build().fit(X)
        learned = {name: getattr(prepare, name) for name in FITTED if hasattr(prepare, name)}
        return attrs.evolve(view, fitted=learned)

    def apply(self, X: Matrix) -> Matrix:
        rows: Matrix = self._prepare().transform(X)
        return rows

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        prepare = self._prepare()
        if any(self.levels) or len(prepare.marked_) or prepare.quantiles_ is not None:
            return None
        if prepare.scaling_ is None:
            return plan.columns(n_features, np.arange(n_features))
        step: Step | None = prepare.scaling_.add_to_plan(plan, n_features)
        return step

    def check_stored(self, **sizes: int) -> dict[str, int]:
        sizes = super().check_stored(**sizes)
        if min(self.levels, default=0) < 0 or sum(self.levels) > MOST_LEVELS:
            raise ValueError(f"TableView.levels must be at most {MOST_LEVELS} in all")
        prepare = self._prepare()
        if not self.fitted or not prepare.is_sound():
            raise ValueError("TableView.fitted is not that of a fitted preparation")
        if sizes.get("features", prepare.n_features_in_) != prepare.n_features_in_:
            raise ValueError(
                f"TableView has {prepare.n_features_in_} columns, but must have "
                f"{sizes['features']}"
            )
        return sizes | {"width": len(prepare.features())}

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if given is None:
            return None
        named = attrs.evolve(self)._prepare()
        named.schema = self._describe(given)
        named.columns_ = named.schema.features if named.schema else ()
        return tuple(named.get_feature_names_out())

    def invert(self, feature: int, value: float) -> tuple[int, float] | None:
        return self._prepare().invert(feature, value)

    def _prepare(self) -> TablePreparation:
        if not self._ready:
            prepare = self._build()
            for name, value in self.fitted.items():
                setattr(prepare, name, value)
            self._ready.append(prepare)
        return self._ready[0]

    def _build(self) -> TablePreparation:
        names = tuple(f"x{j}" for j in range(len(self.levels)))
        schema = self._describe(names)
        return TablePreparation(
            self.scale, self.encode, schema=schema, min_frequency=self.min_frequency
        )

    def _describe(self, names: tuple[str, ...]) -> TableSchema | None:
        if not self.levels:
            return None
        columns = [
            Column(name, tuple(map(str, range(n))) if n else None)
            for name, n in zip(names, self.levels, strict=True)
        ]
        return TableSchema(tuple(columns))
