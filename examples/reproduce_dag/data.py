"""The data sets of the DAGSVM paper, cut and scaled as the paper has them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import attrs
import numpy as np

Rows: TypeAlias = tuple[np.ndarray, np.ndarray]
#: How often the training rows are cut 70 to 30; covertype brings rows to validate on.
SPLITS: Mapping[str, int] = {"usps": 5, "letter": 3, "covertype": 1}
#: The first rows of a file without a split of its own: to learn, then to validate on.
FIRST = {"letter": (16_000, 0), "covertype": (11_340, 3_780)}
FILES = {"usps": "usps", "letter": "letter", "covertype": "covtype"}
#: The columns of covertype that are numbers; the others are a 1-of-n code.
CONTINUOUS = 10
VALIDATED = 0.3


@attrs.frozen(eq=False)
class Split:
    """Rows to learn and choose from; those to test on come out of a method, to be asked once."""

    name: str
    training: Rows
    given: Rows | None
    _test: Rows

    def validations(self, number: int) -> tuple[Rows, Rows]:
        """Rows to learn from and rows to judge by, of one of the random cuts."""
        if self.given is not None:
            return self.training, self.given
        X, y = self.training
        judged = np.zeros(len(y), dtype=bool)
        generator = np.random.default_rng(number)
        for label in np.unique(y):
            rows = generator.permutation(np.flatnonzero(y == label))
            judged[rows[: round(VALIDATED * len(rows))]] = True
        return (X[~judged], y[~judged]), (X[judged], y[judged])

    def test(self) -> Rows:
        """The rows for the one measurement after every choice is made."""
        return self._test


def split(name: str) -> Split:
    """One of the paper's data sets."""
    path = folder() / f"{FILES[name]}.npz"
    with np.load(path, allow_pickle=False) as archive:
        parts = {key: archive[key] for key in archive.files}
    if "X_train" in parts:
        training, test = ((parts[f"X_{part}"], parts[f"y_{part}"]) for part in ("train", "test"))
        return _scaled(name, training, None, test)
    X, y = parts["X"], parts["y"]
    learned, validated = FIRST[name]
    ends = learned, learned + validated
    given = (X[ends[0] : ends[1]], y[ends[0] : ends[1]]) if validated else None
    return _scaled(name, (X[: ends[0]], y[: ends[0]]), given, (X[ends[1] :], y[ends[1] :]))


def _scaled(name: str, training: Rows, given: Rows | None, test: Rows) -> Split:
    """Scale by what the training rows say: USPS stays, Letter to [-1, 1], covertype's numbers."""
    X = np.asarray(training[0], dtype=np.float64)
    shift, width = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if name == "letter":
        low, high = X.min(axis=0), X.max(axis=0)
        shift, width = (low + high) / 2, (high - low) / 2
    elif name == "covertype":
        shift[:CONTINUOUS] = X[:, :CONTINUOUS].mean(axis=0)
        width[:CONTINUOUS] = X[:, :CONTINUOUS].std(axis=0)

    def scaled(rows: Rows) -> Rows:
        moved = np.ascontiguousarray((rows[0] - shift) / width, dtype=np.float64)
        return moved, rows[1].astype(np.intp)

    return Split(name, scaled(training), None if given is None else scaled(given), scaled(test))


def folder() -> Path:
    """The folder of data sets: DCSVM_DATA, or shared/data beside the repository."""
    named = os.environ.get("DCSVM_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
