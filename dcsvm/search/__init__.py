"""The search for how finely to divide, and with which parameters."""

from dcsvm.search.estimator import PAPER_GRID, GranularitySearch

__all__ = ["PAPER_GRID", "GranularitySearch"]
