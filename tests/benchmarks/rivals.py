"""What a user would take instead: boosted trees, a tuned SVC, xRFM, each as a user would call it.

A rival takes a cell of `suite.py` and returns a function from rows to labels and probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

Answer = Callable[[Any], tuple[Any, Any]]


def fit_lightgbm(cell: Any) -> Answer:
    import lightgbm

    frame = build_frames(cell)
    model = lightgbm.LGBMClassifier(verbose=-1, n_jobs=1).fit(frame(cell.X), cell.y)
    return lambda X: answer(model, frame(X))


def fit_lightgbm_stopped(cell: Any) -> Answer:
    """2,000 rounds at the most, ended by a fifth of the rows."""
    import lightgbm

    frame = build_frames(cell)
    rows, held = hold_out(cell.y, 0.2)
    model = lightgbm.LGBMClassifier(
        verbose=-1, n_jobs=1, n_estimators=2000, learning_rate=0.05, num_leaves=63
    ).fit(
        *(frame(cell.X[rows]), cell.y[rows]),
        eval_set=[(frame(cell.X[held]), cell.y[held])],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    return lambda X: answer(model, frame(X))


def fit_histograms(cell: Any) -> Answer:
    model = HistGradientBoostingClassifier(
        random_state=0, categorical_features=cell.categorical or None
    ).fit(densify(cell.X), cell.y)
    return lambda X: answer(model, densify(X))


def fit_svc(cell: Any) -> Answer:
    """C and gamma by a quarter of the rows; no probabilities, which would take five more fits."""
    encode = build_encoder(cell)
    X, width = encode(cell.X), encode(cell.X[:2]).shape[1]
    variance = (X.multiply(X).mean() - X.mean() ** 2) if sparse.issparse(X) else X.var()
    rows, held = hold_out(cell.y, 0.25)
    cells = list(product([1.0, 10.0, 100.0], [0.2, 1.0, 5.0]))

    def fit(C: float, factor: float, X: Any, y: Any) -> Any:
        return SVC(C=C, gamma=factor / (width * variance), cache_size=1000).fit(X, y)

    scores = [fit(*each, X[rows], cell.y[rows]).score(X[held], cell.y[held]) for each in cells]
    model = fit(*cells[int(np.argmax(scores))], X, cell.y)
    return lambda X: (model.predict(encode(X)), None)


def fit_xrfm(cell: Any) -> Answer:
    import torch
    from xrfm import xRFM

    torch.set_num_threads(1)
    encode = build_encoder(cell)
    rows, held = hold_out(cell.y, 0.2)
    X = densify(encode(cell.X)).astype("float32")
    model = xRFM(device=torch.device("cpu"), tuning_metric="accuracy")
    model.fit(X[rows], cell.y[rows], X[held], cell.y[held])

    def predict(X: Any) -> tuple[Any, Any]:
        shares = np.asarray(model.predict_proba(densify(encode(X)).astype("float32")))
        return shares.argmax(axis=1), shares

    return predict


RIVALS: dict[str, Callable[[Any], Answer]] = {
    "lightgbm": fit_lightgbm,
    "lightgbm_es": fit_lightgbm_stopped,
    "hgb": fit_histograms,
    "svc": fit_svc,
    "xrfm": fit_xrfm,
}


def answer(model: Any, X: Any) -> tuple[Any, Any]:
    shares = model.predict_proba(X)
    return model.classes_[shares.argmax(axis=1)], shares


def hold_out(y: Any, share: float) -> tuple[Any, Any]:
    rows, held = train_test_split(np.arange(len(y)), test_size=share, random_state=1, stratify=y)
    return rows, held


def densify(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def build_frames(cell: Any) -> Callable[[Any], Any]:
    """Rows as a data frame with categories, where a set has some."""
    if not cell.categorical:
        return lambda X: X
    import pandas as pd

    levels = {j: np.unique(cell.X[~np.isnan(cell.X[:, j]), j]) for j in cell.categorical}

    def frame(X: Any) -> Any:
        columns = {
            f"x{j}": pd.Categorical(X[:, j], levels[j]) if j in levels else X[:, j]
            for j in range(X.shape[1])
        }
        return pd.DataFrame(columns)

    return frame


def build_encoder(cell: Any) -> Callable[[Any], Any]:
    """One-hot categories, medians for gaps, deviations of one: what an SVM is given."""
    if sparse.issparse(cell.X):
        return lambda X: X
    numeric = [j for j in range(cell.X.shape[1]) if j not in set(cell.categorical)]
    levels = OneHotEncoder(handle_unknown="ignore", min_frequency=5, sparse_output=False)
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), levels), cell.categorical),
        sparse_threshold=0,
    ).fit(cell.X)
    return steps.transform
