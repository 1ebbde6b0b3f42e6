"""The compiled library: loading the build for this processor, and its function types."""

import ctypes
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dcsvm.numeric.native.fingerprint import fingerprint

HERE = Path(__file__).resolve().parent
LEVELS = ("base", "avx2", "avx512")

POINTER, INTEGER, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


def _fields(layout: str) -> list[tuple[str, Any]]:
    """Fields of a struct from ``name:type``, where p is a pointer, i an int64, r a double."""
    types = {"p": POINTER, "i": INTEGER, "r": REAL}
    return [(name, types[kind]) for name, kind in (each.split(":") for each in layout.split())]


class GramStructure(ctypes.Structure):
    """The C struct ``gram``: a float32 matrix and the source of its exact values."""

    _fields_ = _fields("G:p n:i width:i shift:r matrix:p X:p depth:i gamma:r scale:r")


class ExpansionStructure(ctypes.Structure):
    """The C struct ``expansion``: packed points and coefficients."""

    _fields_ = _fields(
        "classes:i columns:i depth:i kind:i degree:i gamma:r coef0:r "
        "starts:p panels:p squares:p coefficients:p by_column:p"
    )


class ErrorBoundStructure(ctypes.Structure):
    """The C struct ``doubt``: tables of float32 error bounds."""

    _fields_ = _fields("shares:p largest:p weights:p lost:p")


class RowsStructure(ctypes.Structure):
    """The C struct ``rows``: float32 rows, dense and padded, or CSR."""

    _fields_ = _fields("features:i stride:i dense:p values:p columns:p starts:p")


class PegasosStructure(ctypes.Structure):
    """The C struct ``pegasos_settings``."""

    _fields_ = _fields(
        "regularization:r bias_rate:r tolerance:r "
        "batch:i iterations:i project:i average:i random:i"
    )


class DualStructure(ctypes.Structure):
    """The C struct ``dual_settings``."""

    _fields_ = _fields("regularization:r tolerance:r passes:i")


class GrowthStructure(ctypes.Structure):
    """The C struct ``growth_settings``."""

    _fields_ = [
        ("learner", PegasosStructure),
        *_fields("passes:r fewest:i deepest:i by_impurity:i sum_one:i"),
    ]


class TreeGrowthStructure(ctypes.Structure):
    """The C struct ``tree_growth``: rows, their bins, and the settings of growth."""

    _fields_ = _fields(
        "features:i classes:i X:p values:p columns:p places:p codes:p starts:p uppers:p exact:p "
        "y:p masses:p least_gain:r smallest:i sorted_rows:i tried:i gini:i random:i"
    )


class ObliqueStructure(ctypes.Structure):
    """The C struct ``oblique_tree``: hyperplanes and children by node."""

    _fields_ = _fields("stride:i weights:p thresholds:p children:p")


class StepStructure(ctypes.Structure):
    """The C struct ``step`` of a plan."""

    _fields_ = [
        *_fields("kind:i inputs:i outputs:i"),
        ("sizes", INTEGER * 6),
        ("numbers", REAL * 2),
        ("arrays", POINTER * 9),
    ]


class PlanStructure(ctypes.Structure):
    """The C struct ``plan``: its steps, and the functions that ask Python."""

    _fields_ = _fields("steps:p ask:p ask_router:p")


class RoutingStructure(ctypes.Structure):
    """The C struct ``routing``, filled by a router in Python."""

    _fields_ = _fields("count:i row:p member:p weight:p")


TYPES: dict[str, Any] = {
    "p": POINTER,
    "i": INTEGER,
    "r": REAL,
    "B": ctypes.POINTER(REAL),
    "G": ctypes.POINTER(GramStructure),
    "E": ctypes.POINTER(ExpansionStructure),
    "X": ctypes.POINTER(RowsStructure),
    "T": ctypes.POINTER(ObliqueStructure),
    "H": ctypes.POINTER(TreeGrowthStructure),
    "P": ctypes.POINTER(PegasosStructure),
    "D": ctypes.POINTER(DualStructure),
    "W": ctypes.POINTER(GrowthStructure),
    "L": ctypes.POINTER(PlanStructure),
}
"""Argument types by letter: lower case for plain values, upper case for pointers to structs."""

