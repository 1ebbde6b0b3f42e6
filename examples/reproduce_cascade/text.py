"""Table 7's question on text: Reuters money-fx and a larger generated set, sigma = 2, C = 64.

    python examples/reproduce_cascade/text.py

The paper's corpus is not public. Both sets have 5,000 features and rows of unit length.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from data import Split, generated_text, moneyfx
from measured import accuracy, learn, machine, once

from dcsvm import build

C, GAMMA = 64.0, 1.0 / (2.0 * 2.0**2)
SETS = {
    "money-fx": moneyfx,
    "generated, short": generated_text,
    "generated, long": partial(generated_text, draws=12),
}
METHODS = {"standard": ("whole", {}), "cascade": ("cascade", {"ratio": 0.5})}


def measure(rows: Split, method: str) -> dict[str, Any]:
    """One set by one method."""
    name, settings = METHODS[method]
    model, took = learn(build("decomposer", name, **settings), machine(C, GAMMA), rows.X, rows.y)
    return {
        **took,
        "rows": len(rows.y),
        "train": accuracy(model, rows.X, rows.y),
        "test": accuracy(model, *rows.test()),
    }


def main() -> None:
    for name, source in SETS.items():
        for method in METHODS:
            key = {"data": name, "method": method}
            once("text", key, lambda source=source, key=key: measure(source(), key["method"]))


if __name__ == "__main__":
    main()
