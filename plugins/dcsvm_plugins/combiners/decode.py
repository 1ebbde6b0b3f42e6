"""The class whose code word fits the answers of the members best."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from dcsvm import Combiner, Committee, component, setting
from dcsvm.numeric import FloatArray, Matrix, Plan, Step
from dcsvm.toolbox import rank_classes

#: The gain of an answer z on the side of a class: the loss at 0 minus the loss at z.
GAINS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "hamming": lambda z: z,  # of the half votes +1/2 and -1/2
    "hinge": lambda z: np.minimum(z, 1.0),
    # Sums of exponentials beyond 500 could overflow.
    "exponential": lambda z: 1.0 - np.exp(np.minimum(-z, 500.0)),
    "linear": lambda z: z,
}


@component
class Decode(Combiner):
    """Output codes: the class whose code word fits the answers of the members best wins.

    The score of a class is minus the loss summed over all columns, up to a constant; a class that
    a column leaves out pays the loss of an answer of zero. With the Hamming distance, ties go to
    the larger sum of decision values. All members are asked about every row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_codes", "kernel_svm", "decode").fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Dietterich, Bakiri: Solving multiclass learning problems via error-correcting output codes
    (1995). Allwein, Schapire, Singer: Reducing multiclass to binary (2000).
    """

    name = "decode"
    accepts = frozenset({"class codes", "class pairs", "groups"})

    loss: Literal["hinge", "exponential", "linear", "hamming"] = setting(
        "hinge", help="loss of an answer against the code word"
    )

    def add_to_plan(self, plan: Plan, committee: Committee) -> Step:
        return plan.decode(self.loss)

    def combine(self, committee: Committee, X: Matrix) -> FloatArray:
        scores = np.zeros((X.shape[0], committee.n_classes))
        sums, known = np.zeros_like(scores), np.zeros_like(scores)
        gain = GAINS[self.loss]
        for answers in committee.answers(X):
            values = answers.values
            if self.loss == "hamming":
                values = np.where(values > 0, 0.5, -0.5)
            weights = 1.0 if answers.weights is None else answers.weights[:, answers.owner]
            scores[answers.rows] += (gain(values) * weights) @ (answers.code > 0)
            scores[answers.rows] += (gain(-values) * weights) @ (answers.code < 0)
            sums[answers.rows] += answers.sums()
            known[answers.rows] += answers.total_weights()
        if self.loss == "hamming":
            # Different distances differ by at least a half, and this adds less than a quarter.
            scores += sums / (5.0 * (np.abs(sums) + 1.0))
        return np.where(known > 0, scores, np.nan)

    def trace(self, committee: Committee, x: Matrix) -> list[str]:
        scores = self.combine(committee, x)[0]
        return [
            f"class {label} fits its code word with {scores[label]:.4g} ({self.loss})"
            for label in rank_classes(scores)
        ]
