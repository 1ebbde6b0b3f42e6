"""A tree of 10,000 leaves sends 1 million rows to them in under 2 s; beside scikit-learn's own."""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from table import Row, show, side_by_side

from dcsvm import DivideAndConquerClassifier, build

LEAVES, ROWS, FEATURES = 10_000, 1_000_000, 54
LIMIT = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few rows: only to see it run")
    options = parser.parse_args()
    leaves, rows = (20, 2000) if options.quick else (LEAVES, ROWS)
    generator = np.random.default_rng(0)
    X = generator.random((20 * leaves, FEATURES))
    y = generator.integers(2, size=len(X))
    tree = build("decomposer", "tree", ceiling=28)
    clf = DivideAndConquerClassifier(tree, "majority", "route", random_state=0).fit(X, y)
    router = clf.model_.committee.groups[0].router
    theirs = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=len(clf.ledger_), random_state=0
    ).fit(X, y)
    asked = generator.random((rows, FEATURES))
    single = asked.astype(np.float32)
    took = side_by_side(
        options.repeats, ours=lambda: router.route(asked), theirs=lambda: theirs.apply(single)
    )
    name = f"{rows:,} rows to {len(clf.ledger_):,} leaves"
    ours = took["ours"]
    show(
        [Row(name, "s", ours, took["theirs"], f"under {LIMIT:.0f} s", ours, LIMIT)],
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
