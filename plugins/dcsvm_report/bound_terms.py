"""The terms of the error bound for regions, as a report shows them."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.inspection.bounds import tree_terms

#: No bound is worked out where the machines have more kernel values than this among themselves.
MOST_VALUES = 100_000_000


@attrs.frozen
class Term:
    """A term of an error bound: its name, its value and what it stands for."""

    name: str
    value: float
    words: str

    @property
    def shown(self) -> str:
        return f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.3g}"


def terms_of(classifier: DivideAndConquerClassifier, X: Any, y: Any) -> tuple[Term, ...]:
    """T1, T2, R and R / L of the TD paper, or S, where they are known and quick to work out."""
    if sum(record.support_vectors**2 for record in classifier.ledger_) > MOST_VALUES:
        return ()
    learned = np.isin(y, classifier.classes_)
    found = tree_terms(classifier, X[learned], np.asarray(y)[learned])
    R, T1, T2 = found.R.value, found.T1.value, found.T2.value
    if R is None or T1 is None or T2 is None:
        return ()
    machines = Term("T1", T1, "what the machines add to the bound: R log² n")
    words = "squared norms of the machines and squares of their slacks"
    if found.leaves == 1:
        return machines, Term("S", R, f"{words}, undivided")
    return (
        machines,
        Term("T2", T2, f"what the division into L = {found.leaves:,} regions adds: L log(d n L²)"),
        Term("R", R, f"{words}, added up over regions"),
        Term("R / L", R / found.leaves, "the same by region"),
    )
