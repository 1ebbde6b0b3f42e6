"""Logistic regression in the feature space of a Nystroem approximation, with probabilities."""

import attrs
import numpy as np
import scipy

from dcsvm import LocalLearner, LocalModel, Problem, component, setting
from dcsvm.numeric import (
    FloatArray,
    Kernel,
    Matrix,
    Plan,
    Step,
    as_dense,
    axes,
    make_kernel,
    minimize_log_loss,
    prepare,
)
from dcsvm.toolbox import GAMMA_HELP, Cost, Gamma

#: Directions of the landmarks' kernel matrix below this share of the largest are left out.
FAINT = 1e-10


@attrs.frozen(eq=False)
class NystroemLogits(LocalModel):
    """Log-odds that are linear in the kernel values of landmarks."""

    landmarks: FloatArray = attrs.field(metadata=axes("landmarks", "features"))
    coefficients: FloatArray = attrs.field(metadata=axes("landmarks", "labels"))
    biases: FloatArray = attrs.field(metadata=axes("labels"))
    kernel: Kernel

    def check_stored(self, **sizes: int) -> dict[str, int]:
        self.kernel.check_stored()
        sizes = super().check_stored(**sizes)
        labels, columns = sizes["labels"], 1 if sizes["labels"] == 2 else sizes["labels"]
        if labels < 2 or sizes.get("columns", columns) != columns:
            raise ValueError(
                f"NystroemLogits has {labels} labels, but must have those of "
                f"{sizes.get('columns', 'its')} columns of scores"
            )
        return sizes

    def logits(self, X: Matrix) -> FloatArray:
        return np.asarray(self.kernel(X, self.landmarks) @ self.coefficients + self.biases)

    def add_to_plan(self, plan: Plan, n_features: int) -> Step | None:
        given = self.kernel, self.landmarks, self.coefficients, self.biases
        logits = plan.expansion(prepare(*given), n_features)
        return None if logits is None else plan.chain(logits, plan.softmax(len(self.biases)))

    def probabilities(self, X: Matrix) -> FloatArray:
        return np.asarray(scipy.special.softmax(self.logits(X), axis=1))

    def scores(self, X: Matrix) -> FloatArray:
        shares = self.probabilities(X)
        return shares[:, 1:] - shares[:, :1] if shares.shape[1] == 2 else 2.0 * shares - 1.0

    @property
    def cost(self) -> Cost:
        count = float(len(self.landmarks))
        return Cost(kernel_evaluations=count, unique_kernel_evaluations=count)


@component
class Logistic(LocalLearner):
    """Kernel logistic regression on random landmarks; its models have probabilities.

    Multinomial for several classes, with C times the log-loss of a row as in an SVM, so that a
    larger C means less regularization. Training takes time linear in the rows and cubic in
    `landmarks`; prediction costs `landmarks` kernel evaluations. Landmarks are drawn whatever the
    row weights, so weights are only approximately those of repeated rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("whole", "logistic", "mean", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Williams, Seeger: Using the Nystroem method to speed up kernel machines (2001).
    Zhu, Hastie: Kernel logistic regression and the import vector machine (2005).
    """

    name = "logistic"
    keeps_support = False
    row_weights = "approximate"
    stored_types = (NystroemLogits,)

    C: float = setting(1.0, above=0, help="cost of the log-loss of a row")
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    landmarks: int = setting(300, at_least=1, help="maximum number of landmarks")
    iterations: int = setting(1000, at_least=1, help="maximum number of steps of L-BFGS")

    def memory(self, n_rows: int, n_features: int) -> float:
        """The bytes of two matrices of rows by landmarks, and of landmarks by landmarks."""
        landmarks = min(n_rows, self.landmarks)
        return 8.0 * n_rows * n_features + 17.5 * n_rows * landmarks + 24.0 * landmarks**2

    def fit(self, problem: Problem) -> LocalModel:
        kernel = make_kernel("rbf", self.gamma, 3, 0.0, problem.X, problem.weights)
        drawn = problem.seed.generator().permutation(problem.n_rows)[: self.landmarks]
        landmarks = as_dense(problem.X[np.sort(drawn)])
        values, vectors = scipy.linalg.eigh(kernel(landmarks, landmarks))
        kept = values > FAINT * values[-1]
        mapping = vectors[:, kept] / np.sqrt(values[kept])
        features = kernel(problem.X, landmarks) @ mapping
        given = features, problem.y, self.C * problem.masses, problem.n_classes
        weights, biases = minimize_log_loss(*given, self.iterations)
        return NystroemLogits(landmarks, mapping @ weights, biases, kernel)
