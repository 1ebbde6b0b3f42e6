"""What a plugin may offer: pluggy hooks in the entry-point group `dcsvm`.

A plugin is a module. Any of these functions, marked with `@dcsvm.hookimpl`, is called once, when
the registry loads the plugin::

    import dcsvm

    @dcsvm.hookimpl
    def dcsvm_decomposers():
        return [Halves]
"""

from collections.abc import Mapping, Sequence

import pluggy

from dcsvm.base.combiner import Combiner
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.learner import LocalLearner
from dcsvm.base.reporting import Report

PROJECT = "dcsvm"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def dcsvm_decomposers() -> Sequence[type[Decomposer]]:  # type: ignore[empty-body]
    """Return the plugin's decomposer classes."""


@hookspec
def dcsvm_learners() -> Sequence[type[LocalLearner]]:  # type: ignore[empty-body]
    """Return the plugin's learner classes."""


@hookspec
def dcsvm_combiners() -> Sequence[type[Combiner]]:  # type: ignore[empty-body]
    """Return the plugin's combiner classes."""


@hookspec
def dcsvm_recipes() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Return the plugin's recipes: TOML text by name."""


@hookspec
def dcsvm_reports() -> Sequence[type[Report]]:  # type: ignore[empty-body]
    """Return the plugin's report classes; each writes a file into the folder of every run."""
