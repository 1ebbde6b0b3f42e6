"""Kernel k-means, with prices that balance the sizes of clusters."""

import attrs
import numpy as np
import numpy.typing as npt

from dcsvm.numeric.kernels.distances import Floats

Integers = npt.NDArray[np.intp]

ROUNDS = 50
COOLING = 15
AUCTION = 200
#: Relative difference of distances below which the first of two clusters is chosen.
TIE = 1e-9


@attrs.frozen(eq=False)
class Clusters:
    """Centers in feature space, and the clusters of the rows.

    The `assignment` (n,) of a row is the cluster with the least squared distance plus price; no
    cluster is empty. `means` (n, k) are the weights of the rows in each center, `inner` (k,) its
    squared norm, and `distortion` is the sum of squared distances to the own center.
    """

    assignment: Integers
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
    """Cluster rows with kernel values `gram` (n, n), by the best of several k-means++ starts.

    Identical rows stay together, so there may be fewer clusters than requested, and larger ones
    than `balance` allows, a multiple of the mean size.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0], [5.2]])
    >>> kernel_kmeans(X @ X.T, 2, np.random.default_rng(0)).assignment.tolist() in (
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
    """The column with the least cost in each row, (n,); the first one if equal up to rounding."""
    least = costs.min(axis=1, keepdims=True)
    scale = np.abs(costs).max(axis=1, keepdims=True)
    return np.asarray((costs <= least + TIE * scale).argmax(axis=1))


def fair_prices(costs: Floats, capacity: float, start: Floats | None = None) -> Floats:
    """Prices (k,) at which no column is the cheapest for more than `capacity` rows of `costs`.

    An auction raises the price of the fullest column until its surplus rows have left. If that
    fails, it is repeated from prices found by annealing with random choices. If that fails too, as
    with many identical rows, the most balanced prices are returned. A good `start` saves time.
    """
    capacity = max(capacity, 1.0)
    prices = np.zeros(costs.shape[1]) if start is None else start
    found, fullest = _auction(costs, capacity, prices)
    if fullest > capacity and len(prices) > 1:
        again, fewer = _auction(costs, capacity, _anneal(costs, capacity))
        found = again if fewer < fullest else found
    return found


def _anneal(costs: Floats, capacity: float) -> Floats:
    """Prices at which nearly optimal random choices of the rows fit the capacity."""
    prices = np.zeros(costs.shape[1])
    sharpest = float(np.ptp(costs, axis=1).max()) * 1e-3
    if sharpest == 0.0:
        return prices
    for width in sharpest * np.geomspace(1e3, 1.0, COOLING):
        for _ in range(COOLING):
            shares = -(costs + prices) / width
            shares = np.exp(shares - shares.max(axis=1, keepdims=True))
            demand = (shares / shares.sum(axis=1, keepdims=True)).sum(axis=0)
            prices = np.maximum(prices + width * np.log(np.maximum(demand, 1e-9) / capacity), 0.0)
    return np.asarray(prices)


def _auction(costs: Floats, capacity: float, prices: Floats) -> tuple[Floats, int]:
    """Raise the price of the fullest column in turn; return the best prices and largest size."""
    prices = prices.copy()
    best, least = prices.copy(), len(costs) + 1
    for _ in range(AUCTION):
        due = costs + prices
        assignment = nearest(due)
        sizes = np.bincount(assignment, minlength=len(prices))
        fullest = int(sizes.argmax())
        if sizes[fullest] < least:
            best, least = prices.copy(), int(sizes[fullest])
        if sizes[fullest] <= capacity or len(prices) < 2:
            break
        inside = due[assignment == fullest]
        mine = inside[:, fullest].copy()
        inside[:, fullest] = np.inf
        patience = np.sort(inside.min(axis=1) - mine)
        leaving = min(int(np.ceil(sizes[fullest] - capacity)), len(patience) - 1)
        between = 0.5 * (patience[leaving - 1] + patience[leaving])
        prices[fullest] += between + 2 * TIE * float(np.abs(due).max())
    return best, least


def _first(gram: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    """Squared distances to initial centers chosen by k-means++."""
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
    """Assign rows to the nearest center and recompute centers, until nothing changes.

    Then single rows are moved if that lowers the distortion, as in Hartigan's method, which leaves
    many poor local optima.
    """
    diagonal = np.diagonal(gram)[:, None]
    prices = _prices(costs, capacity)
    assignment = nearest(costs + prices)
    for left in range(ROUNDS, 0, -1):
        used, assignment = np.unique(assignment, return_inverse=True)
        inside = (assignment[:, None] == np.arange(len(used))).astype(np.float64)
        means = inside / inside.sum(axis=0)
        between = gram @ means
        inner = np.einsum("ij,ij->j", means, between)
        costs = diagonal - 2.0 * between + inner
        prices = _prices(costs, capacity, prices[used])
        before, assignment = assignment, nearest(costs + prices)
        if (assignment == before).all():
            move = None if prices.any() or left == 1 else _move(costs, inside)
            if move is None:
                break
            assignment[move[0]] = move[1]
    used, assignment = np.unique(nearest(costs + prices), return_inverse=True)
    own = costs[np.arange(len(gram)), used[assignment]]
    distortion = float(np.maximum(own, 0.0).sum())
    return Clusters(assignment, means[:, used], inner[used], prices[used], distortion)


def _move(costs: Floats, inside: Floats) -> tuple[int, int] | None:
    """The move of one row to another cluster that lowers the distortion most, if any."""
    sizes = inside.sum(axis=0)
    leaving = np.where(sizes > 1, sizes / np.maximum(sizes - 1.0, 1.0), 0.0)
    gains = ((inside * costs) @ leaving)[:, None] - sizes / (sizes + 1.0) * costs
    gains[inside > 0] = 0.0
    row, cluster = np.unravel_index(gains.argmax(), gains.shape)
    if gains[row, cluster] <= TIE * np.abs(costs).max():
        return None
    return int(row), int(cluster)


def _prices(costs: Floats, capacity: float, start: Floats | None = None) -> Floats:
    if not np.isfinite(capacity):
        return np.zeros(costs.shape[1])
    return fair_prices(costs, capacity, start)
