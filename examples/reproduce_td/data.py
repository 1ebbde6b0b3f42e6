"""The data sets of the TD paper, cut and scaled by its protocol."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import attrs
import numpy as np

#: One random order of the rows, the same for every method.
SEED = 0
#: The data sets, small to large, as the paper calls them.
NAMES: Mapping[str, str] = {
    "pendigits": "PHW",
    "letter": "Letter",
    "shuttle": "Shuttle",
    "adult": "Census Income",
    "poker": "Poker",
    "kdd": "KDD CUP 10%",
    "covertype": "Forest",
}
FILES = {"poker": "poker_train", "kdd": "kddcup99_10pct", "covertype": "covtype"}
#: The kinds of attack that the classes of KDD Cup 1999 belong to.
ATTACKS = {
    "normal": ["normal"],
    "dos": ["back", "land", "neptune", "pod", "smurf", "teardrop"],
    "probe": ["ipsweep", "nmap", "portsweep", "satan"],
    "r2l": [
        "ftp_write",
        "guess_passwd",
        "imap",
        "multihop",
        "phf",
        "spy",
        "warezclient",
        "warezmaster",
    ],
    "u2r": ["buffer_overflow", "loadmodule", "perl", "rootkit"],
}
Rows: TypeAlias = tuple[np.ndarray, np.ndarray]


@attrs.frozen(eq=False)
class Split:
    """Rows and labels in [0, 1]: four parts to learn from, one to choose by, one to test on.

    The test rows come out of a method, so that a reader sees where they are asked for.
    """

    training: Rows
    validation: Rows
    _test: Rows

    def test(self) -> Rows:
        """The rows for the one measurement after every choice is made."""
        return self._test


def split(name: str, seed: int = SEED, rows: int | None = None) -> Split:
    """A data set in six parts of equal size, 4:1:1, in a random order; at most `rows` of it.

    Features are brought to [0, 1] by the least and largest values of the training part.
    """
    X, y = whole(name)
    order = np.random.default_rng(seed).permutation(len(y))[:rows]
    size = len(order) // 6
    learned, judged, tested = (
        order[: len(order) - 2 * size],
        order[-2 * size : -size],
        order[-size:],
    )
    low, high = X[learned].min(axis=0), X[learned].max(axis=0)
    spread = np.where(high > low, high - low, 1.0)

    def part(numbers: np.ndarray) -> Rows:
        return np.ascontiguousarray((X[numbers] - low) / spread), y[numbers]

    return Split(part(learned), part(judged), part(tested))


def whole(name: str) -> Rows:
    """All rows (n, d) as float64, categories as their integer codes, and labels (n,)."""
    with np.load(folder() / f"{FILES.get(name, name)}.npz", allow_pickle=False) as archive:
        if "X" in archive.files:
            X, y = archive["X"], archive["y"]
        else:
            X = np.concatenate([archive["X_train"], archive["X_test"]])
            y = np.concatenate([archive["y_train"], archive["y_test"]])
        labels = archive["classes"]
    y = y.astype(np.intp)
    if name == "kdd":
        kinds = {each: code for code, group in enumerate(ATTACKS.values()) for each in group}
        y = np.array([kinds[label] for label in labels])[y]
    return np.ascontiguousarray(X, dtype=np.float64), y


def folder() -> Path:
    """The folder of data sets: DCSVM_DATA, or shared/data beside the repository."""
    named = os.environ.get("DCSVM_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
