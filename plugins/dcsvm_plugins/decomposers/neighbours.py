"""Local models of the nearest rows of each new row, trained at prediction."""

import numpy as np

from dcsvm import Decomposer, Problem, component, part, setting
from dcsvm.toolbox import LazyLearner, Stages


@component
class Neighbours(Decomposer):
    """kNN-SVM: for each new row, a model is trained on its nearest training rows.

    Nothing is trained before prediction. A prediction costs a search for neighbours and the
    training of a small model, so use it for few new rows, or as the reference that `balls`
    approximates. The cost of predictions is unknown: it is mostly training.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> near = build("decomposer", "neighbours", count=30)
    >>> clf = DivideAndConquerClassifier(near, "kernel_svm", "route").fit(X[::2], y[::2])
    >>> clf.score(X[1::2], y[1::2]) > 0.9
    True

    References
    ----------
    Zhang, Berg, Maire, Malik: SVM-KNN: discriminative nearest neighbor classification (2006).
    Blanzieri, Melgani: Nearest neighbor classification with the maximal margin principle (2008).
    """

    name = "neighbours"
    yields = frozenset({"one part"})
    rows_held = 0.0

    count: int = setting(100, at_least=1, help="nearest rows that a model is trained on")

    def divide(self, problem: Problem) -> Stages:
        yield [part(np.arange(problem.n_rows), learner=LazyLearner(self.count))]
        return None
