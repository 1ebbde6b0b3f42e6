"""Reports from the files of a run folder, and from nothing else."""

import json
from pathlib import Path

import pytest
from html_page import Page

from dcsvm.base.errors import UsageError
from dcsvm.experiments.run.reports import write_reports
from dcsvm_report.evidence import Evidence, PartErrors, Picture
from dcsvm_report.load_facts import _component

RESOLVED = """
[data]
path = "/data/flowers.csv"

[split]
test = 0.5

[search]
tries = 20
learner.C = [1.0, 10.0]

[decomposer]
use = "nobody_knows_it"
ceiling = 7

[learner.decomposer]
use = "inner"

[learner.learner]
use = "deep"

[compare.whole]
decomposer = "everything"
"""


def write_report(folder: Path) -> Path:
    (path,) = write_reports(folder)
    return path


def metrics(model: str, accuracy: float, **others):
    return {"model": model, "test_accuracy": accuracy, "hyperplanes_mean": 0.0, **others}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a small run that is done: two models, two classes, four rows, a search."""
    folder = tmp_path / "run"
    folder.mkdir()
    write = {
        "result.json": {
            "recipe": "mine/flowers.toml",
            "about": "which <flower> is it",
            "data": "flowers.csv",
            "n_train": 1234,
            "n_test": 4,
            "n_features": 3,
            "n_classes": 2,
            "seed": 5,
            "models": [
                metrics("mine", 0.5, kernel_evaluations_mean=10.0, n_parts=2, fit_seconds=0.5),
                metrics("whole", 0.75, kernel_evaluations_mean=40.0, n_parts=1, fit_seconds=2.0),
            ],
        },
        "status.json": {"state": "done", "missing": []},
        "environment.json": {
            "python": "3.11.0",
            "cores": 8,
            "numeric": {"implementation": "native", "instruction_set": "avx2"},
            "versions": {"dcsvm": "0.1"},
            "plugins": [
                {"distribution": "dcsvm", "version": "0.1"},
                {"distribution": "dcsvm-more", "version": "7"},
            ],
        },
        "request.json": {"command": ["dcsvm", "run", "my recipe.toml"], "seed": 5},
        "search.json": {
            "whole/0": {"tried": [{"values": {"C": 9}, "score": 0.1}], "stopped": "no"},
            "mine/0": {"tried": [{"values": {"C": 8}, "score": 0.2}], "stopped": "no"},
            "mine/10": {
                "tried": [
                    {"values": {"learner.C": 1.0}, "score": 0.25},
                    {"values": {"learner.C": 10.0}, "score": 0.75},
                ],
                "stopped": "all 2 combinations were tried",
                "values": {"learner.C": 10.0},
            },
        },
        "evidence.json": Evidence(
            routed=True,
            parts=(PartErrors(0, 1000, 3, 2), PartErrors(1, 234, 1, 0)),
            pictures=(Picture("how rows are routed", "", "<svg><path/></svg>"),),
        ).as_dict(),
    }
    for name, content in write.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "resolved.toml").write_text(RESOLVED)
    (folder / "recipe.toml").write_text("# as I wrote it\n")
    (folder / "predictions.csv").write_text(
        "row,fold,truth,mine,whole\n0,0,10,10,10\n1,0,9,10,9\n2,0,9,9,9\n3,0,10,9,9\n"
    )
    (folder / "parts.csv").write_text(
        "model,path,rows,classes,support_vectors,seconds,learner,kind,parameters,about\n"
        "mine,0.0,1234,2,30,0.4,pipeline,FittedStrategy,{},{}\n"
        "mine,0.0.0.0,1000,2,20,0.3,deep,KernelExpansion,{},{}\n"
        "mine,0.0.0.1,234,1,10,0.1,deep,Constant,{},{}\n"
        "whole,0.0,1234,2,999,1.9,deep,KernelExpansion,{},{}\n"
    )
    return folder


def test_what_the_search_chose_is_shown_in_place_of_what_it_began_with(run: Path) -> None:
    (run / "resolved.toml").write_text(
        '[data]\nscale = "standard"\n[learner]\nuse = "stranger"\nC = 1.0\n'
        "[search.learner]\nC = [1.0, 10.0]\n"
    )
    searched = json.loads((run / "search.json").read_text())
    searched["mine/10"]["values"]["data.scale"] = "minmax"
    (run / "search.json").write_text(json.dumps(searched))
    text = Page(write_report(run).read_text()).text
    assert 'preparation scale = "minmax"' in text
    assert "learner stranger (C = 10.0)" in text


def test_a_folder_is_told_as_a_page(run: Path) -> None:
    place = write_report(run)
    assert place == run / "report.html"
    page = Page(place.read_text())
    assert page.mistakes == []
    for sentence in (
        " flowers which <flower> is it",
        "2 of 4 test rows were classified correctly, 50.00%",
        "25.00 points below the undivided model, whole",
        "4 times less than whole",
        "nobody_knows_it (ceiling = 7)",
        "decomposer: inner; learner: deep",
        "compared: whole",
        "# as I wrote it",
        "All parts, slowest first",
        "plugin dcsvm-more",
        "numeric native, avx2",
        "$ dcsvm run 'my recipe.toml'",
        "$ dcsvm run resolved.toml --seed 5",
        "It ended because all 2 combinations were tried.",
        "The best of 2 trials",
        "searched learner.C in 1.0, 10.0",
        "chosen by accuracy learner.C = 10.0",
    ):
        assert sentence in page.text, sentence


def test_costs_of_nothing_and_costs_that_nobody_knows_have_no_line(run: Path) -> None:
    result = json.loads((run / "result.json").read_text())
    costs = {"kernel_evaluations_mean": 0.0, "n_unique_support_vectors": 0.0}
    costs |= {"unique_kernel_evaluations_mean": None, "hyperplanes_mean": 3.0}
    for model in result["models"]:
        model |= costs
    (run / "result.json").write_text(json.dumps(result))
    page = Page(write_report(run).read_text())
    assert "hyperplanes per row, mean 3 3" in page.text
    for title in ("kernel evaluations per row", "each kernel value", "support vectors 0"):
        assert title not in page.text, title


def test_classes_that_are_numbers_stand_in_their_order(run: Path) -> None:
    page = Page(write_report(run).read_text())
    assert page.text.index("Test rows: true class by line, answer by column 9 10 9 1 1 10 1 1")


def test_parts_that_were_divided_further_are_not_listed(run: Path) -> None:
    text = Page(write_report(run).read_text()).text
    assert "0.0.0.0 1,000 2 20" in text
    assert "0.0 1,234" not in text
    assert "999" not in text


@pytest.mark.slow
def test_the_same_folder_gives_the_same_bytes(run: Path) -> None:
    first = write_report(run).read_bytes()
    assert write_report(run).read_bytes() == first


def test_what_a_run_has_not_written_is_left_out(run: Path) -> None:
    for name in ("evidence.json", "search.json", "parts.csv", "environment.json", "request.json"):
        (run / name).unlink()
    page = Page(write_report(run).read_text())
    assert page.mistakes == []
    assert "The division" not in page.text
    assert "trials" not in page.text


def test_what_is_missing_and_folds_are_said(run: Path) -> None:
    (run / "status.json").write_text('{"state": "partial", "missing": ["the model is lost"]}')
    lines = (run / "predictions.csv").read_text().replace("\n3,0", "\n3,1")
    (run / "predictions.csv").write_text(lines)
    page = Page(write_report(run).read_text())
    assert "Not complete: the model is lost." in page.text
    assert (
        "come from 2 folds: each row was predicted by a model that was not trained on it"
        in page.text
    )


def test_a_folder_without_results_says_how_to_complete_it(run: Path) -> None:
    (run / "result.json").unlink()
    (run / "status.json").write_text('{"state": "interrupted"}')
    with pytest.raises(UsageError, match=r"was interrupted: dcsvm run --resume .* goes on"):
        write_report(run)
    assert not (run / "report.html").exists()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist: name the folder of a run"):
        write_report(tmp_path / "nothing")
    with pytest.raises(UsageError, match=r"is not the folder of a run: there is no status.json"):
        write_report(tmp_path)


@pytest.mark.parametrize(
    "name", ["result.json", "predictions.csv", "parts.csv", "search.json", "evidence.json"]
)
def test_a_damaged_file_is_named(run: Path, name: str) -> None:
    (run / name).write_text("row,fold\n{")
    with pytest.raises(UsageError, match=f"{name}' (cannot be read|has no rows)"):
        write_report(run)


def test_stages_are_drawn_with_what_each_kept(run: Path) -> None:
    assert "Rows kept by each stage" not in Page(write_report(run).read_text()).text
    (run / "parts.csv").write_text(
        "model,path,rows,classes,support_vectors,seconds,learner,kind,parameters,about\n"
        "mine,0.0,1234,2,30,0.4,pipeline,FittedStrategy,{},{}\n"
        'mine,0.0.0.0,1000,2,200,0.3,deep,KernelExpansion,{},"{""step"": ""crossed""}"\n'
        'mine,0.0.0.1,234,1,0,0.1,deep,Constant,{},"{""step"": ""crossed""}"\n'
        'mine,0.0.1.0,434,2,20,0.3,deep,KernelExpansion,{},"{""step"": ""last""}"\n'
    )
    text = Page(write_report(run).read_text()).text
    assert "Rows kept by each stage" in text
    assert "1. crossed 1,234 rows in 2 parts, 434 kept, 800 dropped" in text
    assert "2. last 434 rows in 1 part, 20 kept" in text
    assert "414 dropped" not in text


def test_stages_that_keep_no_rows_are_not_drawn(run: Path) -> None:
    (run / "parts.csv").write_text(
        "model,path,rows,classes,support_vectors,seconds,learner,kind,parameters,about\n"
        "mine,0.0,1234,2,0,0.4,pegasos,Hyperplanes,{},{}\n"
        "mine,1.0,1234,2,0,0.4,majority,Shares,{},{}\n"
    )
    assert "Rows kept by each stage" not in Page(write_report(run).read_text()).text


def test_rivals_are_compared_with_an_interval(run: Path) -> None:
    text = Page(write_report(run).read_text()).text
    assert "Against whole: -25.00 points of accuracy (95% interval -" in text
    assert "within chance: 0 rows right only with mine, 1 only with whole (McNemar" in text


@pytest.mark.slow
def test_a_way_to_the_undivided_model_is_told_where_it_is_missing(run: Path) -> None:
    assert "was not trained for comparison" not in Page(write_report(run).read_text()).text
    result = json.loads((run / "result.json").read_text())
    result["models"] = result["models"][:1]
    (run / "result.json").write_text(json.dumps(result))
    text = Page(write_report(run).read_text()).text
    assert "was not trained for comparison" in text
    assert 'compare.undivided={decomposer="whole", combiner="route"}' in text


def test_columns_scores_folds_and_rare_classes_are_told(run: Path) -> None:
    result = json.loads((run / "result.json").read_text())
    result["models"][0] |= {
        "baseline_accuracy": 0.5,
        "test_f1_macro": 0.4321,
        "test_accuracy_fold_mean": 0.51,
        "test_accuracy_fold_std": 0.02,
    }
    result["rare_classes"] = [{"name": "10", "rows": 2, "tested": 2, "right": 1}]
    (run / "result.json").write_text(json.dumps(result))
    columns = [
        {"column": "kind", "kind": "target", "about": "2 different"},
        {"column": "width", "kind": "number", "about": "0 to 1, 3 missing"},
        {"column": "code", "kind": "id", "about": "1234 different"},
    ]
    (run / "plan.json").write_text(json.dumps({"columns": columns}))
    text = Page(write_report(run).read_text()).text
    for sentence in (
        "columns 1 number",
        "missing values filled in width (3)",
        "left out code (a value of its own in nearly every row)",
        "The 3 columns, and what they were taken for",
        "Rare classes, hard to learn and to judge: 10 (2 rows, 2 tested, 1 right).",
        "always the largest class 50.00%",
        "f1 macro 0.4321",
        "mean of the folds 51.00%",
        "deviation among folds 2.00%",
    ):
        assert sentence in text, sentence


def test_components_of_a_blend_are_named_in_the_setup():
    tree = {"use": "tree", "ceiling": 1500}
    nested = {"decomposer": tree, "learner": {"use": "kernel_svm", "C": 10}, "combiner": "route"}
    blend = {"use": "blend", "learners": [nested, {"use": "logistic"}], "weights": [0.5, 0.5]}
    told = "blend (learners = [tree with kernel_svm, logistic], weights = [0.5, 0.5])"
    assert _component(blend) == told
