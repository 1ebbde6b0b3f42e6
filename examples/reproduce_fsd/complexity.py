"""Table 1 by measuring: time of each transform against features and against rows.

    OMP_NUM_THREADS=1 python examples/reproduce_fsd/complexity.py

Processor seconds of making the views of one division, the least of several times; exponents are
slopes of straight lines through the logarithms of the larger half of the sizes.
"""

from __future__ import annotations

import time

import measured
import numpy as np
from fsd_strategies import KINDS
from threadpoolctl import threadpool_limits

from dcsvm import Problem, build

NAME = "complexity"
BLOCKS = 4
FEATURES = (100, 200, 400, 800, 1600)
ROWS = (2000, 4000, 8000, 16000, 32000)
FIXED_ROWS, FIXED_FEATURES = 2000, 100


def problem(rows: int, features: int) -> Problem:
    generator = np.random.default_rng(0)
    return Problem(generator.normal(size=(rows, features)), np.arange(rows) % 2, 2)


def seconds(kind: str, rows: int, features: int) -> float:
    """The least processor time of a few divisions into subspaces."""
    given = problem(rows, features)
    spaces = build(
        "decomposer", f"{kind}_subspaces", subspaces=BLOCKS, features=features // BLOCKS
    )
    took = []
    with threadpool_limits(limits=1):
        for _ in range(5):
            started = time.process_time()
            spaces.views(given)
            took.append(time.process_time() - started)
            if sum(took) > 5.0:
                break
    return min(took)


def slope(sizes: tuple[int, ...], times: list[float]) -> float:
    """The exponent of the larger half: small sizes measure overhead."""
    half = len(sizes) // 2
    x, y = np.log(sizes[half:]), np.log(times[half:])
    return round(float(np.polyfit(x, y, 1)[0]), 2)


def main() -> None:
    for kind in KINDS:
        for along, sizes in (("features", FEATURES), ("rows", ROWS)):
            if measured.read(NAME, transform=kind, along=along):
                continue
            shapes = [
                (FIXED_ROWS, size) if along == "features" else (size, FIXED_FEATURES)
                for size in sizes
            ]
            times = [seconds(kind, *shape) for shape in shapes]
            record = {"transform": kind, "along": along, "sizes": sizes}
            exponent = slope(sizes, [max(each, 1e-7) for each in times])
            measured.append(NAME, {**record, "seconds": times, "exponent": exponent})


if __name__ == "__main__":
    main()
