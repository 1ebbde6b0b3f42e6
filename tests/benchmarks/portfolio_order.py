"""The order in which `auto` tries recipes, from all sets and without each one in turn.

    python tests/benchmarks/portfolio_order.py

It reads the log-losses of validation rows that `portfolio_ablation.py` has measured. The first
recipe has the best mean log-loss; the next one is always the one that improves the best so far
most. The keys `auto` of the shipped recipes are the order from all sets: the script says how many
orders change without one set, and for how many sets the first recipe does.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

import numpy as np
from suite import HERE, read_kept

from dcsvm.numeric.array_types import FloatArray

ABLATION = HERE / "measured" / "portfolio_ablation.jsonl"


def read_losses() -> tuple[list[str], list[str], FloatArray]:
    """Sets, the recipes that suit all of them, and their log-losses (sets, recipes)."""
    found = {each["set"]: each["losses"] for each in read_kept(ABLATION) if "losses" in each}
    sets = list(found)
    recipes = sorted(set.intersection(*map(set, found.values())))
    return sets, recipes, np.array([[found[name][each] for each in recipes] for name in sets])


def order_greedily(losses: FloatArray) -> list[int]:
    """The columns in the order in which each improves the best so far most, on average."""
    order: list[int] = []
    best = np.full(len(losses), np.inf)
    while len(order) < losses.shape[1]:
        left = [place for place in range(losses.shape[1]) if place not in order]
        order.append(min(left, key=lambda place: np.minimum(best, losses[:, place]).mean()))
        best = np.minimum(best, losses[:, order[-1]])
    return order


def order_without_each(losses: FloatArray) -> list[list[int]]:
    return [order_greedily(np.delete(losses, place, axis=0)) for place in range(len(losses))]


def describe(sets: Sequence[str], recipes: Sequence[str], losses: FloatArray) -> list[str]:
    """The orders in lines, and how much a set advises itself."""
    whole, others = order_greedily(losses), order_without_each(losses)

    def write(order: Sequence[int]) -> str:
        return ", ".join(recipes[place] for place in order)

    same = sum(each == whole for each in others)
    first = sum(each[0] == whole[0] for each in others)
    positions = Counter(recipes[each[0]] for each in others)
    moved = [name for name, each in zip(sets, others, strict=True) if each != whole]
    return [
        f"all {len(sets)} sets: {write(whole)}",
        *(f"without {n}: {write(each)}" for n, each in zip(sets, others, strict=True)),
        f"the same order without one set: {same} of {len(sets)}",
        f"the same first recipe: {first} of {len(sets)} ({dict(positions)})",
        f"sets that change the order: {', '.join(moved) or 'none'}",
        *(weigh_advice(losses, whole, others, most) for most in range(1, losses.shape[1])),
    ]


def weigh_advice(
    losses: FloatArray, whole: Sequence[int], others: Sequence[Sequence[int]], most: int
) -> str:
    """Say how much better off sets are that helped to make the order, with so few recipes."""
    advised = losses[:, list(whole[:most])].min(axis=1)
    alone = np.array(
        [row[list(each[:most])].min() for row, each in zip(losses, others, strict=True)]
    )
    changed = int((advised != alone).sum())
    return (
        f"with the first {most}: log-loss {advised.mean():.4f} by the order of all sets, "
        f"{alone.mean():.4f} by the order without the set; {changed} of {len(losses)} sets get "
        "another winner"
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    print("\n".join(describe(*read_losses())))
