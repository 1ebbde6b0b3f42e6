"""Exceptions of dcsvm, with the exit codes of the command line."""

import difflib
from collections.abc import Iterable
from typing import ClassVar


class DcsvmError(Exception):
    """Base class; the message is one paragraph that a user can act on."""

    exit_code: ClassVar[int] = 1


class UsageError(DcsvmError, ValueError):
    """A command was given arguments that it cannot use."""

    exit_code = 2


class SettingError(DcsvmError, ValueError):
    """A component has no such setting, or does not allow the value."""

    exit_code = 2


class CompositionError(DcsvmError, ValueError):
    """A decomposer, a learner and a combiner do not fit together."""

    exit_code = 2


class RecipeError(DcsvmError, ValueError):
    """A recipe cannot be read, or is incomplete."""

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
    """A model file needs a plugin that is not installed."""

    exit_code = 3


class DiskFullError(DcsvmError):
    """The disk is too full for a file."""


class ClusterError(DcsvmError):
    """A cluster cannot be reached, or loses worker after worker."""


class MemoryLimitError(DcsvmError):
    """A part needs more memory than a limit leaves."""

    exit_code = 2


class ContractError(DcsvmError, TypeError):
    """A component violates its interface: a bug in that component."""


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """Suggest the nearest name and list those available, for an "unknown name" message."""
    names = sorted(available)
    lower = {each.lower(): each for each in reversed(names)}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    hint = f"did you mean {lower[nearest[0]]!r}? " if nearest else ""
    return f"{hint}available: {', '.join(names) or 'none'}"
