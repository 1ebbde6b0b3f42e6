"""Dask's dataframes and arrays: gathered to a file to learn from, answered lazily."""

import copy
import os
import shutil
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dcsvm.base.errors import DataError
from dcsvm.numeric.mapped_rows import MappedRows, make_spill_folder

#: A method of a classifier that takes rows.
Method = Callable[..., Any]


def gather(fit: Method, clf: Any, X: Any, y: Any, weights: Any = None) -> Any:
    """Call `fit` with the rows of a collection, which go to a file, partition by partition."""
    names = list(X.columns) if hasattr(X, "columns") else None
    spill = make_spill_folder()
    try:
        rows, labels = _write(X, y, os.path.join(spill, "X.npy"))
        weights = weights.compute() if hasattr(weights, "compute") else weights
        weakref.finalize(rows, shutil.rmtree, spill, ignore_errors=True)
    except BaseException:
        shutil.rmtree(spill, ignore_errors=True)
        raise
    fitted = fit(clf, rows, labels, weights)
    if names is not None and all(isinstance(name, str) for name in names):
        clf.feature_names_in_ = np.array(names, dtype=object)
    return fitted


def answer(ask: Method, clf: Any, X: Any) -> Any:
    """Apply `ask` lazily to the rows of a Dask collection."""
    import dask.array

    check_is_fitted(clf)
    known = np.asarray(ask(_without_names(clf), np.zeros((1, clf.n_features_in_))))
    model = _place(partial(_ask, clf, ask.__name__, known[:0]))
    blocks = X.to_delayed() if hasattr(X, "columns") else _split_rows(X).to_delayed()[:, 0]
    sizes = [np.nan] * len(blocks) if hasattr(X, "columns") else X.chunks[0]
    arrays = [
        dask.array.from_delayed(
            dask.delayed(_call, pure=True)(model, block), (size, *known.shape[1:]), known.dtype
        )
        for block, size in zip(blocks, sizes, strict=True)
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def _write(X: Any, y: Any, path: str) -> tuple[MappedRows, Any]:
    labels: list[Any] = []

    def read() -> Iterator[Any]:
        for rows, some in _compute_partitions(X, y):
            labels.append(some)
            try:
                block = np.asarray(rows, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise DataError(
                    f"a partition of X holds values that are no numbers ({error}): encode them "
                    "first, such as with Categorizer and DummyEncoder of dask-ml"
                ) from error
            if len(block):
                yield block

    try:
        rows = MappedRows.write(path, read(), X.shape[1])
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the collection X cannot be written to {path!r}: {error}") from error
    return rows, np.concatenate(labels) if labels[0] is not None else np.asarray(y)


def _compute_partitions(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of each partition with their labels; None if the labels are no collection."""
    import dask

    has_columns = hasattr(X, "columns")
    blocks = X.to_delayed() if has_columns else _split_rows(X).to_delayed()[:, 0]
    if not hasattr(y, "to_delayed"):
        for block in blocks:
            yield dask.compute(block)[0], None
        return
    labels: Sequence[Any] = np.ravel(np.asarray(y.to_delayed(), dtype=object)).tolist()
    if len(labels) != len(blocks):
        raise DataError(
            f"X has {len(blocks)} partitions and y has {len(labels)}: both must be divided alike"
        )
    for block, some in zip(blocks, labels, strict=True):
        rows, found = dask.compute(block, some)
        yield rows, np.asarray(found)


def _split_rows(X: Any) -> Any:
    """An array whose blocks have whole rows."""
    return X if X.numblocks[1] == 1 else X.rechunk({1: X.shape[1]})


def _place(function: Any) -> Any:
    """Send a value to the cluster once, if there is one; else to each partition as it is."""
    import dask

    try:
        from distributed import get_client

        return get_client().scatter(function, hash=False)
    except (ImportError, ValueError):  # no client
        return dask.delayed(function, pure=False)


def _call(model: Any, X: Any) -> Any:
    return model(X)


def _ask(clf: Any, method: str, nothing: Any, X: Any) -> Any:
    return getattr(clf, method)(X) if len(X) else nothing


def _without_names(clf: Any) -> Any:
    clf = copy.copy(clf)
    vars(clf).pop("feature_names_in_", None)
    return clf
