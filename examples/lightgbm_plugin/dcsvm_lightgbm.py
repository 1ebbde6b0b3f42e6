"""A foreign library as a learner: LightGBM, whose trees are stored as its own text."""

from functools import cached_property

import attrs
import lightgbm
import numpy as np
from scipy import sparse

from dcsvm import DataError, LocalLearner, LocalModel, component, hookimpl, setting

RECIPE = """
about = "columns of different kinds: a tree divides the rows, LightGBM learns each part"
suits = { rows = [2000, 5000000] }
data = { use = "breast_cancer", scale = "none" }
decomposer = { use = "tree", ceiling = 5000 }
learner = "lightgbm"
combiner = "route"
probability = "auto"

[search]
rows = 5000
learner.leaves = [7, 31]
"""
#: Equal bits in every run, no messages, and small parts that are learned as they are.
FIXED = {"deterministic": True, "force_row_wise": True, "verbosity": -1, "min_data_in_bin": 1}


def as_lightgbm(X):
    """Rows as numbers that LightGBM takes: it knows sparse matrices, but no sparse arrays."""
    return sparse.csr_matrix(X, dtype=float) if sparse.issparse(X) else X.astype(float)


@attrs.frozen(eq=False)
class LightGBMTrees(LocalModel):
    """Boosted trees as text, the one form that LightGBM reads again with equal bits."""

    text: str

    @cached_property
    def booster(self):  # not a field, so copies, pickles and files hold the text only
        return lightgbm.Booster(model_str=self.text)

    def check_stored(self, **sizes):
        """Raise unless LightGBM reads the text, and it is of these features and columns."""
        sizes = super().check_stored(**sizes)
        try:
            found = self.booster.num_feature(), self.booster.num_model_per_iteration()
        except lightgbm.basic.LightGBMError as error:
            raise ValueError(f"LightGBMTrees.text cannot be read: {error}") from error
        for axis, length in zip(("features", "columns"), found, strict=True):
            if sizes.setdefault(axis, length) != length:
                raise ValueError(f"LightGBMTrees has {length} {axis}, not {sizes[axis]}")
        return sizes

    def probabilities(self, X):
        shares = self.booster.predict(as_lightgbm(X), num_threads=1).reshape(X.shape[0], -1)
        return np.hstack([1.0 - shares, shares]) if shares.shape[1] == 1 else shares

    def scores(self, X):  # about -1 for a class that is ruled out, 1 for a certain one
        shares = self.probabilities(X)
        return shares[:, 1:] - shares[:, :1] if shares.shape[1] == 2 else 2.0 * shares - 1.0


@component
class LightGBM(LocalLearner):
    """Gradient boosted trees by LightGBM; its models have probabilities.

    Leaves need a least number of rows, which weights do not count for, so weights are only
    approximately those of repeated rows. The cost of a prediction is unknown. A model file holds
    the text of LightGBM, whose reader is not made for texts from strangers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("whole", LightGBM(), "route").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Ke et al.: LightGBM: a highly efficient gradient boosting decision tree (2017).
    """

    name = "lightgbm"
    keeps_support = False
    row_weights = "approximate"
    stored_types = (LightGBMTrees,)

    rounds: int = setting(100, at_least=1, help="number of trees of each class")
    leaves: int = setting(31, at_least=2, help="maximum number of leaves of a tree")
    rate: float = setting(0.1, above=0, help="learning rate")
    smallest: int = setting(5, at_least=1, help="least number of rows of a leaf")

    def fit(self, problem):
        several = {"objective": "multiclass", "num_class": problem.n_classes}
        settings = FIXED | (several if problem.n_classes > 2 else {"objective": "binary"})
        settings |= {"seed": problem.seed.integer() % 2**31, "num_threads": problem.threads}
        settings |= {"num_leaves": self.leaves, "learning_rate": self.rate}
        settings |= {"min_data_in_leaf": self.smallest}
        rows = as_lightgbm(problem.X), problem.y, None, problem.weights
        try:
            booster = lightgbm.train(
                settings, lightgbm.Dataset(*rows), num_boost_round=self.rounds
            )
        except lightgbm.basic.LightGBMError as error:
            raise DataError(f"lightgbm cannot learn a part: {error}") from error
        return LightGBMTrees(booster.model_to_string())


@hookimpl
def dcsvm_learners():
    return [LightGBM]


@hookimpl
def dcsvm_recipes():
    return {"tree_of_lightgbm": RECIPE}
