"""The data sets of the H-LSVM paper as two-class tasks, cut as the paper cuts them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import attrs
import numpy as np

Rows: TypeAlias = tuple[np.ndarray, np.ndarray]
#: File, and the class that is set against the rest; None keeps the classes there are.
TASKS: Mapping[str, tuple[str, str | None]] = {
    "banana": ("banana", None),
    "ijcnn1": ("ijcnn1", None),
    "shuttle": ("shuttle", "Rad.Flow"),
    "usps": ("usps", None),
    "cbcl": ("cbcl_faces_train", None),
    "mnist": ("mnist", "3"),
    "covertype": ("covtype", "Lodgepole Pine"),
}
#: What share of the rows is learned where the source has no split of its own.
LEARNED = {"banana": 1 / 2, "cbcl": 2 / 3, "covertype": 522_910 / 581_012}


@attrs.frozen(eq=False)
class Split:
    """Rows to learn and choose from; those to test on come out of a method, to be asked once."""

    training: Rows
    _test: Rows

    def test(self) -> Rows:
        """The rows for the one measurement after every choice is made."""
        return self._test


def split(name: str, seed: int = 0) -> Split:
    """A task with its source's own split, or with a random one that the seed decides on."""
    with np.load(folder() / f"{TASKS[name][0]}.npz", allow_pickle=False) as archive:
        parts = {key: archive[key] for key in archive.files}
    if "X_train" in parts:
        return Split(
            (_floats(parts["X_train"]), _labels(name, parts["y_train"], parts["classes"])),
            (_floats(parts["X_test"]), _labels(name, parts["y_test"], parts["classes"])),
        )
    X, y = _floats(parts["X"]), _labels(name, parts["y"], parts["classes"])
    order = np.random.default_rng(seed).permutation(len(y))
    learned, tested = np.split(order, [round(LEARNED[name] * len(y))])
    return Split((X[learned], y[learned]), (X[tested], y[tested]))


def _floats(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X, dtype=np.float64)


def _labels(name: str, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    wanted = TASKS[name][1]
    if wanted is None:
        return y.astype(np.intp)
    return (classes.astype(str)[y] == wanted).astype(np.intp)


def folder() -> Path:
    """The folder of data sets: DCSVM_DATA, or shared/data beside the repository."""
    named = os.environ.get("DCSVM_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
