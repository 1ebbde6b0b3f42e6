"""The smaller commands: recipes, plugins init, compare, dry runs, overrides."""

import csv
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.multiclass import check_classification_targets
from typer.testing import CliRunner

from dcsvm.base.component import settings_of
from dcsvm.cli import app
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.run.pilot import Pilot, StrategyPilot


def run_in(dcsvm, folder, *arguments):
    result = dcsvm("run", *arguments, "--out", folder, "--json", "--jobs", "1")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_recipes_are_listed_with_what_they_suit(dcsvm):
    lines = dcsvm("recipes").stdout.splitlines()
    assert lines[0].split() == ["name", "suits", "about"]
    assert any(line.startswith("td_svm ") and "1,000 to 5,000,000 rows" in line for line in lines)


def test_recipes_to_try_are_found_for_a_file(dcsvm, tmp_path):
    rows = "".join(f"{i % 7},{i % 5},{'xy'[i % 2]}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text("a,b,kind\n" + rows)
    result = dcsvm("recipes", "--data", "rows.csv", "--target", "kind", "--json")
    assert "rows.csv: 40 rows, 2 features, 2 classes" in result.stderr
    sizes = dcsvm("recipes", "--rows", "40", "--features", "2", "--classes", "2", "--json")
    listed = json.loads(result.stdout)
    assert all(each.pop("why") for each in listed)
    assert listed == json.loads(sizes.stdout)
    for option in (["--target", "kind"], ["--set", "data.decimal=,"]):
        assert "give the file, too" in dcsvm("recipes", *option).stderr


def test_recipes_say_why_they_suit_a_file(dcsvm, tmp_path):
    rows = "".join(f"{i % 7},{i % 5 or ''},{'xy'[i % 2]}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text("a,b,kind\n" + rows)
    result = dcsvm("recipes", "--data", "rows.csv", "--json")
    assert "assumed: the target is 'kind', the last column; --target names" in result.stderr
    why = {each["name"]: each["why"] for each in json.loads(result.stdout)}
    gaps = "one column has gaps: add --set data.missing=mark"
    assert why["auto"].startswith("tries ")
    assert why["auto"].endswith("global_svm on these rows, and keeps the best")
    assert why["global_svm"].startswith("number ")
    assert why["global_svm"].endswith(f" of what auto tries for this file; {gaps}")
    assert why["td_svm"] == "40 rows: it is meant for 1,000 to 5,000,000 rows"
    assert why["quickstart"] == gaps
    filled = ("--set", "data.missing=impute")
    told = dcsvm("recipes", "--data", "rows.csv", "--target", "kind", *filled).stdout
    assert "data.missing" not in told


def test_the_likely_target_is_found_by_its_name(dcsvm, tmp_path):
    rows = "".join(f"{'xy'[i % 2]},{i % 7}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text("Class,a\n" + rows)
    result = dcsvm("recipes", "--data", "rows.csv")
    assert "assumed: the target is 'Class', by its name; " in result.stderr
    assert "rows.csv: 40 rows, 1 features, 2 classes" in result.stderr


def test_recipes_read_a_file_as_set_says(dcsvm, tmp_path):
    rows = "".join(f"{i % 7},5;{'äy'[i % 2]}\n" for i in range(40))
    (tmp_path / "rows.csv").write_bytes(("Maß;kind\n" + rows).encode("latin-1"))
    ways = ["--set", "data.encoding=latin-1", "--set", "data.decimal=,"]
    told = dcsvm("recipes", "--data", "rows.csv").stderr
    assert "(--set data.encoding=latin-1)" in told
    assert "assumed" not in told
    done = dcsvm("recipes", "--data", "rows.csv", *ways)
    assert "rows.csv: 40 rows, 1 features, 2 classes" in done.stderr
    assert done.stdout.splitlines()[0].split()[:4] == ["name", "try", "it", "why"]
    wrong = dcsvm("recipes", "--data", "rows.csv", "--set", "learner.C=1")
    assert "--set of recipes takes keys of [data] only" in wrong.stderr


def test_a_data_file_is_not_taken_for_a_recipe(dcsvm, tmp_path):
    (tmp_path / "rows.csv").write_text("a,kind\n1,x\n")
    result = dcsvm("run", "rows.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: 'rows.csv' is a data file, not a recipe: dcsvm recipes --data rows.csv --target "
        "COLUMN lists the recipes for it, and dcsvm run RECIPE --data rows.csv --target COLUMN "
        "runs one\n"
    )


def test_recipes_to_try_come_first(dcsvm):
    result = dcsvm("recipes", "--rows", "300000", "--features", "10", "--classes", "2", "--json")
    listed = {each["name"]: each["try it"] for each in json.loads(result.stdout)}
    assert listed["td_svm"] == "yes"
    assert listed["global_svm"] == "no: rows"
    assert listed["max_wins"] == "no: rows, classes"
    answers = list(listed.values())
    assert answers == sorted(answers, key=lambda answer: answer != "yes")


def test_of_recipes_to_try_auto_comes_first_and_then_what_it_tries(dcsvm):
    def names(*sizes):
        return [each["name"] for each in json.loads(dcsvm("recipes", *sizes, "--json").stdout)]

    def are_in_order(listed, *some):
        return [name for name in listed if name in some] == list(some)

    small = names("--rows", "8000", "--features", "14", "--classes", "2")
    assert small[:3] == ["auto", "metric_svm", "boosted_trees"]
    assert are_in_order(small, "global_svm", "bagging_svm", "cascade_svm")
    assert are_in_order(names("--rows", "8000", "--classes", "9"), "td_svm", "one_vs_rest")
    assert names("--rows", "400000", "--classes", "2")[:2] == ["auto", "linear_svm"]
    assert dcsvm("recipes", "--rows", "8000").stderr == (
        "of those to try, auto and what it tries come first; the others begin with those meant "
        "for no more rows than needed: what goes further gives up more of an undivided model\n"
    )


def test_a_recipe_is_shown_as_it_is(dcsvm):
    text = default_registry().offers["recipe", "td_svm"].what
    assert dcsvm("recipes", "show", "td_svm").stdout.strip() == text.strip()


def test_a_recipe_that_is_not_there_is_suggested(dcsvm):
    result = dcsvm("recipes", "show", "td_smv")
    assert result.stderr.startswith("error: no recipe is called 'td_smv'; did you mean 'td_svm'?")
    assert result.exit_code == 2


def test_a_copy_never_replaces_a_file(dcsvm, tmp_path):
    assert dcsvm("recipes", "copy", "td_svm").stderr == (
        "next: change td_svm.toml, then: dcsvm run td_svm.toml\n"
    )
    before = (tmp_path / "td_svm.toml").read_text()
    assert before == default_registry().offers["recipe", "td_svm"].what
    result = dcsvm("recipes", "copy", "max_wins", "td_svm.toml")
    assert result.stderr == ("error: 'td_svm.toml' exists already, and was not overwritten\n")
    assert result.exit_code == 2
    assert (tmp_path / "td_svm.toml").read_text() == before


@pytest.mark.parametrize("name", default_registry().names("recipe"))
def test_shipped_recipes_are_short_and_say_when_to_use_them(name):
    text = default_registry().offers["recipe", name].what
    about = tomllib.loads(text)["about"]
    assert len(text.splitlines()) <= 18
    assert not about.endswith(".")
    assert name == "quickstart" or {"search", "suits"} <= tomllib.loads(text).keys()


def test_explain_shows_structure_parts_and_cost(dcsvm, recipe, iris_pipeline):
    run_in(dcsvm, "kept", recipe(iris_pipeline + "[split]\nrefit = false\n"))
    shown = dcsvm("explain", "kept")
    assert shown.exit_code == 0, shown.stderr
    assert '[decomposer]\nuse = "class_pairs"' in shown.stdout
    assert "4 features; 3 classes: setosa, versicolor, virginica" in shown.stdout
    found = json.loads(dcsvm("explain", "kept/model.dcsvm", "--json").stdout)
    inner = found["parts"][-1]
    assert (inner["depth"], inner["kind"], inner["parts"]) == (0, "KernelExpansion", 3)
    metrics = json.loads(Path("kept/metrics.json").read_text())
    assert inner["support vectors"] == metrics["n_support_vectors"]
    assert found["size"]["different support vectors"] == metrics["n_unique_support_vectors"]
    assert (
        found["size"]["kernel evaluations if all were asked"]
        == (metrics["kernel_evaluations_max"])
    )


def test_explain_of_what_is_no_model(dcsvm, tmp_path):
    (tmp_path / "model.dcsvm").write_text("nonsense")
    result = dcsvm("explain", "model.dcsvm")
    assert result.stderr == "error: model file 'model.dcsvm' is not a dcsvm model file\n"
    assert result.exit_code == 4


@pytest.mark.slow
def test_compare_shows_measures_differences_and_a_test(dcsvm, recipe, iris_pipeline):
    run_in(dcsvm, "first", recipe(iris_pipeline))
    run_in(dcsvm, "second", "recipe.toml", "--set", "learner.C=0.001")
    found = json.loads(dcsvm("compare", "first", "second", "--json").stdout)
    assert found["runs"] == ["first", "second"]
    assert found["differences"] == {"learner.C": [1.0, 0.001]}
    right, other = found["metrics"]["test_accuracy"]
    (test,) = found["tests"]
    assert test["only_first"] - test["only_second"] == round((right - other) * 38)
    assert test["both_right"] + test["only_first"] == round(right * 38)
    shown = dcsvm("compare", "first", "second").stdout
    assert "in the recipe" in shown
    assert "McNemar" in shown
    assert "points (95% interval" in shown
    assert test["low"] < test["difference"] < test["high"]
    assert "train_accuracy" in shown
    assert "not measured" not in shown


@pytest.mark.slow
def test_compare_says_what_one_run_did_not_measure_and_leaves_out_what_none_did(
    dcsvm, recipe, iris_pipeline
):
    run_in(dcsvm, "first", recipe(iris_pipeline))
    for name in ("second", "third"):
        run_in(dcsvm, name, "recipe.toml", "--set", "measure.train=false")
    shown = dcsvm("compare", "first", "second").stdout
    assert re.search(r"^train_accuracy +[\d.]+ +not measured$", shown, re.MULTILINE)
    assert "train_accuracy" not in dcsvm("compare", "second", "third").stdout


@pytest.mark.slow
def test_compare_of_unlike_recipes_is_short(dcsvm, recipe, iris_pipeline):
    run_in(dcsvm, "first", recipe(iris_pipeline))
    other = """
    data = { use = "iris", scale = "robust" }
    decomposer = { use = "repeat", times = 2, decomposer = { use = "tree", ceiling = 60 } }
    combiner = "mean"
    [learner]
    decomposer = { use = "bootstrap", samples = 2 }
    learner = "kernel_svm"
    combiner = "vote"
    [search]
    learner.learner.C = [1.0]
    data.scale = ["none"]
    [compare.undivided]
    decomposer = "whole"
    learner = "linear_svm"
    """
    run_in(dcsvm, "second", recipe(other))
    found = json.loads(dcsvm("compare", "first", "second", "--json").stdout)["differences"]
    assert list(found.items()) == [
        ("data.scale", ["minmax", "robust"]),
        ("decomposer", ["class_pairs", "repeat(times=2, decomposer=tree(ceiling=60))"]),
        ("learner", ["kernel_svm", "(bootstrap(samples=2), kernel_svm, vote)"]),
        ("combiner", ["vote", "mean"]),
        ("search", ["not given", "data.scale, learner.learner.C"]),
        ("compare", ["not given", "undivided"]),
    ]


@pytest.mark.slow
def test_compare_shows_what_searches_chose(dcsvm, recipe, iris_pipeline):
    searched = "[search]\nlearner.gamma = [0.001, 1.0]\nlearner.C = [1.0]\n"
    run_in(dcsvm, "first", recipe(iris_pipeline + searched))
    run_in(dcsvm, "second", recipe(iris_pipeline))
    found = json.loads(dcsvm("compare", "first", "second", "--json").stdout)
    assert found["chosen"]["learner.C"] == [1.0, "not given"]
    assert found["chosen"]["learner.gamma"][0] in (0.001, 1.0)
    assert "chosen by the search" in dcsvm("compare", "first", "second").stdout


@pytest.mark.slow
def test_compare_says_which_searches_were_cut_short(dcsvm, recipe, iris_pipeline):
    searched = "[search]\nlearner.C = [1.0, 10.0]\n"
    run_in(dcsvm, "first", recipe(iris_pipeline + searched))
    run_in(dcsvm, "second", recipe(iris_pipeline + searched + "seconds = 1e-9\n"), "--jobs", "1")
    sentence = (
        "second: the search was cut short: the time budget of 1e-09 s was used up after 1 of 2 "
        "combinations; --set search.seconds=4e-09 gives it more"
    )
    lines = dcsvm("compare", "first", "second").stdout.splitlines()
    assert [line for line in lines if "cut short" in line] == [sentence]
    found = json.loads(dcsvm("compare", "first", "second", "--json").stdout)
    assert found["cut_short"] == [sentence]


def test_compare_says_when_rows_differ(dcsvm, recipe, iris_pipeline):
    run_in(dcsvm, "first", recipe(iris_pipeline))
    run_in(dcsvm, "second", "recipe.toml", "--seed", "5")
    shown = dcsvm("compare", "first", "second").stdout
    assert "the recipes are the same" in shown
    assert "no test: the runs were tested on different rows" in shown


def test_compare_wants_two_runs_that_are_done(dcsvm, tmp_path, recipe, iris_pipeline):
    assert dcsvm("compare", "one").stderr == "error: compare takes two runs or more\n"
    run_in(dcsvm, "first", recipe(iris_pipeline))
    (tmp_path / "first" / "metrics.json").unlink()
    result = dcsvm("compare", "first", "first")
    assert result.stderr == (
        "error: the run in 'first' is done, but files are missing from its folder\n"
    )
    assert result.exit_code == 2


def test_the_schema_accepts_every_shipped_recipe_and_knows_every_component(dcsvm):
    schema = json.loads(dcsvm("recipes", "schema").stdout)
    registry = default_registry()
    for kind in ("decomposer", "learner", "combiner"):
        names, *tables = schema["$defs"][kind]["anyOf"]
        assert names["enum"] == registry.names(kind)
        assert len(tables) == len(names["enum"]) + (kind == "learner")
    for name in registry.names("recipe"):
        table = tomllib.loads(registry.offers["recipe", name].what)
        assert table.keys() <= schema["properties"].keys()
        data = schema["properties"]["data"]
        assert table["data"].keys() <= data["properties"].keys()
    tree = next(
        each
        for each in schema["$defs"]["decomposer"]["anyOf"][1:]
        if each["properties"]["use"]["const"] == "tree"
    )
    assert tree["properties"]["ceiling"]["minimum"] == 1


@pytest.mark.slow
def test_a_started_recipe_runs_when_its_data_are_there(dcsvm, tmp_path):
    assert dcsvm("recipes", "init").exit_code == 0
    rows = "".join(f"{i % 13},{i % 7},{'no' if i % 13 < 6 else 'yes'}\n" for i in range(200))
    (tmp_path / "mine.csv").write_text("a,b,class\n" + rows)
    found = run_in(dcsvm, "kept", "recipe.toml")
    assert found["models"][0]["test_accuracy"] == 1.0


@pytest.mark.slow
def test_the_tests_of_started_plugins_pass_at_once(dcsvm, tmp_path):
    kinds = ("decomposer", "learner", "combiner")
    for kind in kinds:
        assert dcsvm("plugins", "init", f"my_{kind}", "--kind", kind).exit_code == 0
    folders = [f"dcsvm-my-{kind}" for kind in kinds]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders, "-rA"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    for kind in kinds:
        assert f"/test_my_{kind}.py::test_my_{kind}_conforms" in run.stdout
        file = f"dcsvm-my-{kind}/dcsvm_my_{kind}.py"
        listed = json.loads(dcsvm("plugins", "--plugin", file, "--json").stdout)["offers"]
        assert (kind, f"my_{kind}") in {(each["kind"], each["name"]) for each in listed}


@pytest.mark.slow
def test_started_plugins_pass_mypy_strict(dcsvm, tmp_path):
    kinds = ("decomposer", "learner", "combiner")
    for kind in kinds:
        assert dcsvm("plugins", "init", f"my_{kind}", "--kind", kind).exit_code == 0
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *(f"dcsvm-my-{kind}" for kind in kinds)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.stdout == "Success: no issues found in 6 source files\n"


def test_a_plugin_may_not_take_a_name_that_is_taken(dcsvm, tmp_path):
    result = dcsvm("plugins", "init", "tree")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: a decomposer called 'tree' already exists in dcsvm; choose another name\n"
    )


def test_the_next_step_of_a_started_plugin_names_its_folder(dcsvm, tmp_path):
    said = dcsvm("plugins", "init", "my_own").stderr
    assert said == "next: python -m pytest ./dcsvm-my-own, then: pip install ./dcsvm-my-own\n"


def test_a_plugin_needs_a_name_that_python_can_import(dcsvm):
    result = dcsvm("plugins", "init", "My-Own")
    assert result.stderr == (
        "error: a plugin's name must consist of lower case letters, digits and underscores, "
        "got 'My-Own'\n"
    )
    assert result.exit_code == 2


def test_a_dry_run_prints_the_plan_and_writes_nothing(dcsvm, tmp_path):
    result = dcsvm("run", "td_svm", "--dry-run", "--json", "--jobs", "2")
    assert result.exit_code == 0, result.stderr
    planned = json.loads(result.stdout)
    (own,) = planned["candidates"]
    assert (planned["n_train"], planned["n_test"]) == (7500, 2500)
    assert own["largest"] <= 1500
    assert own["smallest"] * own["parts"] <= 7500 <= own["largest"] * own["parts"]
    assert own["combinations"] == 100 + 2 * 5  # of the finest level, and the best at two coarser
    assert own["seconds"] > 0
    assert own["megabytes"] > 0
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_plan_has_the_random_divisions_of_the_run(dcsvm, recipe):
    text = (
        'data = { use = "two_moons", rows = 800 }\nlearner = "kernel_svm"\ncombiner = "mean"\n'
        'decomposer = { use = "repeat", times = 3, decomposer = { use = "tree", ceiling = 100, '
        'splitter = "random" } }\n'
    )
    (own,) = json.loads(dcsvm("run", recipe(text), "--dry-run", "--json").stdout)["candidates"]
    run = dcsvm("run", "recipe.toml", "--out", "kept")
    assert run.exit_code == 0, run.stderr
    with Path("kept/parts.csv").open(encoding="utf-8") as file:
        sizes = [
            int(row["rows"]) for row in csv.DictReader(file) if row["kind"] != "FittedStrategy"
        ]
    assert (own["parts"], own["smallest"], own["largest"]) == (len(sizes), min(sizes), max(sizes))


def test_a_plan_looks_into_nested_pipelines(dcsvm, recipe, iris_pipeline):
    text = iris_pipeline.replace('[learner]\nuse = "kernel_svm"', "").replace(
        "[combiner]",
        '[learner]\nlearner = "kernel_svm"\ncombiner = "mean"\n'
        'decomposer = { use = "chunks", parts = 4 }\n[combiner]',
    )
    (own,) = json.loads(dcsvm("run", recipe(text), "--dry-run", "--json").stdout)["candidates"]
    assert own["parts"] == 12
    shown = dcsvm("run", "recipe.toml", "--dry-run").stdout
    assert "at a time; parts of later stages, if any, are not foreseen" in shown


def test_a_plan_is_worded_and_forecast_for_one_part_at_a_time(dcsvm):
    shown = dcsvm("run", "linear_svm", "--dry-run", "--jobs", "1").stdout
    assert "\none part at a time; " in shown
    (own,) = json.loads(dcsvm("run", "linear_svm", "--dry-run", "--json").stdout)["candidates"]
    assert own["combinations"] == 12
    # Twelve fits of the whole pipeline take milliseconds each, whatever the learner itself takes.
    assert 0.005 < own["seconds"] <= 60


def test_a_plan_counts_the_search_and_says_what_comes_on_top(dcsvm, recipe, monkeypatch):
    pilot = Pilot(1.0, 400, 0)
    monkeypatch.setattr(Pilot, "of", lambda job: pilot)
    monkeypatch.setattr(StrategyPilot, "of", lambda *given: None)
    text = (
        'data = { use = "two_moons", rows = 1600 }\nlearner = "kernel_svm"\ncombiner = "route"\n'
        'decomposer = "whole"\n[search]\nrows = 1000\nlearner.C = [1.0, 2.0, 3.0, 4.0]\n'
    )
    asked = ("run", recipe(text), "--dry-run", "--jobs", "1")
    (own,) = json.loads(dcsvm(*asked, "--json").stdout)["candidates"]
    once = pilot.seconds_for(1200)
    trials = 4 * once * 800 / 1200  # a fifth of the rows judges
    assert own["seconds"] == pytest.approx(once + once * 1600 / 1200 + trials, abs=1)
    assert dcsvm(*asked).stdout.splitlines()[-1] == (
        "seconds of searching and training: measuring and the report come on top"
    )


def test_values_on_the_command_line_win(dcsvm, recipe, iris_pipeline):
    run_in(
        dcsvm, "kept", recipe(iris_pipeline), "--set", "data.scale=none", "--set", "learner.C=7"
    )
    resolved = tomllib.loads(Path("kept/resolved.toml").read_text())
    assert (resolved["data"]["scale"], resolved["learner"]["C"]) == ("none", 7)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("learner.C", "--set takes key=value, such as learner.C=10, not 'learner.C'"),
        ("=3", "--set takes key=value, such as learner.C=10, not '=3'"),
        (
            "learner.C=-3",
            "--set learner.C=-3: kernel_svm: C must be a number above 0, got -3",
        ),
        (
            "learner.D=3",
            "--set learner.D=3: kernel_svm has no setting 'D'; available: SETTINGS",
        ),
        (
            "spilt.test=0.3",
            "--set spilt.test=0.3: a recipe has no key 'spilt'; did you mean 'split'? available: "
            "about, auto, class_weight, combiner, compare, costs, data, decomposer, extends, "
            "learner, measure, name, probability, search, split, suits, threshold",
        ),
    ],
)
def test_a_mistake_on_the_command_line_is_told_at_its_place(
    dcsvm, recipe, iris_pipeline, given, sentence
):
    result = dcsvm("run", recipe(iris_pipeline), "--set", given)
    known = ", ".join(sorted(settings_of(default_registry().get("learner", "kernel_svm"))))
    assert result.stderr == f"error: {sentence.replace('SETTINGS', known)}\n"
    assert result.exit_code == 2


