"""The C functions of `histogram_tree.c` in NumPy, with the same bits."""

from math import gcd
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dcsvm.numeric.array_types import FloatArray, IntArray
from dcsvm.numeric.trees.feature_bins import LARGEST, to_single

LN2, SQRT2 = 0.6931471805599453, 1.4142135623730951
LEFT_KEY, RIGHT_KEY, THRESHOLD_KEY, ORDER_KEY = 1, 2, 3, 4
MASK = 2**64 - 1
#: The factors of the mixing function, a splitmix64.
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@attrs.define
class _BinCut:
    """A cut, and the bins beside it where their other values may be better ones."""

    impurity: float = np.inf
    feature: int = -1
    threshold: np.float32 = attrs.field(factory=lambda: np.float32(0))
    low: int = -1
    high: int = -1


def fill_histogram(g: Any, rows: IntArray) -> FloatArray:
    """The masses of rows by bin and class, flat."""
    cells = (g.bins.starts[:-1] + g.bins.codes[rows]) * g.classes + g.y[rows, None]
    masses = np.repeat(_masses(g, rows), cells.shape[1])
    return _sum_by(cells.ravel(), masses, int(g.bins.starts[-1]) * g.classes)


def grow_tree(g: Any, rows: IntArray, nodes: npt.NDArray[Any]) -> int:
    """Grow the tree below nodes[0], the smaller side first; return the number of nodes."""
    used, stack = 1, [0]
    while stack:
        here = stack.pop()
        node, room = nodes[here], np.zeros(3, dtype=nodes.dtype)
        room[0] = node
        histogram = None
        if g.bins is not None and node["count"] > max(g.sorted_rows, g.smallest):
            mine = rows[node["begin"] : node["begin"] + node["count"]]
            histogram = fill_histogram(g, mine)
        if split_node(g, rows, room, histogram):
            room[0]["left"], room[0]["right"] = used, used + 1
            nodes[used : used + 2] = room[1:]
            small = 0 if room[1]["count"] <= room[2]["count"] else 1
            stack += [used + 1 - small, used + small]
            used += 2
        nodes[here] = room[0]
    return used


def split_node(
    g: Any, rows: IntArray, nodes: npt.NDArray[Any], histogram: FloatArray | None
) -> int:
    """Split nodes[0] and its rows into nodes[1] and nodes[2]; 0 if it is a leaf."""
    node = nodes[0]
    begin, count = int(node["begin"]), int(node["count"])
    mine = rows[begin : begin + count]
    masses = _sum_by(g.y[mine], _masses(g, mine), g.classes)
    node["mixed"] = np.count_nonzero(masses) > 1
    if not node["mixed"] or count <= g.smallest:
        return 0
    impurity = float(_impurity(g, masses.sum(), sum(_terms(g, masses).tolist())))
    best = _find_cut(g, mine, int(node["key"]), histogram, impurity, masses)
    if best.feature < 0 or not impurity - best.impurity > g.least_gain:
        return 0
    goes_left = _column(g, mine, best.feature) <= best.threshold
    rows[begin : begin + count] = np.concatenate([mine[goes_left], mine[~goes_left]])
    node["feature"], node["gain"] = best.feature, impurity - best.impurity
    node["threshold"] = max(best.threshold, -LARGEST)
    left = int(goes_left.sum())
    for place, first, size, side in (
        (1, begin, left, LEFT_KEY),
        (2, begin + left, count - left, RIGHT_KEY),
    ):
        key = mix(int(node["key"]) + side)
        nodes[place] = (-1, -1, 0, first, size, key, 0.0, 0.0, 0)
    return 1


def _find_cut(
    g: Any, rows: IntArray, key: int, histogram: FloatArray | None, impurity: float,
    masses: FloatArray,
) -> _BinCut:  # fmt: skip
    if histogram is not None:
        by_bin = histogram.reshape(-1, g.classes)
        best = _search_histogram(g, by_bin, key, masses)
        if best.low >= 0:
            best = _refine(g, by_bin, rows, best, masses)
        if impurity - best.impurity > g.least_gain or g.bins.exact.all():
            return best
    return _search_sorted(g, rows, key, masses)


def _search_histogram(g: Any, by_bin: FloatArray, key: int, masses: FloatArray) -> _BinCut:
    best, tried, bins = _BinCut(), 0, g.bins
    for feature in _order(g, key):
        mine = slice(bins.starts[feature], bins.starts[feature + 1])
        filled = np.flatnonzero(by_bin[mine].sum(axis=1))
        if len(filled) < 2:
            continue
        tried += 1
        uppers = bins.uppers[mine][filled]
        impurity = _judge(g, np.cumsum(by_bin[mine][filled], axis=0)[:-1], masses)
        at, threshold = int(impurity.argmin()), 0.0
        if g.random:
            threshold = _draw(key, feature, uppers[0], uppers[-1])
            at = min(int(np.searchsorted(uppers, threshold, side="right")) - 1, len(filled) - 2)
        if impurity[at] < best.impurity:
            best = _BinCut(float(impurity[at]), feature)
            if g.random:
                best.threshold = _round_down(threshold) if bins.exact[feature] else uppers[at]
            elif bins.exact[feature]:
                best.threshold = _middle(uppers[at], uppers[at + 1])
            else:
                best.low, best.high = int(filled[at]), int(filled[at + 1])
        if tried == g.tried:
            break
    return best


