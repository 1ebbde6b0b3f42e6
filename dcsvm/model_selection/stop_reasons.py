"""Why a search stops: all was tried, a coarser level gains too little, or the time is used up."""

USED_UP = "the time budget was used up"
#: How a sentence begins that says that a search had no time left.
BUDGET = "the time budget of"


def describe_all_tried(n_cells: int) -> str:
    """Say that every combination was tried."""
    if n_cells == 1:
        return "the one combination was tried"
    return f"all {n_cells} combinations were tried"


def explain_small_gain(gain: float, min_gain: float) -> str:
    """Say that a coarser level is worse, or too little better."""
    if gain < 0:
        return f"a coarser level loses {-gain:.2%}"
    return f"a coarser level gains {gain:.2%}, less than {min_gain:.2%}"


def explain_used_up(seconds: float, after: str = "") -> str:
    """Say that the time budget was used up, and how to extend it."""
    more = f"--set search.seconds={4 * seconds:g} gives it more"
    return f"{BUDGET} {seconds:g} s was used up{after}; {more}"
