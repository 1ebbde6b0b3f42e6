"""What each kind of subspace, their number and the folds are worth: covertype, 50,000 rows.

    python examples/reproduce_fsd/ablation.py

Ten subspaces of each kind are trained once, with answers in-sample and from folds (kept in runs/);
every line of the table is a second level over some of these answers. Errors are of validation
rows: the settings of table 5 are chosen by them, and no test row is read.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import attrs
import measured
import numpy as np
from data import covertype
from fsd_strategies import COVERTYPE, COVERTYPE_FEATURES, KINDS, dc_svm_early, fused, subspaces

from dcsvm import Combiner, Problem, build, component, setting
from dcsvm.toolbox import Scaling

NAME = "ablation"
FOLDS = 2
MOST = 10
NUMBERS = (2, 4, 6, 8, 10)
RIDGES = (0.01, 1.0, 100.0)


@attrs.frozen(eq=False)
class Kept:
    """What members said of the training rows, kept beside a mean that nobody asks for."""

    answers: np.ndarray

    def combine(self, committee: Any, X: Any) -> np.ndarray:
        return np.asarray(committee.mean_scores(X))


@component
class Keep(Combiner):
    """A combiner that keeps what a fusion would learn from."""

    name = "keep"
    wants_answers = True
    stored_types = (Kept,)

    folds: int = setting(0, at_least=0, help="answers from so many folds")

    def fit(self, committee: Any, problem: Problem, answers: Any) -> Kept:
        return Kept(answers)

    def combine(self, committee: Any, X: Any) -> np.ndarray:
        raise NotImplementedError


def tables(kind: str, rows: int, level: int) -> dict[str, np.ndarray]:
    """Answers of ten subspaces of a kind: in-sample, from folds, and of the validation rows."""
    path = Path("runs") / f"fsd_answers_{kind}_{rows}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as kept:
            return dict(kept)
    split = covertype(rows)
    X, y = split.training
    spaces = subspaces({kind: MOST}, COVERTYPE_FEATURES)
    made = fused(spaces, dc_svm_early(level, **COVERTYPE), Keep(FOLDS))
    with measured.timed() as training:
        made.fit(X, y)
    committee = made.model_.committee
    found = {
        "in_sample": committee.table(X),
        "from_folds": made.model_.combination.answers,
        "validation": committee.table(split.validation[0]),
    }
    measured.append(NAME, {"kind": "members", "members": kind, "rows": rows, **training})
    path.parent.mkdir(exist_ok=True)
    np.savez(path, **found)
    return found


def second_level(
    told: np.ndarray, y: np.ndarray, asked: np.ndarray, truth: np.ndarray, ridge: float
) -> float:
    """The error of the fusion of some answers, in per cent."""
    scaling = Scaling("standard").fit(told)
    problem = Problem(scaling.apply(told), y, 2)
    model = build("learner", "trbf_krr", order=2, ridge=ridge).fit(problem)
    clipped = np.clip(asked, told.min(axis=0), told.max(axis=0))
    return round(100.0 * float((model.labels(scaling.apply(clipped)) != truth).mean()), 3)


def alone(rows: int, level: int, clusters: float) -> None:
    """DC-SVM early without subspaces, its clusters made with a kernel of some width."""
    key = {"kind": "alone", "rows": rows, "clusters": clusters}
    if measured.read(NAME, **key):
        return
    split = covertype(rows)
    with measured.timed() as training:
        made = dc_svm_early(level, **{**COVERTYPE, "clusters": clusters}).fit(*split.training)
    error = round(100.0 * (1.0 - made.score(*split.validation)), 3)
    sizes = [member.n_rows for member in made.model_.committee.members]
    measured.append(NAME, {**key, "error": error, "largest": max(sizes), **training})


def fuse(rows: int, answers: dict[str, dict[str, np.ndarray]], **key: Any) -> None:
    """One line of the table: `number` subspaces of each of some kinds, fused."""
    if measured.read(NAME, rows=rows, **key):
        return
    split = covertype(rows)
    how = "from_folds" if key["folds"] else "in_sample"
    told, asked = (
        np.hstack([answers[kind][word][:, : key["number"]] for kind in key["spaces"].split("+")])
        for word in (how, "validation")
    )
    error = second_level(told, split.training[1], asked, split.validation[1], key["ridge"])
    measured.append(NAME, {"rows": rows, **key, "error": error})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--level", type=int, default=3)
    given = parser.parse_args()
    alone(given.rows, given.level, 1.0)
    answers = {kind: tables(kind, given.rows, given.level) for kind in KINDS}
    every = "+".join(KINDS)
    for folds, ridge in itertools.product((0, FOLDS), RIDGES):
        key = {"kind": "choice", "spaces": every, "number": 4}
        fuse(given.rows, answers, **key, folds=folds, ridge=ridge)
    for spaces, number, folds in itertools.product((*KINDS, every), NUMBERS, (0, FOLDS)):
        key = {"kind": "fusion", "spaces": spaces, "number": number}
        fuse(given.rows, answers, **key, folds=folds, ridge=1.0)
    alone(given.rows, given.level, 32.0)


if __name__ == "__main__":
    main()
