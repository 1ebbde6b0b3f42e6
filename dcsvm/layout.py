"""The columns of a table as a model remembers them: names, kinds and levels."""

from __future__ import annotations

import attrs


@attrs.frozen
class Column:
    """A feature as it stands in a file: numbers, or one of some levels.

    In a matrix X, a column with levels holds their places in `levels`, -1 for any other level and
    NaN for a value that is missing.
    """

    name: str
    levels: tuple[str, ...] | None = None


@attrs.frozen(repr=False)
class Layout:
    """What a table of data must look like so that a model can answer it.

    Parameters
    ----------
    features : tuple of Column
        In the order of the columns of X.
    target : str, optional
        The column that holds the classes.
    ids : tuple of str
        Columns that name rows: no features, but worth keeping beside the answers.
    left_out : tuple of str
        Columns that say nothing, or that nobody wanted.
    """

    features: tuple[Column, ...]
    target: str | None = None
    ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.features)

    def __repr__(self) -> str:
        with_levels = sum(column.levels is not None for column in self.features)
        return f"<{len(self.features)} features, {with_levels} of them categorical>"
