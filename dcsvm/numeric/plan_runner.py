"""Execution of plans in C, with calls of Python for the steps that ask it."""

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric import native
from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.expansion.expansion import PackedExpansion
from dcsvm.numeric.native import PlanStructure, RoutingStructure, StepStructure
from dcsvm.numeric.plan_steps import KINDS, Step, StepRecord
from dcsvm.numeric.row_plan import Plan
from dcsvm.numeric.step_arrays import as_floats, as_places

ASKER = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
)
ROUTER_ASKER = ctypes.CFUNCTYPE(
    *(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64),
    ctypes.POINTER(RoutingStructure),
)
DONE, NO_MEMORY, RAISED = 0, 1, 2
#: A block of rows has so many scores: what its members add up to takes some ten times as much.
BLOCK_NUMBERS = 2**19


class PlanRunner:
    """A finished plan, ready to be executed.

    It holds addresses, so it is never copied: models drop it and lay themselves out again.
    """

    def __init__(self, plan: Plan, root: Step) -> None:
        self.plan, self.root = plan, root
        self.n_features, self.outputs = plan.inputs(root), plan.outputs(root)
        self.in_blocks = plan.runs_in_blocks(root)
        widest = max((each.outputs for each in plan.steps if each.kind == "strategy"), default=1)
        self._block = max(BLOCK_NUMBERS // widest, 64)
        self._local = threading.local()
        self._steps = (StepStructure * len(plan.steps))(*map(_fill, plan.steps))
        self._askers = ASKER(self._ask), ROUTER_ASKER(self._ask_router)
        self._structure = PlanStructure(
            ctypes.addressof(self._steps),
            *(ctypes.cast(each, ctypes.c_void_p) for each in self._askers),
        )
        self._pointer = ctypes.pointer(self._structure)

    def scores(self, X: FloatArray) -> FloatArray | None:
        """The outputs of the last step for rows X, (n, outputs).

        None for rows with numbers beyond 1e100, which may overflow.
        """
        scores = np.empty((len(X), self.outputs))
        return scores if self._run(X, scores, None) else None

    def labels(self, X: FloatArray) -> IntArray | None:
        """The predicted class of each row of X, (n,); None as with `scores`."""
        labels = np.empty(len(X), dtype=np.int64)
        return labels if self._run(X, None, labels) else None

    def row_call(self, x: FloatArray, label: IntArray) -> Callable[[], int]:
        """A function without arguments that writes the label of the row in `x` into `label`.

        It returns a number other than 0 if it fails, as for numbers beyond 1e100.
        """
        assert native.library is not None
        call = native.library.dcsvm_plan
        given = self._pointer, self.root, x.ctypes.data, 1, None, label.ctypes.data
        return functools.partial(call, *given)

    def _run(self, X: Any, scores: Any, labels: Any) -> bool:
        rows = np.ascontiguousarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"plan: rows must have {self.n_features} features, got {rows.shape}")
        if len(rows) <= self._block:
            return self._run_block(rows, scores, labels)
        starts = range(0, len(rows), self._block)
        blocks = [slice(start, start + self._block) for start in starts]
        return all(
            self._run_block(
                rows[block],
                None if scores is None else scores[block],
                None if labels is None else labels[block],
            )
            for block in blocks
        )

    def _run_block(self, rows: FloatArray, scores: Any, labels: Any) -> bool:
        assert native.library is not None
        result = native.library.dcsvm_plan(
            *(self._pointer, self.root, rows.ctypes.data, len(rows)),
            None if scores is None else scores.ctypes.data,
            None if labels is None else labels.ctypes.data,
        )
        if result == RAISED:
            raise self._local.error
        if result == NO_MEMORY:
            raise MemoryError("plan: not enough memory for the answers of a block of rows")
        return bool(result == DONE)

    def _ask(self, step: int, given: int, n: int, out: int) -> int:
        record = self.plan.steps[step]
        try:
            assert record.function is not None
            answer = np.asarray(record.function(_view(given, n, record.inputs).copy()))
            if sparse.issparse(answer) or answer.shape != (n, record.outputs):
                raise ValueError(
                    f"{_find_title(record.function)} returned shape {answer.shape} where "
                    f"({n}, {record.outputs}) was expected"
                )
            _view(out, n, record.outputs)[:] = answer
        except BaseException as error:
            self._local.error = error
            return 0
        return 1

    def _ask_router(self, step: int, given: int, n: int, found: Any) -> int:
        record = self.plan.steps[step]
        try:
            assert record.function is not None
            routing = record.function(_view(given, n, record.inputs).copy())
            try:
                rows = as_places(routing.row, n)
                members = as_places(routing.member, record.outputs)
                weights = None if routing.weight is None else as_floats(routing.weight, len(rows))
            except (AttributeError, ValueError) as error:
                raise ValueError(
                    f"{_find_title(record.function)} must return a Routing to members 0 to "
                    f"{record.outputs - 1}, got {routing!r}"
                ) from error
            if len(rows) != len(members):
                raise ValueError(f"plan: {len(rows)} rows are routed to {len(members)} members")
            self._local.routing = rows, members, weights
            found.contents.count = len(rows)
            found.contents.row, found.contents.member = rows.ctypes.data, members.ctypes.data
            found.contents.weight = None if weights is None else weights.ctypes.data
        except BaseException as error:
            self._local.error = error
            return 0
        return 1


def _find_title(function: Any) -> str:
    """The class and the name of a method, for messages."""
    owner = type(getattr(function, "__self__", function)).__name__
    return f"{owner}.{getattr(function, '__name__', '__call__')}"


def _fill(record: StepRecord) -> StepStructure:
    filled = StepStructure(KINDS.index(record.kind), record.inputs, record.outputs)
    filled.sizes[: len(record.sizes)] = record.sizes
    filled.numbers[: len(record.numbers)] = record.numbers
    filled.arrays[: len(record.arrays)] = [_find_address(each) for each in record.arrays]
    return filled


def _find_address(held: Any) -> int | None:
    """Where C finds an array, a C struct or a packed expansion."""
    if held is None or isinstance(held, int):
        return held
    if isinstance(held, PackedExpansion):
        return ctypes.addressof(held.double)
    if isinstance(held, ctypes.Structure):
        return ctypes.addressof(held)
    return native.address(held) if isinstance(held, np.ndarray) else None


def _view(address: int, rows: int, columns: int) -> npt.NDArray[np.float64]:
    pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_double))
    return np.ctypeslib.as_array(pointer, (rows, columns))
