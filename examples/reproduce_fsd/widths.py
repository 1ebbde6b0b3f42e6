"""Several kernel widths in one committee: what they are worth on validation rows.

    python examples/reproduce_fsd/widths.py

Subspaces of a kind have these gammas in turn. No test row is read; covertype.py asks them for what
was chosen here.
"""

from __future__ import annotations

import argparse
from typing import Any

import measured
from covertype import chosen, fsd
from data import covertype

NAME = "widths"
WIDTHS = ((32.0,), (128.0,), (32.0, 128.0), (8.0, 32.0, 128.0, 512.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--level", type=int, default=3)
    given = parser.parse_args()
    split = covertype(given.rows)
    choice: dict[str, Any] = chosen()
    for widths in WIDTHS:
        key = {"rows": given.rows, "level": given.level, "widths": list(widths)}
        if measured.read(NAME, **key):
            continue
        made = fsd(given.level, **choice, widths=widths)
        with measured.timed() as training:
            made.fit(*split.training)
        error = round(100.0 * (1.0 - made.score(*split.validation)), 3)
        measured.append(NAME, {**key, **choice, "error": error, **training})


if __name__ == "__main__":
    main()
