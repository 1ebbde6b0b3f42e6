"""Names of classes and features inside a model, in the units of the data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from dcsvm.base.feature_views import View
from dcsvm.base.member import Member
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.toolbox.table_preparation import TablePreparation


@attrs.frozen
class Names:
    """The names of a committee's classes, and of its features if they have names.

    `views` map the features of the data to those of the committee. `levels` are the names of
    features of levels that members made of codes: `colour=2` is `colour=red`.
    """

    classes: list[Any]
    features: tuple[str, ...] | None
    views: tuple[View | TablePreparation, ...] = ()
    levels: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def of(
        cls, classifier: DivideAndConquerClassifier, preparation: TablePreparation | None = None
    ) -> Names:
        features = getattr(classifier, "feature_names_in_", ())
        if preparation is not None and preparation.names is not None:
            features = preparation.get_feature_names_out()
        views = () if preparation is None else (preparation,)
        names = tuple(map(str, features)) or None
        return cls(classifier.classes_.tolist(), names, views, _name_levels(preparation))

    def inside(self, member: Member) -> Names:
        """Return the names for a member that is a strategy itself; a class may be a tuple."""
        view = member.view
        if view is None:
            return attrs.evolve(self, classes=self._classes(member))
        names = view.names(self.features)
        if names is not None:
            names = tuple(self.levels.get(each, each) for each in names)
        return Names(self._classes(member), names, (*self.views, view), self.levels)

    def name_features(self, sentence: str) -> str:
        """Replace `feature 3` in a sentence by the name of the feature, with units."""
        if self.views:
            sentence = re.sub(
                r"\bfeature (\d+): (\S+) (<=|>) (\S+)$", self._convert_units, sentence
            )
        features = self.features
        if features is None:
            return sentence
        return re.sub(r"\bfeature (\d+)\b", lambda found: features[int(found[1])], sentence)

    def name_classes(self, sentence: str) -> str:
        """Replace `class 3` in a sentence by the label of the class."""
        classes = self.classes
        return re.sub(r"\bclass (\d+)\b", lambda found: repr(classes[int(found[1])]), sentence)

    def _convert_units(self, found: re.Match[str]) -> str:
        """Convert a comparison of one feature to the units of the data, if all views allow it."""
        numbers = []
        for number in (found[2], found[4]):
            place, value = int(found[1]), float(number)
            for view in reversed(self.views):
                before = view.invert(place, value)
                if before is None:
                    return found[0]
                place, value = before
            numbers.append(f"{value:.5g}")
        return f"feature {found[1]}: {numbers[0]} {found[3]} {numbers[1]}"

    def _classes(self, member: Member) -> list[Any]:
        if len(member.code) > 1:
            return [self.classes[label] for label in np.flatnonzero(member.code.any(axis=0))]
        sides = [np.flatnonzero(member.code[0] == sign) for sign in (-1, 1)]
        called = [tuple(self.classes[label] for label in side) for side in sides]
        return [each[0] if len(each) == 1 else each for each in called]


def _name_levels(preparation: TablePreparation | None) -> dict[str, str]:
    """The names of features of levels, where a preparation leaves categories as codes."""
    if preparation is None or preparation.encode != "codes":
        return {}
    return {
        f"{column.name}={code}": f"{column.name}={level}"
        for column in preparation.columns_
        for code, level in enumerate(column.levels or ())
    }
