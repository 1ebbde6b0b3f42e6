"""Arrays of loaded scikit-learn estimators, which compiled code would follow unchecked."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dcsvm.persistence.model_file_format import FormatError

#: No machine has more cores; joblib would start as many threads as a file says.
MOST_JOBS = 4096
MOST_CLASSES = 2**20


def check_estimator(estimator: Any) -> None:
    """Raise if arrays in an estimator have invalid indices or sizes, or trees are cyclic."""
    for part in reversed(list(_walk(estimator))):  # parts before what asks them
        if sparse.issparse(part) and hasattr(part, "check_format"):
            part.check_format(full_check=True)
        if abs(getattr(part, "n_jobs", None) or 0) > MOST_JOBS:
            raise FormatError(f"is damaged: an estimator asks for {part.n_jobs} jobs")
        labels = vars(part).get("classes_") if hasattr(part, "__dict__") else None
        if isinstance(labels, np.ndarray):
            _check_labels(part, labels)
        cls = type(part)
        check = CHECKS.get(f"{cls.__module__}.{cls.__qualname__}")
        if check is not None:
            check(part)
        _check_features(part)


def _check_labels(owner: Any, labels: Any) -> None:
    """Raise for labels of a wrong number, or not small: scikit-learn counts votes by label."""
    if labels.dtype.kind == "i" and (
        labels.min(initial=0) < 0 or labels.max(initial=0) >= MOST_CLASSES
    ):
        raise FormatError("is damaged: the classes of an estimator are not numbers from 0 on")
    encoder = getattr(owner, "le_", None) or getattr(owner, "_label_encoder", None)
    encoded = getattr(encoder, "classes_", labels)
    declared = getattr(owner, "n_classes_", None)
    if len(encoded) != len(labels) or (np.isscalar(declared) and declared != len(labels)):
        raise FormatError("is damaged: an estimator has a wrong number of classes")


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
    """Raise if a tree and its estimator differ in features, or rows and their labels."""
    if hasattr(owner, "_fit_X") and hasattr(owner, "_y"):
        _check_training_rows(owner)
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


def _check_training_rows(owner: Any) -> None:
    """Raise unless every row that an estimator of neighbors keeps has one of its classes."""
    rows, labels, tree = owner._fit_X, owner._y, getattr(owner, "_tree", None)
    if not (
        labels.shape == (rows.shape[0],)
        and labels.dtype.kind == "i"
        and ((labels >= 0) & (labels < len(owner.classes_))).all()
        and (tree is None or np.asarray(tree.data).shape == rows.shape)
        and 1 <= owner.n_neighbors <= len(labels)
    ):
        raise FormatError("is damaged: the rows of neighbors do not match their classes")


def _check_machine(machine: Any) -> None:
    """Raise unless the arrays of an SVC have the sizes that libsvm takes for granted."""
    if not {"support_", "support_vectors_"} & vars(machine).keys():
        return  # not fitted
    k, n = len(machine.classes_), len(machine.support_)
    pairs, counts = k * (k - 1) // 2, machine._n_support
    # Before scikit-learn 1.9 this is the setting `probability`.
    calibrated = getattr(machine, "_effective_probability", machine.probability)
    if not (
        machine.support_.shape == (n,)
        and ((machine.support_ >= 0) & (machine.support_ < machine.shape_fit_[0])).all()
        and machine.shape_fit_[1] == machine.n_features_in_
        and counts.shape == (k,)
        and ((counts >= 0) & (counts <= n)).all()
        and counts.sum() == n
        and (machine.kernel == "precomputed" or machine.support_vectors_.shape[0] == n)
        and (machine.kernel == "precomputed" or _width(machine) == machine.n_features_in_)
        and machine._dual_coef_.shape == (k - 1, n)
        and (not machine._sparse or machine._dual_coef_.nnz == (k - 1) * n)
        and machine._intercept_.shape == (pairs,)
        and machine._probA.shape == machine._probB.shape
        and machine._probA.shape == ((pairs,) if calibrated else (0,))
        and machine.class_weight_.shape in ((0,), (k,))
    ):
        raise FormatError("is damaged: the support vectors of an SVC do not match its classes")


def _width(machine: Any) -> int:
    return int(machine.support_vectors_.shape[1])


def _check_stages(boosting: Any) -> None:
    """Raise unless there is a tree for every class in every stage."""
    if "estimators_" not in vars(boosting):
        return  # not fitted
    k = len(boosting.classes_)
    if boosting.estimators_.shape[1:] != (1 if k == 2 else k,) or k < 2:
        raise FormatError("is damaged: the trees of a GradientBoostingClassifier are not by class")
    # Compiled code adds the answers of the trees to those of the first estimator, unchecked.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = np.zeros((1, boosting.n_features_in_), dtype=np.float32)
        first = boosting._raw_predict_init(rows)
    if first.shape != (1, boosting.estimators_.shape[1]):
        raise FormatError("is damaged: a GradientBoostingClassifier does not begin by class")


def _check_voters(voting: Any) -> None:
    """Raise unless every member of a VotingClassifier was fitted on the same encoded classes."""
    encoded = np.arange(len(getattr(voting, "classes_", ())))
    for each in getattr(voting, "estimators_", ()):
        if not np.array_equal(getattr(each, "classes_", encoded), encoded):
            raise FormatError("is damaged: the members of a VotingClassifier differ in classes")


def _refuse(part: Any) -> None:
    raise FormatError(f"is damaged: a {type(part).__name__} is not part of a classifier")


def _check_decisions(tree: Any) -> None:
    # The capacity of a loaded tree is the number of nodes in the file.
    if tree.node_count != tree.capacity:
        raise FormatError("is damaged: a decision tree has a wrong node count")
    nodes = tree.__getstate__()["nodes"]
    if not np.isfinite(tree.value).all() or np.isnan(nodes["threshold"]).any():
        raise FormatError("is damaged: a decision tree holds NaN or infinity")
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
    if not np.isfinite(nodes["value"]).all() or np.isnan(nodes["num_threshold"]).any():
        raise FormatError("is damaged: a decision tree holds NaN or infinity")
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
        and 0 <= n_levels < 64
        and n_nodes == len(nodes) == 2**n_levels - 1
        and (2 * inner + 2 < n_nodes).all()
        and bounds.shape[1:] == (n_nodes, data.shape[1])
        and leaf_size >= 1
    ):
        raise FormatError("is damaged: a neighbor tree has invalid node or row numbers")


CHECKS = {
    "sklearn.ensemble._voting.VotingClassifier": _check_voters,
    "sklearn.ensemble._gb.GradientBoostingClassifier": _check_stages,
    "sklearn.svm._classes.NuSVC": _check_machine,
    "sklearn.svm._classes.NuSVR": _refuse,
    "sklearn.svm._classes.OneClassSVM": _refuse,
    "sklearn.svm._classes.SVC": _check_machine,
    "sklearn.svm._classes.SVR": _refuse,
    "sklearn.tree._tree.Tree": _check_decisions,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": _check_boosted,
    "sklearn.neighbors._ball_tree.BallTree": _check_neighbors,
    "sklearn.neighbors._kd_tree.KDTree": _check_neighbors,
}
