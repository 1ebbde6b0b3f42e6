"""The log of finished parts: what is put comes back as it was, whatever happens to the file."""

import fakes
import numpy as np
import pytest

from dcsvm.base.errors import UsageError
from dcsvm.base.feature_views import Columns
from dcsvm.base.models import Hyperplanes, LocalModel
from dcsvm.base.subproblem import FitResult
from dcsvm.drive.registry import Offer, Registry
from dcsvm.persistence.checkpoints import HEAD, CheckpointLog


def outcome(number=0):
    generator = np.random.default_rng(number)
    return FitResult(
        Hyperplanes(np.asfortranarray(generator.normal(size=(3, 2))), np.array([0.1, number])),
        Columns(np.array([2, 0, 1])),
        np.array([[1, -1]], dtype=np.int8),
        np.arange(number),
        17,
        0.25,
    )


def key(number):
    return f"{number:032x}"


@pytest.fixture
def registry():
    registry = Registry(())
    registry.offers["learner", "centroids"] = Offer(
        "learner", "centroids", fakes.Centroids, "fakes", "0"
    )
    return registry


@pytest.fixture
def path(tmp_path):
    return tmp_path / "parts.log"


def filled(path, registry, count=3):
    log = CheckpointLog(path, registry)
    for number in range(count):
        log.put(key(number), outcome(number))
    return log


def test_what_is_put_comes_back_bit_by_bit_also_after_opening_again(path, registry):
    filled(path, registry).close()
    log = CheckpointLog(path, registry)
    assert len(log) == 3
    for number in range(3):
        kept, given = log.get(key(number)), outcome(number)
        assert (kept.model.weights == given.model.weights).all()
        assert kept.model.weights.flags.f_contiguous
        assert (kept.view.columns == given.view.columns).all()
        assert kept.code.dtype == np.int8
        assert (kept.support == given.support).all()
        assert (kept.n_rows, kept.seconds) == (17, 0.25)
    assert log.get(key(9)) is None
    log.discard()
    assert not path.exists()


def test_a_record_that_was_cut_off_is_left_out_and_the_next_one_follows_the_last_whole(
    path, registry
):
    filled(path, registry).close()
    whole = path.read_bytes()
    sizes = []
    at = 0
    while at < len(whole):
        sizes.append(HEAD.size + HEAD.unpack_from(whole, at)[1])
        at += sizes[-1]
    for cut in (len(whole) - 1, len(whole) - sizes[-1] + 1, len(whole) - sizes[-1] + HEAD.size):
        path.write_bytes(whole[:cut])
        log = CheckpointLog(path, registry)
        assert len(log) == 2
        log.put(key(2), outcome(2))
        log.close()
        assert path.read_bytes() == whole


def test_a_damaged_record_is_none(path, registry):
    filled(path, registry).close()
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    log = CheckpointLog(path, registry)
    assert log.get(key(2)) is None
    assert log.get(key(1)) is not None
    log.close()


def test_a_file_of_something_else_counts_as_empty(path, registry):
    path.write_bytes(b"nonsense" * 100)
    log = CheckpointLog(path, registry)
    assert len(log) == 0
    log.close()


def test_two_processes_cannot_work_on_one_run(path, registry):
    log = filled(path, registry)
    with pytest.raises(UsageError, match="is active in another process"):
        CheckpointLog(path, registry)
    log.close()
    CheckpointLog(path, registry).close()


class Unknown(LocalModel):
    """A model that no plugin lists."""

    def scores(self, X):
        return np.zeros((len(X), 1))


def test_what_no_file_can_hold_is_left_out_with_one_warning(path, registry):
    log = CheckpointLog(path, registry)
    strange = FitResult(Unknown(), None, np.ones((1, 2)), np.arange(2), 2, 0.1)
    with pytest.warns(UserWarning, match="checkpoints are not written: cannot save a part"):
        log.put(key(0), strange)
    log.put(key(1), strange)  # a second warning would be an error
    assert len(log) == 0
    log.close()
