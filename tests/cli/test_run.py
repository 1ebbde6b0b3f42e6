"""`dcsvm run`: what it prints, what it measures, what it leaves."""

import json
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import dcsvm as package
from dcsvm.drive.registry import default_registry

SPECIES = ("setosa", "versicolor", "virginica")
UNDIVIDED = '\n[compare.undivided]\ndecomposer = "whole"\ncombiner = "route"\n'


@pytest.mark.slow
def test_the_table_is_aligned_and_says_all_that_was_measured(dcsvm, recipe, iris_pipeline):
    result = dcsvm("run", recipe(iris_pipeline + UNDIVIDED), "--jobs", "1")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "recipe.toml"
    assert lines[1] == "iris: 112 rows to learn from, 38 held out, 4 features, 3 classes"
    assert lines[2] == "features scaled to [0, 1], seed 0, one part at a time"
    table = lines[4:]
    assert table[0].split() == ["recipe", "undivided"]
    assert [line[:36].strip() for line in table[1:]] == [
        "accuracy",
        "of always naming the largest class",
        "fit seconds",
        "predict seconds",
        "parts",
        "kernel evaluations per row, mean",
        "times fewer than undivided",
        "kernel evaluations per row, max",
        "each kernel value once, mean",
        "each kernel value once, max",
    ]
    assert len({len(line) for line in table}) == 1, "right-aligned numbers end in one column"
    assert table[5].split() == ["parts", "3", "1"]
    own, undivided = map(float, table[6].split()[-2:])
    assert [float(word) for word in table[7].split()[-2:]] == [
        pytest.approx(undivided / own, abs=0.02),
        1.0,
    ]
    assert all(float(word) > 0.85 for word in table[1].split()[1:])


@pytest.mark.slow
def test_kernel_values_that_are_all_asked_once_are_told_once(dcsvm, recipe):
    text = 'data = { use = "two_moons" }\ndecomposer = "whole"\nlearner = "kernel_svm"\n'
    result = dcsvm("run", recipe(text + 'combiner = "route"\n'), "--out", "kept")
    assert "kernel evaluations per row, max" in result.stdout
    assert "each kernel value once" not in result.stdout
    assert "hyperplanes" not in result.stdout
    metrics = json.loads(Path("kept/metrics.json").read_text())
    assert metrics["unique_kernel_evaluations_mean"] == metrics["kernel_evaluations_mean"]


@pytest.mark.slow
def test_data_go_to_standard_output_and_messages_to_standard_error(dcsvm, recipe, iris_pipeline):
    result = dcsvm("run", recipe(iris_pipeline + UNDIVIDED), "--json")
    found = json.loads(result.stdout)
    assert found["recipe"] == "recipe.toml"
    assert result.stderr == (
        f"kept in {found['folder']}\n"
        "this model was trained on all 150 rows; the figures are those of the same strategy "
        "trained on 112\n"
        f"next: dcsvm predict {found['folder']} new_rows.csv\n"
    )


@pytest.mark.slow
def test_json_holds_the_measures_of_every_model(dcsvm, recipe, iris_pipeline):
    found = json.loads(dcsvm("run", recipe(iris_pipeline + UNDIVIDED), "--json").stdout)
    assert (found["n_train"], found["n_test"]) == (112, 38)
    pairs, undivided = found["models"]
    assert pairs["model"] == "recipe"
    assert undivided["n_parts"] == 1
    assert undivided["kernel_evaluations_max"] >= undivided["unique_kernel_evaluations_max"] > 0
    by_class = {f"{word}.{name}" for word in ("precision", "recall", "f1") for name in SPECIES}
    assert set(pairs) - by_class == {
        "model",
        "test_accuracy",
        "test_error",
        "baseline_accuracy",
        "train_accuracy",
        "search_seconds",
        "n_train",
        "n_test",
        "homogeneous_share",
        "n_support_vectors",
        "n_unique_support_vectors",
        "fit_seconds",
        "predict_seconds",
        "n_parts",
        "kernel_evaluations_mean",
        "kernel_evaluations_max",
        "unique_kernel_evaluations_mean",
        "unique_kernel_evaluations_max",
        "hyperplanes_mean",
        "hyperplanes_max",
    }


