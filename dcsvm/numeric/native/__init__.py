"""The compiled library: which one this processor gets, and its functions with their types."""

from __future__ import annotations

import ctypes
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dcsvm.numeric.native.fingerprint import fingerprint

HERE = Path(__file__).resolve().parent
LEVELS = ("base", "avx2", "avx512")

POINTER, INTEGER, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class GramStructure(ctypes.Structure):
    """The C struct ``gram``: a float32 matrix and where its exact values come from."""

    _fields_ = [
        ("G", POINTER),
        ("n", INTEGER),
        ("width", INTEGER),
        ("shift", REAL),
        ("matrix", POINTER),
        ("X", POINTER),
        ("depth", INTEGER),
        ("gamma", REAL),
        ("scale", REAL),
    ]


class ExpansionStructure(ctypes.Structure):
    """The C struct ``expansion``: points and coefficients, packed."""

    _fields_ = [
        ("classes", INTEGER),
        ("columns", INTEGER),
        ("depth", INTEGER),
        ("kind", INTEGER),
        ("degree", INTEGER),
        ("gamma", REAL),
        ("coef0", REAL),
        ("starts", POINTER),
        ("panels", POINTER),
        ("squares", POINTER),
        ("coefficients", POINTER),
        ("by_column", POINTER),
    ]


class ErrorBoundStructure(ctypes.Structure):
    """The C struct ``doubt``: tables of how far off single precision may be."""

    _fields_ = [("shares", POINTER), ("largest", POINTER), ("weights", POINTER), ("lost", POINTER)]


class RowsStructure(ctypes.Structure):
    """The C struct ``rows``: rows in single precision, dense and padded or CSR."""

    _fields_ = [
        ("features", INTEGER),
        ("stride", INTEGER),
        ("dense", POINTER),
        ("values", POINTER),
        ("columns", POINTER),
        ("starts", POINTER),
    ]


class PegasosStructure(ctypes.Structure):
    """The C struct ``pegasos_settings``."""

    _fields_ = [
        ("regularization", REAL),
        ("bias_rate", REAL),
        ("tolerance", REAL),
        ("batch", INTEGER),
        ("iterations", INTEGER),
        ("project", INTEGER),
        ("average", INTEGER),
    ]


class DualStructure(ctypes.Structure):
    """The C struct ``dual_settings``."""

    _fields_ = [("regularization", REAL), ("tolerance", REAL), ("passes", INTEGER)]


class GrowthStructure(ctypes.Structure):
    """The C struct ``growth_settings``."""

    _fields_ = [
        ("learner", PegasosStructure),
        ("passes", REAL),
        ("fewest", INTEGER),
        ("deepest", INTEGER),
        ("by_impurity", INTEGER),
    ]


class ObliqueStructure(ctypes.Structure):
    """The C struct ``oblique_tree``: hyperplanes and children by node."""

    _fields_ = [
        ("stride", INTEGER),
        ("weights", POINTER),
        ("thresholds", POINTER),
        ("children", POINTER),
    ]


EXPANSION = ctypes.POINTER(ExpansionStructure)
ROWS, TREE = ctypes.POINTER(RowsStructure), ctypes.POINTER(ObliqueStructure)
LABEL = [POINTER, INTEGER, INTEGER, INTEGER, POINTER, POINTER, INTEGER, POINTER, POINTER]

