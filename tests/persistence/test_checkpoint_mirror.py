"""Copies of finished parts in a folder of fsspec: taken over, damaged, not writable, removed."""

import sys

import numpy as np
import pytest

from dcsvm.base.errors import ClusterError, UsageError
from dcsvm.base.models import Constant
from dcsvm.base.subproblem import FitResult
from dcsvm.persistence import checkpoint_mirror
from dcsvm.persistence.checkpoint_mirror import CheckpointMirror
from dcsvm.persistence.checkpoints import CheckpointLog

fsspec = pytest.importorskip("fsspec", reason="it comes with the extra dask")


@pytest.fixture
def url():
    files = fsspec.filesystem("memory")
    yield "memory://kept/run"
    files.rm("/kept", recursive=True)


def outcome(number):
    code = np.array([[1, -1]], dtype=np.int8)
    return FitResult(Constant(1.0), None, code, np.arange(number), 9, 0.5)


def key(number):
    return f"{number:032x}"


def list_objects(url):
    files, folder = fsspec.core.url_to_fs(url)
    return files.find(folder)


def fill(path, url, numbers):
    log = CheckpointLog(path, mirror=CheckpointMirror(url))
    for number in numbers:
        log.put(key(number), outcome(number))
    log.close()


def test_a_log_takes_over_what_others_have_finished(tmp_path, url):
    fill(tmp_path / "first", url, range(3))
    fill(tmp_path / "second", url, range(2, 6))
    log = CheckpointLog(tmp_path / "third", mirror=CheckpointMirror(url))
    assert log.n_before == 6
    assert [len(log.get(key(number)).support) for number in range(6)] == list(range(6))
    log.discard()
    assert not list_objects(url)


def test_parts_within_seconds_become_one_object(tmp_path, url):
    fill(tmp_path / "first", url, range(50))
    assert len(list_objects(url)) == 1


def test_of_a_cut_object_the_whole_records_are_taken(tmp_path, url, monkeypatch):
    monkeypatch.setattr(checkpoint_mirror, "WRITE_SECONDS", 1e9)
    fill(tmp_path / "first", url, range(4))
    (name,) = list_objects(url)
    files = fsspec.filesystem("memory")
    files.pipe_file(name, files.cat_file(name)[:-1])
    fill(tmp_path / "second", url, [7])
    log = CheckpointLog(tmp_path / "third", mirror=CheckpointMirror(url))
    assert sorted(number for number in range(9) if log.get(key(number))) == [0, 1, 2, 7]
    log.close()


def test_a_folder_that_cannot_be_written_is_told_once_and_the_run_goes_on(tmp_path, url):
    mirror = CheckpointMirror(url)
    mirror.files = None
    log = CheckpointLog(tmp_path / "log", mirror=CheckpointMirror(url))
    log.mirror = mirror
    log.put(key(1), outcome(1))
    with pytest.warns(UserWarning, match=f"finished parts cannot be copied to '{url}'"):
        mirror.flush()
    log.put(key(2), outcome(2))
    mirror.flush()  # a second warning would be an error
    assert log.get(key(2)).n_rows == 9
    log.close()


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path, url):
    mirror = CheckpointMirror(url)
    mirror.files = None
    with pytest.raises(ClusterError, match=f"checkpoints in '{url}' cannot be read"):
        CheckpointLog(tmp_path / "log", mirror=mirror)


@pytest.mark.parametrize("wrong", ["nosuchprotocol://bucket", "/dev/null/here"])
def test_a_place_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError, match=f"checkpoints cannot be kept in '{wrong}'"):
        CheckpointMirror(wrong)


def test_without_fsspec_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UsageError, match=r"pip install 'dcsvm\[dask\]'"):
        CheckpointMirror("memory://kept")
