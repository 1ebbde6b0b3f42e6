"""Kernel k-means on a kernel matrix, with prices that keep clusters alike in size."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.distances import Floats

Integers = npt.NDArray[np.intp]

ROUNDS = 50
#: Of two clusters nearer to each other than this share of the distances, the first one counts.
TIE = 1e-9


@attrs.frozen(eq=False)
class Clusters:
    """Centres in feature space, and the rows in clusters around them.

    Parameters
    ----------
    home : (n,) array of int
        The cluster of each row: where squared distance and price are least. None is empty.
    means : (n, k) array
        The weight of each row in each centre; columns sum to 1.
    inner : (k,) array
        The squared norm of each centre.
    prices : (k,) array
        What is added to the squared distance to each centre before the nearest is chosen.
    distortion : float
        The sum of squared distances to the own centre.
    """

    home: Integers
    means: Floats
    inner: Floats
    prices: Floats
    distortion: float


def kernel_kmeans(
    gram: Floats,
    clusters: int,
    generator: np.random.Generator,
    *,
    balance: float = np.inf,
    starts: int = 1,
) -> Clusters:
    """Cluster rows by kernel k-means, and take the best of several k-means++ starts.

    Rows that are alike are never parted, so there may be fewer clusters than asked for, and
    larger ones than `balance` allows.

    Parameters
    ----------
    gram : (n, n) array
        The kernel values between the rows.
    clusters : int
    generator : numpy.random.Generator
    balance : float
        How many times the mean size of a cluster none may exceed, by way of prices.
    starts : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0], [5.2]])
    >>> kernel_kmeans(X @ X.T, 2, np.random.default_rng(0)).home.tolist() in (
    ...     [0, 0, 1, 1],
    ...     [1, 1, 0, 0],
    ... )
    True
    """
    gram = np.asarray(gram, dtype=np.float64)
    capacity = balance * gram.shape[0] / clusters
    tried = [_descend(gram, _first(gram, clusters, generator), capacity) for _ in range(starts)]
    return min(tried, key=lambda found: found.distortion)


def nearest(costs: npt.NDArray[np.floating]) -> Integers:
    """The column with the least cost in each row, (n,); of equals, rounding aside, the first."""
    least = costs.min(axis=1, keepdims=True)
    scale = np.abs(costs).max(axis=1, keepdims=True)
    return np.asarray((costs <= least + TIE * scale).argmax(axis=1))


def fair_prices(costs: Floats, capacity: float, rounds: int = 1000) -> Floats:
    """Prices (k,) at which no column is the cheapest for more than `capacity` rows of `costs`.

    The fullest column grows dearer until the rows that it has too many have left, again and
    again. Where that does not end (rows that are alike leave together), the fairest prices that
    were met are returned.
    """
    prices = np.zeros(costs.shape[1])
    best, fullest_of_best = prices.copy(), np.inf
    for _ in range(rounds):
        due = costs + prices
        home = nearest(due)
        sizes = np.bincount(home, minlength=len(prices))
        fullest = int(sizes.argmax())
        if sizes[fullest] < fullest_of_best:
            best, fullest_of_best = prices.copy(), sizes[fullest]
        if sizes[fullest] <= max(capacity, 1.0) or len(prices) < 2:
            break
        inside = due[home == fullest]
        mine = inside[:, fullest].copy()
        inside[:, fullest] = np.inf
        patience = np.sort(inside.min(axis=1) - mine)
        leaving = min(int(np.ceil(sizes[fullest] - capacity)), len(patience) - 1)
        scale = float(np.abs(due).max())
        between = 0.5 * (patience[leaving - 1] + patience[leaving])
        prices[fullest] += between + 2 * TIE * scale
    return best


def _first(gram: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    """Squared distances to centres chosen as k-means++ does: far from those chosen before."""
    diagonal = np.diagonal(gram)
    columns: list[Floats] = []
    away = np.full(len(diagonal), np.inf)
    for _ in range(min(clusters, len(diagonal))):
        shares = away if columns else np.ones(len(diagonal))
        if not shares.sum() > 0.0:
            break
        chosen = int(generator.choice(len(diagonal), p=shares / shares.sum()))
        column = np.maximum(diagonal - 2.0 * gram[:, chosen] + diagonal[chosen], 0.0)
        away = np.minimum(away, column)
        # Rounding may leave a copy of the chosen row at a distance.
        away[away <= TIE * (np.abs(diagonal) + abs(diagonal[chosen]))] = 0.0
        columns.append(column)
    return np.column_stack(columns)


def _descend(gram: Floats, costs: Floats, capacity: float) -> Clusters:
    """Move rows to the nearest centre and centres to the mean of their rows, until none moves."""
    diagonal = np.diagonal(gram)[:, None]
    home = nearest(costs + _prices(costs, capacity))
    for _ in range(ROUNDS):
        used, home = np.unique(home, return_inverse=True)
        means = (home[:, None] == np.arange(len(used))).astype(np.float64)
        means /= means.sum(axis=0)
        between = gram @ means
        inner = np.einsum("ij,ij->j", means, between)
        costs = diagonal - 2.0 * between + inner
        prices = _prices(costs, capacity)
        before, home = home, nearest(costs + prices)
        if (home == before).all():
            break
    used, home = np.unique(home, return_inverse=True)
    own = costs[np.arange(len(gram)), used[home]]
    distortion = float(np.maximum(own, 0.0).sum())
    return Clusters(home, means[:, used], inner[used], prices[used], distortion)


def _prices(costs: Floats, capacity: float) -> Floats:
    if not np.isfinite(capacity):
        return np.zeros(costs.shape[1])
    return fair_prices(costs, capacity)
