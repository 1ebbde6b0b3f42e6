"""Features made comparable before anything is divided."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dcsvm.interfaces import ONE_PART, Decomposer, Stages
from dcsvm.problem import Part, Problem
from dcsvm.settings import component, setting
from dcsvm.views import Scaling


@component
class Scaled(Decomposer):
    """The whole problem as one part that sees its features rescaled.

    With a pipeline as learner, that pipeline divides and learns rescaled rows, and the statistics
    of the training rows stay with the model: raw rows can be predicted and saved models are whole.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dcsvm import DivideAndConquerClassifier, Scaled
    >>> X, y = load_wine(return_X_y=True)
    >>> pairs = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote")
    >>> DivideAndConquerClassifier(Scaled("standard"), pairs, "route").fit(X, y).score(X, y) > 0.95
    True
    """

    name = "scaled"
    yields = frozenset({ONE_PART})

    scale: Literal["minmax", "standard"] = setting(
        "minmax", help="to [0, 1], or to mean 0 and deviation 1"
    )

    def divide(self, problem: Problem) -> Stages:
        yield [Part(np.arange(problem.n_rows), view=Scaling(self.scale))]
        return None