@pytest.mark.slow
def test_a_cost_that_nobody_knows_has_no_line_and_one_that_some_know_is_called_unknown(
    dcsvm, recipe, iris_pipeline
):
    text = iris_pipeline.replace('"kernel_svm"', '"sklearn"\nclassifier = "GaussianNB"')
    rival = '[compare.machine]\nlearner = "kernel_svm"\n'
    shown = dcsvm("run", recipe(text + rival), "--jobs", "1").stdout
    assert re.search(r"kernel evaluations per row, mean +unknown +\d", shown)
    shown = dcsvm("run", recipe(text), "--jobs", "1").stdout
    assert "accuracy" in shown
    assert not re.search("kernel evaluations|kernel value|hyperplanes", shown)
    found = json.loads(dcsvm("run", recipe(text), "--json", "--jobs", "1").stdout)
    assert found["models"][0]["kernel_evaluations_mean"] is None


def test_a_linear_model_shows_its_hyperplanes_and_no_kernel_values(dcsvm, recipe, iris_pipeline):
    text = iris_pipeline.replace("kernel_svm", "linear_svm")
    shown = dcsvm("run", recipe(text)).stdout
    assert re.search(r"hyperplanes per row, max +3\n", shown)
    assert "kernel" not in shown


@pytest.mark.slow
def test_the_same_seed_gives_the_same_measures_for_any_number_of_jobs(
    dcsvm, recipe, iris_pipeline
):
    text = iris_pipeline.replace("class_pairs", "bootstrap")
    runs = [
        json.loads(dcsvm("run", recipe(text), "--json", "--seed", "3", "--jobs", jobs).stdout)
        for jobs in "12"
    ]
    one, two = (
        {key: value for key, value in run["models"][0].items() if "seconds" not in key}
        for run in runs
    )
    assert one == two
    assert runs[0]["seed"] == 3


@pytest.mark.slow
def test_another_seed_splits_otherwise(dcsvm, recipe, iris_pipeline):
    text = iris_pipeline.replace("class_pairs", "bootstrap")
    evaluations = [
        json.loads(dcsvm("run", recipe(text), "--json", "--seed", seed).stdout)["models"][0][
            "kernel_evaluations_mean"
        ]
        for seed in "12"
    ]
    assert evaluations[0] != evaluations[1]


@pytest.mark.slow
def test_nested_pipelines_lists_and_tables_of_components_run(dcsvm, recipe):
    text = """
    decomposer = { use = "sum", summands = ["class_pairs", { use = "class_rest" }] }
    combiner = "vote"
    data = { use = "iris", scale = "standard" }

    [learner.decomposer]
    use = "repeat"
    times = 2
    decomposer = { use = "tree", ceiling = 30 }

    [learner.learner]
    use = "kernel_svm"
    C = 10

    [learner.combiner]
    use = "mean"
    """
    result = dcsvm("run", recipe(text), "--json")
    assert result.exit_code == 0, result.stderr
    model = json.loads(result.stdout)["models"][0]
    assert model["n_parts"] > 12
    assert model["test_accuracy"] > 0.85


def test_files_are_found_from_the_folder_of_the_recipe(dcsvm, tmp_path, iris_pipeline):
    folder = tmp_path / "below"
    folder.mkdir()
    rows = "".join(f"{2 * i},{i % 7},{'no' if i < 30 else 'yes'}\n" for i in range(60))
    (folder / "rows.csv").write_text("a,b,answer\n" + rows)
    (folder / "own.toml").write_text(
        iris_pipeline.replace('use = "iris"', 'path = "rows.csv"\ntarget = "answer"')
    )
    result = dcsvm("run", folder / "own.toml")
    assert result.exit_code == 0, result.stderr
    assert "60" not in result.stdout.splitlines()[1]
    assert "45 rows to learn from, 15 held out, 2 features, 2 classes" in result.stdout


