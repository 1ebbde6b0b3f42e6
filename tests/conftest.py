"""What all tests share: where the repository is, and how hypothesis searches."""

from pathlib import Path

import hypothesis
import pytest

# Machines that test are busy, and a failure must come back when it is looked at again.
hypothesis.settings.register_profile("dcsvm", deadline=None, derandomize=True)
hypothesis.settings.load_profile("dcsvm")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parents[1]
