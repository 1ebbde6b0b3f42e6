"""What `auto` says of the data before anything is tried: uneven classes and repeated rows."""

from collections.abc import Iterator

import numpy as np

from dcsvm.datasets.dataset import Dataset
from dcsvm.drawing import shorten

#: Classes are uneven if the smallest has less than this share of the rows.
UNEVEN = 0.05
#: Repeated rows are told from this share on, of so many rows at the most.
REPEATED, MOST_ROWS = 0.01, 20000


def describe_first_look(data: Dataset, score: str) -> Iterator[str]:
    """Sentences about uneven classes, with another score than accuracy, and about repeated rows."""
    labels, counts = np.unique(data.y, return_counts=True)
    shares = counts / len(data.y)
    small, large = int(shares.argmin()), int(shares.argmax())
    if shares[small] < UNEVEN:
        advice = ""
        if score == "accuracy":
            advice = (
                "; accuracy hardly sees it: --score balanced_accuracy counts all classes alike"
            )
        yield (
            f"uneven classes: {shorten(str(labels[large]))} has {shares[large]:.1%} of the rows, "
            f"{shorten(str(labels[small]))} {shares[small]:.1%}{advice}"
        )
    repeated = measure_repeats(data)
    if repeated >= REPEATED:
        yield (
            f"{repeated:.0%} of the rows have the features of another row: where copies are both "
            "learned and tested, scores are too high"
        )


def measure_repeats(data: Dataset) -> float:
    """The share of rows that have the features of an earlier one; 0 for sparse rows."""
    if not hasattr(data.X, "shape") or hasattr(data.X, "indptr"):
        return 0.0
    rows = np.ascontiguousarray(data.X[np.arange(min(data.n_rows, MOST_ROWS))]) + 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    return 1.0 - len(np.unique(whole)) / len(rows)
