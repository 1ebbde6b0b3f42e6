"""Fixtures of the architecture tests: environments to install into."""

from installation import clean_copy, environment

__all__ = ["clean_copy", "environment"]
