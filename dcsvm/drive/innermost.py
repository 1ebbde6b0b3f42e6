"""What is inside pipelines of one member, such as a scaling before a tree."""

from __future__ import annotations

import numpy as np

from dcsvm.base.feature_views import View
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.numeric.array_types import IntArray
from dcsvm.numeric.trees.hyperplane_tree import PlaneTree


def innermost(model: FittedStrategy) -> tuple[FittedStrategy, list[View], IntArray]:
    """Look through pipelines of one member that is a pipeline itself.

    Returns
    -------
    model : FittedStrategy
        The first that has several members, or one that is no pipeline.
    views : list of View
        Through which it sees rows, the outermost first.
    classes : (k,) int array
        The outermost number of each of its classes.
    """
    views: list[View] = []
    classes = np.arange(model.committee.n_classes)
    while len(model.committee.members) == 1:
        member = model.committee.members[0]
        if not isinstance(member.model, FittedStrategy):
            break
        if member.view is not None:
            views.append(member.view)
        model, classes = member.model, classes[np.flatnonzero(member.code.any(axis=0))]
    return model, views, classes


def descent_of(model: FittedStrategy) -> tuple[PlaneTree, IntArray] | None:
    """The tree of hyperplanes that a model routes by, and the member each leaf asks; or None."""
    groups = model.committee.groups
    router = groups[0].router if len(groups) == 1 else None
    return None if router is None else router.hyperplane_tree()
