"""Searches for settings, and tests of whether two models differ."""

from dcsvm.model_selection.granularity_search import GranularitySearch
from dcsvm.toolbox.significance import Interval, McNemar, mcnemar, paired_interval

__all__ = ["GranularitySearch", "Interval", "McNemar", "mcnemar", "paired_interval"]
