"""The reproduction of the H-LSVM paper: its choice, its tests and its table."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "reproduce_hlsvm"
MODULES = ("measured", "data", "grids", "diary", "notes", "seconds", "run", "tables")


@pytest.fixture
def reproduction(monkeypatch, tmp_path):
    """The modules of the example, with small digits and an empty folder of measurements."""
    monkeypatch.syspath_prepend(str(FOLDER))
    X, y = load_digits(n_class=4, return_X_y=True)
    np.savez(
        tmp_path / "usps.npz",
        X_train=X[:300],
        y_train=y[:300],
        X_test=X[300:],
        y_test=y[300:],
        classes=np.arange(4).astype(str),
    )
    monkeypatch.setenv("DCSVM_DATA", str(tmp_path))
    found = {name: __import__(name) for name in MODULES}
    monkeypatch.setattr(found["measured"], "FOLDER", tmp_path / "measured")
    monkeypatch.setattr(found["tables"], "PAGE", tmp_path / "docs" / "page.md")
    grid = {"scale": ["minmax"], "functions": [1, 2], "C": [1e-6, 0.1]}
    monkeypatch.setitem(found["run"].SMALLER, ("usps", "h_lsvm"), grid)
    monkeypatch.setitem(found["run"].FOLDS, "usps", (2, 200))
    yield found
    for name in MODULES:
        sys.modules.pop(name, None)


def run(reproduction, monkeypatch, method):
    monkeypatch.setattr(sys, "argv", ["run", "--data-set", "usps", "--method", method])
    reproduction["run"].main()


def test_the_cell_with_the_fewest_errors_over_the_folds_is_tested_once(reproduction, monkeypatch):
    asked = []
    test = reproduction["data"].Split.test

    def counted(split):
        asked.append(len(reproduction["measured"].find("folds")))
        return test(split)

    monkeypatch.setattr(reproduction["data"].Split, "test", counted)
    for _ in range(2):
        run(reproduction, monkeypatch, "h_lsvm")
    # Every fold of every cell was there before a test row was asked for.
    assert asked == [8]
    folds = reproduction["measured"].find("folds")
    assert len(folds) == 8
    (tested,) = reproduction["measured"].find("tests")

    def errors(cell):
        return np.mean([fold["error"] for fold in folds if fold["cell"] == cell])

    assert errors(tested["cell"]) == min(errors(fold["cell"]) for fold in folds)
    assert errors(tested["cell"]) < max(errors(fold["cell"]) for fold in folds)
    assert (tested["rows"], tested["tested"]) == (300, 420)
    assert tested["error"] < 0.1


def test_votes_have_the_cell_of_the_graph_and_ask_more_hyperplanes(reproduction, monkeypatch):
    run(reproduction, monkeypatch, "h_lsvm")
    run(reproduction, monkeypatch, "h_lsvm_votes")
    graph, votes = (
        reproduction["measured"].find("tests", method=method)[0]
        for method in ("h_lsvm", "h_lsvm_votes")
    )
    assert votes["cell"] == graph["cell"]
    # Six pairs of four classes, three of them on the way through the graph.
    assert votes["hyperplanes_mean"] > 1.5 * graph["hyperplanes_mean"]
    assert len(reproduction["measured"].find("folds")) == 8


def test_the_page_tells_what_was_measured_and_whether_it_was_asked_for(reproduction, monkeypatch):
    run(reproduction, monkeypatch, "h_lsvm")
    (tested,) = reproduction["measured"].find("tests")
    for error, word in ((tested["error"], None), (0.0538, "yes"), (0.0539, "**no**")):
        path = reproduction["measured"].FOLDER / "tests.jsonl"
        path.unlink()
        reproduction["measured"].write("tests", tested | {"error": error})
        reproduction["tables"].main()
        page = reproduction["tables"].PAGE.read_text()
        lines = page.splitlines()
        row = next(line for line in lines if line.startswith("| usps | optimized tree |"))
        assert f"| {100 * error:.2f} |" in row
        assert word is None or f"| {word} |" in row


def test_a_model_that_was_kept_is_not_learned_again(reproduction, tmp_path, monkeypatch):
    run_, kept = reproduction["run"], tmp_path / "model.dcsvm"
    cell = {"scale": "minmax", "C": 1.0, "gamma": 0.05}
    run_.tested("usps", "rbf", 0, cell, kept)
    (first,) = reproduction["measured"].find("tests")
    (reproduction["measured"].FOLDER / "tests.jsonl").unlink()
    monkeypatch.setattr(run_.DivideAndConquerClassifier, "fit", None)
    run_.tested("usps", "rbf", 0, cell, kept)
    (second,) = reproduction["measured"].find("tests")
    for key in ("error", "training_error", "fit_seconds", "support_vectors"):
        assert first[key] == second[key]


def test_seconds_stand_beside_those_of_table_6(reproduction):
    reproduction["run"].tested("usps", "linear", 0, {"scale": "minmax", "C": 0.1}, None)
    (found,) = reproduction["measured"].find("tests")
    (row,) = [
        line
        for line in reproduction["seconds"].write_seconds().splitlines()
        if line.startswith("| usps")
    ]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == ["linear SVM", f"{found['fit_seconds']:.2f}", "5.46"]
    assert cells[4:] == [f"{1e6 * found['predict_seconds_per_row']:.2f}", "3.58"]
