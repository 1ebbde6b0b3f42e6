"""The data sizes that suit a recipe, described and compared with those of a data set."""

import math
from collections.abc import Mapping, Sequence

Ranges = Mapping[str, Sequence[float]]

SIZES = ("rows", "features", "classes")


def find_unsuitable(suits: Ranges, sizes: Mapping[str, int]) -> list[str]:
    """Return the names of the sizes that are out of range."""
    return [
        key
        for key, number in sizes.items()
        if key in suits and not suits[key][0] <= number <= suits[key][1]
    ]


def rank(suits: Ranges, sizes: Mapping[str, int]) -> tuple[float, int]:
    """Return a sort key for suitable recipes: those to try first have the lowest.

    A recipe for many more rows gives up more accuracy of an undivided model, so recipes with the
    lowest upper limit on rows come first; ties go to the recipe that limits more of the sizes.
    """
    furthest = suits.get("rows", (1, math.inf))[1] if "rows" in sizes else math.inf
    return furthest, -sum(key in suits for key in sizes)


def describe_range(key: str, ends: Sequence[float]) -> str:
    """Describe a range, such as `2,000 to 200,000 rows`."""
    low, high = ends
    if low == high:
        return f"{low:,} {key}"
    if math.isinf(high):
        return f"{low:,} {key} or more"
    return f"up to {high:,} {key}" if low <= 2 else f"{low:,} to {high:,} {key}"


def describe_mismatch(name: str, suits: Ranges, sizes: Mapping[str, int]) -> str:
    """Say in one line why data of these sizes do not suit a recipe; empty if they do."""
    beyond = find_unsuitable(suits, sizes)
    if not beyond:
        return ""
    meant = " and ".join(describe_range(key, suits[key]) for key in beyond)
    there = _describe_sizes(beyond, sizes)
    options = " ".join(f"--{key} {sizes[key]}" for key in SIZES)
    return f"{name} is meant for {meant}, not for {there}: see dcsvm recipes {options}"


def explain(
    suits: Ranges, sizes: Mapping[str, int], tried: Sequence[str], place: int, gaps: int
) -> str:
    """Say why a recipe suits a file or does not.

    `tried` are the recipes that it tries itself, `place` is its own place among those of `auto`
    (0: none), and `gaps` is the number of columns with missing values that it refuses.
    """
    beyond = find_unsuitable(suits, sizes)
    if beyond:
        meant = " and ".join(describe_range(key, suits[key]) for key in beyond)
        return f"{_describe_sizes(beyond, sizes)}: it is meant for {meant}"
    within = [key for key in sizes if key in suits]
    reasons = [f"tries {', '.join(tried)} on these rows, and keeps the best"] if tried else []
    reasons += [f"number {place} of what auto tries for this file"] if place else []
    if within and not reasons:
        reasons.append(f"{_describe_sizes(within, sizes)} is what it is meant for")
    if gaps:
        columns = "one column has" if gaps == 1 else f"{gaps} columns have"
        reasons.append(f"{columns} gaps: add --set data.missing=mark")
    return "; ".join(reasons) or "meant for any size"


def _describe_sizes(keys: Sequence[str], sizes: Mapping[str, int]) -> str:
    return " and ".join(f"{sizes[key]:,} {key}" for key in keys)
