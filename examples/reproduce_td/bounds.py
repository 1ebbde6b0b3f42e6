"""The terms of the paper's error bounds: tables 16 and 17."""

from __future__ import annotations

from typing import Any

import global_svm
import measured
import td
from data import split
from td import classifier

from dcsvm_plugins.decomposers.tree.region_bound import tree_terms

#: Seconds of work after which the undivided machine is given up.
CAP = 1200


def run(name: str, training: str, cap: int = CAP) -> None:
    """T1 and T2 of the classifier that was chosen; R and S with the global machine's cell."""
    asked = {"data_set": name, "training": training}
    found = td.found(variant="paper", jobs=1, **asked)
    best = global_svm.chosen(name, training)
    if not found or best is None:
        return
    cell = {"C": best["C"], "gamma": best["gamma"]}
    if measured.read("bounds", **asked, **cell):
        return
    chosen = dict(found[0]["chosen"])
    ceiling = chosen.pop("decomposer__ceiling")
    rows = split(name).training

    def of_tree(**values: Any) -> Any:
        clf = classifier(training, ceiling).set_params(**values).fit(*rows)
        return tree_terms(clf, *rows)

    def undivided() -> dict[str, Any]:
        clf = global_svm.undivided(training, cell).fit(*rows)
        return {"S": tree_terms(clf, *rows).R.value}

    own = of_tree(**chosen)
    same = of_tree(learner__C=cell["C"], learner__gamma=cell["gamma"])
    record = asked | cell | {"ceiling": ceiling, "leaves": own.leaves}
    record |= {"T1": own.T1.value, "T2": own.T2.value}
    record |= {"R": same.R.value, "R_per_leaf": same.R_per_leaf.value}
    record |= measured.capped(undivided, cap)
    print(record, flush=True)
    measured.append("bounds", record)
