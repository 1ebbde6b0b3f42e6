"""The bits of a local fit; needs pyspark and a Java runtime."""

import sys
from pathlib import Path

import numpy as np
import pytest

import dcsvm
from dcsvm import DivideAndConquerClassifier, build

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")

X = np.random.default_rng(0).normal(size=(900, 4))
y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize("words", [("tree", "route"), ("class_pairs", "vote")])
def test_spark_gives_the_bits_of_a_local_fit(session, words):
    sys.path.insert(0, str(Path(__file__).parent))
    from dcsvm_spark import SparkExecutor

    decomposer = build("decomposer", words[0], **({"ceiling": 100} if words[0] == "tree" else {}))
    here, there = (
        DivideAndConquerClassifier(decomposer, "kernel_svm", words[1], random_state=0)
        for _ in range(2)
    )
    here.fit(X, y)
    with dcsvm.cluster(SparkExecutor(session)):
        there.fit(X, y)
    assert here.decision_function(X).tobytes() == there.decision_function(X).tobytes()
