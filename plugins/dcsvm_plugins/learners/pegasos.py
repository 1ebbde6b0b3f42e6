"""The linear support vector machine by stochastic subgradients, with a free bias."""

import attrs
import numpy as np

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import Float32Rows, Hyperplane, PegasosSettings, best_bias, fit_pegasos
from dcsvm.toolbox import Hyperplanes


@component
class Pegasos(LocalLearner):
    """The linear support vector machine by Pegasos, one against the rest.

    It minimizes lambda / 2 |w|^2 + sum(weight x hinge loss) / N, where N is the sum of the row
    weights and lambda = 1 / (C N), so that C means the same as in other SVMs. The bias is not
    regularized, unlike LIBLINEAR's. The H-LSVM paper moves the bias a hundredth as far as the
    weights, which can leave it far from its optimum; here both move alike.

    The cost does not grow with the rows: it looks at no more than batch x iterations of them, in
    single precision. The solution is approximate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> pairs = DivideAndConquerClassifier("class_pairs", "pegasos", "vote", random_state=0)
    >>> pairs.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Shalev-Shwartz, Singer, Srebro: Pegasos: primal estimated sub-gradient solver for SVM (2007).
    """

    name = "pegasos"
    keeps_support = False

    C: float = setting(1.0, above=0, at_most=1e15, help="cost of margin violations")
    regularization: float | None = setting(
        None, at_least=1e-15, help="lambda itself; none for 1 / (C x the sum of the row weights)"
    )
    batch: int = setting(128, at_least=1, help="rows per step")
    iterations: int = setting(10_000, at_least=1, help="maximum number of steps")
    tolerance: float = setting(0.0, at_least=0, help="stop when a step moves the weights by less")
    bias_rate: float = setting(
        1.0, at_least=0, at_most=1e15, help="tau, scale of the steps of the bias"
    )
    project: bool = setting(
        True, help="project the weights to length 1 / sqrt(lambda), which bounds the optimum"
    )
    average: bool = setting(
        True, help="use the mean of the later half of the steps, not the last one"
    )
    exact_bias: bool = setting(True, help="finally compute the best bias for the weights")

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of the rows in single precision, and of their order and products."""
        return 4.0 * n_rows * n_features + 80.0 * n_rows

    def fit(self, problem: Problem) -> LocalModel:
        rows = Float32Rows.of(problem.X)
        total = problem.n_rows if problem.weights is None else float(problem.weights.sum())
        settings = PegasosSettings(
            self.regularization or 1.0 / (self.C * total),
            *(self.batch, self.iterations, self.tolerance),
            *(self.bias_rate, self.project, self.average),
        )
        order = problem.seed.generator().permutation(problem.n_rows)

        def against_rest(label: int) -> Hyperplane:
            signs = np.where(problem.y == label, 1.0, -1.0)
            plane = fit_pegasos(rows, signs, problem.weights, order, settings)
            if not self.exact_bias:
                return plane
            scores = np.asarray(problem.X @ plane.weights)
            return attrs.evolve(plane, bias=best_bias(scores, signs, problem.weights))

        labels = range(1 if problem.n_classes == 2 else 0, problem.n_classes)
        planes = [against_rest(label) for label in labels]
        return Hyperplanes(
            np.stack([plane.weights for plane in planes], axis=1),
            np.array([plane.bias for plane in planes]),
        )