def test_published_test_rows_are_used(dcsvm, recipe, tmp_path, iris_pipeline):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(50, 2))
    y = (X[:, 0] > 0).astype(int)
    np.savez(tmp_path / "a.npz", X_train=X[:30], y_train=y[:30], X_test=X[30:], y_test=y[30:])
    text = iris_pipeline.replace('use = "iris"', 'path = "a.npz"')
    assert "30 rows to learn from, 20 held out" in dcsvm("run", recipe(text)).stdout


@pytest.mark.slow
def test_a_saved_model_answers_raw_rows_as_the_run_did(dcsvm, recipe, tmp_path, iris_pipeline):
    text = iris_pipeline.replace('use = "iris"', 'use = "wine"\nscale = "standard"')
    result = dcsvm("run", recipe(text), "--out", "model.dcsvm", "--json")
    assert result.exit_code == 0, result.stderr
    from sklearn.datasets import load_wine

    wine = load_wine()
    answers = package.load(tmp_path / "model.dcsvm").predict(wine.data)
    assert np.mean(answers == wine.target_names[wine.target]) > 0.97


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("nowhere/model.dcsvm", "there is no directory 'nowhere'"),
        ("folder.dcsvm", "it is a directory"),
        ("/proc/model.dcsvm", "No such file or directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_training(
    dcsvm, recipe, tmp_path, out, reason, iris_pipeline
):
    (tmp_path / "folder.dcsvm").mkdir()
    never = iris_pipeline.replace('use = "iris"', 'path = "is_not_read.npz"')
    result = dcsvm("run", recipe(never), "--out", out)
    assert result.stderr == f"error: cannot write the model to '{out}': {reason}\n"
    assert result.exit_code == 2


def test_what_fails_unforeseen_says_so_in_one_line_and_debug_shows_where(
    dcsvm, recipe, iris_pipeline, plugin_text, tmp_path
):
    broken = plugin_text.replace("NAME", "broken").replace("order = ", "order = 1 / 0  # ")
    (tmp_path / "broken.py").write_text(broken)
    text = recipe(iris_pipeline.replace("class_pairs", "broken"))
    result = dcsvm("run", text, "--plugin", "broken.py")
    assert result.stderr == "error: ZeroDivisionError: division by zero (--debug shows where)\n"
    assert result.exit_code == 1
    shown = dcsvm("run", text, "--plugin", "broken.py", "--debug")
    assert shown.stderr.startswith("Traceback")
    assert shown.exit_code == 1


def test_debug_shows_the_traceback_of_a_known_mistake_too(dcsvm):
    result = dcsvm("run", "nowhere", "--debug")
    assert result.stderr.startswith("Traceback")
    assert "error: no recipe file or registered recipe is called 'nowhere'" in result.stderr
    assert result.exit_code == 2


def test_warnings_are_told_once_in_one_line(dcsvm, recipe, iris_pipeline):
    import warnings

    warnings.simplefilter("always")  # undone by pytest after the test
    text = iris_pipeline.replace(
        '"kernel_svm"', '"linear_svm"\nmax_iterations = 1\nloss = "hinge"'
    )
    result = dcsvm("run", recipe(text), "--jobs", "1")
    assert result.stderr.splitlines()[:-3] == [
        "warning: Liblinear failed to converge, increase the number of iterations."
    ]


