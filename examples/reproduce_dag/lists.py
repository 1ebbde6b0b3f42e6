"""The list of classes for covertype's decision graph, by validation rows.

    python examples/reproduce_dag/lists.py

Written down before the test rows were read again. Which list the walk starts from changes few
answers, but what they cost. Kernel and C stay those of choose.py; the two lists that `dag` offers,
natural and by similarity, are tried on the validation rows. The one that asks fewer kernel values
is taken, unless McNemar's test says that it errs more. If that is not the natural list, whose
result stands in table 1, the test rows are read once more with it.

The trial goes to measured/lists.jsonl, the test to measured/again.jsonl; what is there is not done
again.
"""

from __future__ import annotations

from typing import Any

import measured
from again import ORDERS
from choose import chosen
from data import Split, split
from final import classifier, tested

from dcsvm.model_selection import mcnemar

NAME = "covertype"


def tried(rows: Split, cell: dict[str, Any]) -> dict[str, Any]:
    """Both lists on the validation rows, and which of them is taken."""
    (X, y), (X_judged, truth) = rows.validations(0)
    answers, evaluations = {}, {}
    for order in ORDERS:
        model = classifier("dagsvm", cell).set_params(combiner__order=order).fit(X, y)
        answers[order] = model.predict(X_judged)
        asked = model.cost(X_judged).unique_kernel_evaluations
        evaluations[order] = float(asked.mean())
    first, second = sorted(ORDERS, key=lambda order: evaluations[order])
    test = mcnemar(truth, answers[first], answers[second])
    worse = test.significant and test.only_first < test.only_second
    return {
        "data_set": rows.name,
        "cell": cell,
        "errors": {order: float((said != truth).mean()) for order, said in answers.items()},
        "kernel_evaluations": evaluations,
        "p_value": test.p_value,
        "taken": second if worse else first,
    }


def main() -> None:
    rows, cell = split(NAME), chosen(NAME, "dagsvm")["cell"]
    if not measured.find("lists", data_set=NAME):
        print(measured.write("lists", tried(rows, cell)), flush=True)
    (found,) = measured.find("lists", data_set=NAME)
    if found["taken"] == "natural" or measured.find("again", data_set=NAME):
        return
    record, _ = tested(rows, "dagsvm", cell, combiner__order=found["taken"])
    error = found["errors"][found["taken"]]
    kept = {**record, "order": found["taken"], "validation_error": error}
    print(measured.write("again", kept))


if __name__ == "__main__":
    main()
