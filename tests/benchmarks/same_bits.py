"""Hash the decision values and the labels of every shipped recipe and of 80 random compositions.

`python tests/benchmarks/same_bits.py --write before.json` keeps the hashes, and `--against
before.json` names every one that differs: a change of shape must change none of them. The hashes
hold for one machine and one set of versions, so both runs belong to one machine. Each composition
is also asked row by row, and its labels must be those of the batch. A row whose two best classes
differ by rounding only is a tie, which is named but no failure: sums of one row and of many round
differently. The recipe `auto` has no hash: how many recipes it tries depends on the time.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy
import sklearn
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_classification

import dcsvm
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.datasets.embedded import EMBEDDED
from dcsvm.drive.registry import RECIPE, default_registry
from dcsvm.numeric.native import describe_implementation

COMPOSITIONS = 80
#: Scores that differ by at most this, relative to the larger one, are a tie.
ROUNDING = 1e-12
#: For each case the hashes of values and labels, and which labels of single rows differ.
Hashes: TypeAlias = dict[str, dict[str, Any]]
#: Decomposers, with settings under which 600 rows are really divided, and combiners that suit.
DECOMPOSERS = [
    ("abd_subspaces", {"subspaces": 3}, ("vote", "mean", "fusion")),
    ("bcd_subspaces", {"subspaces": 3}, ("vote", "mean", "fusion")),
    ("bootstrap", {"samples": 3, "size": 0.5}, ("vote", "mean")),
    ("cascade", {"ceiling": 200}, ("route",)),
    ("cascade", {"pieces": 3, "ratio": 0.1}, ("route",)),
    ("chunks", {"parts": 3}, ("vote", "mean", "fusion")),
    ("class_codes", {"code": "sparse"}, ("decode",)),
    ("class_pairs", {}, ("vote", "dag", "mean")),
    ("class_rest", {}, ("argmax", "decode")),
    ("concept_boundary", {"neighbours": 3}, ("route",)),
    ("dc_svm", {"depth": 2, "branching": 2}, ("route",)),
    ("dc_svm", {"depth": 2, "branching": 2, "early": 1}, ("route",)),
    ("dca_subspaces", {"local_scaling": "standard"}, ("vote", "mean", "fusion")),
    ("graf_cascade", {"parts": 4}, ("route",)),
    ("growing_bags", {"size": 100, "most": 4, "abreast": 2}, ("vote", "mean")),
    ("kernel_kmeans", {"clusters": 3}, ("route",)),
    ("kmeans", {"clusters": 4, "balance": 1.0}, ("route",)),
    ("oblique_tree", {"grain": 40}, ("route",)),
    ("oblique_tree", {"teacher": "kernel_svm", "rounds": 3, "grain": 30}, ("route",)),
    ("pca_subspaces", {"subspaces": 2}, ("vote", "mean", "fusion")),
    ("piecewise_tree", {"functions": 1, "iterations": 2}, ("route",)),
    ("rd_subspaces", {}, ("vote", "mean", "fusion")),
    ("svm_tree", {"nodes": 3}, ("route",)),
    ("tree", {"ceiling": 90}, ("route",)),
    ("tree", {"ceiling": 120, "relevance": 1.0, "local_scaling": "minmax"}, ("route",)),
    ("tree", {"ceiling": 150, "splitter": "random", "border": 0.2}, ("route",)),
    ("tree", {"ceiling": 60, "prune": 0.3}, ("route",)),
    ("whole", {}, ("route", "vote", "mean")),
]
NEEDS_SUPPORT = ("cascade", "dc_svm", "graf_cascade")
LEARNERS = [
    ("kernel_svm", {"C": 10.0, "gamma": 0.05}),
    ("kernel_svm", {"kernel": "laplacian", "C": 2.0}),
    ("krr", {"ridge": 1e-3}),
    ("rbf_network", {}),
    ("kernel_svm", {"kernel": "linear"}),
    ("linear_svm", {}),
    ("pegasos", {}),
    ("trbf_krr", {"space": "empirical"}),
    ("sklearn", {"classifier": "DecisionTreeClassifier"}),
]
WITH_SUPPORT = 4  # the first learners of the list


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="file for the hashes")
    parser.add_argument("--against", type=Path, help="file of hashes to compare with")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--exact", action="store_true", help="grow trees with growth='exact'")
    given = parser.parse_args(arguments)
    cases = {**recipe_cases(), **composition_cases(given.exact)}
    hashes = {}
    for name in cases:
        if given.only in name:
            hashes[name] = cases[name]()
            print(*hashes[name].values(), name, flush=True)
    unequal = [name for name in hashes if hashes[name].get("single")]
    for name in unequal:
        print(f"{hashes[name]['single']} labels of single rows differ: {name}")
    for name in hashes:
        for row in hashes[name].get("ties", ()):
            print(f"row {row} is a tie: {name}")
    if given.write:
        given.write.write_text(json.dumps({**describe_build(), "hashes": hashes}, indent=1) + "\n")
    if given.against:
        before = json.loads(given.against.read_text())["hashes"]
        same = compare({name: before[name] for name in before if given.only in name}, hashes)
        sys.exit(bool(unequal or not same))
    sys.exit(bool(unequal))


def describe_build() -> dict[str, str]:
    """What the hashes depend on, next to the machine's C library."""
    root = Path(dcsvm.__file__).parents[1]
    commit = subprocess.run(
        ["git", "-C", root, "rev-parse", "--short", "HEAD"], capture_output=True
    )
    return {
        "commit": commit.stdout.decode().strip(),
        "date": str(date.today()),
        "implementation": describe_implementation(),
        **{library.__name__: library.__version__ for library in (np, scipy, sklearn)},
    }


