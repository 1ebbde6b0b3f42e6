"""The most frequent class, for every row."""

import attrs
import numpy as np

from dcsvm import LocalLearner, LocalModel, Problem, component
from dcsvm.numeric import FloatArray, Matrix, axes
from dcsvm.toolbox import Cost


@attrs.frozen(eq=False)
class ClassFrequencies(LocalModel):
    """The same scores (columns,) for every row: the class frequencies of the training rows."""

    fixed_scores: FloatArray = attrs.field(metadata=axes("columns"))

    def scores(self, X: Matrix) -> FloatArray:
        return np.tile(self.fixed_scores, (X.shape[0], 1))

    @property
    def cost(self) -> Cost:
        return Cost()


@component
class Majority(LocalLearner):
    """The class with the most rows or the most weight; ties go to the lowest class.

    It makes a tree decomposer a plain decision tree. Scores are the frequencies of the classes.
    Training is one count, prediction costs nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DivideAndConquerClassifier("oblique_tree", "majority", random_state=0).fit(X, y)
    >>> tree.score(X, y)
    1.0
    """

    name = "majority"
    keeps_support = False
    labels_only = True
    stored_types = (ClassFrequencies,)

    def memory(self, n_rows: int, n_features: int) -> float:
        """None: it looks at labels only."""
        return 0.0

    def fit(self, problem: Problem) -> LocalModel:
        frequencies = np.bincount(problem.y, problem.weights, minlength=problem.n_classes)
        frequencies = frequencies / frequencies.sum()
        return ClassFrequencies(
            frequencies[1:] - frequencies[:1] if problem.n_classes == 2 else frequencies
        )
