"""Resuming on data, plugins or a dcsvm other than those that a run was begun with."""

import json
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from scipy import sparse
from sklearn.datasets import load_iris

import dcsvm as package
from dcsvm.datasets.dataset import Dataset
from dcsvm.datasets.loading import load_embedded
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.run import resumable_run
from dcsvm.experiments.run.changed_inputs import MOST_COLUMNS, describe_rows, find_data_changes

RECIPE = """
data = { path = "flowers.csv", target = "kind" }
decomposer = "NAME"
learner = "kernel_svm"
combiner = "mean"

[search]
learner.C = [0.01, 1.0, 100.0]
"""


def write_flowers(path: Path, *, edit=lambda lines: lines) -> None:
    X, y = load_iris(return_X_y=True)
    names = ["setosa", "versicolor", "virginica"]
    lines = ["sepal,width,petal,breadth,kind"]
    lines += [",".join([*map(str, row), names[k]]) for row, k in zip(X, y, strict=True)]
    path.write_text("\n".join(edit(lines)) + "\n")


@pytest.fixture
def plugin(plugin_text):
    """A plugin file with the decomposer `own`."""
    Path("own.py").write_text(plugin_text.replace("NAME", "own"))
    return "own.py"


@pytest.fixture
def interrupted(dcsvm, recipe, plugin, monkeypatch):
    """Begin a run of flowers.csv that is interrupted when everything is searched and trained."""

    def begin(*options, name="own"):
        write_flowers(Path("flowers.csv"))

        def interrupt(*_):
            raise RuntimeError("the power is gone")

        with monkeypatch.context() as patch:
            patch.setattr(resumable_run, "_write", interrupt)
            given = options or ("--plugin", plugin)
            text = RECIPE.replace("NAME", name)
            dcsvm("run", recipe(text), "--out", "kept", "--jobs", "1", *given)
        assert Path("kept/search.json").exists()
        assert Path("kept/parts.log").stat().st_size
        default_registry.cache_clear()

    return begin


def flip_a_label(lines):
    return [*lines[:7], lines[7].replace("setosa", "virginica"), *lines[8:]]


def change_a_value(lines):
    return [*lines[:7], "9" + lines[7][1:], *lines[8:]]


def rename_a_level(lines):
    return [line.replace("virginica", "blue flag") for line in lines]


CHANGES = {
    "one label": (flip_a_label, "other labels"),
    "one value": (change_a_value, "other values in the column 'sepal'"),
    "the name of a class": (rename_a_level, "other labels"),
    "a row more": (lambda lines: [*lines, lines[-1]], "150 rows then, 151 now"),
    "a row less": (lambda lines: lines[:-1], "150 rows then, 149 now"),
    "the order of rows": (lambda lines: [lines[0], *lines[:0:-1]], "other values in the columns"),
    "the name of a column": (
        lambda lines: [lines[0].replace("width", "girth"), *lines[1:]],
        "without the column 'width'; with the column 'girth'",
    ),
}


@pytest.mark.parametrize("title", CHANGES)
def test_a_run_is_not_resumed_on_other_data(dcsvm, interrupted, title):
    interrupted()
    edit, sentence = CHANGES[title]
    before = Path("flowers.csv").stat()
    searched, parts = (Path("kept", name).read_bytes() for name in ("search.json", "parts.log"))
    write_flowers(Path("flowers.csv"), edit=edit)
    # Neither the size nor the time of a file has to betray that it changed.
    os.utime("flowers.csv", ns=(before.st_atime_ns, before.st_mtime_ns))
    result = dcsvm("run", "--resume", "kept")
    assert result.exit_code == 4
    assert "flowers.csv is not what the run was begun with: " in result.stderr
    assert sentence in result.stderr
    assert "--if-changed restart" in result.stderr
    assert Path("kept/search.json").read_bytes() == searched
    assert Path("kept/parts.log").read_bytes() == parts
    # With the old data the run goes on, and with `keep` it does not take the new ones.
    assert dcsvm("run", "--resume", "kept", "--if-changed", "keep").exit_code == 4
    write_flowers(Path("flowers.csv"))
    assert dcsvm("run", "--resume", "kept").exit_code == 0


def test_the_message_says_when_the_file_was_written(dcsvm, interrupted):
    interrupted()
    write_flowers(Path("flowers.csv"), edit=lambda lines: lines[:-1])
    result = dcsvm("run", "--resume", "kept")
    sizes = json.loads(Path("kept/inputs.json").read_text())["data"]["file"]
    now = Path("flowers.csv").stat().st_size
    assert f"with {now:,} bytes, before {sizes['bytes']:,}" in result.stderr


@pytest.mark.parametrize("title", ["one label", "one value", "a row more"])
def test_a_restart_gives_what_a_new_run_gives(dcsvm, recipe, interrupted, plugin, title):
    interrupted()
    write_flowers(Path("flowers.csv"), edit=CHANGES[title][0])
    warnings.simplefilter("always")
    result = dcsvm("run", "--resume", "kept", "--if-changed", "restart")
    assert result.exit_code == 0, result.stderr
    assert "flowers.csv is not what the run was begun with" in result.stderr
    assert "no part had been finished before: all were trained now" in result.stderr
    text = RECIPE.replace("NAME", "own")
    fresh = dcsvm("run", recipe(text), "--out", "fresh", "--plugin", plugin)
    assert fresh.exit_code == 0, fresh.stderr
    for file in ("model.dcsvm", "predictions.csv"):
        assert Path("kept", file).read_bytes() == Path("fresh", file).read_bytes(), file
    found, expected = (
        json.loads(Path(run, "search.json").read_text())["recipe/0"] for run in ("kept", "fresh")
    )
    assert [each["score"] for each in found["tried"]] == [
        each["score"] for each in expected["tried"]
    ]


