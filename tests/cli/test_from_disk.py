"""Runs on tables that stay on disk: the answers of rows in memory, and nothing left behind."""

import tempfile

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

GENERATOR = np.random.default_rng(0)
FRAME = pd.DataFrame(GENERATOR.normal(size=(1_200, 4)), columns=list("abcd"))
IS_UP = np.sin(2 * FRAME.a) + FRAME.b > GENERATOR.normal(size=1_200)
FRAME["kind"] = np.where(IS_UP, "up", "down")
TREE = 'decomposer = { use = "tree", ceiling = 200 }'
RECIPES = {
    "tree": TREE,
    "searched": f'{TREE}\n[search]\nuse = "granularity"\nlearner.C = [1.0, 10.0]',
    "sampled": 'decomposer = "whole"\n[search]\nrows = 400\nlearner.C = [1.0, 10.0]',
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    FRAME[:500].to_parquet("rows/0.parquet")
    FRAME[500:].to_parquet("rows/1.parquet")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("text", RECIPES.values(), ids=RECIPES)
def test_a_run_from_disk_predicts_what_a_run_in_memory_does(text, folder, dcsvm, monkeypatch):
    spill = folder / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    (folder / "recipe.toml").write_text(f'learner = "kernel_svm"\ncombiner = "route"\n{text}')
    command = ["run", "recipe.toml", "--data", "rows", "--target", "kind", "--jobs", 1, "--out"]
    assert dcsvm(*command, "memory").exit_code == 0
    monkeypatch.setattr("dcsvm_report.gantt_chart.SHORT", 0.0)
    monkeypatch.setattr("dcsvm.experiments.run.load_data.MAPPED_BYTES", 1)
    monkeypatch.setattr("dcsvm.numeric.mapped_rows.GATHERED_BYTES", 1)
    result = dcsvm(*command, "disk")
    assert result.exit_code == 0, result.stderr
    for name in ("predictions.csv", "model.dcsvm"):
        assert (folder / "disk" / name).read_bytes() == (folder / "memory" / name).read_bytes()
    assert not any(spill.glob("dcsvm-rows-*"))
    report = (folder / "disk" / "report.html").read_text()
    assert ("MB read" in report) == (text == TREE)  # the others have a single part


def test_a_folder_needs_a_target(folder, dcsvm):
    result = dcsvm("run", "td_svm", "--data", "rows")
    assert result.exit_code == 2
    assert "needs the key 'target'" in result.stderr


def test_a_division_that_cannot_leave_rows_on_disk_is_refused_unread(folder, dcsvm, monkeypatch):
    monkeypatch.setattr("dcsvm.experiments.run.load_data.read", None)
    text = 'decomposer = "pca_subspaces"\nlearner = "linear_svm"\ncombiner = "mean"'
    (folder / "recipe.toml").write_text(text)
    for more in ((), ("--dry-run",)):
        command = ["run", "recipe.toml", "--data", "rows", "--target", "kind", "--memory", "100kB"]
        result = dcsvm(*command, *more)
        assert result.exit_code == 2, result.stderr
        assert "0.096 MB for 1,200 rows x 4 features x 8 bytes, 2.5 times" in result.stderr
        assert (
            "rd_subspaces, as set by default, leaves them on disk; 0 MB are left" in result.stderr
        )


def test_a_part_that_never_fits_in_memory_ends_the_run_with_advice(folder, dcsvm):
    (folder / "recipe.toml").write_text('learner = "kernel_svm"\ncombiner = "route"\n' + TREE)
    command = ["run", "recipe.toml", "--data", "rows", "--target", "kind", "--jobs", 1]
    result = dcsvm(*command, "--memory", "1MB")
    assert result.exit_code == 2, result.stderr
    assert "1 MB is less than the program takes" in result.stderr
    assert dcsvm(*command, "--memory", "much").exit_code == 2