def compare(before: Hashes, after: Hashes) -> bool:
    """Print which hashes differ; return whether none does."""
    shared = [name for name in after if name in before]
    differing = [name for name in shared if after[name]["values"] != before[name]["values"]]
    same_labels = [name for name in shared if after[name]["labels"] == before[name]["labels"]]
    print(f"{len(shared) - len(differing)} of {len(shared)} decision values are the same")
    print(f"{len(same_labels)} of {len(shared)} labels are the same")
    for name in differing:
        print(f"differs{' in values only' if name in same_labels else ''}: {name}")
    for name in sorted(before.keys() ^ after.keys()):
        print(f"only {'before' if name in before else 'now'}: {name}")
    return not differing and before.keys() <= after.keys()


def recipe_cases():
    """Each shipped recipe, trained by the command line on its embedded data."""
    recipes = {offer.name: offer.what for offer in default_registry().of_kind(RECIPE)}
    return {
        f"recipe {name}": lambda name=name: hash_recipe(name, recipes[name])
        for name in sorted(recipes)
        if name != "auto"
    }


def hash_recipe(name: str, text: str) -> dict[str, Any]:
    table = tomllib.loads(text)
    X, _, _ = EMBEDDED[table["data"]["use"]].load(2000)
    with tempfile.TemporaryDirectory() as folder:
        command = ["run", name, "--out", str(Path(folder, "run")), "--jobs", "2"]
        if "seconds" in table.get("search", {}):  # no time budget may decide what is chosen
            command += ["--set", "search.seconds=3600.0"]
        run = subprocess.run([sys.executable, "-m", "dcsvm", *command], capture_output=True)
        assert run.returncode == 0, run.stderr.decode()
        model = dcsvm.load(Path(folder, "run", "model.dcsvm"))
        return hash_answers(model.decision_function(X), model.predict(X))


