"""The linear support vector machine by stochastic subgradients, with a free bias."""

import attrs
import numpy as np

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import Float32Rows, Hyperplane, PegasosSettings, best_bias, fit_pegasos
from dcsvm.toolbox import Hyperplanes


@component
class Pegasos(LocalLearner):
    """The linear support vector machine by Pegasos; one against the rest for several classes.

    It minimises lambda / 2 |w|^2 + sum(weight x hinge loss) / N, where N is the sum of the row
    weights and lambda = 1 / (C N), so that C means what it means to other SVMs. The bias is not
    regularised (LIBLINEAR's is). The H-LSVM paper moves it a hundredth as far as the normal, which
    can leave it far from its best after any reasonable number of steps; here both go alike.

    What it takes does not grow with the rows: it looks at batch x iterations of them at the most,
    in single precision.

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

    C: float = setting(1.0, above=0, at_most=1e15, help="how much a row inside the margin costs")
    regularization: float | None = setting(
        None, at_least=1e-15, help="lambda itself; none: 1 / (C x the sum of the row weights)"
    )
    batch: int = setting(128, at_least=1, help="rows that one step looks at")
    iterations: int = setting(10_000, at_least=1, help="steps at the most")
    tolerance: float = setting(
        0.0, at_least=0, help="the last step is the first that moves the normal by less"
    )
    bias_rate: float = setting(
        1.0, at_least=0, at_most=1e15, help="tau, what steps of the bias are scaled by"
    )
    project: bool = setting(
        True, help="bring the normal back to length 1 / sqrt(lambda), which the best is within"
    )
    average: bool = setting(True, help="the mean of the later half of the steps, or the last one")
    exact_bias: bool = setting(True, help="at the end, the very best bias for the normal found")

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
