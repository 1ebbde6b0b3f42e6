"""How SVC's time grows on binary covertype: 10, 20, 40 and 80 thousand rows, C = 32, gamma = 32.

    python examples/reproduce_cascade/svc_scaling.py [--rows 10000 20000]

The largest takes about an hour. The page fits a power law to what is there and extrapolates.
"""

from __future__ import annotations

import argparse

from data import covertype_binary
from measured import learn_svc, once

C = GAMMA = 32.0


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--rows", type=int, nargs="*", default=[10000, 20000, 40000, 80000])
    for rows in reader.parse_args().rows:

        def measure(rows: int = rows) -> dict[str, object]:
            split = covertype_binary(rows)
            return learn_svc(split.X, split.y, C, GAMMA)[1]

        once("svc_scaling", {"rows": rows}, measure)


if __name__ == "__main__":
    main()