def composition_cases(exact: bool = False):
    """Random compositions: the draw depends on this file only."""
    generator = np.random.default_rng(20)
    data = {name: load() for name, load in DATA.items()}
    cases = {}
    while len(cases) < COMPOSITIONS:
        decomposer, combiner = draw_division(generator)
        needs_support = any(name in decomposer for name in NEEDS_SUPPORT)
        among = WITH_SUPPORT if needs_support else len(LEARNERS)
        learner = LEARNERS[generator.integers(among)]
        nested = not needs_support and generator.random() < 0.25
        inner = draw_division(generator) if nested else None
        if inner is not None and any(name in inner[0] for name in NEEDS_SUPPORT):
            learner = LEARNERS[generator.integers(WITH_SUPPORT)]
        rows = list(DATA)[generator.integers(len(DATA))]
        weighted = bool(generator.random() < 0.3)
        name = f"{rows}{' weighted' if weighted else ''}: {decomposer} > "
        name += f"({inner[0]} > {learner} > {inner[1]})" if inner else f"{learner}"
        name += f" > {combiner}"
        composition = decomposer, inner, learner, combiner
        cases[name] = lambda c=composition, d=data[rows], w=weighted: hash_composition(
            c, d, w, exact
        )
    return cases


def draw_division(generator):
    """A decomposer as text, alone, repeated or added to another, and a combiner that suits."""
    name, settings, combiners = DECOMPOSERS[generator.integers(len(DECOMPOSERS))]
    kind = generator.random()
    if kind < 0.15 and "route" in combiners:
        return f"2 * {name} {settings}", "mean"
    return f"{name} {settings}", str(generator.choice(combiners))


def hash_composition(composition, data, weighted: bool, exact: bool) -> dict[str, Any]:
    decomposer, inner, (name, settings), combiner = composition
    learner = build("learner", name, **settings)
    if inner is not None:
        learner = DivideAndConquerClassifier(build_division(inner[0], exact), learner, inner[1])
    X, y, X_test = data
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y)) if weighted else None
    clf = DivideAndConquerClassifier(
        build_division(decomposer, exact), learner, combiner, random_state=3, n_jobs=2
    )
    try:
        clf.fit(X, y, sample_weight=weights)
        scores, labels = clf.decision_function(X_test), clf.predict(X_test)
    except (dcsvm.DcsvmError, ValueError) as error:
        refusal = f"refused: {type(error).__name__}"
        return {"values": refusal, "labels": refusal}
    alone = [clf.predict(X_test[row : row + 1])[0] for row in range(X_test.shape[0])]
    differing = np.flatnonzero(labels != alone)
    ties = [int(row) for row in differing if is_tie(scores[row], clf.classes_, alone[row])]
    return hash_answers(scores, labels) | {"single": len(differing) - len(ties), "ties": ties}


def is_tie(scores, classes, label) -> bool:
    """Whether a row's scores, (classes,) or one number for two, are as high for this label."""
    if np.ndim(scores) == 0:
        return bool(abs(scores) <= ROUNDING)
    best, other = scores.max(), scores[classes == label][0]
    return bool(best - other <= ROUNDING * max(1.0, abs(best)))


def build_division(text: str, exact: bool):
    rest = text.removeprefix("2 * ")
    name, _, settings = rest.partition(" ")
    exactly = {"growth": "exact"} if exact and name == "tree" else {}
    division = build("decomposer", name, **eval(settings, {}), **exactly)
    return 2 * division if "*" in text else division


def blobs():
    X, y = make_classification(
        900, 8, n_informative=6, n_classes=4, n_clusters_per_class=2, random_state=0
    )
    return X[:600], y[:600], X[600:]


def two_classes():
    X, y = make_classification(900, 5, n_informative=4, n_redundant=0, random_state=1)
    return X[:600], y[:600], X[600:]


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16.0, y[:500], X[500:900] / 16.0


def sparse_digits():
    X, y, X_test = digits()
    return sparse.csr_matrix(X), y, sparse.csr_matrix(X_test)


def flowers():
    X, y = load_iris(return_X_y=True)
    return X[::2], load_iris().target_names[y[::2]], X


DATA = {
    "blobs": blobs,
    "two classes": two_classes,
    "digits": digits,
    "sparse digits": sparse_digits,
    "iris": flowers,
}


def hash_answers(scores, labels) -> dict[str, str]:
    return {"values": hash_array(scores), "labels": hash_array(labels)}


def hash_array(array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


if __name__ == "__main__":
    main()
