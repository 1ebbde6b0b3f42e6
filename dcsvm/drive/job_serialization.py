"""Parcels: jobs packed as bytes for a worker, with their own rows or a handle to them."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import cloudpickle
import numpy as np

from dcsvm.base.problem import Problem
from dcsvm.base.subproblem import Subproblem, list_rows
from dcsvm.drive.engine import bundle_jobs
from dcsvm.drive.executor import Numbered, Runnable
from dcsvm.numeric.mapped_rows import MappedRows, RowHandle

#: A parcel holds bundles of at most so many rows, numbers, and squares of the rows of parts
#: together, unless a single one has more.
PARCEL_ROWS, PARCEL_NUMBERS, PARCEL_SQUARES = 2**14, 2**20, 2**24
#: At least so many parcels per core, so that all cores stay busy to the end.
PARCELS_PER_CORE = 4
#: Arrays of fewer numbers are sent as they are.
SMALL_ARRAY = 100

#: Whether the workers can read the file of these rows.
Sees = Callable[[MappedRows], bool]


@attrs.frozen(eq=False)
class Parcel:
    """Jobs to be run one after the other; `shared` are values that a worker keeps for several."""

    bundles: tuple[tuple[Numbered, ...], ...]
    shared: tuple[Any, ...]

    @property
    def jobs(self) -> list[Numbered]:
        return [numbered for bundle in self.bundles for numbered in bundle]

    @property
    def n_rows(self) -> int:
        return sum(job.n_rows for _, job in self.jobs)

    @property
    def title(self) -> str:
        """The first job, and how many others there are."""
        jobs = self.jobs
        more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
        return f"{jobs[0][1].title}{more}"

    def replace(self, problems: Mapping[int, Problem]) -> Parcel:
        """The same jobs on other problems, by the `id` of their own."""
        bundles = [
            tuple((number, _replace(job, problems)) for number, job in bundle)
            for bundle in self.bundles
        ]
        return _seal(bundles)

    def pack(self, sees: Sees) -> bytes:
        """Pickle the bundles; shared values are left out, by their places."""
        return _pack(self.bundles, self.shared, sees)

    def unpack_outcomes(self, content: bytes) -> Any:
        """Restore what `pack_outcomes` made of this parcel in a worker."""
        return unpack(content, (), KnownRows.of([job for _, job in self.jobs]))


def _replace(job: Runnable, problems: Mapping[int, Problem]) -> Runnable:
    if isinstance(job, Subproblem) and id(job.problem) in problems:
        return attrs.evolve(job, problem=problems[id(job.problem)])
    return job


def make_parcels(jobs: list[Numbered], cores: int) -> Iterable[Parcel]:
    """Yield jobs in order, in parcels of many small ones."""
    n_parcels = PARCELS_PER_CORE * cores
    most = Load(
        min(PARCEL_ROWS, sum(job.n_rows for _, job in jobs) // n_parcels),
        PARCEL_NUMBERS,
        PARCEL_SQUARES,
    )
    some: list[tuple[Numbered, ...]] = []
    load = Load()
    for bundle in bundle_jobs(jobs, max(1, len(jobs) // n_parcels)):
        more = Load.of(bundle)
        if some and not load.add(more).fits(most):
            yield _seal(some)
            some, load = [], Load()
        some.append(tuple(bundle))
        load = load.add(more)
    if some:
        yield _seal(some)


@attrs.frozen
class Load:
    """How much some jobs are: their rows, the numbers in these, and the squares of their rows.

    The last stands for the time of training, so that a parcel of large parts is not a long one.
    """

    rows: int = 0
    numbers: int = 0
    squares: int = 0

    @classmethod
    def of(cls, jobs: Iterable[Numbered]) -> Load:
        sizes = [job.n_rows for _, job in jobs]
        widths = [job.problem.n_features if isinstance(job, Subproblem) else 1 for _, job in jobs]
        numbers = sum(size * width for size, width in zip(sizes, widths, strict=True))
        return cls(sum(sizes), numbers, sum(size**2 for size in sizes))

    def add(self, other: Load) -> Load:
        mine, others = attrs.astuple(self), attrs.astuple(other)
        return Load(*(one + more for one, more in zip(mine, others, strict=True)))

    def fits(self, most: Load) -> bool:
        return all(
            one <= limit
            for one, limit in zip(attrs.astuple(self), attrs.astuple(most), strict=True)
        )


def _seal(bundles: list[tuple[Numbered, ...]]) -> Parcel:
    shared = {id(each): each for bundle in bundles for _, job in bundle for each in job.shared}
    return Parcel(tuple(bundles), tuple(shared.values()))


def pack_shared(value: Any, sees: Sees) -> bytes:
    """Pickle a value that many jobs share."""
    return _pack(value, (), sees)


def pack_outcomes(outcomes: Any, jobs: Sequence[Any]) -> bytes:
    """Pickle the outcomes of unpacked jobs, without the rows that the client has; in a worker."""
    return _pack(outcomes, (), lambda _: True, KnownRows.of(jobs))


def _pack(value: Any, shared: Sequence[Any], sees: Sees, known: KnownRows | None = None) -> bytes:
    out = io.BytesIO()
    _Packer(out, shared, sees, known).dump(value)
    return out.getvalue()


def unpack(content: bytes, shared: Sequence[Any] = (), known: KnownRows | None = None) -> Any:
    """Restore what was packed."""
    return _Unpacker(io.BytesIO(content), shared, known).load()


class _Packer(cloudpickle.Pickler):  # type: ignore[misc, unused-ignore]
    def __init__(
        self, out: io.BytesIO, shared: Sequence[Any], sees: Sees, known: KnownRows | None
    ) -> None:
        super().__init__(out, protocol=pickle.HIGHEST_PROTOCOL)
        self._places = {id(each): place for place, each in enumerate(shared)}
        self._sees, self._known = sees, known
        self._packed: dict[int, Any] = {}

    def persistent_id(self, value: Any) -> Any:
        """How a value is sent that is not pickled as it is; None for all others."""
        if id(value) in self._places:
            return "shared", self._places[id(value)]
        if id(value) in self._packed:
            return self._packed[id(value)][1]
        if isinstance(value, RowHandle | MappedRows):
            X, rows = (value, ...) if isinstance(value, MappedRows) else (value.source, value.rows)
            return None if self._sees(X) else ("array", np.array(X[rows]))
        if type(value) is not np.ndarray or value.size < SMALL_ARRAY:
            return None
        packed = _narrow(value) if value.ndim == 1 else self._find_rows(value)
        if packed is not None:
            self._packed[id(value)] = value, packed  # the value is kept, so that its id is its own
        return packed

    def _find_rows(self, value: Any) -> Any:
        found = None if self._known is None else self._known.find(value)
        return None if found is None else ("rows", found)


def _narrow(array: Any) -> Any:
    """Whole numbers in the smallest dtype that holds them."""
    if array.dtype.kind not in "iu":
        return None
    narrow = np.result_type(np.min_scalar_type(array.min()), np.min_scalar_type(array.max()))
    if narrow.kind not in "iu" or narrow.itemsize >= array.dtype.itemsize:
        return None
    return "narrow", array.astype(narrow), array.dtype.str


class _Unpacker(pickle.Unpickler):
    def __init__(
        self, content: io.BytesIO, shared: Sequence[Any], known: KnownRows | None
    ) -> None:
        super().__init__(content)
        self._shared, self._known = shared, known
        self._unpacked: dict[int, Any] = {}

    def persistent_load(self, identity: Any) -> Any:
        kind, value, *more = identity
        if kind == "shared":
            return self._shared[value]
        if kind == "array":
            return value
        if id(value) not in self._unpacked:  # values of one array are one array again
            if kind == "narrow":
                made = value.astype(more[0])
            else:
                assert self._known is not None
                made = self._known.take(value)
            self._unpacked[id(value)] = value, made
        return self._unpacked[id(value)][1]


@attrs.frozen(eq=False, slots=False)
class KnownRows:
    """The rows of some jobs, which the client has: `blocks` are matrices and row numbers.

    Support vectors are among them, so workers return their places instead of the rows.
    """

    blocks: tuple[tuple[Any, Any], ...]
    n_features: int

    @classmethod
    def of(cls, jobs: Sequence[Any]) -> KnownRows | None:
        """Those of jobs as they were given, or of the same jobs with their own rows."""
        mine = [each for each in jobs if isinstance(each, Subproblem)]
        dense = [each for each in mine if isinstance(each.problem.X, np.ndarray)]
        if not dense or len(dense) < len(jobs):
            return None
        width = dense[0].problem.n_features
        blocks = [
            (each.problem.X, list_rows(each.part.rows))
            for each in dense
            if each.problem.n_features == width
        ]
        return cls(tuple(blocks), width)

    def find(self, array: Any) -> Any:
        """The place of each row of a matrix among the known ones; None if one is not known."""
        if array.ndim != 2 or array.shape[1] != self.n_features or array.dtype != np.float64:
            return None
        if not array.flags.c_contiguous:
            return None
        rows, keys, order = self._index
        mine = _hash_rows(array)
        at = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
        places = order[at]
        same = np.array_equal(rows[places].view(np.uint64), array.view(np.uint64))
        return places.astype(np.min_scalar_type(len(rows))) if same else None

    @cached_property
    def _index(self) -> tuple[Any, Any, Any]:
        """The rows of all blocks, their sorted keys, and the place of each key."""
        rows = np.concatenate([X[ids] for X, ids in self.blocks])
        keys = _hash_rows(rows)
        order = np.argsort(keys, kind="stable")
        return rows, keys[order], order

    def take(self, places: Any) -> Any:
        """The rows at these places."""
        edges = np.cumsum([0, *(len(ids) for _, ids in self.blocks)])
        block = np.searchsorted(edges, places, side="right") - 1
        taken = np.empty((len(places), self.n_features))
        for number in np.unique(block):
            X, ids = self.blocks[number]
            mine = block == number
            taken[mine] = X[ids[places[mine] - edges[number]]]
        return taken


def _hash_rows(X: Any) -> Any:
    """A number for each row of a matrix of float64, the same for the same bits."""
    words = np.ascontiguousarray(X).view(np.uint64)
    factors = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) | 1
    mixed = words ^ (words >> np.uint64(29))  # the low bits of most numbers are zero
    return (mixed * factors[None]).sum(axis=1, dtype=np.uint64)
