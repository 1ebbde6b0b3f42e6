"""Compiled trees: fast prediction of single rows, and export as C code."""

import re
import string
from importlib.resources import files
from typing import Any

import attrs
import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from dcsvm.base.errors import CompositionError, DataError
from dcsvm.base.member import Member
from dcsvm.base.models import winners
from dcsvm.drive.fitted_strategy import is_finite
from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray
from dcsvm.numeric.plan_runner import PlanRunner
from dcsvm.numeric.row_plan import Plan
from dcsvm.numeric.trees.hyperplane_tree import PlaneTree
from dcsvm.toolbox.hyperplane_router import find_hyperplane_tree
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.unwrap import check_classifier, find_best, find_preparation

NOT_FINITE = "a compiled tree takes finite numbers only, neither missing values nor infinite ones"
#: Names that are reserved in C or used in the exported code.
TAKEN = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while FEATURES NODES LANES weights thresholds children labels "
    "offset factor single"
)


@attrs.define(eq=False, slots=False)
class CompiledTree:
    """A tree of hyperplanes with a label (leaves,) at each leaf.

    It predicts the same labels as the classifier that it was made from, for dense rows of finite
    numbers only: missing values are refused even if the classifier imputes them. A row x is first
    scaled to `(x - offset) * factor`.
    """

    tree: PlaneTree
    labels: Any
    offset: FloatArray | None = None
    factor: FloatArray | None = None

    def __attrs_post_init__(self) -> None:
        # A buffer for one row: copying a row costs less than asking for its address.
        self._row, self._leaf = np.zeros(self.tree.n_features), np.zeros(1, dtype=np.int64)
        self._answers = self.labels.tolist()
        self._call = None
        if native.library is not None:
            self._runner = self._build_runner()
            self._call = self._runner.row_call(self._row, self._leaf)

    def _build_runner(self) -> PlanRunner:
        """The tree as a plan, whose labels are leaves."""
        plan = Plan()
        tree = plan.plane_tree(self.tree, np.arange(self.tree.n_leaves))
        if self.factor is not None:
            tree = plan.chain(plan.scaling(self.factor, self.offset), tree)
        return PlanRunner(plan, tree)

    def __reduce__(self) -> tuple[Any, ...]:
        """Build it again from its fields, since its pointers are not valid elsewhere."""
        return CompiledTree, (self.tree, self.labels, self.offset, self.factor)

    def predict(self, X: Any) -> Any:
        """Predict the labels of rows X (n, d)."""
        n_features = self.tree.n_features
        if sparse.issparse(X):
            raise DataError("a compiled tree takes dense rows: pass X.toarray()")
        X = _as_numbers(X)
        if X.shape == (n_features,):
            raise DataError("predict takes rows (n, d): use one(x) for a single row")
        if X.ndim != 2 or X.shape[1] != n_features:
            raise DataError(f"the tree takes rows of {n_features} features, got shape {X.shape}")
        if not is_finite(X):
            raise DataError(NOT_FINITE)
        return self.labels[self.tree.route(X, self.offset, self.factor)[0]]

    def one(self, x: Any) -> Any:
        """Predict the label of one row x (d,), in microseconds.

        Not thread-safe: make a CompiledTree for each thread.
        """
        try:
            fits = len(x) == len(self._row)
            if fits:
                self._row[:] = x
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise DataError(_explain_bad_row(x, len(self._row)))
        # The call fails for very large numbers, too.
        if self._call is None or self._call():
            return self.predict(self._row[None, :])[0]
        return self._answers[self._leaf[0]]

    def c_source(self, name: str = "dcsvm_tree") -> str:
        """Return C code of `int name(const double *x)`, which needs no library.

        The function returns the index of the label among the sorted labels of the leaves, and
        `name_labels[index]` is the label in UTF-8. Every compiler with IEEE arithmetic gives the
        same labels as `predict`. The numbers x must be finite; this is not checked.
        """
        if not re.fullmatch("[A-Za-z_][A-Za-z_0-9]*", name) or name in TAKEN.split():
            raise DataError(f"c_source: {name!r} cannot be the name of a C function")
        return _c_source(self, name)


