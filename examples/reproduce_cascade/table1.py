"""Table 1 of the cascade paper: four checkerboards, C = 1,000, sigma = 31.62, r = 0.5.

    python examples/reproduce_cascade/table1.py

The paper writes no formula for its kernel; as SVMlight's users do, exp(-|x - y|^2 / (2 sigma^2))
is taken, so gamma is 0.0005. Every row is measured with dcsvm's own solver and with libsvm.
"""

from __future__ import annotations

from typing import Any

from data import checkerboard
from measured import accuracy, learn, machine, once

from dcsvm import build

C, GAMMA = 1000.0, 1.0 / (2.0 * 31.62**2)
METHODS = {
    "standard": ("whole", {}),
    "cascade": ("cascade", {"ratio": 0.5}),
    "cascade, cold": ("cascade", {"ratio": 0.5, "warm": False}),
}


def measure(number: int, method: str, solver: str, cores: int, **sizes: int) -> dict[str, Any]:
    """One row of the table."""
    rows = checkerboard(number, **sizes)
    name, settings = METHODS[method]
    model, took = learn(
        build("decomposer", name, **settings),
        machine(C, GAMMA, solver=solver),
        *(rows.X, rows.y),
        jobs=cores,
    )
    return {
        **took,
        "train": accuracy(model, rows.X, rows.y),
        "test": accuracy(model, *rows.test()),
    }


def main() -> None:
    for solver in ("own", "libsvm"):
        for cores in (1, 2):
            for number in (1, 2, 3, 4):
                for method in METHODS:
                    key = {
                        "problem": f"A{number}",
                        "method": method,
                        "solver": solver,
                        "cores": cores,
                    }
                    once(
                        "table1",
                        key,
                        lambda key=key, number=number: measure(
                            number, key["method"], key["solver"], key["cores"]
                        ),
                    )


if __name__ == "__main__":
    main()
