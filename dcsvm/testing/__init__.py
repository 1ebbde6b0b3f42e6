"""Conformance kit: the laws of components, as checks for pytest.

A plugin's own test is three lines::

    import dcsvm.testing
    import pytest

    @pytest.mark.parametrize("check", dcsvm.testing.checks_of("decomposer", "tree"), ids=str)
    def test_conforms(check):
        check()

`pytest -p dcsvm.testing.summary` ends with a table of the checks run on each component.
"""

try:
    import hypothesis as _hypothesis  # noqa: F401
except ImportError as error:  # pragma: no cover - the test environment has it
    raise ImportError("dcsvm.testing needs hypothesis: pip install 'dcsvm[test]'") from error

# Importing a module registers its laws.
import dcsvm.testing.combiner_laws
import dcsvm.testing.component_laws
import dcsvm.testing.decomposer_laws
import dcsvm.testing.engine_laws
import dcsvm.testing.learner_laws
import dcsvm.testing.model_file_laws
import dcsvm.testing.probability_laws
import dcsvm.testing.router_laws  # noqa: F401
from dcsvm.testing.checks import Check, checks_of, expect, for_any, law, laws_of
from dcsvm.testing.problems import easy_problem, freeze, problems

__all__ = [
    "Check",
    "checks_of",
    "easy_problem",
    "expect",
    "for_any",
    "freeze",
    "law",
    "laws_of",
    "problems",
]
