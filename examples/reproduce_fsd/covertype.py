"""Table 5 on covertype: DC-DCSVM-TRBF2KRR against DC-SVM early and other approximations.

    python examples/reproduce_fsd/covertype.py                # 50,000 rows, minutes
    python examples/reproduce_fsd/covertype.py --rows all     # the paper's 464,810, up to 2 hours

C and gamma are the paper's. What it does not give (how the second level is regularised, and from
which answers it learns) is chosen on validation rows by ablation.py, and several gammas side by
side by widths.py; the test rows are asked once, by what was chosen. Methods that were measured are
not run again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import measured
from data import Split, covertype
from fsd_strategies import COVERTYPE, COVERTYPE_FEATURES, KINDS, dc_svm_early, fused, subspaces

from dcsvm import DivideAndConquerClassifier, build

NAME = "covertype"
SEVERAL = "DC-DCSVM-TRBF2KRR, several widths"
#: The rows that a method is given at most: beyond, it takes hours.
MOST = {
    "kernel_svm (LibSVM)": 20_000,
    "cascade (CascadeSVM)": 20_000,
    "lasvm (LaSVM)": 10_000,
}


def fsd(
    level: int, folds: int, ridge: float, widths: Sequence[float] = (COVERTYPE["gamma"],)
) -> DivideAndConquerClassifier:
    """Table 2's setting: four subspaces of each kind, DC-SVM early in each, TRBF2-KRR fusion.

    With several `widths`, subspaces of a kind have these gammas in turn.
    """
    learners = [dc_svm_early(level, **{**COVERTYPE, "gamma": gamma}) for gamma in widths]
    spaces = subspaces(dict.fromkeys(KINDS, 4), COVERTYPE_FEATURES, learners)
    second = build("learner", "trbf_krr", order=2, ridge=ridge)
    fusion = build("combiner", "fusion", learner=second, folds=folds, centre="rows")
    return fused(spaces, learners[0], fusion)


def whole(learner: Any) -> DivideAndConquerClassifier:
    return DivideAndConquerClassifier("whole", learner, "route", n_jobs=2, random_state=0)


def llsvm(components: int = 300) -> DivideAndConquerClassifier:
    """The recipe nystroem_svm at the table's C and gamma."""
    map_ = {"use": "Nystroem", "gamma": 32.0, "n_components": components, "random_state": 0}
    return whole(_linear([map_]))


def random_features(components: int = 1000) -> DivideAndConquerClassifier:
    """The recipe random_features_svm at the table's C and gamma."""
    map_ = {"use": "RBFSampler", "gamma": 32.0, "n_components": components, "random_state": 0}
    return whole(_linear([map_]))


def _linear(transformers: list[dict[str, Any]]) -> Any:
    return build(
        "learner",
        "sklearn",
        classifier="LinearSVC",
        settings={"C": 32.0, "random_state": 0, "dual": False},
        transformers=transformers,
    )


def rbf_network(centres: int = 1000) -> DivideAndConquerClassifier:
    """The recipe rbf_network (LTPU) at the table's gamma."""
    return whole(build("learner", "rbf_network", centres=centres, gamma=32.0))


def spsvm(basis: int = 500) -> DivideAndConquerClassifier:
    """SpSVM at the table's C and gamma."""
    return whole(build("learner", "spsvm", C=32.0, gamma=32.0, basis=basis))


def fastfood(components: int = 2000) -> DivideAndConquerClassifier:
    """The features of the paper's FastFood row, and ridge regression on them."""
    return whole(build("learner", "fastfood", gamma=32.0, frequencies=components // 2))


def kernel_svm(decomposer: str = "whole") -> DivideAndConquerClassifier:
    """The exact SVM at the table's C and gamma, undivided or by a cascade."""
    learner = build("learner", "kernel_svm", C=32.0, gamma=32.0)
    return DivideAndConquerClassifier(decomposer, learner, "route", n_jobs=2, random_state=0)


def lasvm() -> DivideAndConquerClassifier:
    """LASVM at the table's C and gamma, each row seen once."""
    return whole(build("learner", "lasvm", C=32.0, gamma=32.0, epochs=1))


def methods(
    level: int, folds: int, ridge: float, widths: Sequence[float]
) -> dict[str, Callable[[], Any]]:
    """What the table compares, quickest first."""
    return {
        "nystroem_svm (LLSVM)": llsvm,
        "random_features_svm (RBFSampler)": random_features,
        "rbf_network (LTPU)": rbf_network,
        "fastfood (FastFood)": fastfood,
        "spsvm (SpSVM)": spsvm,
        "kernel_svm (LibSVM)": kernel_svm,
        "cascade (CascadeSVM)": lambda: kernel_svm("cascade"),
        "lasvm (LaSVM)": lasvm,
        "DC-SVM early": lambda: dc_svm_early(level, **COVERTYPE),
        **{
            f"DC-SVM early, gamma {gamma:g}": partial(
                dc_svm_early, level, **{**COVERTYPE, "gamma": gamma}
            )
            for gamma in widths
            if gamma != COVERTYPE["gamma"]
        },
        "DC-DCSVM-TRBF2KRR": lambda: fsd(level, folds, ridge),
        SEVERAL: lambda: fsd(level, folds, ridge, widths),
    }


def measure(method: str, made: DivideAndConquerClassifier, split: Split, **facts: Any) -> None:
    """Train and ask the test rows, once."""
    with measured.timed() as training:
        made.fit(*split.training)
    X, y = split.test()
    with measured.timed() as answering:
        error = 100.0 * (1.0 - made.score(X, y))
    measured.append(
        NAME,
        {
            "method": method,
            "training_rows": len(split.training[1]),
            "test_rows": len(y),
            "error": round(error, 3),
            "training": training,
            "answering": answering,
            **facts,
        },
    )


def chosen() -> dict[str, Any]:
    """What the validation rows of the ablation spoke for; without them no test row is read."""
    tried = measured.read("ablation", kind="choice")
    if not tried:
        sys.exit("nothing is chosen yet: run examples/reproduce_fsd/ablation.py first")
    best = min(tried, key=lambda record: record["error"])
    return {"folds": best["folds"], "ridge": best["ridge"]}


def chosen_widths() -> tuple[float, ...]:
    """The gammas that widths.py chose on validation rows."""
    tried = measured.read("widths")
    if not tried:
        sys.exit("no widths are chosen yet: run examples/reproduce_fsd/widths.py first")
    return tuple(min(tried, key=lambda record: record["error"])["widths"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="50000", help="rows to learn from, or 'all'")
    parser.add_argument("--level", type=int, default=3, help="DC-SVM stops at 4 ** level clusters")
    parser.add_argument("--only", default="", help="methods whose name has this in it")
    given = parser.parse_args()
    rows = None if given.rows == "all" else int(given.rows)
    split = covertype(rows)
    choice, widths = chosen(), chosen_widths()
    for method, make in methods(given.level, **choice, widths=widths).items():
        key = {"method": method, "training_rows": len(split.training[1])}
        is_small = len(split.training[1]) <= MOST.get(method, len(split.training[1]))
        if given.only in method and is_small and not measured.read(NAME, **key):
            is_divided = method.startswith("DC")
            facts = {"level": given.level} if is_divided else {}
            facts |= choice if "KRR" in method else {}
            facts |= {"widths": widths} if method == SEVERAL else {}
            measure(method, make(), split, **facts)


if __name__ == "__main__":
    main()
