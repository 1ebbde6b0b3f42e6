"""Checks of trees in loaded scikit-learn estimators, whose compiled code does not check them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dcsvm.persistence.model_file_format import FormatError


def check_trees(estimator: Any) -> None:
    """Raise if a decision tree or neighbor tree of an estimator has invalid or cyclic indices."""
    for part in _walk(estimator):
        cls = type(part)
        check = CHECKS.get(f"{cls.__module__}.{cls.__qualname__}")
        if check is not None:
            check(part)
        _check_features(part)


def _walk(estimator: Any) -> Iterator[Any]:
    """Yield every object inside an estimator once."""
    seen: set[int] = set()
    waiting = [estimator]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting.extend(_list_children(part))


def _list_children(part: Any) -> list[Any]:
    inside = list(vars(part).values()) if hasattr(part, "__dict__") else []
    if isinstance(part, dict):
        inside += [*part.keys(), *part.values()]
    elif isinstance(part, list | tuple | set):
        inside += part
    elif isinstance(part, np.ndarray) and part.dtype == object:
        inside += part.ravel().tolist()
    return inside


def _check_features(owner: Any) -> None:
    """Raise if a tree and its estimator differ in the number of features."""
    own = getattr(owner, "n_features_in_", None)
    trees = [owner.tree_] if hasattr(owner, "tree_") else []
    if not hasattr(owner, "estimators_features_"):  # bagging selects columns per estimator
        below = np.ravel(np.asarray(getattr(owner, "estimators_", ()), dtype=object))
        trees += [each.tree_ for each in below if hasattr(each, "tree_")]
    if any(tree.n_features != own for tree in trees):
        raise FormatError("is damaged: a decision tree and its estimator differ in features")
    for tree in np.ravel(np.asarray(getattr(owner, "_predictors", ()), dtype=object)):
        if not (tree.nodes["feature_idx"] < own).all():
            raise FormatError("is damaged: a decision tree and its estimator differ in features")


def _check_decisions(tree: Any) -> None:
    # The capacity of a loaded tree is the number of nodes in the file.
    if tree.node_count != tree.capacity:
        raise FormatError("is damaged: a decision tree has a wrong node count")
    nodes = tree.__getstate__()["nodes"]
    inner = nodes["left_child"] != -1
    named = nodes["feature"][inner]
    if (named < 0).any() or (named >= tree.n_features).any():
        raise FormatError("is damaged: a decision tree has invalid feature numbers")
    _check_children(inner, nodes["left_child"], nodes["right_child"])


def _check_boosted(tree: Any) -> None:
    nodes = tree.nodes
    inner = nodes["is_leaf"] == 0
    sets = min(len(tree.raw_left_cat_bitsets), len(tree.binned_left_cat_bitsets))
    categorical = inner & (nodes["is_categorical"] != 0)
    if (nodes["feature_idx"] < 0).any() or (nodes["bitset_idx"][categorical] >= sets).any():
        raise FormatError("is damaged: a decision tree has invalid feature or category numbers")
    _check_children(inner, nodes["left"], nodes["right"])


def _check_children(inner: Any, left: Any, right: Any) -> None:
    """Raise unless every child comes after its parent, so that every row reaches a leaf."""
    own = np.flatnonzero(inner)
    for children in (left[inner].astype(np.int64), right[inner].astype(np.int64)):
        if (children <= own).any() or (children >= len(inner)).any():
            raise FormatError("is damaged: a decision tree has invalid child numbers")
    if len(inner) == 0:
        raise FormatError("is damaged: a decision tree has no nodes")


def _check_neighbors(tree: Any) -> None:
    data, order, nodes, bounds = (np.asarray(each) for each in tree.__getstate__()[:4])
    leaf_size, n_levels, n_nodes = tree.__getstate__()[4:7]
    start, stop = nodes["idx_start"], nodes["idx_end"]
    within = (start >= 0) & (start <= stop) & (stop <= len(data))
    # The children of node i are 2 i + 1 and 2 i + 2.
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    if not (
        len(order) == len(data)
        and ((order >= 0) & (order < len(data))).all()
        and within.all()
        and n_nodes == len(nodes) == 2**n_levels - 1
        and (2 * inner + 2 < n_nodes).all()
        and bounds.shape[1:] == (n_nodes, data.shape[1])
        and leaf_size >= 1
    ):
        raise FormatError("is damaged: a neighbor tree has invalid node or row numbers")


CHECKS = {
    "sklearn.tree._tree.Tree": _check_decisions,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_boosted,
    "sklearn.neighbors._ball_tree.BallTree": _check_neighbors,
    "sklearn.neighbors._kd_tree.KDTree": _check_neighbors,
}
