"""Searches for settings, and tests of whether two models differ."""

from dcsvm.model_selection.granularity_search import GranularitySearch

__all__ = ["GranularitySearch"]
