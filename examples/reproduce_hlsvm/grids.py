"""The cells that are tried for each method and task, and how many folds judge them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from data import TASKS

#: Trees that lower the entropy as fast as they can by few steps of Pegasos, as opposed to those
#: of the paper, which are the default.
GREEDY: Mapping[str, Any] = {
    "threshold": "impurity",
    "weights": "mean_one",
    "batches": "in_turn",
    "regularization": 1e-3,
    "batch": 64,
    "iterations": 20_000,
    "tolerance": 0.0,
    "bias_rate": 1.0,
    "average": True,
}
GRIDS: Mapping[str, Mapping[str, list[Any]]] = {
    "h_lsvm_published": {
        "scale": ["symmetric"],
        "regularization": [1e-3, 1e-4, 1e-5, 1e-6],
        "prune": [0.0, 0.1, 0.2],
        "iterations": [100_000],
    },
    "h_lsvm": {
        "scale": ["minmax", "standard"],
        "regularization": [1e-5, 1e-4, 1e-3, 1e-2],
        "deepest": [4, 6, 8],
        "rounds": [20],
    },
    "h_lsvm_greedy": {
        "scale": ["minmax", "standard"],
        "regularization": [1e-4, 1e-3, 1e-2],
        "prune": [0.0, 0.1, 0.2],
        "threshold": ["impurity", "machine"],
    },
    # Beyond the paper: its tree on features of a Gaussian kernel.
    "h_lsvm_nystroem": {
        "scale": ["standard"],
        "gamma": [1.0],
        "n_components": [50],
        "regularization": [1e-3, 1e-4],
        "prune": [0.0, 0.2],
        "iterations": [100_000],
    },
    "svm_tree": {"scale": ["minmax", "standard"], "C": [0.1, 1.0, 10.0], "nodes": [4, 16]},
    "linear": {"scale": ["minmax", "standard"], "C": [0.01, 0.1, 1.0, 10.0, 100.0]},
    "rbf": {"scale": ["minmax"], "C": [1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]},
    "adaboost": {"scale": ["minmax"]},
    # The DC-SVM paper's cell for covertype, where no exact RBF SVM can be learned.
    "dc_svm_early": {"scale": ["minmax"], "C": [32.0], "gamma": [32.0], "clusters": [1.0]},
}
GRIDS = {
    **GRIDS,
    **dict.fromkeys(("h_lsvm_direct", "h_lsvm_grown", "h_lsvm_votes"), GRIDS["h_lsvm"]),
}
#: What a first grid left to be wished for: learned more carefully, moved by impurity only.
CAREFUL: Mapping[str, list[Any]] = {
    "scale": ["minmax", "standard"],
    "regularization": [1e-4, 1e-3, 3e-3, 1e-2],
    "prune": [0.0, 0.2],
    "threshold": ["impurity"],
    "passes": [20.0, 200.0],
}
#: Where a full search would take hours: other grids (for rbf the paper's own cell).
SMALLER: Mapping[tuple[str, str], Mapping[str, list[Any]]] = {
    # Rows as LIBSVM offers them; a tree of 10^-5 takes two minutes.
    ("ijcnn1", "h_lsvm_published"): {
        "scale": ["none"],
        "regularization": [1e-3, 1e-4, 1e-5],
        "prune": [0.0],
        "iterations": [10_000_000],
    },
    ("shuttle", "h_lsvm_published"): {
        "scale": ["symmetric"],
        "regularization": [1e-5, 1e-6, 1e-7],
        "prune": [0.0, 0.2],
        "iterations": [1_000_000],
    },
    ("banana", "h_lsvm_published"): {
        "scale": ["none"],
        "regularization": [1e-3, 1e-4, 1e-5, 1e-6],
        "prune": [0.0, 0.1, 0.2],
        "iterations": [100_000],
    },
    ("usps", "h_lsvm_published"): {
        "scale": ["symmetric"],
        "regularization": [1e-3, 1e-4, 1e-5],
        "prune": [0.0],
        "iterations": [100_000],
    },
    # The paper's cell, since a tree takes too long to choose among several.
    ("mnist", "h_lsvm_published"): {
        "scale": ["minmax"],
        "regularization": [1e-4],
        "prune": [0.2],
        "iterations": [100_000],
    },
    # At 10^-7, the paper's choice, a node takes up to 10^7 steps to converge: days in all.
    ("covertype", "h_lsvm_published"): {
        "scale": ["minmax", "symmetric"],
        "regularization": [1e-5, 1e-6, 1e-7],
        "prune": [0.0],
        "iterations": [20_000, 200_000],
    },
    ("ijcnn1", "h_lsvm_nystroem"): {
        "scale": ["none"],
        "gamma": [1.0],
        "n_components": [200],
        "regularization": [1e-4, 1e-5],
        "prune": [0.0],
        "iterations": [20_000],
    },
    ("banana", "h_lsvm_greedy"): CAREFUL,
    ("ijcnn1", "h_lsvm_greedy"): CAREFUL,
    ("shuttle", "h_lsvm_greedy"): CAREFUL,
    ("mnist", "h_lsvm_greedy"): {
        "scale": ["minmax"],
        "regularization": [1e-4, 1e-3, 1e-2],
        "prune": [0.0, 0.2],
        "threshold": ["impurity"],
    },
    # A kernel SVM teaches the tree, since a tenth of the labels is noise.
    ("banana", "h_lsvm"): {
        "scale": ["standard"],
        "regularization": [1e-4, 1e-3],
        "deepest": [4, 5, 6],
        "rounds": [20],
        "C": [1.0, 10.0],
        "gamma": [0.5, 1.0],
    },
    ("ijcnn1", "h_lsvm"): {
        "scale": ["minmax"],
        "regularization": [1e-5, 3e-5, 1e-4],
        "deepest": [5, 6, 7, 8],
        "rounds": [20],
    },
    ("cbcl", "h_lsvm"): {
        "scale": ["minmax", "standard"],
        "regularization": [1e-3, 1e-2, 1e-1],
        "deepest": [2, 3, 4],
        "rounds": [20],
    },
    # Pairs that one hyperplane separates almost: margins to learn from, where errors are few.
    ("usps", "h_lsvm"): {"scale": ["minmax"], "functions": [2, 4, 6], "C": [0.05, 0.1, 0.2]},
    # Few rows for many features: better converged machines, by LIBLINEAR, and left in their place.
    ("usps", "h_lsvm_grown"): {
        "scale": ["minmax"],
        "C": [0.01, 0.03, 0.1, 0.3],
        "threshold": ["machine"],
        "rounds": [0, 5],
        "regularization": [1e-2],
    },
    ("usps", "h_lsvm_direct"): {
        "scale": ["minmax"],
        "regularization": [1e-3, 1e-2, 1e-1],
        "deepest": [6, 8],
        "rounds": [0, 10],
    },
    ("mnist", "h_lsvm"): {
        "scale": ["minmax"],
        "regularization": [1e-4, 1e-3, 1e-2],
        "prune": [0.2],
        "rounds": [0, 10],
    },
    ("banana", "rbf"): {"scale": ["standard"], "C": [1.0, 10.0], "gamma": [0.5, 1.0]},
    ("ijcnn1", "rbf"): {"scale": ["none"], "C": [10.0], "gamma": [1.0]},
    # The paper's rows are in [-1, 1], ours in [0, 1]: gamma is four times as large.
    ("shuttle", "rbf"): {"scale": ["minmax"], "C": [1e6], "gamma": [4.0]},
    ("usps", "rbf"): {"scale": ["minmax"], "C": [10.0], "gamma": [0.01, 0.04]},
    ("covertype", "h_lsvm"): {
        "scale": ["minmax", "standard"],
        "regularization": [1e-3, 1e-2],
        "prune": [0.0, 0.1],
    },
    ("mnist", "linear"): {"scale": ["minmax"], "C": [0.01, 0.1, 1.0]},
    ("covertype", "linear"): {"scale": ["standard"], "C": [1.0]},
    ("mnist", "rbf"): {"scale": ["minmax"], "C": [100.0], "gamma": [0.01, 0.04]},
    # The paper's cell. Half of the rows are support vectors: an hour or so, and 10 GB.
    ("covertype", "rbf"): {
        "scale": ["minmax"],
        "C": [1.0],
        "gamma": [0.346],
        "cache_size": [4000.0],
    },
    ("mnist", "svm_tree"): {"scale": ["minmax"], "C": [0.01, 0.1], "nodes": [4]},
    ("covertype", "svm_tree"): {"scale": ["standard"], "C": [1.0], "nodes": [4]},
}
#: Folds, and rows that they are drawn from; of a data set, or of one method there.
FOLDS: Mapping[Any, tuple[int, int]] = {
    ("ijcnn1", "h_lsvm_published"): (5, 10**9),
    ("shuttle", "h_lsvm_published"): (5, 10**9),
    ("covertype", "h_lsvm_published"): (5, 25_000),
    ("ijcnn1", "h_lsvm_nystroem"): (5, 10**9),
    ("mnist", "rbf"): (2, 10_000),
    ("mnist", "svm_tree"): (2, 5_000),
    "ijcnn1": (3, 10**9),
    "shuttle": (3, 10**9),
    "mnist": (2, 30_000),
    "covertype": (2, 200_000),
}
#: Where the first of the folds has to do: a fifth of the rows to choose on.
FIRST_FOLD = {
    *((name, "h_lsvm_published") for name in ("ijcnn1", "mnist", "covertype")),
    *((name, "h_lsvm_nystroem") for name in TASKS),
}
#: Who combines the answers of pairs of classes, by method. Votes of contests ask five times as
#: many hyperplanes as a decision graph.
PAIRED = {
    "h_lsvm": "dag",
    **dict.fromkeys(
        (
            *("h_lsvm_published", "h_lsvm_votes", "h_lsvm_grown", "h_lsvm_greedy"),
            *("svm_tree", "linear"),
        ),
        "vote",
    ),
}
RANDOM_SPLITS = {"banana": 10, "cbcl": 10, "covertype": 10}
