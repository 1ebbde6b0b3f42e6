"""Thresholds of malloc: changed while somebody needs it, and put back by the last one."""

import os
import subprocess
import sys

import pytest

from dcsvm.base import malloc_thresholds
from dcsvm.base.malloc_thresholds import KEPT_BYTES, MAPPED_BYTES, MMAP, TRIM, keep_memory


class FakeLibrary:
    def __init__(self):
        self.calls = []

    def mallopt(self, which, value):
        self.calls.append((which, value))

    def malloc_trim(self, pad):
        self.calls.append(("trimmed", pad))


@pytest.fixture
def library(monkeypatch):
    library = FakeLibrary()
    monkeypatch.setattr(malloc_thresholds, "_find_library", lambda: library)
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    return library


def test_thresholds_are_put_back_by_the_last_user(library):
    with keep_memory():
        first = list(library.calls)
        with keep_memory():
            pass
        assert library.calls == first == [(TRIM, KEPT_BYTES), (MMAP, MAPPED_BYTES)]
    assert library.calls[2:] == [(TRIM, 65536), (MMAP, MAPPED_BYTES), ("trimmed", 0)]


def test_they_are_put_back_after_an_error(library):
    with pytest.raises(ZeroDivisionError), keep_memory():
        raise ZeroDivisionError
    assert library.calls[2] == (TRIM, 65536)


@pytest.mark.parametrize("value", [None, "", "soon"])
def test_without_the_variable_nothing_is_changed(library, monkeypatch, value):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_")
    if value is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", value)
    with keep_memory():
        pass
    assert not library.calls


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(malloc_thresholds, "_find_library", lambda: None)
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with keep_memory():
        assert malloc_thresholds._USERS.count == 0


@pytest.mark.skipif(
    malloc_thresholds._find_library() is None, reason="only glibc has these thresholds"
)
def test_freed_memory_is_used_again():
    """Page faults of a process that allocates and frees 4 MB a hundred times."""
    script = (
        "import ctypes, resource\n"
        "from dcsvm.base.malloc_thresholds import keep_memory\n"
        "library = ctypes.CDLL(None)\n"
        "library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]\n"
        "def count():\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "    for _ in range(100):\n"
        "        place = library.malloc(1 << 22)\n"
        "        ctypes.memset(place, 1, 1 << 22)\n"
        "        library.free(place)\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before\n"
        "given_back = count()\n"
        "with keep_memory():\n"
        "    kept = count()\n"
        "print(given_back, kept)\n"
    )
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    said = subprocess.check_output([sys.executable, "-c", script], env=environment, text=True)
    given_back, kept = map(int, said.split())
    assert kept < given_back / 10
