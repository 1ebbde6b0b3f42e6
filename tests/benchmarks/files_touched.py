"""Count the product's files that training and prediction of a tree of SVMs run through.

    python tests/benchmarks/files_touched.py

A file counts if one of its functions is called. Imports and decorators have run before.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import attrs
from sklearn.base import clone
from sklearn.datasets import make_classification

import dcsvm
from dcsvm import DivideAndConquerClassifier, build

ROOT = Path(dcsvm.__file__).resolve().parents[1]
PRODUCT = (str(ROOT / "dcsvm"), str(ROOT / "plugins"))
#: Rows, the ceiling of the tree, and classes: small parts, the default ceiling, several classes.
CASES = [(2000, 300, 2), (20_000, 1500, 2), (2000, 300, 4)]


@attrs.frozen
class Trace:
    """The files that `fit` and `predict` run through, in the order of their first call."""

    members: int
    fit: list[str]
    predict: list[str]


def trace(rows: int, ceiling: int, classes: int) -> Trace:
    """Trace a tree with leaves of at most `ceiling` rows on blobs of points."""
    X, y = make_classification(
        rows, 2, n_redundant=0, n_classes=classes, n_clusters_per_class=1, random_state=0
    )
    classifier = DivideAndConquerClassifier("tree", "kernel_svm", "route", random_state=0)
    classifier.set_params(decomposer=build("decomposer", "tree", ceiling=ceiling))
    clone(classifier).fit(X, y).predict(X)  # what is loaded at first use is loaded now
    with tracing() as fit:
        classifier.fit(X, y)
    with tracing() as predict:
        classifier.predict(X)
    return Trace(len(classifier.ledger_), list(fit), list(predict))


@contextmanager
def tracing() -> Iterator[dict[str, None]]:
    """Collect the product's files whose functions are called, in this thread and in new ones."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(PRODUCT):
            found.setdefault(str(Path(path).relative_to(ROOT)))

    set_profile(note)
    try:
        yield found
    finally:
        set_profile(None)


def set_profile(note: Callable[..., None] | None) -> None:
    sys.setprofile(note)
    threading.setprofile(note)


if __name__ == "__main__":
    for case in CASES:
        found = trace(*case)
        rows, ceiling, classes = case
        print(f"{rows} rows, {classes} classes, {found.members} parts of at most {ceiling} rows:")
        print(f"fit runs through {len(found.fit)} files, predict through {len(found.predict)}")
        for what, files in (("fit", found.fit), ("predict", found.predict)):
            print(*(f"  {what}: {path}" for path in files), sep="\n")
