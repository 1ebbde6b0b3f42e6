"""The class whose path through a tree over the classes is likeliest."""

import numpy as np

from dcsvm import Combiner, Committee, component, setting
from dcsvm.numeric import FloatArray, Matrix, Plan, Step
from dcsvm.toolbox import mean_or_nan, rank_classes


@component
class ClassPath(Combiner):
    """Nested dichotomies: the likeliest path from the root of a class tree to a class.

    The answer of each node is turned into the probability of its two sides by a logistic curve,
    and a class has the product along its path. The score is twice that product minus one. Several
    trees are averaged, as in an ensemble of nested dichotomies. Every node is asked, so prediction
    costs K - 1 binary models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_tree", "kernel_svm", "class_path").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Frank, Kramer: Ensembles of nested dichotomies for multi-class problems (2004).
    """

    name = "class_path"
    accepts = frozenset({"class tree", "groups"})

    steepness: float = setting(
        2.0, above=0, help="slope of the logistic curve at the border: log-odds per score"
    )

    def lower(self, plan: Plan, committee: Committee) -> Step:
        return plan.class_path(self.steepness)

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        paths = np.zeros((X.shape[0], committee.n_classes))
        trees = np.zeros_like(paths)
        for answers in committee.answers(X):
            odds = self.steepness * answers.values
            logs = -np.logaddexp(0.0, -odds) @ (answers.code > 0)
            logs += -np.logaddexp(0.0, odds) @ (answers.code < 0)
            known = np.asarray(abs(answers.code).sum(axis=0)).ravel() > 0
            paths[answers.rows] += np.where(known, np.exp(logs), 0.0)
            trees[answers.rows] += known
        return 2.0 * mean_or_nan(paths, trees) - 1.0

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        return [
            f"the path to class {label} has the probability {(scores[label] + 1) / 2:.4g}"
            for label in rank_classes(scores)
        ]
