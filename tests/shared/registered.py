"""Every registered component, with settings under which small problems are really divided."""

from dcsvm import build
from dcsvm.drive.registry import KINDS, default_registry

#: Oblique trees of some dozens of rows keep the laws as well after a fiftieth of the steps.
FEW_STEPS = {"iterations": 2000}
#: What the defaults of a component do not suit problems of 2 to 60 rows with.
SETTINGS = {
    ("decomposer", "abd_subspaces"): {"subspaces": 3},
    ("decomposer", "bcd_subspaces"): {"subspaces": 3},
    ("decomposer", "bayesian_committee"): {"ceiling": 12},
    ("decomposer", "balls"): {"neighbours": 8, "cover": 4},
    ("decomposer", "boosting"): {"rounds": 3},
    ("decomposer", "bootstrap"): {"samples": 3, "size": 0.5},
    ("decomposer", "cascade"): {"ceiling": 12},
    ("decomposer", "cb_svm"): {"size": 4},
    ("decomposer", "chunks"): {"parts": 2},
    ("decomposer", "concept_boundary"): {"neighbours": 3},
    ("decomposer", "dc_svm"): {"depth": 2, "branching": 2},
    ("decomposer", "graf_cascade"): {"parts": 3},
    ("decomposer", "groups"): {"smallest": 3},
    ("decomposer", "growing_bags"): {"size": 10, "most": 4, "abreast": 2},
    ("decomposer", "kernel_kmeans"): {"clusters": 3},
    ("decomposer", "kmeans"): {"clusters": 3},
    ("decomposer", "landmark_voronoi"): {"size": 8},
    ("decomposer", "learned_metric"): {"rounds": 1, "sample": 40},
    ("decomposer", "lsh"): {"bits": 3, "smallest": 3},
    ("decomposer", "mixture"): {"experts": 3, "rounds": 2},
    ("decomposer", "neighbours"): {"count": 6},
    ("decomposer", "oblique_tree"): {"grain": 20, **FEW_STEPS},
    ("decomposer", "repeat"): {"decomposer": "bootstrap", "times": 2},
    ("decomposer", "spill_forest"): {"trees": 2, "ceiling": 8},
    ("decomposer", "sum"): {"summands": ("tree", "chunks")},
    ("decomposer", "tree"): {"ceiling": 6},
}
#: Other settings under which a component goes other ways, checked as well.
VARIANTS = [
    ("decomposer", "cascade", {"pieces": 3, "ratio": 0.1}),
    ("decomposer", "cascade", {"in_turn": True, "ceiling": 20}),
    ("decomposer", "dc_svm", {"depth": 2, "branching": 2, "early": 1}),
    ("decomposer", "kernel_kmeans", {"clusters": 4, "kernel": "laplacian", "border": 0.5}),
    ("decomposer", "kmeans", {"clusters": 4, "balance": 1.0, "sample": 10}),
    (
        "decomposer",
        "oblique_tree",
        {"threshold": "machine", "merge": "none", "grain": 9, **FEW_STEPS},
    ),
    (
        "decomposer",
        "oblique_tree",
        {"prune": 0.3, "merge": "majority", "splitter": "linear_svm", **FEW_STEPS},
    ),
    ("decomposer", "oblique_tree", {"prune": 0.3, "relearn": True, "deepest": 2, **FEW_STEPS}),
    ("decomposer", "oblique_tree", {"prune": 0.3, "rounds": 3, "deepest": 2, **FEW_STEPS}),
    (
        "decomposer",
        "oblique_tree",
        {"teacher": "kernel_svm", "rounds": 3, "grain": 9, **FEW_STEPS},
    ),
    ("decomposer", "piecewise_tree", {"functions": 1, "iterations": 2}),
    ("decomposer", "svm_tree", {"splitter": "linear_svm", "nodes": 3}),
    ("decomposer", "tree", {"ceiling": 4, "prune": 0.3}),
    ("decomposer", "tree", {"ceiling": 8, "relevance": 1.0, "local_scaling": "minmax"}),
    ("decomposer", "class_codes", {"code": "sparse"}),
    ("decomposer", "tree", {"ceiling": 5, "splitter": "random", "border": 0.2}),
    ("decomposer", "dca_subspaces", {"length": "within", "local_scaling": "standard"}),
    ("decomposer", "pca_subspaces", {"features": 1, "subspaces": 2}),
    ("decomposer", "class_tree", {"split": "random"}),
    ("decomposer", "landmark_voronoi", {"radius": 1.0, "overlap": 0.5}),
    ("decomposer", "mixture", {"experts": 2, "gate": "logistic"}),
    ("decomposer", "spill_forest", {"trees": 1, "ceiling": 4, "overlap": 0.0}),
    ("combiner", "product", {"prior": "ignore"}),
    ("decomposer", "cb_svm", {"size": 6, "rounds": 0}),
    ("learner", "fastfood", {"frequencies": 8}),
    ("learner", "kernel_svm", {"kernel": "linear"}),
    ("learner", "krr", {"kernel": "laplacian", "ridge": 1e-6}),
    ("learner", "linear_svm", {"loss": "hinge"}),
    ("learner", "sklearn", {"classifier": "DecisionTreeClassifier"}),
    ("combiner", "dag", {"order": "similarity"}),
    ("learner", "trbf_krr", {"space": "intrinsic", "balance": True}),
    ("combiner", "decode", {"loss": "hamming"}),
    ("combiner", "fusion", {"answers": "labels", "form": "by_class"}),
    ("combiner", "fusion", {"learner": "linear_svm", "folds": 3}),
]


def components():
    """The kind and name of everything that the registry lists."""
    return [(kind, name) for kind in KINDS for name in default_registry().names(kind)]


def settings_of(kind, name):
    settings = dict(SETTINGS.get((kind, name), {}))
    if name == "sum":
        settings["summands"] = tuple(small("decomposer", each) for each in settings["summands"])
    if name == "repeat":
        settings["decomposer"] = small("decomposer", settings["decomposer"])
    return settings


def small(kind, name):
    """The component of that name, set for small problems."""
    return build(kind, name, **settings_of(kind, name))
