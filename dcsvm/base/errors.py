"""Every exception that dcsvm raises on purpose, with the exit code the command line gives it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar


class DcsvmError(Exception):
    """The base of all: its message is one paragraph that a user can act on."""

    exit_code: ClassVar[int] = 1


class UsageError(DcsvmError, ValueError):
    """A command was asked for something that cannot be done, whatever the recipe says."""

    exit_code = 2


class SettingError(DcsvmError, ValueError):
    """A component was given a setting it does not have or a value it does not allow."""

    exit_code = 2


class CompositionError(DcsvmError, ValueError):
    """A decomposer, a learner and a combiner do not fit together."""

    exit_code = 2


class RecipeError(DcsvmError, ValueError):
    """A recipe cannot be read or does not say what it must."""

    exit_code = 2


class UnknownNameError(DcsvmError, ValueError):
    """No component of that kind has that name."""

    exit_code = 2


class PluginError(DcsvmError):
    """A plugin is missing, broken, or claims a name that is taken."""

    exit_code = 3


class DataError(DcsvmError, ValueError):
    """The data cannot be read, or cannot be learned from."""

    exit_code = 4


class ModelFileError(DcsvmError, ValueError):
    """A model cannot be saved to, or loaded from, a file."""

    exit_code = 4


class ModelPluginError(ModelFileError, PluginError):
    """A model file needs a plugin that is not there."""

    exit_code = 3


class ContractError(DcsvmError, TypeError):
    """A component broke the contract of its interface: a bug of that component."""


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """Say what was probably meant, and what there is: the tail of an "unknown name" sentence."""
    names = sorted(available)
    lower = {each.lower(): each for each in reversed(names)}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    hint = f"did you mean {lower[nearest[0]]!r}? " if nearest else ""
    return f"{hint}available: {', '.join(names) or 'none'}"
