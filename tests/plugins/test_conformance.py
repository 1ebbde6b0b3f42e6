"""Every law on every registered component."""

import pytest

from dcsvm.testing import checks_of

from .registered import components, settings_of

CHECKS = [
    check
    for kind, name in components()
    for check in checks_of(kind, name, **settings_of(kind, name))
]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_conforms(check):
    check()
