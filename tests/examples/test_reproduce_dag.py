"""The reproduction of the DAGSVM paper: its splits, its choice, its table."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "reproduce_dag"
MODULES = (
    "measured",
    "data",
    "choose",
    "final",
    "speed",
    "again",
    "lists",
    "bounds",
    "paper",
    "and_gate",
    "order_search",
    "training_times",
    "more_tables",
    "remarks",
    "tables",
)


@pytest.fixture
def reproduction(monkeypatch, tmp_path):
    """The modules of the example, with a small data set and an empty folder of measurements."""
    monkeypatch.syspath_prepend(str(FOLDER))
    found = {name: __import__(name) for name in MODULES}
    generator = np.random.default_rng(0)
    X = generator.integers(0, 16, size=(400, 3))
    y = ((X[:, 0] > 5).astype(int) + (X[:, 0] > 10) + 3 * (X[:, 1] > 11)).astype(np.uint8)
    np.savez(tmp_path / "letter.npz", X=X, y=np.unique(y, return_inverse=True)[1])
    np.savez(tmp_path / "covtype.npz", X=np.hstack([X] * 5), y=y)
    monkeypatch.setenv("DCSVM_DATA", str(tmp_path))
    monkeypatch.setattr(found["measured"], "FOLDER", tmp_path / "measured")
    monkeypatch.setattr(found["tables"], "PAGE", tmp_path / "docs" / "dagsvm.md")
    monkeypatch.setattr(found["data"], "FIRST", {"letter": (300, 0), "covertype": (200, 100)})
    monkeypatch.setitem(found["choose"].GAUSSIAN, "letter", ([1.0, 4.0], [1.0, 10.0]))
    monkeypatch.setattr(found["choose"], "POLYNOMIAL", ((1, 2), (0.0, 1.0)))
    monkeypatch.setitem(found["choose"].POLYNOMIAL_C, "letter", [1.0])
    yield found
    for name in MODULES:
        sys.modules.pop(name, None)


def run(reproduction, monkeypatch, name):
    monkeypatch.setattr(sys, "argv", [name, "--data-set", "letter"])
    reproduction[name].main()


def test_letter_is_scaled_and_cut_70_to_30_by_class(reproduction):
    rows = reproduction["data"].split("letter")
    X, y = rows.training
    assert (X.min(), X.max(), len(y), len(rows.test()[1])) == (-1.0, 1.0, 300, 100)
    learned, judged = rows.validations(0)
    assert len(learned[1]) + len(judged[1]) == 300
    for label in np.unique(y):
        share = np.mean(judged[1] == label) * len(judged[1]) / np.sum(y == label)
        assert share == pytest.approx(0.3, abs=0.06)
    assert not np.array_equal(judged[0], rows.validations(1)[1][0])


def test_only_the_numbers_of_covertype_are_standardised_and_its_own_rows_validate(reproduction):
    rows = reproduction["data"].split("covertype")
    learned, judged = rows.validations(0)
    assert (len(learned[1]), len(judged[1]), len(rows.test()[1])) == (200, 100, 100)
    np.testing.assert_allclose(learned[0][:, :10].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(learned[0][:, :10].std(axis=0), 1.0)
    assert (learned[0][:, 10:] == np.round(learned[0][:, 10:])).all()


def test_cells_are_tried_once_and_both_ways_of_combining_pairs_are_judged(
    reproduction, monkeypatch
):
    measured = reproduction["measured"]
    for _ in range(2):
        run(reproduction, monkeypatch, "choose")
    records = measured.find("choices")
    first = [record for record in records if record["cut"] == 0]
    assert len(first) == (4 + 4) * 2
    found = reproduction["choose"].chosen("letter", "dagsvm")
    means = {}
    for record in measured.find("choices", scheme="pairs"):
        means.setdefault(str(record["cell"]), []).append(record["errors"]["dagsvm"])
    complete = [np.mean(errors) for errors in means.values() if len(errors) == 3]
    assert found["error"] == pytest.approx(min(complete))
    least = min(record["errors"]["dagsvm"] for record in first if record["scheme"] == "pairs")
    assert min(found["first"].values()) == least


def test_kernels_that_were_bad_on_the_first_cut_are_left_out_of_others(reproduction):
    choose, measured = reproduction["choose"], reproduction["measured"]
    cells = [{"kernel": "rbf", "gamma": gamma, "C": 1.0} for gamma in (1.0, 2.0, 3.0)]
    for cell, errors in zip(cells, ((0.10, 0.30), (0.12, 0.40), (0.13, 0.40)), strict=True):
        errors = dict(zip(("max_wins", "dagsvm"), errors, strict=True))
        key = {"data_set": "letter", "scheme": "pairs", "cut": 0}
        measured.write("choices", {**key, "cell": cell, "errors": errors})
    assert [choose.promising("letter", "pairs", [cell]) for cell in cells] == [True, True, False]


def test_the_cells_of_the_choice_are_what_the_pipelines_would_say(reproduction):
    choose, final, data = (reproduction[name] for name in ("choose", "final", "data"))
    rows = data.split("letter")
    (X, y), (T, truth) = rows.validations(0)
    cell = {"kernel": "rbf", "gamma": 4.0, "C": 10.0}
    for scheme in choose.SCHEMES:
        choose.tried(rows, 0, scheme, [cell])
    for record in reproduction["measured"].find("choices"):
        for method, error in record["errors"].items():
            said = final.classifier(method, cell).fit(X, y).predict(T)
            assert error == pytest.approx(np.mean(said != truth), abs=0.011)


def test_table_and_tests_are_written_from_one_look_at_the_test_rows(reproduction, monkeypatch):
    for name in ("choose", "final", "speed", "final"):
        run(reproduction, monkeypatch, name)
    measured, tables = reproduction["measured"], reproduction["tables"]
    assert [record["method"] for record in measured.find("tests")] == [
        "one_v_rest",
        "max_wins",
        "dagsvm",
    ]
    assert len(measured.find("pairs")) == 3
    graph = measured.find("tests", method="dagsvm")[0]
    votes = measured.find("tests", method="max_wins")[0]
    assert graph["kernel_evaluations"] <= votes["support_vectors"]
    tables.main()
    page = tables.PAGE.read_text()
    assert f"| Letter | DAGSVM's error | {100 * graph['error']:.2f} | ≤ 2.2 |" in page
    assert f"| {graph['kernel_evaluations']:,.0f} | 3,834 |" in page
    assert page.count("| Letter | 1-v-r | Max Wins |") == 1


def test_the_second_choice_is_by_folds_alone_and_is_written_beside_the_first(
    reproduction, monkeypatch
):
    again, measured = reproduction["again"], reproduction["measured"]
    monkeypatch.setattr(again, "GAMMAS", [1.0, 4.0])
    monkeypatch.setattr(again, "CS", [1.0, 10.0])
    rows = reproduction["data"].split("letter")
    judged = np.concatenate([X for _, (X, _) in again.folds(rows)])
    assert sorted(map(tuple, judged)) == sorted(map(tuple, rows.training[0]))
    for name in ("choose", "final"):
        run(reproduction, monkeypatch, name)
    for _ in range(2):
        again.main()
    assert len(measured.find("folds")) == 2 * 2 * 5
    assert [record["method"] for record in measured.find("again")] == ["max_wins", "dagsvm"]
    chosen = again.chosen_by_folds(again.ORDERS)
    least = min(
        sum(record["wrong"][order] for record in measured.find("folds", cell=chosen["cell"]))
        for order in again.ORDERS
    )
    assert chosen["error"] == pytest.approx(least / 300)
    reproduction["tables"].main()
    page = reproduction["tables"].PAGE.read_text()
    graph = measured.find("again", method="dagsvm")[0]
    assert f"{100 * graph['error']:.2f}" in page.split("## Second choices")[1]


def test_walking_over_given_decisions_is_what_the_graph_does(reproduction):
    again, final, data = (reproduction[name] for name in ("again", "final", "data"))
    from dcsvm import Problem, build
    from dcsvm.numeric import evaluate

    rows = data.split("letter")
    (X, y), (X_judged, _) = rows.validations(0)
    cell = {"kernel": "rbf", "gamma": 4.0, "C": 10.0}
    learner = build("learner", "kernel_svm", **cell)
    decisions = evaluate(learner.fit(Problem(X, y, int(y.max()) + 1)).prepared, X_judged)
    for order in again.ORDERS:
        graph = final.classifier("dagsvm", cell).set_params(combiner__order=order).fit(X, y)
        said = again.walked(decisions, again.listed(X, y, order))
        assert np.mean(said != graph.predict(X_judged)) < 0.011


def test_bounds_are_numbers_for_hard_margins_and_reasons_elsewhere(reproduction, monkeypatch):
    measured, tables = reproduction["measured"], reproduction["tables"]
    run(reproduction, monkeypatch, "choose")
    for _ in range(2):
        run(reproduction, monkeypatch, "bounds")
    soft, hard = measured.find("bounds")
    assert hard["cell"] == {**soft["cell"], "C": reproduction["bounds"].HARD}
    assert (soft["graph"] is None) == bool(soft["reason"])
    assert hard["graph"] > 1.0
    assert (hard["classes"], hard["reason"]) == (hard["of"], "")
    page = tables.bounds()
    assert f"{hard['graph']:.3g}" in page
    assert not soft["reason"] or soft["reason"] in page


def test_of_two_lists_the_cheaper_is_taken_and_read_beside_the_first(reproduction, monkeypatch):
    lists, measured = reproduction["lists"], reproduction["measured"]
    choose = reproduction["choose"]
    cell = {"kernel": "rbf", "gamma": 1.0, "C": 1.0}
    key = {"data_set": "covertype", "cut": 0, "scheme": "pairs", "cell": cell}
    errors = {"max_wins": 0.1, "dagsvm": 0.1}
    measured.write("choices", {**key, "errors": errors, "support_vectors": 1, "seconds": 0.0})
    assert choose.chosen("covertype", "dagsvm")["cell"] == cell
    for _ in range(2):
        lists.main()
    (found,) = measured.find("lists")
    asked = found["kernel_evaluations"]
    assert found["taken"] == min(asked, key=asked.get) or found["p_value"] < 0.05
    read = measured.find("again", data_set="covertype")
    assert [record["order"] for record in read] == [found["taken"]] * (found["taken"] != "natural")


def test_the_gate_answers_where_a_class_wins_all_its_pairs(reproduction, monkeypatch):
    measured = reproduction["measured"]
    for name in ("choose", "and_gate", "and_gate"):
        run(reproduction, monkeypatch, name)
    (found,) = measured.find("and_gate")
    parts = (found["unanswered"], 1 - found["unanswered"])
    errors = (found["error_of_max_wins_elsewhere"], found["error_of_answered"])
    whole = sum(part * error for part, error in zip(parts, errors, strict=True) if part)
    assert whole == pytest.approx(found["error_of_max_wins"])
    (section,) = reproduction["more_tables"].write_more()
    assert f"| Letter | 100 | {100 * found['unanswered']:.2f} |" in section


def test_a_list_found_by_search_is_no_worse_on_validation_rows(reproduction, monkeypatch):
    for name in ("choose", "final", "order_search"):
        run(reproduction, monkeypatch, name)
    (found,) = reproduction["measured"].find("order_search")
    natural, searched = found["natural"], found["validation"]
    assert searched["errors"] <= natural["errors"]
    assert searched["kernel_evaluations"] <= natural["kernel_evaluations"]
    assert sorted(found["order"]) == list(range(len(found["order"])))
    (section,) = reproduction["more_tables"].write_more()
    assert section.startswith("## A list of classes by search")
    assert f"| {100 * found['error']:.2f} |" in section


def test_the_equations_say_what_a_power_law_takes(reproduction, monkeypatch):
    times = reproduction["training_times"]
    run(reproduction, monkeypatch, "choose")
    clock = iter(
        [1e-6 * size**2 for size in (38, 75, 150, 225, 300) for _ in range(3)] + [3.0, 4.0]
    )
    monkeypatch.setattr(times, "seconds", lambda fit: next(clock))
    found = times.measure("letter", "SVC")
    classes = len(np.unique(reproduction["data"].split("letter").training[1]))
    assert found["gamma"] == pytest.approx(2.0)
    assert found["rest_expected"] == pytest.approx(1e-6 * classes * 300**2)
    pairs = classes * (classes - 1) / 2 * 1e-6 * (600 / classes) ** 2
    assert found["pairs_expected"] == pytest.approx(pairs)
    assert (found["rest_seconds"], found["pairs_seconds"]) == (3.0, 4.0)