def test_a_file_that_was_only_touched_is_the_same_data(dcsvm, interrupted):
    interrupted()
    os.utime("flowers.csv", ns=(0, 0))
    result = dcsvm("run", "--resume", "kept")
    assert result.exit_code == 0, result.stderr
    assert "finished before and not trained again" in result.stderr


def test_an_embedded_set_is_the_same_data(dcsvm, interrupted):
    interrupted("--set", "data={ use = 'iris' }", "--plugin", "own.py")
    assert dcsvm("run", "--resume", "kept").exit_code == 0


def test_a_run_is_not_resumed_with_another_plugin_file(dcsvm, interrupted, plugin, plugin_text):
    interrupted()
    Path(plugin).write_text(plugin_text.replace("NAME", "own").replace("halves", "HALVES") + "# b")
    result = dcsvm("run", "--resume", "kept")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: kept was begun with something else: the source of the plugin own.py was edited; "
        "install what it was begun with, or drop the finished searches and parts with "
        "--if-changed restart; --if-changed keep goes on with them nevertheless\n"
    )


@pytest.mark.parametrize(
    ("choice", "parts"), [("restart", "no part"), ("keep", "finished before")]
)
def test_a_mended_plugin_goes_on_or_anew(dcsvm, interrupted, plugin, choice, parts):
    interrupted()
    Path(plugin).write_text(Path(plugin).read_text() + "\n# mended\n")
    warnings.simplefilter("always")
    result = dcsvm("run", "--resume", "kept", "--if-changed", choice)
    assert result.exit_code == 0, result.stderr
    assert parts in result.stderr


def test_a_run_is_not_resumed_with_another_version_of_a_plugin(
    dcsvm, interrupted, install, plugin_text
):
    install("fancy", plugin_text.replace("NAME", "fancy"))
    default_registry.cache_clear()
    interrupted("--seed", "1", name="fancy")
    info = Path("site_fancy/fancy-1.2.dist-info")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fancy\nVersion: 1.3\n")
    shutil.move(info, "site_fancy/fancy-1.3.dist-info")
    result = dcsvm("run", "--resume", "kept")
    assert result.exit_code == 2
    assert "the plugin fancy had version 1.2 and has 1.3" in result.stderr


def test_a_run_is_not_resumed_with_another_dcsvm(dcsvm, interrupted, monkeypatch):
    interrupted()
    monkeypatch.setattr(package, "__version__", "9.9.9")
    result = dcsvm("run", "--resume", "kept")
    assert result.exit_code == 2
    assert f"dcsvm had version {package.__version__}" not in result.stderr
    assert "and has 9.9.9" in result.stderr


def test_a_plugin_that_the_recipe_does_not_use_may_change(
    dcsvm, interrupted, install, plugin_text
):
    interrupted()
    install("other", plugin_text.replace("NAME", "other"))
    default_registry.cache_clear()
    assert dcsvm("run", "--resume", "kept").exit_code == 0


def test_a_folder_without_a_record_of_its_inputs_starts_anew_only(dcsvm, interrupted):
    interrupted()
    Path("kept/inputs.json").unlink()
    for choice in ("stop", "keep"):
        result = dcsvm("run", "--resume", "kept", "--if-changed", choice)
        assert result.exit_code == 2
        assert "it does not say what it was begun with" in result.stderr
    assert dcsvm("run", "--resume", "kept", "--if-changed", "restart").exit_code == 0


def test_a_changed_test_row_or_level_is_another_file():
    data = load_embedded("iris")
    before = describe_rows(data, None)
    other = evolve(data, published_test=np.arange(10))
    assert list(find_data_changes(before, describe_rows(other, None))) == ["other test rows"]
    first, *rest = data.schema.features
    schema = evolve(data.schema, features=(evolve(first, levels=("a", "b")), *rest))
    changed = list(find_data_changes(before, describe_rows(evolve(data, schema=schema), None)))
    assert changed == [f"other values in the column {data.features[0]!r}"]


@pytest.mark.parametrize("form", ["csr", "wide"])
def test_sparse_and_wide_data_have_one_digest(form):
    width = 5 if form == "csr" else MOST_COLUMNS + 1
    X = np.random.default_rng(0).random((20, width))
    other = X.copy()
    other[3, 4] += 1e-12
    pack = sparse.csr_array if form == "csr" else np.asarray
    data = Dataset("rows", pack(X), np.arange(20) % 2, ())
    before, after = describe_rows(data, None), describe_rows(evolve(data, X=pack(other)), None)
    assert list(before["columns"]) == [f"all {width} features"]
    assert list(find_data_changes(before, after)) == [
        f"other values in the column all {width} features"
    ]
