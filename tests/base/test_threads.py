"""Cores that the work of one thread may use, and work shared among them."""

import sys
import threading
import time
import types
from contextlib import contextmanager

import pytest
from threadpoolctl import ThreadpoolController

from dcsvm.base.stages import together
from dcsvm.base.threads import CORES, find_blas, for_each


@contextmanager
def use_cores(cores):
    before = CORES.set(cores)
    try:
        yield
    finally:
        CORES.reset(before)


def test_cores_are_set_for_one_thread():
    assert CORES.get() == 1
    seen = []
    with use_cores(3):
        assert CORES.get() == 3
        for_each(lambda number: seen.append((number, CORES.get())), [(0,), (1,)])
    assert CORES.get() == 1
    assert sorted(seen) == [(0, 1), (1, 1)]


@pytest.mark.parametrize("cores", [1, 2])
def test_work_meets_every_argument_and_as_many_threads_as_were_use_cores(cores):
    done = {}
    meeting = threading.Barrier(cores, timeout=20)

    def work(number):
        meeting.wait()
        done[number] = threading.get_ident()

    with use_cores(cores):
        for_each(work, [(number,) for number in range(4)])
    assert sorted(done) == [0, 1, 2, 3]
    assert len(set(done.values())) == cores
    assert (threading.get_ident() in done.values()) == (cores == 1)


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_in_a_thread_reaches_the_caller_and_ends_the_rest(cores, failing):
    begun = []

    def work(number):
        begun.append(number)
        if number == failing:
            raise ValueError("one fails")
        time.sleep(0.01)  # all the others together take ten seconds

    with use_cores(cores), pytest.raises(ValueError, match="one fails"):
        for_each(work, [(number,) for number in range(1000)])
    assert len(begun) < 1000


def test_generators_that_run_side_by_side_in_threads_keep_their_order():
    def counting(number, rounds):
        total = 0
        for _ in range(rounds):
            total += sum((yield [number] * (number + 1)))
        return total

    def drive():
        steps = together(counting(number, number % 3) for number in range(6))
        try:
            items = next(steps)
            while True:
                items = steps.send([10 * item for item in items])
        except StopIteration as stop:
            return stop.value

    plain = drive()
    with use_cores(3):
        assert drive() == plain == [10 * n * (n + 1) * (n % 3) for n in range(6)]


def test_blas_has_one_thread_in_a_block_and_after_it_as_many_as_before():
    blas = ThreadpoolController().select(user_api="blas")
    with blas.limit(limits=2):
        before = blas.info()
        with find_blas(len(sys.modules)).limit(limits=1, user_api="blas"):
            assert {library["num_threads"] for library in blas.info()} == {1}
        assert blas.info() == before


def test_libraries_that_an_import_may_have_loaded_are_found_too(monkeypatch):
    known = find_blas(len(sys.modules))
    assert find_blas(len(sys.modules)) is known
    monkeypatch.setitem(sys.modules, "brings_a_library", types.ModuleType("brings_a_library"))
    assert find_blas(len(sys.modules)) is not known
