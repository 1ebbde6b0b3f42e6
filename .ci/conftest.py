"""Fixtures of the checks of what is built: environments to install into."""

from pathlib import Path

import pytest
from installation import clean_copy, environment

__all__ = ["clean_copy", "environment"]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parents[1]