@pytest.mark.slow
def test_other_data_for_a_shipped_recipe(dcsvm, tmp_path):
    rows = "".join(f"{i % 13},{i % 7},{'no' if i % 13 < 6 else 'yes'}\n" for i in range(200))
    (tmp_path / "mine.csv").write_text("a,b,kind\n" + rows)
    found = run_in(dcsvm, "kept", "global_svm", "--data", "mine.csv", "--target", "kind")
    assert (found["data"], found["n_features"]) == ("mine.csv", 2)
    embedded = run_in(dcsvm, "other", "global_svm", "--data", "iris", "--set", "search={}")
    assert embedded["data"] == "iris"


def test_folds_answer_every_row_once(dcsvm, recipe, iris_pipeline):
    text = iris_pipeline + '[split]\nuse = "folds"\nfolds = 3\n'
    found = run_in(dcsvm, "kept", recipe(text))
    assert (found["n_train"], found["n_test"]) == (150, 150)
    lines = Path("kept/predictions.csv").read_text().splitlines()
    assert sorted(int(line.split(",")[0]) for line in lines[1:]) == list(range(150))
    assert {line.split(",")[1] for line in lines[1:]} == {"0", "1", "2"}
    assert found["models"][0]["test_accuracy"] > 0.9


def test_completion_can_be_installed(dcsvm):
    assert "--install-completion" in dcsvm("--help").stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dcsvm re", {"recipes", "report"}),
        ("dcsvm run --d", {"--data", "--dry-run", "--debug"}),
        ("dcsvm plugins ", {"show", "init"}),
        ("dcsvm run sv", {"svm_forest", "svm_tree"}),
        ("dcsvm recipes show gl", {"global_svm"}),
        ("dcsvm plugins show ke", {"kernel_kmeans", "kernel_logistic", "kernel_svm"}),
        ("dcsvm recipes copy td", {"td_svm"}),
        ("dcsvm run my", {"my_recipe.toml", "my_recipes/"}),
    ],
)
def test_the_shell_completes_commands_options_and_names(words, expected):
    Path("my_recipe.toml").touch()
    Path("my_recipes").mkdir()
    Path("my_rows.csv").touch()
    asked = {
        "_DCSVM_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    said = CliRunner().invoke(app, [], env=asked, prog_name="dcsvm").stdout
    assert set(said.split()) == expected


def test_components_of_a_blend_are_compared_by_their_names():
    from dcsvm.cli.compare import _describe

    tree = {"use": "tree", "ceiling": 1500}
    forest = {"decomposer": tree, "learner": {"use": "kernel_svm", "C": 10}, "combiner": "route"}
    assert _describe([forest, "logistic"]) == "[tree with kernel_svm, logistic]"
    assert _describe([{"scale": "none"}]) == "[scale=none]"
    assert len(_describe([forest] * 9)) == 60


def test_a_doubt_of_scikit_learn_about_many_classes_is_not_told(capsys):
    from dcsvm.cli.app import report_errors

    with pytest.warns(UserWarning, match="The number of unique classes is greater than 50%"):
        check_classification_targets(np.arange(30))
    with report_errors(debug=False):
        check_classification_targets(np.arange(30))
    assert capsys.readouterr().err == ""