@pytest.mark.slow
def test_the_quickstart_divides_and_compares_with_the_undivided_model(dcsvm, recipe):
    text = default_registry().offers["recipe", "quickstart"].what
    found = json.loads(dcsvm("run", recipe(text.replace("24000", "4000")), "--json").stdout)
    tree, undivided = found["models"]
    assert (tree["model"], undivided["model"]) == ("tree of SVMs", "undivided")
    assert tree["n_parts"] > undivided["n_parts"] == 1
    assert abs(tree["test_accuracy"] - undivided["test_accuracy"]) < 0.03
    assert tree["kernel_evaluations_mean"] < undivided["kernel_evaluations_mean"]


def test_the_quickstart_names_the_next_step(dcsvm, recipe, tmp_path):
    shown = dcsvm("plugins", "show", "quickstart")
    (tmp_path / "quickstart").write_text(shown.stdout.replace("24000", "500"))
    result = dcsvm("run", "quickstart")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[2] == (
        "next: dcsvm recipes copy quickstart mine.toml, "
        "put your CSV file there, then: dcsvm run mine.toml"
    )


MESSY = """customer id;"Colour (main)";size %;z.score;free text;const;"class; label"
"""


@pytest.fixture
def messy(tmp_path):
    """Write a file as people have them: ids, texts, a gap, a category, a class of three rows."""
    generator = np.random.default_rng(1)
    lines = [MESSY]
    for row in range(90):
        x, z = generator.normal(size=2)
        label = "ugly" if row in (3, 40, 77) else "good" if x > 0 else "bad"
        gap = "" if row == 5 else f"{z:.2f}"
        colour = '"red; dark"' if x + z > 0 else "blue"
        lines.append(f'C-{row:04d};{colour};{x:.3f};{gap};"says ""{row}""";1;{label}\n')
    (tmp_path / "my data.csv").write_text("".join(lines))
    return ("--data", "my data.csv", "--target", "class; label", "--set", "data.missing=impute")


@pytest.mark.slow
def test_the_terminal_says_what_columns_were_taken_for_and_which_classes_are_rare(dcsvm, messy):
    asked = ("run", "global_svm", *messy, "--set", "search={}", "--jobs", "1")
    lines = dcsvm(*asked).stdout.splitlines()
    assert lines[1:6] == [
        "my data.csv: 68 rows to learn from, 22 held out, 3 features, 3 classes",
        "columns: 2 numbers, 1 category (Colour (main))",
        "missing values filled in: z.score (1)",
        "left out: customer id, free text (a value of its own in nearly every row); "
        "const (always the same)",
        "rare classes, hard to learn and to judge: ugly (3 rows, 1 tested, 0 right)",
    ]
    (rare,) = [line for line in lines if line.startswith("  of the rare class")]
    assert rare.split() == ["of", "the", "rare", "class", "ugly", "(1", "row)", "0.0000"]


@pytest.mark.slow
def test_the_terminal_tells_rows_that_are_counted_and_leading_zeros(dcsvm, tmp_path):
    import warnings

    warnings.simplefilter("always")  # undone by pytest after the test
    rows = "".join(f"{i},{i % 4:03d},{i * i % 7},{'xy'[i % 7 > 2]}\n" for i in range(60))
    (tmp_path / "a.csv").write_text("day,zip,size,kind\n" + rows)
    asked = ("run", "global_svm", "--data", "a.csv", "--target", "kind", "--set", "search={}")
    result = dcsvm(*asked, "--jobs", "1")
    assert result.stdout.splitlines()[2:4] == [
        "columns: 1 number, 1 category (zip)",
        "left out: day (counts the rows; `numeric` keeps it)",
    ]
    assert "warning: a.csv: column 'zip' has numbers with leading zeros" in result.stderr
    result = dcsvm(*asked, "--jobs", "1", "--set", 'data.numeric=["day", "zip"]')
    assert result.stdout.splitlines()[2] == "columns: 3 numbers"
    assert "leading zeros" not in result.stderr


