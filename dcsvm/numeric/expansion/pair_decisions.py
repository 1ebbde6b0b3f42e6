"""One-against-one decisions: from the compressed coefficients to decisions, votes and scores."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def pair_decisions(
    gram: Floats, coefficients: Floats, biases: Floats, class_sizes: NDArray[np.integer[Any]]
) -> Floats:
    """The decision of every pair of classes (i, j), i < j; positive speaks for i.

    Parameters
    ----------
    gram : (n, m) array
        Kernel values of n rows against m points that are sorted by class.
    coefficients : (m, k - 1) array
        For each point its dual value against each of the other classes, in their order.
    biases : (k (k - 1) / 2,) array
    class_sizes : (k,) int array
        How many points each class has.

    Returns
    -------
    (n, k (k - 1) / 2) array
    """
    edges = np.concatenate([[0], np.cumsum(class_sizes)])
    sums = np.stack(
        [gram[:, start:stop] @ coefficients[start:stop] for start, stop in pairwise(edges)], axis=1
    )
    return decisions_from_sums(sums, biases)


def decisions_from_sums(sums: Floats, biases: Floats) -> NDArray[np.float64]:
    """The decision of every pair from what the points of each class add to each of its pairs.

    Parameters
    ----------
    sums : (n, k, k - 1 or more) array
        For class a, its sum against b in column b - 1 where b > a and in column b where b < a.
    biases : (k (k - 1) / 2,) array

    Returns
    -------
    (n, k (k - 1) / 2) array of float64
    """
    first, second = np.triu_indices(sums.shape[1], 1)
    return np.asarray(
        sums[:, first, second - 1].astype(np.float64) + sums[:, second, first] + biases
    )


def pair_scores(decisions: Floats, k: int) -> Floats:
    """Max Wins: each class's share of votes, ties resolved by its summed decision values.

    Parameters
    ----------
    decisions : (n, k (k - 1) / 2) array
    k : int

    Returns
    -------
    (n, k) array
        Votes, and a share below one half that grows with the summed decision values: brought to
        about 1 for a class that wins against all others and -1 for one that loses to all, so that
        machines of few and of many classes can be compared.
    """
    first, second = np.triu_indices(k, 1)
    votes = np.zeros((len(decisions), k))
    sums = np.zeros_like(votes)
    for label in range(k):
        for_it, against_it = decisions[:, first == label], decisions[:, second == label]
        votes[:, label] = (for_it > 0).sum(axis=1) + (against_it <= 0).sum(axis=1)
        sums[:, label] = for_it.sum(axis=1) - against_it.sum(axis=1)
    votes += sums / (3.0 * (np.abs(sums) + 1.0))
    return votes * (2.0 / (k - 1)) - 1.0