def compile_tree(classifier: Any) -> CompiledTree:
    """Compile a fitted tree of hyperplanes, for predictions in microseconds.

    The router of the classifier, or of the best one of a search, must be a tree of hyperplanes
    (`oblique_tree`, `svm_tree`, or any with `hyperplane_tree`), and its members constant
    (`majority`). In a Pipeline, a TablePreparation may scale the features before it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> from dcsvm.inspection import compile_tree
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("oblique_tree", "majority", random_state=0).fit(X, y)
    >>> fast = compile_tree(clf)
    >>> int(fast.one(X[0])), bool((fast.predict(X) == clf.predict(X)).all())
    (0, True)
    """
    classifier, preparation = find_best(classifier), None
    if isinstance(classifier, Pipeline):
        preparation = find_preparation(classifier)
        if len(classifier) > 2 or preparation is None:
            raise CompositionError(
                "compile_tree: of a Pipeline, only a TablePreparation and a classifier can be "
                f"compiled, got {', '.join(type(step).__name__ for _, step in classifier.steps)}"
            )
        classifier = find_best(classifier[-1])
    check_classifier(classifier, "compile_tree")
    check_is_fitted(classifier)
    found = find_hyperplane_tree(classifier.model_.committee)
    if found is None:
        raise CompositionError(
            "compile_tree: only trees of hyperplanes can be compiled, such as those of "
            "oblique_tree and svm_tree"
        )
    tree, asked = found
    members = classifier.model_.committee.members
    answers = np.array([_find_answer(each, number) for number, each in enumerate(members)])
    offset, factor = (None, None) if preparation is None else _find_scaling(preparation)
    return CompiledTree(tree, classifier.classes_[answers[asked]], offset, factor)


def _find_answer(member: Member, number: int) -> int:
    """Return the class that a constant member predicts."""
    scores = member.model.fixed_scores
    if scores is None:
        raise CompositionError(
            f"compile_tree: member {number} is a {type(member.model).__name__}, whose answers "
            "depend on the row; the learner majority gives one answer"
        )
    if len(member.code) > 1:
        return int(member.code.argmax(axis=1)[winners(scores[None, :])[0]])
    side = 1 if scores[0] > 0 else -1
    return int(np.flatnonzero(member.code[0] == side)[0])


def _as_numbers(rows: Any) -> FloatArray:
    try:
        return np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the tree takes rows of numbers: {error}") from None


def _explain_bad_row(x: Any, n_features: int) -> str:
    if sparse.issparse(x):
        return "a compiled tree takes dense rows: pass x.toarray()[0]"
    shape = _as_numbers(x).shape
    if len(shape) == 1:
        return f"the tree takes rows of {n_features} features, got {shape[0]}"
    return f"one takes a single row ({n_features},), got shape {shape}: use predict(X) for several"


def _find_scaling(preparation: TablePreparation) -> tuple[FloatArray | None, FloatArray | None]:
    """Return offset and factor of a preparation; None if it does not scale."""
    if any(each.kind != "number" for each in preparation.features()):
        raise CompositionError(
            "compile_tree: categories, ranks and indicators of missing values cannot be compiled; "
            "turn such columns into numbers and impute missing values before fit, or drop them"
        )
    scaling = preparation.scaling_
    if scaling is None:
        return None, None
    if scaling.offset is None:
        raise CompositionError(
            "compile_tree: a scaling of sparse rows cannot be compiled, only one of dense rows"
        )
    return scaling.offset, scaling.factor


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
    template = (files("dcsvm.inspection") / "compiled_tree.c.txt").read_text(encoding="utf-8")
    return string.Template(template).substitute(
        name=name,
        nodes=len(tree.thresholds),
        features=tree.n_features,
        answers=", ".join(_quote(str(each)) for each in answers.tolist()),
        weights="".join(f"    {{{_floats(plane)}}},\n" for plane in planes),
        thresholds=_doubles(tree.thresholds) or "0.0",
        children=", ".join(f"{{{left}, {right}}}" for left, right in tree.children) or "{0, 0}",
        labels=", ".join(map(str, labels.tolist())),
        scaling=scaling,
        value="(x[j] - offset[j]) * factor[j]" if scaling else "x[j]",
    )


def _quote(text: str) -> str:
    """Return a C string literal, with octal codes for everything that is not plain ASCII."""
    plain = string.ascii_letters + string.digits + " !#$%&'()*+,-./:;<=>@[]^_`{|}~"
    codes = text.encode("utf-8", "surrogatepass")
    return '"{}"'.format("".join(chr(c) if chr(c) in plain else f"\\{c:03o}" for c in codes))


def _floats(values: FloatArray) -> str:
    return ", ".join(f"{value:.9e}f" for value in values.tolist())


def _doubles(values: FloatArray | None) -> str:
    return ", ".join(f"{value:.17e}" for value in np.asarray(values).tolist())