@pytest.mark.slow
def test_a_class_that_is_never_answered_has_a_line_at_any_size(dcsvm, tmp_path):
    generator = np.random.default_rng(0)
    kinds = ["lost" if row % 10 == 0 else "found" for row in range(200)]
    lines = [f"{x:.3f},{kind}\n" for x, kind in zip(generator.random(200), kinds, strict=True)]
    (tmp_path / "rows.csv").write_text("".join(["x,kind\n", *lines]))
    shown = dcsvm(
        *("run", "global_svm", "--data", "rows.csv", "--target", "kind", "--jobs", "1"),
        *("--set", "learner.C=0.01", "--set", "search={}"),
    ).stdout
    titles = [line.split() for line in shown.splitlines() if line.startswith("  of class")]
    assert titles == [["of", "class", "lost", "(5", "rows)", "0.0000"]]


@pytest.mark.slow
def test_many_classes_that_are_never_answered_are_counted(dcsvm, tmp_path):
    lines = [f"{row % 5},{'rest' if row % 3 else f'c{row // 3 % 8}'}\n" for row in range(600)]
    (tmp_path / "rows.csv").write_text("".join(["x,kind\n", *lines]))
    shown = dcsvm(
        *("run", "global_svm", "--data", "rows.csv", "--target", "kind", "--jobs", "1"),
        *("--set", "learner.C=0.01", "--set", "search={}"),
    ).stdout
    lines = shown.splitlines()
    assert sum(line.startswith("  of class c") for line in lines) == 6
    (count,) = [line for line in lines if line.startswith("  classes never answered rightly")]
    assert count.split()[-1] == "8"


@pytest.mark.slow
def test_scores_and_their_spread_over_folds_are_shown(dcsvm, messy):
    folds = ("--set", 'split={use="folds", folds=3}', "--set", 'search={score="f1_macro"}')
    suits = ("--set", "suits.features=[1, 100]")
    shown = dcsvm("run", "linear_svm", *messy, *folds, *suits, "--jobs", "1").stdout
    assert "my data.csv: 90 rows, each held out once in 3 folds, 3 features, 3 classes" in shown
    assert "(by f1_macro; all 12 combinations were tried" in shown
    table = shown[shown.index("accuracy") :]
    titles = [line[:36].strip() for line in table.splitlines()]
    assert titles[:8] == [
        *("accuracy", "mean of 3 folds", "deviation among them"),
        "of always naming the largest class",
        "of the rare class ugly (3 rows)",
        *("f1 macro", "mean of 3 folds", "deviation among them"),
    ]


@pytest.mark.slow
def test_the_next_command_works_as_it_is_printed(
    dcsvm, recipe, iris_pipeline, plugin_text, tmp_path
):
    (tmp_path / "my plugin.py").write_text(plugin_text.replace("NAME", "halves"))
    text = recipe(iris_pipeline.replace("class_pairs", "halves"))
    result = dcsvm("run", text, "--plugin", "my plugin.py", "--out", "my runs/first")
    said = result.stderr.splitlines()[-1].removeprefix("next: ")
    assert said == "dcsvm predict 'my runs/first' new_rows.csv --plugin 'my plugin.py'"
    iris = load_iris()
    lines = [",".join(iris.feature_names), *(",".join(map(str, row)) for row in iris.data[::30])]
    (tmp_path / "new_rows.csv").write_text("\n".join(lines))
    default_registry.cache_clear()
    answers = dcsvm(*shlex.split(said)[1:])
    assert answers.exit_code == 0, answers.stderr
    assert answers.stdout.splitlines()[:3] == ["prediction", "setosa", "setosa"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ("--set", "decomposer=chunks"),
            "--set decomposer=chunks: combiner 'route' does not fit decomposer 'chunks'",
        ),
        (("--data", "mine.csv"), "--data mine.csv: [data] needs the key 'target', or the command"),
        (("--data", "mine.doc"), "--data mine.doc: [data]: no reader knows the ending '.doc'"),
        (
            ("--set", "search.use=granularity", "--set", "search.decomposer.ceiling=[9]"),
            "--set search.decomposer.ceiling=[9]: [search]: granularity tries settings of the "
            "learner and of [data], not decomposer.ceiling",
        ),
    ],
)
def test_a_mistake_beside_a_shipped_recipe_is_told_where_it_was_made(dcsvm, given, sentence):
    result = dcsvm("run", "td_svm", *given)
    assert f"error: {sentence}" in result.stderr
    assert "td_svm:" not in result.stderr
    assert result.exit_code == 2


