"""Plans: fitted models laid out once as flat steps, which C executes for single rows."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import comb
from typing import Any

import attrs
import numpy as np
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.clusters import TIE
from dcsvm.numeric.expansion.expansion import NATIVE_KINDS, Expansion, pack_for_rows
from dcsvm.numeric.kernels.kernel import Kernel
from dcsvm.numeric.plan_steps import (
    FORMS,
    IN_BLOCKS,
    LOSSES,
    MOST_ENTRIES,
    NARROW,
    PLAIN_KERNELS,
    SMALL,
    StepRecord,
)
from dcsvm.numeric.plan_steps import Step as Step
from dcsvm.numeric.step_arrays import (
    as_floats,
    as_places,
    check_children,
    list_monomials,
    list_packed,
    list_plain,
)


class Plan:
    """A model as a list of steps: views, models, routers, and how answers are combined.

    A component adds its steps in its method `add_to_plan` with the methods below. Each checks its
    arrays, adds a step and returns its number. What has no step of its own is called in Python
    (`ask`, `ask_router`). Without `votes`, models give their margins, and a combination combines
    these.
    """

    def __init__(self, votes: bool = True) -> None:
        self.steps: list[StepRecord] = []
        self.votes = votes

    # Views and models

    def columns(self, n_features: int, columns: IntArray) -> Step:
        """Some of the columns of rows."""
        return self.add(
            "columns", n_features, len(columns), arrays=[as_places(columns, n_features)]
        )

    def block_sum(self, place: IntArray, factors: FloatArray, width: int) -> Step:
        """Sums of features: feature j times `factors[j]` is added to number `place[j]`."""
        arrays = [as_places(place, width), as_floats(factors, len(place))]
        return self.add("block_sum", len(place), width, arrays=arrays)

    def affine(self, matrix: FloatArray, shift: FloatArray | None = None) -> Step:
        """`X @ matrix + shift`, with matrix (features, outputs)."""
        rows, width = matrix.shape
        shift = None if shift is None else as_floats(shift, width)
        return self.add("affine", rows, width, arrays=[as_floats(matrix, rows, width), shift])

    def scaling(self, factor: FloatArray, offset: FloatArray | None = None) -> Step:
        """`(X - offset) * factor`."""
        width = len(factor)
        offset = None if offset is None else as_floats(offset, width)
        return self.add("scaling", width, width, arrays=[offset, as_floats(factor, width)])

    def feature_map(self, kernel: Kernel, n_features: int) -> Step | None:
        """The feature map of a truncated RBF kernel; None if it is too large."""
        width = comb(n_features + kernel.degree, kernel.degree)
        if kernel.kind != "trbf" or width * kernel.degree > SMALL:
            return None
        parents, variables, roots = list_monomials(n_features, kernel.degree)
        arrays = [
            as_places(parents, width),
            as_places(variables, n_features),
            as_floats(roots, width),
        ]
        return self.add("monomials", n_features, width, numbers=[kernel.gamma], arrays=arrays)

    def constant(self, n_features: int, values: FloatArray) -> Step:
        """The same values for every row."""
        return self.add(
            "constant", n_features, len(values), arrays=[as_floats(values, len(values))]
        )

    def sides(self, width: int) -> Step:
        """1 for each positive number, 0 for others."""
        return self.add("sides", width, width)

    def softmax(self, width: int) -> Step:
        """Probabilities of logits, stretched to scores in [-1, 1]; one column for two."""
        return self.add("softmax", width, 1 if width == 2 else width)

    def chain(self, *steps: Step | None) -> Step:
        """Several steps one after the other; None is left out."""
        parts = [step for step in steps if step is not None]
        for before, after in pairwise(parts):
            if self.outputs(before) != self.inputs(after):
                raise ValueError(
                    f"plan: a step of {self.inputs(after)} features follows one that gives "
                    f"{self.outputs(before)}"
                )
        if len(parts) == 1:
            return parts[0]
        ends = self.inputs(parts[0]), self.outputs(parts[-1])
        return self.add("chain", *ends, sizes=[len(parts)], arrays=[self._numbers_of(parts)])

    def expansion(
        self, expansion: Expansion, n_features: int, *, form: str = "votes"
    ) -> Step | None:
        """A kernel expansion; None if C cannot evaluate its kernel or points.

        A one-against-one expansion gives the scores by votes, in a plan without votes margins or,
        with form "decisions", those of all pairs.
        """
        form = "margins" if form == "votes" and not self.votes else form
        kernel, packed = expansion.kernel, pack_for_rows(expansion)
        plain = kernel.kind in PLAIN_KERNELS and not sparse.issparse(expansion.points)
        if packed is None and not plain:
            return None
        width, counts = expansion.coefficients.shape[1], expansion.counts
        sizes: IntArray = np.array([len(expansion.coefficients)]) if counts is None else counts
        form, k, outputs = "plain" if counts is None else form, len(sizes), len(expansion.biases)
        arrays: list[Any] = [None] * 5 if packed is None else list_packed(packed, n_features)
        arrays += [as_floats(expansion.biases, outputs)]
        arrays += list_plain(expansion, sizes, n_features) if packed is None else []
        return self.add(
            *("expansion", n_features, k if form in ("votes", "margins") else outputs),
            sizes=[
                *(FORMS.index(form), k, PLAIN_KERNELS.get(kernel.kind, 0)),
                *(kernel.degree, len(expansion.coefficients), width),
            ],
            numbers=[kernel.gamma, kernel.coef0],
            arrays=arrays,
        )

    def allow_float32_labels(self, step: Step, least: int = SMALL) -> None:
        """Find the labels of a large one-against-one expansion in single precision.

        Rows whose label rounding could change are evaluated again in double precision.
        """
        record = self.steps[self._last(step)]
        packed = record.arrays[0] if record.kind == "expansion" else None
        if packed is None or record.sizes[0] == FORMS.index("plain"):
            return
        if packed.points.size >= least and packed.kernel.kind in NATIVE_KINDS:
            single = packed.single
            arrays = packed, single.structure, single.table, *record.arrays[3:]
            self.replace_arrays(self._last(step), *arrays)

    def has_float32_labels(self, step: Step) -> bool:
        """Whether a step is an expansion with labels in single precision, perhaps after a view."""
        record = self.steps[self._last(step)]
        return record.kind == "expansion" and record.arrays[1] is not None

    def ask(self, function: Callable[[FloatArray], Any], n_features: int, outputs: int) -> Step:
        """Rows (n, outputs) from a Python function of rows (n, n_features)."""
        return self.add("ask", n_features, outputs, function=function)

    # Routers

    def axis_tree(
        self,
        left: IntArray,
        right: IntArray,
        feature: IntArray,
        threshold: FloatArray,
        member: IntArray,
        n_features: int,
    ) -> Step:
        """The member of the leaf of a row; see `AxisTree` for the arrays over nodes."""
        nodes = len(left)
        members = int(member.max()) + 1
        arrays: list[Any] = [
            *(as_places(left, nodes, lowest=-1), as_places(right, nodes, lowest=-1)),
            *(as_places(feature, n_features), as_floats(threshold, nodes).astype(np.float32)),
            as_places(member, members, lowest=-1),
        ]
        if {len(each) for each in arrays} != {nodes} or (member[left < 0] < 0).any():
            raise ValueError(f"plan: every array of an axis tree must have {nodes} entries")
        inner = np.flatnonzero(left >= 0)
        check_children(np.column_stack([left, right])[inner], inner)
        return self.add("axis_tree", n_features, members, arrays=arrays)

    def plane_tree(self, tree: Any, member: IntArray) -> Step:
        """The member of the leaf of a row in a `PlaneTree`."""
        members = int(member.max()) + 1
        if len(member) != tree.n_leaves:
            raise ValueError(f"plan: {tree.n_leaves} leaves, but {len(member)} members of leaves")
        if not len(tree.thresholds):
            none, zero = np.array([-1]), np.zeros(1)
            return self.axis_tree(none, none, np.array([0]), zero, member, tree.n_features)
        if tree.children.min() < -tree.n_leaves or tree.children.max() >= len(tree.thresholds):
            raise ValueError("plan: a child of a tree of hyperplanes is neither a node nor a leaf")
        inner = np.arange(len(tree.children))
        check_children(np.where(tree.children < 0, len(inner), tree.children), inner)
        arrays = [tree.structure, tree.lengths, None, tree, as_places(member, members)]
        return self.add("plane_tree", tree.n_features, members, arrays=arrays)

    def nearest(self, scores: Step) -> Step:
        """The member with the largest score; ties up to rounding go to the first."""
        ends = self.inputs(scores), self.outputs(scores)
        return self.add("nearest", *ends, sizes=[scores], numbers=[TIE])

    def lookup(self, n_features: int, column: int, values: Any, member: Any, other: int) -> Step:
        """The member of a value of a column, `other` for values that are not listed."""
        members = max(int(np.max(member, initial=0)), other) + 1
        arrays = [as_floats(values, len(values)), as_places(member, members)]
        if len(arrays[0]) != len(arrays[1]) or not 0 <= column < n_features or other < 0:
            raise ValueError("plan: a lookup needs a column, and a member for each value")
        sizes = [column, len(values), other]
        return self.add("lookup", n_features, members, sizes=sizes, arrays=arrays)

    def spill(
        self, directions: FloatArray, borders: FloatArray, widths: FloatArray, children: IntArray
    ) -> Step | None:
        """The weights of leaves: rows near a border go to both sides; children may be ~leaf."""
        nodes, n_features = directions.shape
        if not nodes:
            return None
        table = np.ascontiguousarray(children, dtype=np.int64)
        if table.shape != (nodes, 2) or table.max() >= nodes:
            raise ValueError("plan: a tree must have two children for each of its nodes")
        check_children(np.where(table < 0, nodes, table), np.arange(nodes))
        leaves = -int(table.min())
        arrays: list[Any] = [as_floats(directions, nodes, n_features), as_floats(borders, nodes)]
        arrays += [as_floats(widths, nodes), table]
        return self.add("spill", n_features, leaves, sizes=[nodes], arrays=arrays)

    def gate(self, scores: Step, steepness: float) -> Step:
        """All members, weighted by the softmax of the scores of a step."""
        ends = self.inputs(scores), self.outputs(scores)
        return self.add("gate", *ends, sizes=[scores], numbers=[steepness])

    def ask_router(
        self, function: Callable[[FloatArray], Any], n_features: int, members: int
    ) -> Step:
        """Rows, members and weights from a Python function, as in a `Routing`."""
        return self.add("ask_router", n_features, members, function=function)

    # Combinations

    def mean(self, missing_score: float | None = None) -> Step:
        """The mean score of each class; see `Committee.mean_scores`."""
        return self.add("means", sizes=[missing_score is not None], numbers=[missing_score or 0.0])

    def route(self) -> Step:
        """The mean score; a row with a single member gets the label that this member predicts."""
        return self.add("means", sizes=[False, True])

    def vote(self) -> Step:
        """Votes, with ties broken by the mean of decision values."""
        return self.add("votes")

    def argmax(self) -> Step:
        """The mean over the columns with a class on their positive side."""
        return self.add("largest")

    def decode(self, loss: str) -> Step:
        """The gain by a loss, summed over all columns; `loss` is one of LOSSES."""
        return self.add("gains", sizes=[LOSSES.index(loss)])

    def weighted_sum(self) -> Step:
        """The sum of scores; a class that a member does not know gets -1 from it."""
        return self.add("totals")

    def class_path(self, steepness: float) -> Step:
        """The mean over groups of the probability of the path to each class."""
        return self.add("paths", numbers=[steepness])

    def product(self, logs: FloatArray, steepness: float, least: float) -> Step:
        """The product of softmaxes, of at least `least`, less `logs` for all members but one."""
        return self.add(
            "products", numbers=[steepness, least], arrays=[as_floats(logs, len(logs))]
        )

    def couple(self) -> Step:
        """The margin of each class against all its rivals, from pairs; see `couple_pairs`."""
        return self.add("couples")

    def walk(self, order: IntArray, columns: IntArray, signs: IntArray) -> Step:
        """A decision graph over the classes in `order`, with the column for any two classes.

        `columns` and `signs` are (n_classes, n_classes); signs are +1 where the first class is
        the positive side of the column.
        """
        k = len(columns)
        order = as_places(order, k)
        used = columns[np.ix_(order, order)][~np.eye(len(order), dtype=bool)]
        if columns.shape != (k, k) or signs.shape != (k, k) or (used < 0).any() or len(order) < 2:
            raise ValueError(
                "plan: a decision graph needs a column and a sign for any two classes"
            )
        arrays = [order, np.ascontiguousarray(columns), None, as_floats(signs, k, k)]
        return self.add("walk", sizes=[len(order)], arrays=arrays)

    def stack(
        self,
        models: Sequence[Step],
        present: IntArray,
        limits: FloatArray,
        scaling: Step,
        *,
        by_label: bool,
    ) -> Step:
        """A second level: models of the clipped and scaled answers of all members."""
        width = limits.shape[1]
        outputs = sum(self.outputs(model) for model in models)
        if outputs != (1 if len(models) == 1 and len(present) == 2 else len(present)) or (
            any(self.inputs(model) != width for model in [*models, scaling])
            or self.outputs(scaling) != width
        ):
            raise ValueError(f"plan: a second level of {width} answers has models of other sizes")
        arrays = [
            *(self._numbers_of(models), as_places(present, MOST_ENTRIES)),
            *(as_floats(limits[0], width), as_floats(limits[1], width), None, None),
        ]
        sizes = [len(models), len(present), scaling, by_label, width]
        return self.add("stack", sizes=sizes, arrays=arrays)

    def replace_arrays(self, step: Step, *arrays: Any) -> None:
        """Replace the arrays of a step that are known only after it was added."""
        self.steps[step] = attrs.evolve(self.steps[step], arrays=arrays)

    # What is known of a step

    def asks_one(self, combination: Step) -> bool:
        """Whether a row with a single member gets the label that this member predicts."""
        record = self.steps[combination]
        return record.kind == "means" and record.sizes == (0, 1)

    def runs_in_blocks(self, root: Step) -> bool:
        """Whether all steps are as fast as numpy where they meet many rows at once.

        The labels of `root` must be those of its scores; others are found row by row.
        """
        first = self.steps[root]
        if first.kind == "strategy" and first.sizes[4] in (1, 2, 3):
            return False
        return all(
            step.kind in IN_BLOCKS
            and (step.kind != "affine" or step.inputs * step.outputs <= NARROW)
            and (step.kind != "expansion" or step.arrays[0] is not None)
            for step in self.steps
        )

    def inputs(self, step: Step) -> int:
        return self.steps[step].inputs

    def outputs(self, step: Step) -> int:
        return self.steps[step].outputs

    def kind(self, step: Step) -> str:
        return self.steps[step].kind

    def is_packed(self, step: Step) -> bool:
        """Whether a chain ends with an expansion whose points are packed."""
        record = self.steps[self._last(step)]
        return record.kind == "expansion" and record.arrays[0] is not None

    def _last(self, step: Step) -> Step:
        """The last step of a chain."""
        while self.kind(step) == "chain":
            step = int(self.steps[step].arrays[0][-1])
        return step

    def _numbers_of(self, steps: Sequence[Step]) -> IntArray:
        return as_places(np.array(steps, dtype=np.int64), len(self.steps))

    def add(
        self,
        kind: str,
        inputs: int = 0,
        outputs: int = 0,
        *,
        sizes: Sequence[int] = (),
        numbers: Sequence[float] = (),
        arrays: Sequence[Any] = (),
        function: Callable[[FloatArray], Any] | None = None,
    ) -> Step:
        """Add a step as C reads it; the other methods check what they add."""
        each = tuple(map(int, sizes)), tuple(map(float, numbers)), tuple(arrays)
        self.steps.append(StepRecord(kind, int(inputs), int(outputs), *each, function))
        return len(self.steps) - 1
