"""How much the random choice of subspaces matters: the ablation's way to draw them, and table 5's.

    python examples/reproduce_fsd/draws.py

The ablation trains each kind by itself, so all kinds draw the same numbers: the features that RD
leaves out of a subspace have the numbers of the components that PCA and DCA leave out of theirs.
In table 5 each kind draws its own. Errors are of validation rows; no test row is read. Appended to
measured/draws.jsonl.
"""

from __future__ import annotations

import argparse
from typing import Any

import measured
import numpy as np
from ablation import FOLDS, Keep, second_level
from covertype import fsd
from data import Split, covertype
from fsd_strategies import COVERTYPE, COVERTYPE_FEATURES, KINDS, dc_svm_early, fused, subspaces

NAME = "draws"
NUMBER, RIDGE = 4, 1.0


def measure(split: Split, level: int, draws: str, seed: int) -> float:
    """The error with one random state, every kind drawing its own numbers or all the same."""
    (X, y), (X_judged, truth) = split.training, split.validation
    if draws == "own":
        made = fsd(level, FOLDS, RIDGE).set_params(random_state=seed).fit(X, y)
        return round(100.0 * (1.0 - float(made.score(X_judged, truth))), 3)
    told, asked = [], []
    for kind in KINDS:
        spaces = subspaces({kind: NUMBER}, COVERTYPE_FEATURES)
        made = fused(spaces, dc_svm_early(level, **COVERTYPE), Keep(FOLDS))
        made.set_params(random_state=seed).fit(X, y)
        told.append(made.model_.combination.answers)
        asked.append(made.model_.committee.table(X_judged))
    return second_level(np.hstack(told), y, np.hstack(asked), truth, RIDGE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--level", type=int, default=3)
    given = parser.parse_args()
    split = covertype(given.rows)
    for seed in range(4):
        for draws in ("own", "same"):
            key: dict[str, Any] = {"rows": given.rows, "draws": draws, "seed": seed}
            if not measured.read(NAME, **key):
                with measured.timed() as took:
                    error = measure(split, given.level, draws, seed)
                measured.append(NAME, {**key, "error": error, **took})


if __name__ == "__main__":
    main()
