"""`dcsvm explain`: what a model consists of, and why one row of a file has its answer."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier, TablePreparation, build, save
from dcsvm.datasets.loading import read
from dcsvm.toolbox import Column, TableSchema


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


def save_blend(path: Path) -> Path:
    """Save a blend of two learners of a table with a category, and write rows of it."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(120), rng.integers(0, 3, 120), np.ones(120)])
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 1] == 2), "yes", "no")
    columns = (Column("size"), Column("colour", ("blue", "green", "red")), Column("same"))
    tree = build("decomposer", "tree", ceiling=30)
    nested = DivideAndConquerClassifier(tree, "logistic", "route", probability="auto")
    blend = build(
        "decomposer",
        "blend",
        learners=(nested, build("learner", "logistic")),
        preparations=[{"scale": "minmax", "encode": "onehot"}] * 2,
        n_levels=[0, 3, 0],
    )
    prepare = TablePreparation("none", encode="codes", schema=TableSchema(columns, "kind"))
    classifier = DivideAndConquerClassifier(blend, "majority", "mean", probability="auto")
    save(make_pipeline(prepare, classifier).fit(X, y), path / "blend.dcsvm")
    rows = "".join(f"{size:.3f},{('blue', 'green', 'red')[int(code)]},1\n" for size, code, _ in X)
    (path / "rows.csv").write_text("size,colour,same\n" + rows)
    return path / "blend.dcsvm"


def test_a_blend_is_explained_by_names_of_levels_and_the_scores_of_predict(dcsvm, tmp_path):
    model = save_blend(tmp_path)
    told = dcsvm("explain", model, tmp_path / "rows.csv", "--row", "3").stdout
    assert re.search(r"colour=(blue|green|red): [01] (<=|>) 0\.5", told)
    assert "colour=2" not in told
    assert "another same" not in told  # it changes nothing
    answers = dcsvm("predict", model, tmp_path / "rows.csv", "--scores").stdout.splitlines()
    score = float(answers[3].split(",")[-1])
    assert f"'yes' {score:.4g}" in told


def test_a_row_of_a_file_that_is_written_otherwise_is_explained(dcsvm, model):
    lines = Path("rows.csv").read_text().replace(",", ";").splitlines()
    lines[1] = lines[1].replace("20;", "20,5;")
    Path("other.csv").write_text("\n".join(lines), encoding="utf-16")
    written = ("--encoding", "utf-16", "--decimal", ",")
    told = dcsvm("explain", str(model), "other.csv", *written).stdout
    assert "another age than 20.5" in told
