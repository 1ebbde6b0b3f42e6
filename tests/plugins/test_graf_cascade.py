"""Graf's cascade: what is merged and fed back, and that it ends at the global machine."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from dcsvm import DataError, DivideAndConquerClassifier, build
from dcsvm.base.errors import CompositionError

from .recorded import alpha_of, kept, libsvm_objective, objective_of, overlapping, recorded


def graf(**settings):
    return build("decomposer", "graf_cascade", **settings)


def test_parts_of_less_than_two_rows_are_refused():
    X, y = overlapping(rows=40)
    with pytest.raises(DataError) as refused:
        recorded(graf(parts=21), X, y)
    assert str(refused.value) == (
        "graf_cascade: parts = 21 is too many for 40 rows: each part needs at least two; set "
        "parts to 20 or less"
    )
    recorded(graf(parts=20), X, y)
    recorded(graf(), X[:4], y[:4])


@pytest.mark.parametrize("parts", [2, 4, 5])
@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("ties", [True, False])
def test_it_is_the_global_machine(parts, C, ties):
    X, y = overlapping(rows=400, seed=parts, ties=ties)
    _, clf = recorded(graf(parts=parts, tol=1e-6), X, y, C=C, tol=1e-7)
    expected = libsvm_objective(X, y, C, 0.5)
    assert objective_of(clf, X, y, 0.5) == pytest.approx(expected, rel=1e-5)
    assert clf.ledger_[-1].about["objective"] == pytest.approx(expected, rel=1e-5)
    reference = SVC(C=C, gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), reference.decision_function(X), atol=5e-3)


def test_no_row_is_left_inside_the_margin():
    X, y = overlapping(rows=400, ties=False)
    steps, clf = recorded(graf(parts=4, tol=1e-4), X, y, tol=1e-6)
    (last,) = steps[-1][0]
    outside = np.setdiff1d(np.arange(400), last.rows)
    assert len(outside)
    assert ((2 * y[outside] - 1) * clf.decision_function(X[outside])).min() >= 1 - 1e-4


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize(("parts", "layers"), [(4, [4, 2, 1]), (5, [5, 3, 2, 1])])
def test_every_layer_holds_exactly_what_the_one_below_kept(ties, parts, layers):
    X, y = overlapping(rows=300, ties=ties)
    steps, clf = recorded(graf(parts=parts), X, y)
    passes = max(record.about["pass"] for record in clf.ledger_)
    assert [len(stage) for stage, _ in steps] == layers * passes
    assert passes > 1
    hands = [set(part.rows.tolist()) for part in steps[0][0]]
    assert sorted(row for hand in hands for row in hand) == list(range(300))
    for number, (stage, _) in enumerate(steps):
        before = steps[number - 1][1]
        for place, part in enumerate(stage):
            if number % len(layers):
                assert part.rows.tolist() == kept(*before[2 * place : 2 * place + 2])
            elif number:
                assert part.rows.tolist() == sorted(hands[place] | set(kept(*before)))
                alpha = alpha_of(before[0])
                assert part.start.tolist() == [alpha.get(row, 0.0) for row in part.rows.tolist()]


def test_the_ledger_tells_layers_passes_and_rows_that_were_missing():
    X, y = overlapping(rows=300)
    _, clf = recorded(graf(), X, y)
    abouts = [record.about for record in clf.ledger_]
    assert [each["layer"] for each in abouts[:7]] == [1, 1, 1, 1, 2, 2, 3]
    assert [each["step"] for each in abouts[5:8]] == [
        "pass 1, layer 2",
        "pass 1, layer 3",
        "pass 2, layer 1",
    ]
    missing = [each["missing"] for each in abouts if each["layer"] == 3]
    assert missing[0] == 300
    assert missing == sorted(missing, reverse=True)
    assert all(0 < each < 300 for each in missing[1:])


def test_warm_starts_save_iterations():
    X, y = overlapping(rows=600, ties=False)
    totals = []
    for warm in (False, True):
        steps, clf = recorded(graf(warm=warm), X, y)
        assert any(part.start is not None for stage, _ in steps for part in stage) is warm
        totals.append(sum(record.about["iterations"] for record in clf.ledger_))
    assert totals[1] < totals[0]


def test_too_few_passes_are_told():
    X, y = overlapping(rows=300)
    with pytest.warns(ConvergenceWarning) as told:
        recorded(graf(passes=1), X, y)
    sentence = str(told[0].message)
    number = sentence.split(": ")[2].split()[0]
    assert sentence == (
        f"graf_cascade: not converged after 1 passes: {number} rows are missing from the last "
        "set; increase passes"
    )
    assert int(number) > 0


def test_several_classes_end_when_the_support_vectors_stay():
    generator = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = generator.normal(scale=0.6, size=(240, 2)) + 2.0 * np.eye(3)[y][:, :2]
    steps, clf = recorded(graf(), X, y)
    assert kept(*steps[-1][1]) == kept(*steps[-4][1])
    whole = SVC(C=10.0, gamma=0.5).fit(X, y)
    assert abs(clf.score(X, y) - whole.score(X, y)) <= 0.01


def test_class_pairs_are_global_machines_too():
    generator = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = generator.normal(size=(240, 2)) + 2.0 * np.eye(3)[y][:, :2]
    machine = build("learner", "kernel_svm", C=10.0, gamma=0.5, tol=1e-6)
    inner = DivideAndConquerClassifier(graf(tol=1e-5), machine, "route")
    clf = DivideAndConquerClassifier("class_pairs", inner, "vote", random_state=0).fit(X, y)
    whole = SVC(C=10.0, gamma=0.5, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), whole.predict(X))


def test_a_pipeline_that_cannot_tell_what_it_kept_is_refused():
    X, y = load_iris(return_X_y=True)
    inner = DivideAndConquerClassifier("chunks", build("learner", "sklearn"), "mean")
    with pytest.raises(CompositionError, match="'sklearn' does not fit decomposer 'graf_cascade'"):
        DivideAndConquerClassifier("graf_cascade", inner, "vote").fit(X, y)


def test_a_pipeline_of_constants_keeps_all_its_rows():
    """A tree whose leaves are pure has no support vector to hand on."""
    X = np.repeat(np.arange(4.0), 30)[:, None]
    y = np.repeat([0, 1, 0, 1], 30)
    tree = build("decomposer", "oblique_tree", grain=4)
    inner = DivideAndConquerClassifier(tree, "kernel_svm", "route")
    model = DivideAndConquerClassifier("graf_cascade", inner, "vote", random_state=0).fit(X, y)
    assert (model.predict(X) == y).all()
