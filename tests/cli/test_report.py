"""`dcsvm report` and the report that a run leaves in its folder."""

import csv
import importlib.util
import json
import random
import re
from pathlib import Path

import pytest

RECIPE = """
about = "a rare <class>, a category & a gap"

[data]
path = "rows.csv"
target = "kind"
missing = "impute"

[decomposer]
use = "tree"
ceiling = 40

[learner]
use = "kernel_svm"
C = 10
gamma = 1

[combiner]
use = "route"

[compare.undivided]
decomposer = "whole"
"""


@pytest.fixture
def run(tmp_path: Path, dcsvm, recipe) -> Path:
    """The folder of a run on a file with a category, a gap and a rare class."""
    generator = random.Random(0)
    with open(tmp_path / "rows.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["size <mm>", "colour", "$weight$", "kind"])
        for number in range(240):
            kind = number % 2
            size = "" if number == 7 else f"{kind + generator.gauss(0, 0.6):.3f}"
            colour = generator.choice(["red", "blue"]) if kind else "red"
            label = "rare & <b>odd</b>" if number % 40 == 0 else ("oak", "elm")[kind]
            writer.writerow([size, colour, f"{generator.random():.3f}", label])
    done = dcsvm("run", recipe(RECIPE), "--out", "run")
    assert done.exit_code == 0, done.stderr
    return tmp_path / "run"


@pytest.mark.slow
def test_a_run_leaves_a_report_that_the_command_writes_anew(run: Path, dcsvm) -> None:
    first = (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    done = dcsvm("report", run)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.strip() == str(run / "report.html")
    assert (run / "report.html").read_bytes() == first
    assert len(first) < 1_000_000


def test_the_report_of_a_run_tells_its_story(run: Path) -> None:
    text = (run / "report.html").read_text(encoding="utf-8")
    metrics = json.loads((run / "metrics.json").read_text())
    assert f"{metrics['test_accuracy']:.2%}" in text
    assert "the undivided model." in text
    assert "a rare &lt;class&gt;, a category &amp; a gap" in text
    assert "rare &amp; &lt;b&gt;odd&lt;/b&gt;" in text
    assert "<b>odd" not in text
    assert "How rows are routed" in text
    assert "tree (ceiling = 40)" in text
    assert "$ dcsvm run resolved.toml --seed 0" in text
    assert "missing = &#34;impute&#34;" in text
    questions = re.findall(r"(size &lt;mm&gt;|\$weight\$) ≤ (-?[\d.e-]+)", text)
    assert questions
    assert all(-2 < float(threshold) < 4 for _, threshold in questions)


@pytest.mark.slow
def test_the_command_to_run_again_names_no_folder_that_is_taken(run: Path, dcsvm) -> None:
    asked = json.loads((run / "request.json").read_text())
    for place in (["--out", "run"], ["--out=run"]):
        asked["command"] = ["run", "recipe.toml", *place, "--seed", "0"]
        (run / "request.json").write_text(json.dumps(asked))
        assert dcsvm("report", run).exit_code == 0
        text = (run / "report.html").read_text(encoding="utf-8")
        assert "$ dcsvm run recipe.toml --seed 0" in text
        assert "time budget" not in text


def test_the_report_says_that_a_time_budget_may_end_a_search_elsewhere(
    dcsvm, recipe, iris_pipeline, tmp_path
) -> None:
    text = iris_pipeline + "[search]\nseconds = 100\nlearner.C = [1.0, 10.0]\n"
    assert dcsvm("run", recipe(text), "--out", "run").exit_code == 0
    assert (
        "<p>The search had a time budget: on another machine it may end earlier or later and "
        "choose other parameters.</p>"
    ) in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_report_needs_nothing_but_the_folder(run: Path, dcsvm) -> None:
    (run.parent / "rows.csv").unlink()
    elsewhere = run.rename(run.with_name("elsewhere"))
    (elsewhere / "model.dcsvm").unlink()
    assert dcsvm("report", elsewhere).exit_code == 0


@pytest.mark.filterwarnings("default:there is no report")
def test_a_run_without_the_libraries_is_done_and_says_what_is_not_there(
    dcsvm, recipe, iris_pipeline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else real(name)
    )
    done = dcsvm("run", recipe(iris_pipeline), "--out", "run")
    assert done.exit_code == 0, done.stderr
    assert "there is no report.html: a report needs matplotlib, not installed" in done.stderr
    assert not Path("run/report.html").exists()
    monkeypatch.setattr(importlib.util, "find_spec", real)
    assert dcsvm("report", "run").exit_code == 0
    assert Path("run/report.html").exists()


def test_folds_are_judged_by_answers_to_rows_that_were_not_seen(
    dcsvm, recipe, iris_pipeline: str
) -> None:
    folds = iris_pipeline.replace("class_pairs", "tree").replace("vote", "route")
    done = dcsvm("run", recipe(folds + '[split]\nuse = "folds"\nfolds = 3\n'), "--out", "run")
    assert done.exit_code == 0, done.stderr
    metrics = json.loads(Path("run/metrics.json").read_text())
    parts = json.loads(Path("run/evidence.json").read_text())["parts"]
    wrong = sum(part["wrong"] for part in parts)
    assert wrong == round(150 * metrics["test_error"]) > 0
    assert "come from 3 folds" in Path("run/report.html").read_text(encoding="utf-8")


def test_a_folder_that_holds_no_run_is_refused_with_a_sentence(tmp_path: Path, dcsvm) -> None:
    done = dcsvm("report", "nowhere")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr == "error: 'nowhere' does not exist: name the folder of a run\n"