def test_a_column_to_leave_out_is_told_as_a_word_of_the_command_line(dcsvm, tmp_path, recipe):
    (tmp_path / "dates.csv").write_text("size,since,kind\n1,2024-01-02,a\n2,2024-01-03,b\n")
    given = ("--data", "dates.csv", "--target", "kind")
    result = dcsvm("run", "global_svm", *given)
    assert result.stderr.endswith("or in `drop` (--set data.dates=since)\n")
    assert result.exit_code == 4
    (tmp_path / "dates.csv").write_text("size,2024,kind\n1,2024-01-02,a\n2,2024-01-03,b\n")
    result = dcsvm("run", "global_svm", *given)
    assert result.stderr.endswith("`drop` (--set 'data.dates=[\"2024\"]')\n")


def test_rows_without_the_target_are_left_out_if_asked(dcsvm, tmp_path):
    rows = [f"{i % 7},{i % 5},{('x', 'y', '')[i % 3]}\n" for i in range(60)]
    (tmp_path / "rows.csv").write_text("a,b,kind\n" + "".join(rows))
    given = ("--data", "rows.csv", "--target", "kind")
    result = dcsvm("run", "global_svm", *given)
    option = "--set data.missing_target=drop"
    assert "missing in 20 of 60 rows (lines 4, 7, 10, ...)" in result.stderr
    assert result.stderr.endswith(f'`missing_target = "drop"` ({option})\n')
    result = dcsvm("run", "global_svm", *given, *option.split())
    assert "\nleft out: 20 rows without the target kind\n" in result.stdout
    assert "rows.csv: 30 rows to learn from, 10 held out" in result.stdout


def test_one_column_is_as_good_as_a_list_of_one(dcsvm, recipe, iris_pipeline):
    text = iris_pipeline.replace('use = "iris"', 'path = "rows.csv"\ntarget = "kind"')
    rows = "".join(f"{i % 7},{i % 2},{i % 5},{'ab'[i % 7 > 3]}\n" for i in range(60))
    Path("rows.csv").write_text("size,code,since,kind\n" + rows)
    given = ("--set", "data.drop=since", "--set", "data.categorical=code")
    result = dcsvm("run", recipe(text), *given, "--set", "measure.scores=mcc", "--out", "kept")
    assert result.exit_code == 0, result.stderr
    assert "\ncolumns: 1 number, 1 category (code)" in result.stdout
    assert "test_mcc" in json.loads(Path("kept/metrics.json").read_text())
    assert 'drop = ["since"]' in Path("kept/resolved.toml").read_text()


def test_several_columns_in_one_text_are_told_apart(dcsvm, recipe, iris_pipeline):
    text = iris_pipeline.replace('use = "iris"', 'path = "rows.csv"\ntarget = "kind"')
    Path("rows.csv").write_text("size,since,kind\n1,2,a\n2,3,b\n")
    result = dcsvm("run", recipe(text), "--set", "data.drop=size,since")
    assert result.stderr == (
        "error: rows.csv has no column 'size,since', which [data] names as drop; several are a "
        'list: ["size", "since"]\n'
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("C=3", "'learner.C'"),
        ("ceiling=300", "'decomposer.ceiling'"),
        ("seed=3", "'split.seed'"),
        ("folds=3", "'split.folds' or 'search.folds'"),
        ("kernel_svm.C=3", "'learner'"),
    ],
)
def test_a_key_with_no_table_is_led_to_its_table(dcsvm, given, meant):
    key = given.partition("=")[0].partition(".")[0]
    result = dcsvm("run", "td_svm", "--set", given)
    assert result.stderr == (
        f"error: --set {given}: a recipe has no key {key!r}; did you mean {meant}?\n"
    )
    assert result.exit_code == 2


