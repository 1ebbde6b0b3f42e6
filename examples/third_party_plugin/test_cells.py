"""Every law of dcsvm on the cells."""

import pytest

from dcsvm.testing import checks_of


@pytest.mark.parametrize("check", checks_of("decomposer", "cells"), ids=str)
def test_cells_conform(check):
    check()
