"""A mixture of experts: the gate is a part, and the weights are its softmax."""

import numpy as np
from scipy.special import softmax
from sklearn.datasets import make_moons

from dcsvm import DivideAndConquerClassifier, build

X, y = make_moons(400, noise=0.15, random_state=0)


def fitted(learner="linear_svm", **settings):
    mixture = build("decomposer", "mixture", **settings)
    clf = DivideAndConquerClassifier(mixture, learner, "route", random_state=0, keep_rows=True)
    return clf.fit(X, y)


def test_scores_are_those_of_the_experts_weighed_by_the_gate():
    clf = fitted(experts=3, rounds=1)
    committee = clf.model_.committee
    assert all(member.code.all() for member in committee.members)  # all of them know both classes
    gate = committee.groups[0].router.gate
    shares = softmax(2.0 * np.where(gate.code.any(axis=0), gate.scores(X) @ gate.code, -1), axis=1)
    scores = np.hstack([member.scores(X) for member in committee.members])
    np.testing.assert_allclose(clf.decision_function(X), (shares * scores).sum(axis=1))


def test_experts_and_gate_are_trained_in_turn_and_recorded():
    ledger = fitted(experts=3, rounds=2).ledger_
    assert [record.path[0] for record in ledger] == [0, 0, 0, 1, 2, 2, 2, 3]
    assert [record.rows for record in ledger if record.path[0] % 2] == [400, 400]


def test_no_expert_gets_more_than_its_limit():
    committee = fitted(experts=4, rounds=3, slack=1.2).model_.committee
    assert max(member.n_rows for member in committee.members) <= np.ceil(1.2 * 100)
    rows = np.concatenate([member.rows for member in committee.members])
    assert sorted(rows) == list(range(400))


def test_lines_with_a_gate_are_better_than_one_line():
    whole = DivideAndConquerClassifier("whole", "linear_svm", "route").fit(X, y)
    gated = fitted(experts=4, rounds=4, gate="kernel_svm", steepness=5.0)
    assert gated.score(X, y) > whole.score(X, y) + 0.03
