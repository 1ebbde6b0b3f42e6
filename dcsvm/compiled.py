"""Fitted trees as small fast things: a callable for rows as they come, and C code without us."""

from __future__ import annotations

import ctypes
from typing import Any

import attrs
import numpy as np
from sklearn.utils.validation import check_is_fitted

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.composite import Composite
from dcsvm.errors import CompositionError, DataError
from dcsvm.member import Member
from dcsvm.models import Constant, LocalModel, winners
from dcsvm.numeric.backend import library
from dcsvm.numeric.matrix import FloatArray
from dcsvm.numeric.native import address
from dcsvm.numeric.oblique import PlaneTree
from dcsvm.preparation import Preparation
from dcsvm.views import Scaling


@attrs.define(eq=False, slots=False)
class CompiledTree:
    """A tree of hyperplanes with a label at each leaf, and nothing else.

    Its labels are those of the classifier that it was made from, bit for bit. Rows are what that
    classifier takes, except that a scaling is part of the tree.

    Parameters
    ----------
    tree : PlaneTree
    labels : (leaves,) array
        What each leaf answers, as the classifier's own labels.
    offset, factor : (d,) arrays
        A row x is asked as `(x - offset) * factor`.
    """

    tree: PlaneTree
    labels: Any
    offset: FloatArray | None = None
    factor: FloatArray | None = None

    def __attrs_post_init__(self) -> None:
        n_features = self.tree.n_features
        compiled = library() if len(self.tree.thresholds) else None
        # One row's own room: to copy a row here costs less than to ask where it lies.
        self._row, self._leaf = np.zeros(n_features), np.zeros(2, dtype=np.int32)
        leaf = self._leaf.ctypes.data
        self._call = None if compiled is None else compiled.dcsvm_oblique_route
        self._arguments = (
            *(ctypes.byref(self.tree.structure), address(self.tree.lengths)),
            *(self._row.ctypes.data, n_features),
            *(address(self.offset), address(self.factor), 1, leaf, leaf + 4),
        )
        self._answers = self.labels.tolist()

    def predict(self, X: Any) -> Any:
        """The labels of rows X (n, d)."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.tree.n_features:
            raise DataError(
                f"the tree takes rows of {self.tree.n_features} features, not {X.shape}"
            )
        return self.labels[self.tree.route(X, self.offset, self.factor)[0]]

    def one(self, x: Any) -> Any:
        """The label of one row x (d,), in microseconds.

        Two threads must not ask the same CompiledTree at the same time: make one for each.
        """
        if len(x) != len(self._row):
            raise DataError(f"the tree takes rows of {len(self._row)} features, not {len(x)}")
        self._row[:] = x
        if self._call is None:
            return self.predict(self._row[None, :])[0]
        self._call(*self._arguments)
        return self._answers[self._leaf[0]]

    def c_source(self, name: str = "dcsvm_tree") -> str:
        """C code of `int name(const double *x)`: arrays and a loop, and no library.

        The function returns the number of the answer among the sorted labels of the leaves. Every
        compiler that keeps to IEEE arithmetic comes to the same answers as `predict`.
        """
        if not name.isidentifier():
            raise DataError(f"c_source: {name!r} cannot be the name of a C function")
        return _c_source(self, name)


def compile_tree(classifier: DivideAndConquerClassifier) -> CompiledTree:
    """Make a fitted tree of hyperplanes answer in microseconds.

    Parameters
    ----------
    classifier : fitted DivideAndConquerClassifier
        Its router must be a tree of hyperplanes (`oblique_tree`, `svm_tree`, or any that offers
        `descent`), its members must give one answer each (`majority`), and the features may be
        rescaled before all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, compile_tree
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("oblique_tree", "majority", random_state=0).fit(X, y)
    >>> fast = compile_tree(clf)
    >>> int(fast.one(X[0])), bool((fast.predict(X) == clf.predict(X)).all())
    (0, True)
    """
    check_is_fitted(classifier)
    model, scaling, classes = classifier.model_, None, np.arange(len(classifier.classes_))
    while len(model.committee.members) == 1:
        member = model.committee.members[0]
        if not isinstance(member.model, Composite):
            break
        if member.view is not None:
            if scaling is not None:
                raise CompositionError("compile_tree: features are rescaled more than once")
            scaling = _scaling(member.view)
        present = np.flatnonzero(member.code.any(axis=0))
        model, classes = member.model, classes[present]
    committee = model.committee
    router = committee.groups[0].router if len(committee.groups) == 1 else None
    descent = getattr(router, "descent", None)
    if descent is None:
        raise CompositionError(
            "compile_tree: only trees of hyperplanes can be compiled, such as those of "
            "oblique_tree and svm_tree"
        )
    tree, asked = descent()
    answers = np.array([_answer(each, number) for number, each in enumerate(committee.members)])
    offset, factor = scaling or (None, None)
    return CompiledTree(tree, classifier.classes_[classes[answers[asked]]], offset, factor)


def _answer(member: Member, number: int) -> int:
    """The one class that a member answers with."""
    scores = _fixed(member.model)
    if scores is None:
        raise CompositionError(
            f"compile_tree: member {number} is a {type(member.model).__name__}, whose answers "
            "depend on the row; the learner majority gives one answer"
        )
    if len(member.code) > 1:
        return int(member.code.argmax(axis=1)[winners(scores[None, :])[0]])
    side = 1 if scores[0] > 0 else -1
    return int(np.flatnonzero(member.code[0] == side)[0])


def _fixed(model: LocalModel) -> FloatArray | None:
    """The scores that a model gives to every row, where it says that it does."""
    if isinstance(model, Constant):
        return np.array([model.value])
    scores = getattr(model, "fixed_scores", None)
    return None if scores is None else np.asarray(scores)


def _scaling(view: Any) -> tuple[FloatArray, FloatArray] | None:
    """A view as `(x - offset) * factor`; None where it changes nothing."""
    if isinstance(view, Preparation):
        if view.n_levels.any() or (view.marked is not None and len(view.marked)):
            raise CompositionError(
                "compile_tree: categories and marks of missing values cannot be compiled"
            )
        view = view.scaling
    if view is None:
        return None
    if not isinstance(view, Scaling) or view.offset is None or view.factor is None:
        raise CompositionError(
            f"compile_tree: a {type(view).__name__} before the tree cannot be compiled, only a "
            "scaling of dense features"
        )
    return view.offset, view.factor


C_SOURCE = """\
/* A tree of hyperplanes: {nodes} nodes, {features} features. Answers: {answers} */
#include <float.h>
#include <stdint.h>

