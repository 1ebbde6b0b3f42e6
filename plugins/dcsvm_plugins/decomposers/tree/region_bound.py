"""The terms of the error bound for regions, from the paper on tree decomposition."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log10, sqrt
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm import Committee, DivideAndConquerClassifier, FittedStrategy, Member
from dcsvm.numeric import BoolArray, FloatArray, IntArray, Kernel, Matrix
from dcsvm.toolbox import (
    Bound,
    Constant,
    Hyperplanes,
    KernelExpansion,
    ModelFact,
    check_training_rows,
    squared_norms,
)

__all__ = ["TreeTerms", "tree_terms"]

#: `tree_facts` gives up beyond so many kernel values of support vectors and decisions of pairs.
MOST_VALUES = 100_000_000


@attrs.frozen
class TreeTerms:
    """The terms of the TD paper's bound (2), for a division into regions or none.

    `leaves` are L, the regions, or all members where there are none; 1 means an undivided
    classifier, whose `R` is the paper's S. R is the sum over regions of squared norm (times rho^2)
    and squared slacks, the average of several binary `classifiers`. T1 and T2 are R log^2(n) and L
    log(d n L^2), to base 10 as in the paper's table 16; T2 is 0 for L = 1, where nothing was
    divided. `rho` is the largest norm of a training row in feature space, 1 for RBF kernels.
    """

    leaves: int
    R: Bound
    T1: Bound
    T2: Bound
    rho: float
    classifiers: int

    @property
    def R_per_leaf(self) -> Bound:  # noqa: N802 - the paper's R
        """R / L."""
        if self.R.value is None:
            return self.R
        return Bound(self.R.value / self.leaves)


def tree_terms(classifier: Any, X: Any, y: Any) -> TreeTerms:
    """T1, T2, R and R / L of the TD paper's section 4.3; S is the R of an undivided classifier.

    The fitted classifier, or that of a search or pipeline, has regions (each row asks one) or a
    single part, and kernel machines in them: binary, one against one, or nested classifiers over
    class pairs or one against the rest. X (n, d) and y (n,) are the training rows and labels,
    without rows of weight zero.

    Notes
    -----
    With more than two classes the paper averages over the binary classifiers: here over all
    pairs of classes or over all classes; a region that lacks a side adds nothing. Logarithms are
    to base 10, as follows from T2 in the paper's table 16.

    References
    ----------
    Chang, Guo, Lin, Lu: Tree decomposition for large-scale SVM problems (2010).
    """
    classifier, X, labels = check_training_rows(classifier, X, y, "tree_terms")
    committee, X = _regions(classifier.model_, X)
    region = _find_regions_of(committee, X)
    terms: list[_Term] = []
    reason = "" if region is not None else "rows ask more than one region"
    for number, member in enumerate(committee.members if region is not None else ()):
        rows = np.flatnonzero(region == number)
        found = _terms(member, X[rows], labels[rows], len(classifier.classes_))
        if isinstance(found, str):
            reason = f"region {number} {found}"
            break
        terms += found
    leaves, n = len(committee.members), len(labels)
    T2 = Bound(leaves * log10(X.shape[1] * n * leaves**2) if leaves > 1 else 0.0)
    count = _classifiers(terms, len(classifier.classes_))
    if reason:
        none = Bound(None, reason)
        return TreeTerms(leaves, none, none, none if region is None else T2, np.nan, count)
    rho_squared = max((term.rho_squared for term in terms), default=1.0)
    total = sum(rho_squared * term.norm_squared + term.slack_squared for term in terms) / count
    return TreeTerms(
        leaves, Bound(total), Bound(total * log10(n) ** 2), T2, sqrt(rho_squared), count
    )


def tree_facts(classifier: DivideAndConquerClassifier, X: Any, y: Any) -> Iterator[ModelFact]:
    """T1, T2, R and R / L, or S of an undivided classifier, if they are known and quick."""
    if sum(map(_count_values, classifier.ledger_)) > MOST_VALUES:
        return
    terms = tree_terms(classifier, X, y)
    R, T1, T2 = terms.R.value, terms.T1.value, terms.T2.value
    if R is None or T1 is None or T2 is None:
        return
    yield ModelFact("T1", T1, "error bound for regions: what the machines add, R log² n (base 10)")
    meaning = "squared norms of the machines and squares of their slacks"
    if terms.leaves == 1:
        yield ModelFact("S", R, f"{meaning}, undivided")
        return
    leaves = terms.leaves
    yield ModelFact("T2", T2, f"what the division into L = {leaves:,} regions adds, L log(d n L²)")
    yield ModelFact("R", R, f"{meaning}, summed over the regions")
    yield ModelFact("R / L", R / leaves, "the same per region")


def _count_values(record: Any) -> int:
    """Kernel values between support vectors, and decisions of rows by pairs of classes."""
    return int(record.support_vectors**2 + record.rows * record.classes * (record.classes - 1) / 2)


@attrs.frozen
class _Term:
    """One binary classifier of a region: its sides, squared norm and squared slacks."""

    sides: tuple[frozenset[int], frozenset[int]]
    norm_squared: float
    slack_squared: float
    rho_squared: float


def _regions(model: FittedStrategy, X: Matrix) -> tuple[Committee, Matrix]:
    """The committee over regions, below a preparation of the rows, and rows as it sees them."""
    inner, seen = model.find_division(X)
    is_routed = any(group.router is not None for group in inner.groups)
    return (inner, seen) if is_routed or len(inner.members) == 1 else (model.committee, X)


def _find_regions_of(committee: Committee, X: Matrix) -> IntArray | None:
    """The region of each row, or None if rows have several."""
    if len(committee.groups) != 1:
        return None
    router = committee.groups[0].router
    if router is None:
        return np.zeros(X.shape[0], dtype=np.intp) if len(committee.members) == 1 else None
    routing = router.route(X)
    if len(routing.row) != X.shape[0] or (np.bincount(routing.row) != 1).any():
        return None
    region = np.empty(X.shape[0], dtype=np.intp)
    region[routing.row] = routing.member
    return region


def _terms(member: Member, X: Any, labels: IntArray, n_classes: int) -> list[_Term] | str:
    """The binary classifiers of a region, or the reason why they are unknown."""
    if isinstance(member.model, Constant) or not len(labels):
        return []
    seen = X if member.view is None else member.view.apply(X)
    if isinstance(member.model, FittedStrategy):
        inner = member.model.committee
        if any(group.router is not None for group in inner.groups):
            return "is divided again"
        present = np.flatnonzero(member.code.any(axis=0))
        terms: list[_Term] = []
        for each in inner.members:
            # Inside, classes are numbers of the region's own.
            code = np.zeros((len(each.code), n_classes), dtype=np.int8)
            code[:, present] = each.code
            found = _terms(attrs.evolve(each, code=code), seen, labels, n_classes)
            if isinstance(found, str):
                return found
            terms += found
        return terms
    model = member.model
    if isinstance(model, Hyperplanes):
        norms = (model.weights**2).sum(axis=0)
        return list(_of_columns(norms, model.scores(seen), Kernel("linear"), member, seen, labels))
    if isinstance(model, KernelExpansion) and model.kernel.kind != "precomputed":
        columns = _columns(model)
        norms, decisions = squared_norms(model, columns), _decisions(model, columns, seen)
        return list(_of_columns(norms, decisions, model.kernel, member, seen, labels))
    return f"holds a {type(model).__name__}, which is no hyperplane in a feature space"


def _of_columns(
    norms: FloatArray,
    decisions: FloatArray,
    kernel: Kernel,
    member: Member,
    seen: Any,
    labels: IntArray,
) -> Iterator[_Term]:
    rho_squared = float(kernel.diagonal(seen).max())
    for norm, decision, (plus, minus) in zip(norms, decisions.T, _sides(member), strict=True):
        signs = _mark(labels, plus).astype(float) - _mark(labels, minus)
        slacks = np.maximum(0.0, 1.0 - signs * decision)[signs != 0]
        yield _Term((plus, minus), float(norm), float(slacks @ slacks), rho_squared)


def _mark(labels: IntArray, classes: frozenset[int]) -> BoolArray:
    """Whether each label is one of the classes; quick for one, of which there are many pairs."""
    if len(classes) == 1:
        return np.asarray(labels == next(iter(classes)))
    return np.isin(labels, list(classes))


def _sides(member: Member) -> list[tuple[frozenset[int], frozenset[int]]]:
    """The classes on the two sides of each binary classifier of a member."""
    code = member.code
    if isinstance(member.model, KernelExpansion) and member.model.class_sizes is not None:
        names = code.argmax(axis=1).tolist()
        return [(frozenset({i}), frozenset({j})) for i, j in combinations(names, 2)]
    everyone = frozenset(np.flatnonzero(code.any(axis=0)).tolist())
    sides = []
    for column in code:
        plus = frozenset(np.flatnonzero(column > 0).tolist())
        minus = frozenset(np.flatnonzero(column < 0).tolist())
        sides.append((plus, minus or everyone - plus))
    return sides


def _decisions(model: KernelExpansion, columns: Any, seen: Any) -> FloatArray:
    decisions = np.empty((seen.shape[0], columns.shape[1]))
    for rows, gram in model.kernel.in_blocks(seen, model.points.rows()):
        decisions[rows] = gram @ columns + model.biases
    return decisions


def _columns(model: KernelExpansion) -> Any:
    """The coefficients of every binary classifier: (points, classifiers) as CSR."""
    if model.class_sizes is None:
        return sparse.csr_array(model.coefficients)
    k = len(model.class_sizes)
    own = np.repeat(np.arange(k), model.class_sizes)[:, None]
    others = np.arange(k - 1) + (np.arange(k - 1) >= own)
    first, second = np.minimum(own, others), np.maximum(own, others)
    pairs = first * (2 * k - first - 1) // 2 + second - first - 1
    used = model.coefficients != 0.0
    ends = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    shape = (len(own), k * (k - 1) // 2)
    return sparse.csr_array((model.coefficients[used], pairs[used], ends), shape=shape)


def _classifiers(terms: Sequence[_Term], n_classes: int) -> int:
    """How many binary classifiers stand for the classes: all pairs, or one for each class."""
    sides = {term.sides for term in terms}
    against_rest = any(len(plus | minus) > 2 or (minus, plus) in sides for plus, minus in sides)
    return n_classes if against_rest else n_classes * (n_classes - 1) // 2