def test_a_key_with_no_table_is_led_into_a_pipeline_inside_another(dcsvm, recipe):
    text = """
    data = { use = "iris" }
    decomposer = "bootstrap"
    combiner = "mean"
    learner = { decomposer = "tree", learner = "kernel_svm", combiner = "route" }
    """
    result = dcsvm("run", recipe(text), "--set", "C=3")
    assert result.stderr.endswith("has no key 'C'; did you mean 'learner.learner.C'?\n")


@pytest.mark.slow
@pytest.mark.parametrize("more", [("--set", "search={}"), ("--dry-run",)])
def test_data_that_a_recipe_is_not_meant_for_are_told_in_one_line(dcsvm, more):
    warnings.simplefilter("always")  # undone by pytest after the test
    rows = "".join(f"{i % 7},{i % 5},{'abc'[i % 7 // 3]}\n" for i in range(80))
    Path("rows.csv").write_text("size,width,kind\n" + rows)
    result = dcsvm("run", "dc_svm", "--data", "rows.csv", "--target", "kind", "--jobs", "1", *more)
    assert result.stderr.startswith(
        "warning: dc_svm is meant for 5,000 to 200,000 rows and 2 classes, not for 80 rows and "
        "3 classes: see dcsvm recipes --rows 80 --features 2 --classes 3\n"
    )
    assert "warning: dc_svm" not in dcsvm("run", "dc_svm", "--dry-run").stderr


def test_values_to_fill_in_are_told_as_a_word_of_the_command_line(dcsvm, tmp_path):
    (tmp_path / "gaps.csv").write_text("size,kind\n1,a\n,b\n3,a\n")
    result = dcsvm("run", "global_svm", "--data", "gaps.csv", "--target", "kind")
    assert result.stderr.endswith('or say `missing = "impute"` (--set data.missing=impute)\n')
    assert result.exit_code == 4


def test_the_model_that_is_kept_learns_all_rows(dcsvm, recipe, iris_pipeline):
    said = dcsvm("run", recipe(iris_pipeline), "--out", "all", "--json")
    sentence = "this model was trained on all 150 rows; the figures are those of the same strategy"
    assert f"{sentence} trained on 112" in said.stderr
    result = json.loads(said.stdout)
    assert (result["n_train"], result["n_kept"]) == (112, 150)
    part = dcsvm("run", recipe(iris_pipeline), "--out", "part", "--set", "split.refit=false")
    assert "this model was trained" not in part.stderr
    whole, measured = (package.load(f"{name}/model.dcsvm") for name in ("all", "part"))
    assert (whole[-1].n_rows_, measured[-1].n_rows_) == (150, 112)
    table = [(Path(name) / "predictions.csv").read_text() for name in ("all", "part")]
    assert table[0] == table[1]


def test_with_refit_the_measured_model_is_reported(dcsvm, recipe, iris_pipeline):
    dcsvm("run", recipe(iris_pipeline), "--out", "all")
    dcsvm("run", recipe(iris_pipeline), "--out", "part", "--set", "split.refit=false")
    ledgers = [(Path(name) / "parts.csv").read_text().splitlines() for name in ("all", "part")]
    rows = [[line.split(",")[:4] for line in ledger] for ledger in ledgers]
    assert rows[0] == rows[1]
    page = Path("all/report.html").read_text()
    assert "rows learned by model.dcsvm, after measuring" in page
    assert "rows learned by model.dcsvm" not in Path("part/report.html").read_text()
