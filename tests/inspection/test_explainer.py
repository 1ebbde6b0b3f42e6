"""Why a row got its answer: the way, the questions, the rows that weighed most."""

import numpy as np
import pytest
from fakes import (
    Average,
    Centroids,
    Everything,
    Machine,
    Pairs,
    Regional,
    Rest,
    StripRouter,
    Strips,
    blobs,
)

from dcsvm import DivideAndConquerClassifier
from dcsvm.base.errors import DataError
from dcsvm.inspection.explainer import Question, explain

NAMES = np.array(["ant", "bee", "cat"])


@pytest.fixture(scope="module")
def data():
    X, y = blobs(90, seed=1)
    return X, NAMES[y]


def svm(**settings):
    return Machine(kernel="rbf", gamma=0.3, C=2.0, **settings)


def test_the_answer_and_scores_are_those_of_the_classifier(data) -> None:
    X, y = data
    clf = DivideAndConquerClassifier(Pairs(), svm(), Average()).fit(X, y)
    for x in X[:10]:
        told = explain(clf, x)
        assert told.answer == clf.predict(x[None])[0]
        assert list(told.scores) == ["ant", "bee", "cat"]
        np.testing.assert_allclose(
            list(told.scores.values()), clf.decision_function(x[None])[0], atol=1e-12
        )


def test_every_member_asked_is_a_question_with_its_margin(data) -> None:
    X, y = data
    clf = DivideAndConquerClassifier(Pairs(), svm(), Average()).fit(X, y)
    told = explain(clf, X[0])
    assert [question.member for question in told.questions] == [0, 1, 2]
    for question, member in zip(told.questions, clf.model_.committee.members, strict=True):
        value = member.answer(X[:1])[0][0, 0]
        sides = NAMES[member.code[0] > 0].tolist(), NAMES[member.code[0] < 0].tolist()
        assert question.margin == pytest.approx(abs(value))
        assert (list(question.winners), list(question.losers)) == (
            sides if value > 0 else sides[::-1]
        )


@pytest.mark.parametrize("k", [2, 3])
def test_contributions_and_the_bias_make_the_decision(k: int) -> None:
    X, y = blobs(60, k=k, seed=1)
    clf = DivideAndConquerClassifier(Pairs(), svm(), Average()).fit(X, y)
    for question, member in zip(
        explain(clf, X[0], heaviest=1000).questions, clf.model_.committee.members, strict=True
    ):
        total = sum(weight.contribution for weight in question.heaviest)
        bias = member.model.biases[0]
        signed_bias = (
            bias if question.winners == tuple(np.flatnonzero(member.code[0] > 0)) else -bias
        )
        assert total + signed_bias == pytest.approx(question.margin)


def test_the_rows_named_are_training_rows(data) -> None:
    X, y = data
    clf = DivideAndConquerClassifier(Pairs(), svm(), Average()).fit(X, y)
    for question in explain(clf, X[5]).questions:
        assert len(question.heaviest) == 3
        sizes = [abs(weight.contribution) for weight in question.heaviest]
        assert sizes == sorted(sizes, reverse=True)
        for weight in question.heaviest:
            assert weight.kernel == pytest.approx(
                np.exp(-0.3 * ((X[weight.row] - X[5]) ** 2).sum())
            )
            assert weight.contribution == pytest.approx(weight.coefficient * weight.kernel)
            side = question.winners if weight.coefficient > 0 else question.losers
            assert y[weight.row] in side


def test_a_machine_of_several_classes_weighs_the_best_two(data) -> None:
    X, y = data
    clf = DivideAndConquerClassifier(Everything(), svm(), Regional()).fit(X, y)
    (question,) = explain(clf, X[7]).questions
    assert len(question.winners) == len(question.losers) == 1
    for weight in question.heaviest:
        side = question.winners if weight.coefficient > 0 else question.losers
        assert y[weight.row] in side


def test_nested_pipelines_are_explained_down_to_the_training_rows(data) -> None:
    X, y = data
    nested = DivideAndConquerClassifier(Pairs(), svm(), Average())
    clf = DivideAndConquerClassifier(Strips(2), nested, Regional()).fit(X, y)
    x = X[11]
    (question,) = explain(clf, x).questions
    assert question.inside is not None
    assert question.inside.answer == explain(clf, x).answer
    assert len(question.inside.questions) == 3
    home = clf.model_.committee.groups[0].router.find_strip(X)
    for inner in question.inside.questions:
        for weight in inner.heaviest:
            assert weight.kernel == pytest.approx(np.exp(-0.3 * ((X[weight.row] - x) ** 2).sum()))
            assert home[weight.row] == question.member
            assert y[weight.row] in inner.winners + inner.losers


def test_a_node_that_is_a_pipeline_keeps_the_names_of_its_sides(data) -> None:
    X, y = data
    nested = DivideAndConquerClassifier(Strips(2), Centroids(), Regional())
    clf = DivideAndConquerClassifier(Rest(), nested, Average()).fit(X, y)
    question = explain(clf, X[0]).questions[0]
    assert set(question.inside.scores) == {"ant", ("bee", "cat")}


def test_the_route_is_told_and_classes_get_their_names(data, monkeypatch) -> None:
    X, y = data
    monkeypatch.setattr(
        StripRouter, "trace", lambda self, x: [f"strip {self.find_strip(x)[0]}"], raising=False
    )
    monkeypatch.setattr(
        Regional, "trace", lambda self, committee, x: ["class 2 was nearest"], raising=False
    )
    clf = DivideAndConquerClassifier(Strips(2), Centroids(), Regional()).fit(X, y)
    told = explain(clf, X[0])
    assert told.route in (("strip 0",), ("strip 1",))
    assert told.reasons == ("'cat' was nearest",)


def test_an_explanation_prints_as_sentences() -> None:
    X, y = np.array([[0.0], [1.0]]), np.array(["no", "yes"])
    clf = DivideAndConquerClassifier(Pairs(), Machine(), Average()).fit(X, y)
    assert str(explain(clf, [2.0])).splitlines() == [
        "the answer is 'yes' (best scores: 'yes' 3, 'no' -3)",
        "  member 0: 'yes' over 'no' by 3",
        "    training row 1: +4 (coefficient 2 x kernel 2)",
        "    training row 0: -0 (coefficient -2 x kernel 0)",
        "    bias: -1",
    ]
    assert str(explain(clf, [2.0], heaviest=1)).splitlines()[3:] == [
        "    and 1 other: +0",
        "    bias: -1",
    ]


def test_of_many_questions_the_narrowest_about_the_answer_are_printed() -> None:
    X, y = blobs(60, k=6, seed=0)
    clf = DivideAndConquerClassifier(Pairs(), svm(), Average()).fit(3 * X, y)
    told = explain(clf, 3 * X[0])
    lines = str(told).splitlines()
    assert lines[1] == f"  15 members asked, the narrowest about {told.answer}:"
    printed = [line for line in lines if line.startswith("  member")]
    assert len(printed) == 5
    assert all(isinstance(question, Question) for question in told.questions)


def test_several_rows_at_once_are_refused(data) -> None:
    X, y = data
    clf = DivideAndConquerClassifier(Pairs(), svm(), Average()).fit(X, y)
    with pytest.raises(DataError, match="explain takes one row at a time, got 2"):
        explain(clf, X[:2])