SIGNATURES: dict[str, list[Any]] = {
    "dcsvm_paths": [
        *(ctypes.POINTER(GramStructure), POINTER, POINTER, INTEGER, POINTER, POINTER, POINTER),
        *(INTEGER, POINTER, POINTER, REAL, INTEGER, REAL, POINTER, POINTER),
    ],
    "dcsvm_parts": [
        *(POINTER, INTEGER, POINTER, POINTER, INTEGER, POINTER, POINTER, REAL, INTEGER, REAL),
        *(POINTER, POINTER),
    ],
    "dcsvm_distances": [
        *(POINTER, INTEGER, POINTER, INTEGER, INTEGER, REAL, INTEGER, POINTER, POINTER),
        INTEGER,
    ],
    "dcsvm_leaves": [
        *(POINTER, INTEGER, INTEGER, POINTER, POINTER, POINTER, POINTER, POINTER),
    ],
    "dcsvm_borders": [
        *(POINTER, INTEGER, POINTER, POINTER, INTEGER, POINTER, POINTER, POINTER, POINTER),
        *(POINTER, POINTER),
    ],
    "dcsvm_manhattan": [POINTER, INTEGER, POINTER, INTEGER, INTEGER, POINTER],
    "dcsvm_exponentials": [POINTER, INTEGER, INTEGER, REAL, POINTER, INTEGER],
    "dcsvm_values": [POINTER, INTEGER, REAL, POINTER],
    "dcsvm_pack": [POINTER, INTEGER, INTEGER, POINTER, POINTER],
    "dcsvm_rbf_rows": [
        *(POINTER, POINTER, INTEGER, POINTER, POINTER, INTEGER, REAL, INTEGER, INTEGER),
        *(POINTER, INTEGER, POINTER),
    ],
    "dcsvm_add_rows": [
        *(POINTER, INTEGER, POINTER, POINTER, INTEGER, INTEGER, INTEGER, POINTER),
    ],
    "dcsvm_gather": [
        *(POINTER, INTEGER, POINTER, POINTER, INTEGER, INTEGER, INTEGER, POINTER),
    ],
    "dcsvm_inner": [
        *(POINTER, INTEGER, REAL, POINTER, POINTER, POINTER, REAL, INTEGER, REAL, POINTER),
    ],
    "dcsvm_expand_f32": [EXPANSION, POINTER, POINTER, INTEGER, POINTER],
    "dcsvm_expand_f64": [EXPANSION, POINTER, POINTER, INTEGER, POINTER],
    "dcsvm_label_f32": LABEL,
    "dcsvm_label_f64": LABEL,
    "dcsvm_pegasos": [
        *(ROWS, POINTER, INTEGER, POINTER, ctypes.POINTER(PegasosStructure), POINTER),
        ctypes.POINTER(REAL),
    ],
    "dcsvm_oblique_grow": [
        *(ROWS, INTEGER, POINTER, INTEGER, POINTER, POINTER, ctypes.POINTER(GrowthStructure)),
        TREE,
    ],
    "dcsvm_oblique_leaves": [TREE, ROWS, INTEGER, POINTER, POINTER],
    "dcsvm_oblique_route": [
        *(TREE, POINTER, POINTER, INTEGER, POINTER, POINTER, INTEGER, POINTER, POINTER),
    ],
    "dcsvm_oblique_settle": [
        *(ROWS, INTEGER, POINTER, INTEGER, POINTER, POINTER, INTEGER),
        *(ctypes.POINTER(DualStructure), TREE, INTEGER),
    ],
    "dcsvm_dual_plane": [
        *(ROWS, POINTER, INTEGER, POINTER, ctypes.POINTER(DualStructure), POINTER),
        ctypes.POINTER(REAL),
    ],
    "dcsvm_one": [
        *(EXPANSION, EXPANSION, ctypes.POINTER(ErrorBoundStructure), POINTER, POINTER, INTEGER),
        *(POINTER, POINTER, INTEGER, POINTER),
    ],
    "dcsvm_walk": [EXPANSION, POINTER, POINTER, INTEGER, POINTER, POINTER],
}


def load() -> ctypes.CDLL | None:
    """The library for this processor, or None where numpy must serve.

    None says: not built, forbidden by DCSVM_NUMERIC=numpy, or, with a warning, built from other
    sources than stand here, so that its functions may expect something else.
    """
    if os.environ.get("DCSVM_NUMERIC", "") == "numpy":
        return None
    base = HERE / "numeric_base.so"
    if not base.exists():
        return None
    try:
        library = ctypes.CDLL(str(base))
        for level in LEVELS[library.dcsvm_level() : 0 : -1]:
            better = HERE / f"numeric_{level}.so"
            if better.exists():
                library = ctypes.CDLL(str(better))
                break
    except (OSError, AttributeError):  # it cannot be loaded here
        return None
    if not is_up_to_date(library):
        warnings.warn(
            "the compiled library was built from other C sources than those beside it, and is "
            "not used: numpy serves, slowly; install dcsvm again to compile it anew",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return set_signatures(library)


def is_up_to_date(library: ctypes.CDLL) -> bool:
    """Whether a library was built from the sources beside it; where none are, it is trusted."""
    wanted = fingerprint(HERE)
    try:
        built_from = library.dcsvm_sources
    except AttributeError:  # it is older than this question
        return False
    built_from.restype = ctypes.c_uint64
    return wanted in (0, built_from())


def set_signatures(library: ctypes.CDLL) -> ctypes.CDLL:
    """The library with the types of its functions' arguments and results."""
    for name, arguments in SIGNATURES.items():
        getattr(library, name).argtypes = arguments
    for name in (
        *("borders", "manhattan", "one", "pegasos", "dual_plane"),
        *("oblique_grow", "oblique_settle", "oblique_route"),
    ):
        getattr(library, f"dcsvm_{name}").restype = INTEGER
    library.dcsvm_inner.restype = INTEGER
    return library


def address(array: npt.NDArray[np.generic] | None) -> int | None:
    """Where an array's data begin; None for no array."""
    if array is None:
        return None
    if not array.flags.c_contiguous:
        raise ValueError("native: the C functions take C-ordered arrays")
    return array.ctypes.data
