"""A disk without room: the message says where and how much, nothing is left half-written."""

import contextlib
import errno
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import dcsvm as package
from dcsvm.base.errors import DiskFullError
from dcsvm.base.models import Constant
from dcsvm.base.subproblem import FitResult
from dcsvm.experiments.run.run_status import find_status
from dcsvm.persistence.atomic_write import explain_full_disk
from dcsvm.persistence.checkpoints import CheckpointLog

resource = pytest.importorskip("resource", reason="Windows has no limit on the size of files")

NEEDED = r"it takes [\d.,]+ (bytes|kB|MB), and [\d.,]+ (bytes|kB|MB|GB) are free in '.+'"


@contextlib.contextmanager
def no_files_beyond(n_bytes):
    """Fail every write beyond so many bytes of a file, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def model():
    return package.DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(
        *load_iris(return_X_y=True)
    )


def test_a_model_without_room_leaves_nothing(model, tmp_path):
    path = tmp_path / "model.dcsvm"
    path.write_text("an older one")
    with (
        no_files_beyond(500),
        pytest.raises(DiskFullError, match=rf"cannot write '{path}': .*; {NEEDED}") as caught,
    ):
        package.save(model, path)
    assert caught.value.exit_code == 1
    assert path.read_text() == "an older one"
    assert [each.name for each in tmp_path.iterdir()] == ["model.dcsvm"]
    package.save(model, path)
    size = path.stat().st_size
    told = float(re.search(r"it takes ([\d.]+) kB", str(caught.value))[1])
    assert told == pytest.approx(size / 1000, rel=0.2)


def build_outcome(n_rows=500):
    code = np.array([[1, -1]], dtype=np.int8)
    return FitResult(Constant(0), None, code, np.arange(n_rows), n_rows, 0.0)


def test_a_part_without_room_leaves_those_before(tmp_path):
    file = tmp_path / "parts.log"
    log = CheckpointLog(file)
    try:
        log.put("a" * 32, build_outcome())
        size = file.stat().st_size
        with no_files_beyond(size + 100), pytest.raises(DiskFullError, match=NEEDED):
            log.put("b" * 32, build_outcome())
        assert file.stat().st_size == size
        log.put("c" * 32, build_outcome())
        assert log.get("c" * 32) is not None
    finally:
        log.close()
    again = CheckpointLog(file)
    try:
        assert len(again) == 2
        assert again.get("a" * 32) is not None
        assert again.get("b" * 32) is None
    finally:
        again.close()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "npz", "parquet"])
def test_answers_without_room_leave_nothing(dcsvm, model, tmp_path, suffix):
    package.save(model, "model.dcsvm")
    X = np.random.default_rng(0).random((3000, 4))
    np.savetxt("rows.csv", X, delimiter=",", header="a,b,c,d", comments="")
    with no_files_beyond(300):
        out = f"answers.{suffix}"
        result = dcsvm("predict", "model.dcsvm", "rows.csv", "--out", out, "--scores")
    assert result.exit_code == 1, result.output
    assert re.match(rf"error: cannot write '{out}': .* are free in '.*'", result.stderr)
    assert {each.name for each in tmp_path.iterdir()} == {"model.dcsvm", "rows.csv"}


@pytest.mark.slow
@pytest.mark.parametrize("limit", [100, 700, 1500, 2500, 4000, 6000, 9000])
def test_a_run_without_room_is_resumed(dcsvm, recipe, iris_pipeline, limit):
    text = recipe(iris_pipeline + "[search]\nlearner.C = [0.1, 1.0]\n")
    assert dcsvm("run", text, "--out", "whole", "--jobs", "1").exit_code == 0
    with no_files_beyond(limit):
        result = dcsvm("run", text, "--out", "kept", "--jobs", "1")
    assert result.exit_code == 1, result.output
    assert re.search(rf"error: cannot write '.*kept.*': .*{NEEDED}", result.stderr)
    assert not list(Path().glob(".*"))
    if not Path("kept").exists():
        assert limit < 1000
        return
    assert not list(Path("kept").glob(".*"))
    for file in Path("kept").glob("*.json"):
        assert json.loads(file.read_text())
    assert find_status(Path("kept")).state in ("failed", "interrupted")
    result = dcsvm("run", "--resume", "kept")
    assert result.exit_code == 0, result.stderr
    for file in ("model.dcsvm", "predictions.csv"):
        assert Path("kept", file).read_bytes() == Path("whole", file).read_bytes()


def test_a_full_disk_is_told_from_other_errors(tmp_path):
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        with (
            pytest.raises(DiskFullError, match=r"it takes 2\.0 MB"),
            explain_full_disk(tmp_path / "new" / "file", 2_000_000),
        ):
            raise OSError(number, "No space left on device")
    with pytest.raises(PermissionError), explain_full_disk(tmp_path):
        raise PermissionError(errno.EACCES, "Permission denied")
