"""Scores by name, as recipes and searches know them; those of probabilities are computed here."""

import numpy as np

from dcsvm.numeric.array_types import BoolArray, FloatArray, IntArray

#: Scores of probabilities, and those of which less is better.
PROBABILITY_SCORES = ("log_loss", "brier", "roc_auc", "average_precision", "calibration_error")
LOSSES = ("log_loss", "brier", "calibration_error")
#: Scores of labels beside accuracy, and the functions of sklearn.metrics that they are.
OWN_SCORES = {
    "balanced_accuracy": "balanced_accuracy_score",
    "cohen_kappa": "cohen_kappa_score",
    "f1_macro": "f1_score",
    "mcc": "matthews_corrcoef",
}
#: Scorers whose names end so are given several labels for each row.
MULTILABEL = "_samples"
#: Scorers of scikit-learn whose names begin so are given probabilities.
PROBABLE = ("neg_log_loss", "neg_brier", "roc_auc", "average_precision", "top_k", "d2_")
#: Bins of equally many rows for the calibration error, and the least probability of a loss.
BINS, LEAST = 15, 1e-15


def needs_probabilities(score: str) -> bool:
    """Whether a score is one of probabilities, and not of labels."""
    return score in PROBABILITY_SCORES or score.startswith(PROBABLE)


def score_probabilities(
    name: str, shares: FloatArray, codes: IntArray, weights: FloatArray | None = None
) -> float:
    """A score of probabilities (n, k) for rows of classes `codes` (n,), -1 for unknown ones.

    The areas under curves are means over the classes, one against the rest, of several.
    """
    hits = codes[:, None] == np.arange(shares.shape[1])
    if name == "log_loss":
        own = np.where(hits, shares, 0.0).sum(axis=1)
        return float(-np.average(np.log(np.maximum(own, LEAST)), weights=weights))
    if name == "brier":
        squares = ((shares - hits) ** 2).sum(axis=1) + (codes < 0)
        halved = 2.0 if shares.shape[1] == 2 else 1.0
        return float(np.average(squares, weights=weights) / halved)
    if name == "calibration_error":
        return calibration_error(shares.max(axis=1), shares.argmax(axis=1) == codes)
    from sklearn import metrics  # takes long to import

    score = metrics.roc_auc_score if name == "roc_auc" else metrics.average_precision_score
    asked = [1] if shares.shape[1] == 2 else range(shares.shape[1])
    found = [
        score(hits[:, c], shares[:, c], sample_weight=weights)
        for c in asked
        if 0 < hits[:, c].sum() < len(hits)
    ]
    return float(np.mean(found)) if found else float("nan")


def calibration_error(sure: FloatArray, right: BoolArray) -> float:
    """The expected difference of confidence and accuracy, over bins of equally many rows."""
    bins = np.array_split(np.argsort(sure, kind="stable"), min(BINS, len(sure)))
    gaps = [abs(sure[rows].mean() - right[rows].mean()) * len(rows) for rows in bins]
    return float(sum(gaps) / len(sure))
