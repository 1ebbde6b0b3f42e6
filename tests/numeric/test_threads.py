"""Several threads in compiled code at once get the same bits as one after the other."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.numeric import implementation

pytest.importorskip("dcsvm_plugins", reason="the compositions are made of the built-in plugins")

N_THREADS = 4
ROUNDS = 3
COMPOSITIONS = [
    (build("decomposer", "tree", ceiling=80), "kernel_svm", "route"),
    ("class_pairs", build("learner", "kernel_svm", precision="float32"), "vote"),
    (build("decomposer", "oblique_tree", grain=60), "linear_svm", "route"),
    ("chunks", "krr", "mean"),
]


def answer(composition):
    generator = np.random.default_rng(3)
    X = generator.normal(size=(240, 5))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 1)
    model = DivideAndConquerClassifier(*composition, random_state=0).fit(X, y)
    # Few rows are predicted by a compiled plan, many are not.
    few = model.decision_function(X[:20]).tobytes() + model.predict(X[:20]).tobytes()
    return few + model.decision_function(X).tobytes() + model.predict(X).tobytes()


@pytest.mark.slow
@pytest.mark.skipif(implementation() != "native", reason="asks for the compiled library")
def test_threads_get_the_same_bits():
    expected = [answer(each) for each in COMPOSITIONS]
    assert len(set(expected)) == len(COMPOSITIONS)
    with ThreadPoolExecutor(N_THREADS) as pool:
        for _ in range(ROUNDS):
            assert list(pool.map(answer, COMPOSITIONS * 2)) == expected * 2
