"""`dcsvm explain`: what a model consists of, and why one row of a file has its answer."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier, TablePreparation, save
from dcsvm.datasets.loading import read


@pytest.fixture
def model(tmp_path, monkeypatch) -> Path:
    """A model of a table in which the plan decides, but for the old."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 50},{'ab'[i % 2]},{i * 7 % 11},{'yn'[i % 2]}" for i in range(100)]
    Path("rows.csv").write_text("\n".join(["age,plan,noise,class", *rows, ""]))
    data = read("rows.csv", "class")
    strategy = DivideAndConquerClassifier("tree", "kernel_svm", "route", random_state=0)
    fitted = make_pipeline(TablePreparation(schema=data.schema), strategy).fit(data.X, data.y)
    save(fitted, Path("model.dcsvm"))
    return Path("model.dcsvm")


def test_a_row_is_explained_by_its_values_and_its_way(dcsvm, model):
    result = dcsvm("explain", str(model), "rows.csv", "--row", "2")
    first, second, *others = result.stdout.splitlines()
    assert first.startswith("row 2: the answer is 'n' (best scores: 'n' ")
    assert second == "  in the file it is 'n'"
    assert others[0].startswith("  with the values of 99 other rows in one column, its score")
    assert "for another plan than b, and 51% of the answers, mostly to 'y'" in others[1]
    assert "  member 0: 'n' over 'y' by" in result.stdout
    assert result.exit_code == 0


def test_an_explanation_is_given_as_json_too(dcsvm, model):
    result = dcsvm("explain", str(model), "rows.csv", "--json")
    told = json.loads(result.stdout)
    assert (told["row"], told["truth"], told["answer"]) == (1, "y", "y")
    effects = {each["column"]: each for each in told["effects"]}
    assert effects["plan"]["share"] == pytest.approx(50 / 99)
    assert effects["plan"]["pull"] > 5 * abs(effects["noise"]["pull"])
    assert np.isclose(told["scores"]["y"], -told["scores"]["n"])


def test_a_row_that_is_not_there_is_told(dcsvm, model):
    result = dcsvm("explain", str(model), "rows.csv", "--row", "101")
    assert result.stderr == "error: rows.csv has 100 rows, and no row 101\n"
    assert result.exit_code == 4
    result = dcsvm("explain", str(model), "rows.csv", "--row", "0")
    assert result.stderr == "error: rows are counted from 1, got 0\n"
    assert result.exit_code == 2


def test_a_row_needs_a_data_file(dcsvm, model):
    result = dcsvm("explain", str(model), "--row", "2")
    assert result.stderr == "error: --row is the number of a row of DATA: name a data file\n"
    assert result.exit_code == 2