SIGNATURES = {
    "paths": "Gppipppipprirpp",
    "parts": "pippipprirpp",
    "distances": "pipiirippi",
    "leaves": "piippppp",
    "bin_rows": "piipppp",
    "fill_histogram": "Hpip",
    "split_node": "Hppp",
    "grow_tree": "Hpp",
    "borders": "pippipppppp",
    "manhattan": "pipiip",
    "exponentials": "piirpi",
    "values": "pirp",
    "pack": "piipp",
    "rbf_rows": "ppippiriipip",
    "add_rows": "pippiiip",
    "gather": "pippiiip",
    "inner": "pirppprirp",
    "expand_f32": "Eppip",
    "expand_f64": "Eppip",
    "label_f32": "piiippipp",
    "label_f64": "piiippipp",
    "pegasos": "XpipPpB",
    "oblique_grow": "XipippWT",
    "oblique_leaves": "TXipp",
    "oblique_route": "Tppippipp",
    "oblique_settle": "XipippiDTi",
    "dual_plane": "XpipDpB",
    "plan": "Lipipp",
    "walk": "Eppipp",
    "fields": "piiiiipppp",
    "numbers": "pppiipp",
    "distinct": "pppiipipp",
}
"""The arguments of the functions dcsvm_*, as letters of `TYPES`."""
INTEGER_RESULTS = (
    *("borders", "manhattan", "plan", "pegasos", "dual_plane", "inner"),
    *("oblique_grow", "oblique_settle", "oblique_route", "fields", "distinct"),
    *("split_node", "grow_tree"),
)


class NumpyFallbackWarning(UserWarning):
    """The compiled library is missing, so a fit runs on numpy and is several times slower."""


def load() -> ctypes.CDLL:
    """Load the library for this processor.

    Raises
    ------
    OSError
        If it was not built, cannot be loaded, or was built from different C sources.
    """
    base = HERE / "numeric_base.so"
    if not base.exists():
        raise OSError("the compiled library is not installed")
    try:
        library = ctypes.CDLL(str(base))
        for level in LEVELS[library.dcsvm_level() : 0 : -1]:
            better = HERE / f"numeric_{level}.so"
            if better.exists():
                library = ctypes.CDLL(str(better))
                break
    except (OSError, AttributeError) as error:
        raise OSError(f"the compiled library cannot be loaded ({error})") from error
    if not is_up_to_date(library):
        raise OSError("the compiled library was built from different C sources")
    return set_signatures(library)


def is_up_to_date(library: ctypes.CDLL) -> bool:
    """Whether a library was built from the C sources next to it; True if there are none."""
    wanted = fingerprint(HERE)
    try:
        built_from = library.dcsvm_sources
    except AttributeError:  # built before sources were fingerprinted
        return False
    built_from.restype = ctypes.c_uint64
    return wanted in (0, built_from())


def set_signatures(library: ctypes.CDLL) -> ctypes.CDLL:
    """Set the argument and result types of all functions."""
    for name, letters in SIGNATURES.items():
        getattr(library, f"dcsvm_{name}").argtypes = [TYPES[letter] for letter in letters]
    for name in INTEGER_RESULTS:
        getattr(library, f"dcsvm_{name}").restype = INTEGER
    return library


def address(array: npt.NDArray[np.generic] | None) -> int | None:
    """The address of an array's data; None for None."""
    if array is None:
        return None
    if not array.flags.c_contiguous:
        raise ValueError("native: C functions need C-contiguous arrays")
    return array.ctypes.data


#: The compiled library, or None if the numpy implementation is used.
library: ctypes.CDLL | None = None
#: Why the library is not used; empty if it is, or if numpy was asked for.
missing = ""
_warned = False

if os.environ.get("DCSVM_NUMERIC", "") != "numpy":
    try:
        library = load()
    except OSError as error:
        missing = str(error)


def implementation() -> str:
    """The implementation in use: ``native`` (compiled C) or ``numpy``, chosen at import."""
    return "numpy" if library is None else "native"


def instruction_set() -> str | None:
    """The instruction set that the library in use was compiled for; None for numpy."""
    return None if library is None else Path(library._name).stem.removeprefix("numeric_")


def describe_implementation() -> str:
    """The implementation and its instruction set in words, such as ``native, avx2``."""
    return ", ".join(filter(None, [implementation(), instruction_set()]))


def warn_of_numpy() -> None:
    """Warn, once per process, if numpy is used because the library is missing."""
    global _warned
    if missing and not _warned:
        _warned = True
        warnings.warn(
            f"dcsvm runs on numpy, several times slower: {missing}; reinstall dcsvm with a C "
            "compiler, or set DCSVM_NUMERIC=numpy if numpy is intended",
            NumpyFallbackWarning,
            stacklevel=3,
        )


@contextmanager
def numpy_only() -> Iterator[None]:
    """Use the numpy implementation inside the block, to compare the two."""
    global library
    saved, library = library, None
    try:
        yield
    finally:
        library = saved