enum {{ FEATURES = {features}, NODES = {nodes}, LANES = 16 }};
static const float weights[][FEATURES] = {{
{weights}}};
static const double thresholds[] = {{{thresholds}}};
/* Left and right: a node, or ~leaf. */
static const int32_t children[][2] = {{{children}}};
static const int32_t labels[] = {{{labels}}};
{scaling}
static float single(double value) {{
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : (float)value;
}}

int {name}(const double *x) {{
    float row[FEATURES];
    int32_t node = NODES ? 0 : ~0;
    for (int j = 0; j < FEATURES; j++) row[j] = single({value});
    while (node >= 0) {{
        /* Products of floats are exact in double, and the sums have one order: the same bits with
           any compiler. */
        double sums[LANES] = {{0.0}};
        for (int j = 0; j < FEATURES; j++)
            sums[j % LANES] += (double)row[j] * (double)weights[node][j];
        for (int half = LANES / 2; half; half /= 2)
            for (int l = 0; l < half; l++) sums[l] += sums[l + half];
        node = children[node][!(sums[0] <= thresholds[node])];
    }}
    return labels[~node];
}}
"""


def _c_source(compiled: CompiledTree, name: str) -> str:
    tree = compiled.tree
    answers, labels = np.unique(compiled.labels, return_inverse=True)
    # A tree without nodes still needs arrays of one entry.
    planes = tree.weights[:, : tree.n_features] if len(tree.weights) else np.zeros((1, 1))
    scaling = ""
    if compiled.offset is not None:
        scaling = "".join(
            f"static const double {word}[] = {{{_doubles(values)}}};\n"
            for word, values in (("offset", compiled.offset), ("factor", compiled.factor))
        )
    return C_SOURCE.format(
        name=name,
        nodes=len(tree.thresholds),
        features=tree.n_features,
        answers=" ".join(str(each) for each in answers.tolist()).replace("*/", "* /"),
        weights="".join(f"    {{{_floats(plane)}}},\n" for plane in planes),
        thresholds=_doubles(tree.thresholds) or "0.0",
        children=", ".join(f"{{{left}, {right}}}" for left, right in tree.children) or "{0, 0}",
        labels=", ".join(map(str, labels.tolist())),
        scaling=scaling,
        value="(x[j] - offset[j]) * factor[j]" if scaling else "x[j]",
    )


def _floats(values: FloatArray) -> str:
    return ", ".join(f"{value:.9e}f" for value in values.tolist())


def _doubles(values: FloatArray | None) -> str:
    return ", ".join(f"{value:.17e}" for value in np.asarray(values).tolist())
