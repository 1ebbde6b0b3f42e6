"""Labels of single rows by plans, for expansions alone."""

import numpy as np

from dcsvm.numeric import Plan, native, vote, walk
from dcsvm.numeric.plan_runner import PlanRunner


def vote_one(expansion, x):
    """The label of one row by votes, in single precision first."""
    if native.library is None:
        return vote(expansion, x[None])[0]
    plan = Plan()
    step = plan.expansion(expansion, len(x))
    plan.allow_float32_labels(step, least=0)
    return _label(plan, step, x, expansion, vote)


def walk_one(expansion, x, order=None):
    """The label of one row by a walk down the classes, in single precision first."""
    if native.library is None:
        return walk(expansion, x[None])[0]
    plan, k = Plan(), len(expansion.counts)
    pairs = plan.expansion(expansion, len(x), form="decisions")
    plan.allow_float32_labels(pairs, least=0)
    walked = plan.walk(np.arange(k) if order is None else order, *number_pairs(k))
    ends = np.arange(1, k * (k - 1) // 2 + 1)
    unit_of = np.zeros((k, k), dtype=np.int64)
    order, columns, _, signs = plan.steps[walked].arrays
    plan.replace_arrays(walked, order, unit_of, columns, signs)
    root = plan.add(
        *("strategy", len(x), k if k > 2 else 1),
        sizes=[1, k, walked, len(ends), 0, pairs if plan.is_packed(pairs) else -1],
        arrays=[np.array([[-1, 0, 1]]), np.array([[pairs, 0, len(ends)]]), *[None] * 6],
    )
    return _label(plan, root, x, expansion, walk)


def number_pairs(k):
    """The number of each pair of k classes, and the sign of its first class, (k, k) both."""
    number, sign = np.full((k, k), -1), np.zeros((k, k))
    for pair, (a, b) in enumerate(zip(*np.triu_indices(k, 1), strict=True)):
        number[a, b] = number[b, a] = pair
        sign[a, b], sign[b, a] = 1, -1
    return number, sign


def _label(plan, root, x, expansion, in_numpy):
    found = PlanRunner(plan, root).labels(x[None])
    return (in_numpy(expansion, x[None]) if found is None else found)[0]