def _refine(
    g: Any, by_bin: FloatArray, rows: IntArray, cut: _BinCut, masses: FloatArray
) -> _BinCut:
    codes = g.bins.codes[rows, cut.feature]
    beside = rows[(codes == cut.low) | (codes == cut.high)]
    first = g.bins.starts[cut.feature]
    below = by_bin[first : first + cut.low].sum(axis=0)
    return _walk(g, cut.feature, _column(g, beside, cut.feature), beside, masses, below)


def _search_sorted(g: Any, rows: IntArray, key: int, masses: FloatArray) -> _BinCut:
    best, tried = _BinCut(), 0
    for feature in _order(g, key):
        values = _column(g, rows, feature)
        least, most = values.min(), values.max()
        if least == most:
            continue
        tried += 1
        if g.random:
            threshold = _round_down(_draw(key, feature, least, most))
            inside = rows[values <= threshold]
            left = _sum_by(g.y[inside], _masses(g, inside), g.classes)
            cut = _BinCut(float(_judge(g, left[None], masses)[0]), feature, threshold)
        else:
            cut = _walk(g, feature, values, rows, masses, np.zeros(g.classes))
        if cut.impurity < best.impurity:
            best = cut
        if tried == g.tried:
            break
    return best


def _walk(
    g: Any, feature: int, values: FloatArray, rows: IntArray, masses: FloatArray, below: FloatArray
) -> _BinCut:
    """The best cut between different values; `below` is the mass by class left of all of them."""
    distinct, at = np.unique(values, return_inverse=True)
    by_value = np.zeros((len(distinct), g.classes))
    np.add.at(by_value, (at, g.y[rows]), _masses(g, rows))
    impurity = _judge(g, below + np.cumsum(by_value, axis=0)[:-1], masses)
    best = int(impurity.argmin())
    threshold = _middle(distinct[best], distinct[best + 1])
    return _BinCut(float(impurity[best]), feature, threshold)


def _judge(g: Any, left: FloatArray, masses: FloatArray) -> FloatArray:
    """The impurity of both sides of cuts with masses `left` (cuts, classes)."""
    sides = []
    for side in (left, masses - left):
        summed = np.zeros(len(left))
        for terms in _terms(g, side).T:
            summed = summed + terms
        sides.append(_impurity(g, side.sum(axis=1), summed))
    return sides[0] + sides[1]


def _terms(g: Any, masses: FloatArray) -> FloatArray:
    return masses * masses if g.gini else x_log_x(masses)


def _impurity(g: Any, total: FloatArray, summed: Any) -> FloatArray:
    return np.asarray(total - summed / total if g.gini else x_log_x(total) - summed)


def x_log_x(x: FloatArray) -> FloatArray:
    """x log x, by the series of the inverse hyperbolic tangent; 0 at 0."""
    bits = np.asarray(x, dtype=np.float64, order="C").view(np.int64)
    exponent = ((bits >> 52) - 1023).astype(np.float64)
    m = ((bits & (2**52 - 1)) | 0x3FF0000000000000).view(np.float64)
    above = np.where(m > SQRT2, 1.0, 0.0)
    m = m * (1.0 - 0.5 * above)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = np.full_like(z, 2.0 / 23.0)
    for odd in range(21, 0, -2):
        p = p * z + 2.0 / odd
    return np.asarray(x * ((exponent + above) * LN2 + s * p))


def _sum_by(place: IntArray, masses: FloatArray, size: int) -> FloatArray:
    return np.bincount(place, masses, size).astype(np.float64, copy=False)


def _masses(g: Any, rows: IntArray) -> FloatArray:
    return np.ones(len(rows)) if g.masses is None else g.masses[rows]


def _column(g: Any, rows: IntArray, feature: int) -> FloatArray:
    if sparse.issparse(g.X):  # converted before
        return np.asarray(g.X[rows][:, [feature]].toarray().ravel())
    return to_single(g.X[rows, feature])


def _order(g: Any, key: int) -> list[int]:
    """The features in the order they are tried, at random."""
    features, drawn = g.X.shape[1], mix(key + ORDER_KEY)
    if g.tried < features:
        return sorted(range(features), key=lambda feature: (mix(drawn + feature), feature))
    # All of them are only stepped through, so that no feature wins all ties.
    step, start = 1 + (drawn >> 32) % features, (drawn & 0xFFFFFFFF) % features
    while gcd(step, features) > 1:
        step += 1
    return [(start + place * step) % features for place in range(features)]


def _draw(key: int, feature: int, low: np.float32, high: np.float32) -> float:
    """A random threshold at least low and below high."""
    share = (mix(mix(key + THRESHOLD_KEY) + feature) >> 11) * 2.0**-53
    top = min(float(high), LARGEST)
    threshold = float(low) + share * (top - float(low))
    return threshold if threshold < float(high) else float(low)


def _middle(low: np.float32, high: np.float32) -> np.float32:
    """Halfway between two values, rounded down, and below the second one."""
    middle = float(low) / 2.0 + float(high) / 2.0
    rounded = low if middle > LARGEST else _round_down(middle)
    return rounded if rounded < high else low


def _round_down(x: float) -> np.float32:
    rounded = np.float32(x)
    return np.nextafter(rounded, np.float32(-np.inf)) if float(rounded) > x else rounded


def mix(x: int) -> int:
    x = (x + STEP) & MASK
    x = ((x ^ (x >> 30)) * FIRST) & MASK
    x = ((x ^ (x >> 27)) * SECOND) & MASK
    return x ^ (x >> 31)
