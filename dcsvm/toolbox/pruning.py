"""Cost-complexity pruning of binary trees with held-out rows."""

from __future__ import annotations

import heapq

import attrs
import numpy as np

from dcsvm.numeric.array_types import FloatArray, IntArray


@attrs.frozen(eq=False)
class Branches:
    """A binary tree for pruning: children (nodes, 2) come after their parents; a leaf has -1, -1.

    `learned` and `judged` (nodes, classes) are the weights of the training and of the held-out
    rows of each class; `n_judged` is the number of held-out rows.
    """

    children: IntArray
    learned: FloatArray
    judged: FloatArray
    n_judged: int

    @classmethod
    def of(
        cls, children: IntArray, learned: FloatArray, judged: FloatArray, n_judged: int
    ) -> Branches:
        """Build from masses at the leaves; those of inner nodes are summed here."""
        learned, judged = np.array(learned, dtype=float), np.array(judged, dtype=float)
        for node in range(len(children) - 1, -1, -1):
            left, right = children[node]
            if left >= 0:
                learned[node] = learned[left] + learned[right]
                judged[node] = judged[left] + judged[right]
        return cls(children, learned, judged, n_judged)


def prune(branches: Branches, standard_errors: float = 0.0) -> IntArray:
    """Choose the inner nodes (m,) that become leaves; some may be below others.

    Weakest-link pruning: cut the subtree that lowers the training error least per leaf, until only
    the root is left. Of these trees, choose the smallest whose error on the held-out rows is
    within so many standard errors of the least.

    References
    ----------
    Breiman, Friedman, Olshen, Stone: Classification and regression trees (1984), chapter 3.
    """
    mass = float(branches.judged[0].sum())
    if mass <= 0 or branches.children[0, 0] < 0:
        return np.zeros(0, dtype=np.intp)
    cuts, errors = _cut_weakest(branches)
    least = errors.min() / mass
    spread = np.sqrt(least * (1.0 - least) / max(branches.n_judged, 1))
    within = errors <= mass * (least + standard_errors * spread) * (1 + 1e-12) + 1e-12
    return np.array(cuts[: int(np.flatnonzero(within)[-1])], dtype=np.intp)


def _cut_weakest(branches: Branches) -> tuple[list[int], FloatArray]:
    """Return the nodes in the order they are cut, and the held-out error before and after each."""
    children = branches.children.tolist()
    answer = branches.learned.argmax(axis=1)
    as_leaf = (branches.learned.sum(axis=1) - branches.learned.max(axis=1)).tolist()
    own = branches.judged[np.arange(len(answer)), answer]
    judged_as_leaf = (branches.judged.sum(axis=1) - own).tolist()
    below, judged, leaves = list(as_leaf), list(judged_as_leaf), [1] * len(children)
    parent = [-1] * len(children)
    for node in range(len(children) - 1, -1, -1):
        left, right = children[node]
        if left >= 0:
            parent[left] = parent[right] = node
            below[node] = below[left] + below[right]
            judged[node] = judged[left] + judged[right]
            leaves[node] = leaves[left] + leaves[right]

    def price(node: int) -> float:
        return float(as_leaf[node] - below[node]) / (leaves[node] - 1)

    inner = [node for node, (left, _) in enumerate(children) if left >= 0]
    # Of equal prices, the deepest node first.
    waiting = [(price(node), -node) for node in inner]
    heapq.heapify(waiting)
    gone = [False] * len(children)
    cuts: list[int] = []
    errors = [judged[0]]
    while waiting:
        known, node = heapq.heappop(waiting)
        node = -node
        if gone[node] or leaves[node] == 1:
            continue
        # A cut below never lowers the price of a node, so an old price is a lower bound.
        if price(node) > known:
            heapq.heappush(waiting, (price(node), -node))
            continue
        change = (as_leaf[node] - below[node], judged_as_leaf[node] - judged[node])
        fewer, at = leaves[node] - 1, node
        while at >= 0:
            below[at] += change[0]
            judged[at] += change[1]
            leaves[at] -= fewer
            at = parent[at]
        below_node = [node]
        while below_node:
            for child in children[below_node.pop()]:
                if child >= 0 and not gone[child]:
                    gone[child] = True
                    below_node.append(child)
        cuts.append(node)
        errors.append(judged[0])
    return cuts, np.array(errors)


def hold_out(y: IntArray, share: float, generator: np.random.Generator) -> IntArray:
    """Choose a random share of each class for pruning, but never a whole class."""
    chosen = [
        generator.permutation(rows)[: min(int(share * len(rows)), len(rows) - 1)]
        for rows in (np.flatnonzero(y == label) for label in np.unique(y))
    ]
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.intp)
