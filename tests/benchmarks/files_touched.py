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

import numpy as np

import dcsvm
from dcsvm import DivideAndConquerClassifier

ROOT = Path(dcsvm.__file__).resolve().parents[1]
PRODUCT = (str(ROOT / "dcsvm"), str(ROOT / "plugins"))


def count_files() -> dict[str, list[str]]:
    """The files that `fit` and `predict` run through, in the order of their first call."""
    X, y = two_moons(300)
    classifier().fit(X, y).predict(X)  # what is loaded at first use is loaded now
    again = classifier()
    with tracing() as fit:
        again.fit(X, y)
    with tracing() as predict:
        again.predict(X)
    return {"fit": list(fit), "predict": list(predict)}


def classifier() -> DivideAndConquerClassifier:
    return DivideAndConquerClassifier("tree", "kernel_svm", "route", random_state=0)


def two_moons(rows: int) -> tuple[Any, Any]:
    """Two half circles that reach into each other."""
    generator = np.random.default_rng(0)
    y = np.arange(rows) % 2
    angle = generator.uniform(0, np.pi, rows)
    X = np.column_stack([np.cos(angle) * (1 - 2 * y) + y, np.sin(angle) * (1 - 2 * y) + y / 2])
    return X + generator.normal(scale=0.2, size=X.shape), y


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
    for what, files in count_files().items():
        print(f"{what}: {len(files)} files")
        print("".join(f"  {path}\n" for path in files))
