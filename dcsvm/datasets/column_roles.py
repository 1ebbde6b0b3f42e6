"""Column roles: which column is the target, and which are categorical, numeric or dropped."""

import json
from collections.abc import Sequence

import attrs

from dcsvm.base.errors import DataError, did_you_mean
from dcsvm.datasets.raw_table import Table

Reference = str | int


@attrs.frozen
class ColumnRoles:
    """What the user says about columns; see `dcsvm.datasets.loading.read`."""

    categorical: Sequence[Reference] = ()
    drop: Sequence[Reference] = ()
    numeric: Sequence[Reference] = ()
    dates: Sequence[Reference] = ()
    day_first: bool | None = None
    allow_missing: bool = False
    drop_unlabelled: bool = False


def find_target(table: Table, target: Reference | None) -> int:
    """Return the index of the target column."""
    if target is None:
        if table.ends_with_target:
            return len(table.names) - 1
        raise DataError(
            f"{table.title}: the target column is not given; available: {', '.join(table.names)}"
        )
    return find_column(table, target, "the target")


def find_column(table: Table, reference: Reference, role: str) -> int:
    """Return the index of a column by its name or its number: 1 is the first, -1 the last."""
    if isinstance(reference, int):
        n = len(table.names)
        if not 1 <= abs(reference) <= n:
            raise DataError(
                f"{table.title} has no column number {reference}, which [data] names as {role}; "
                f"it has {n}, and the first is 1"
            )
        return reference - 1 if reference > 0 else n + reference
    if reference not in table.names:
        several = [each.strip() for each in reference.split(",")]
        hint = did_you_mean(reference, table.names)
        if len(several) > 1 and set(several) <= {*table.names}:
            hint = f"several are a list: {json.dumps(several, ensure_ascii=False)}"
        raise DataError(
            f"{table.title} has no column {reference!r}, which [data] names as {role}; {hint}"
        )
    return table.names.index(reference)


def build_conflict_error(title: str, column: str) -> DataError:
    """Return the error for a column that is listed as numeric and is categorical, too."""
    return DataError(
        f"{title}: column {column!r} cannot be listed in `numeric`: it is listed in "
        "`categorical`, or the file declares its levels"
    )
