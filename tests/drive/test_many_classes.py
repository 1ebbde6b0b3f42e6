"""Hundreds of classes: thousands of pairs that take little memory and are not looped over."""

import gc
import sys
import tracemalloc

import attrs
import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base import models

pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of the built-in plugins")


def clusters(classes: int, rows: int, spread: float = 0.7, seed: int = 0):
    """Rows of each class around a place of its own."""
    generator = np.random.default_rng(seed)
    centres = 3.0 * np.random.default_rng(1).normal(size=(classes, 8))
    y = np.repeat(np.arange(classes), rows)
    return centres[y] + spread * generator.normal(size=(len(y), 8)), y


def graph():
    learner = build("learner", "kernel_svm", C=10.0, gamma=0.05)
    return DivideAndConquerClassifier("class_pairs", learner, "dag", random_state=0)


def learned(X, y):
    """A fitted classifier, the bytes that it keeps, and those it took at most."""
    gc.collect()
    tracemalloc.start()
    clf = graph().fit(X, y)
    gc.collect()
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return clf, kept, most


def entries(clf) -> int:
    return sum(len(member.support) for member in clf.model_.committee.members)


@pytest.mark.slow
def test_memory_grows_with_support_vectors_and_not_with_rows() -> None:
    few, kept_by_few, most_of_few = learned(*clusters(30, 5, spread=0.05))
    many, kept_by_many, most_of_many = learned(*clusters(30, 200, spread=0.05))
    assert len(many.model_.committee.members) == 30 * 29 // 2
    # Row ids of all pairs would take 8 bytes for each of 6,000 rows and 29 other classes.
    ids = 8 * 29 * (6000 - 150)
    for_support = 200 * max(entries(many) - entries(few), 0)
    assert kept_by_many - kept_by_few < 0.1 * ids + for_support
    # At the most, the rows themselves and the kernel of one pair come on top.
    rows_and_pair = 3 * 8 * 8 * 6000 + 8 * 400**2
    assert most_of_many - most_of_few < 0.1 * ids + for_support + rows_and_pair


@pytest.fixture(scope="module")
def two_hundred():
    return graph().fit(*clusters(200, 10))


def arrays_of(thing, seen):
    """Every array that an attrs object or a container of them leads to, each once."""
    if isinstance(thing, np.ndarray):
        whole = thing if thing.base is None else thing.base
        seen.setdefault(id(whole), whole)
    elif isinstance(thing, tuple | list):
        for each in thing:
            arrays_of(each, seen)
    elif attrs.has(type(thing)):
        for field in attrs.fields(type(thing)):
            arrays_of(getattr(thing, field.name), seen)
    return seen.values()


def test_200_classes_keep_their_support_vectors_and_little_else(two_hundred) -> None:
    members = two_hundred.model_.committee.members
    assert len(members) == 19_900
    kept = sum(array.nbytes for array in arrays_of(members, {}))
    pool = 8 * 8 * len(two_hundred.model_.support)
    # A support vector of a node has an id in the pool, two as a row, and a coefficient; a node has
    # a code of 200 bytes and a bias.
    assert kept <= 4 * 8 * entries(two_hundred) + pool + (200 + 8) * len(members)
    assert two_hundred.score(*clusters(200, 2, seed=1)) > 0.9


def test_200_classes_answer_without_a_loop_over_the_nodes(two_hundred) -> None:
    clf = two_hundred
    X, _ = clusters(200, 3, seed=2)
    clf.predict(X[:1])  # what is prepared once
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        looking_for_libraries = "threadpoolctl" in frame.f_code.co_filename
        calls += event in ("call", "c_call") and not looking_for_libraries

    for rows in (X[:1], X):
        calls = 0
        sys.setprofile(count)
        try:
            clf.predict(rows)
        finally:
            sys.setprofile(None)
        assert calls < 2_000
    assert (clf.predict(X) == clf.decision_function(X).argmax(axis=1)).all()


def test_scores_of_all_pairs_are_made_a_few_rows_at_a_time(monkeypatch):
    X, y = clusters(9, 30)
    clf = DivideAndConquerClassifier("whole", "kernel_svm", "route", random_state=0).fit(X, y)
    whole = clf.decision_function(X)
    largest = []

    def decide(rows, *given):
        largest.append(len(rows))
        return pair_scores(rows, *given)

    pair_scores = models.pair_scores
    monkeypatch.setattr(models, "pair_scores", decide)
    monkeypatch.setattr(models, "PAIR_VALUES", 100)
    np.testing.assert_allclose(clf.decision_function(X), whole, rtol=0, atol=1e-12)
    assert max(largest) == 2
