"""Model files with bits flipped, ends cut off, entries lost: a sentence or a model, no more."""

import json

import numpy as np
import pytest
from fakes import blobs
from fuzzing import fuzzed, in_time
from hypothesis import given
from hypothesis import strategies as st
from store_fakes import FAKES, registry_of
from store_files import entries_of, forged, rezipped, written

import dcsvm
from dcsvm.base.errors import ModelFileError

X, _ = blobs(60, 2)


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    registry = registry_of(*FAKES)
    monkeypatch.setattr("dcsvm.persistence.model_file.default_registry", lambda: registry)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        registry = registry_of(*FAKES)
        patched.setattr("dcsvm.persistence.model_file.default_registry", lambda: registry)
        return written(tmp_path_factory.mktemp("whole") / "model")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def tried(content, path):
    """Load whatever it is: either a sentence, or a model."""
    path.write_bytes(content)
    try:
        with in_time():
            return dcsvm.load(path)
    except ModelFileError as error:
        assert str(error).startswith(f"model file {str(path)!r} ")  # noqa: PT017
        return None
    finally:
        assert path.read_bytes() == content


@fuzzed(150)
@given(st.data())
def test_flipped_bits_are_noticed_or_harmless(whole, path, data):
    altered = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        altered[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    model = tried(bytes(altered), path)
    if model is not None:
        path.write_bytes(whole)
        answers = dcsvm.load(path).decision_function(X)
        np.testing.assert_array_equal(model.decision_function(X), answers)


@fuzzed(150)
@given(st.data())
def test_a_truncated_file_is_noticed(whole, path, data):
    assert tried(whole[: data.draw(st.integers(0, len(whole) - 1))], path) is None


@fuzzed(40)
@given(st.data())
def test_missing_entries_are_noticed(whole, path, data):
    entries = entries_of(whole)
    for name in data.draw(st.sets(st.sampled_from(sorted(entries)), min_size=1)):
        del entries[name]
    assert tried(rezipped(entries), path) is None


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**30, -1, 0, 2**63]),
    st.floats(),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.sampled_from(["array", "object", "texts", "matrix", "scalar", "estimator"]).flatmap(
        lambda kind: st.integers(-1, 3).map(lambda number: {kind: number})
    ),
    st.sampled_from(["tuple", "dict", "float", "random_state", "component"]).flatmap(
        lambda kind: st.sampled_from([None, [], [1], [[1, 2]], "nan", {}]).map(
            lambda content: {kind: content}
        )
    ),
    st.lists(st.integers(-2, 5), max_size=3),
)


def places(tree):
    """Every (container, key) of a JSON tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, dict | list):
            yield from places(value)


@pytest.mark.slow
@fuzzed(150)
@given(data=st.data(), entry=st.sampled_from(["manifest.json", "objects.json"]))
def test_edited_json_with_matching_checksums_never_ends_in_a_traceback(whole, path, data, entry):
    tree = json.loads(entries_of(whole)[entry])
    tree.pop("entries", None)
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(list(places(tree))), label="place")
        if data.draw(st.booleans()):
            container[key] = data.draw(ODD, label="value")
        else:
            del container[key]
    if entry == "manifest.json":
        try:
            content = forged(whole, path, tree)
        except ValueError:  # not a number: not JSON either
            return
    else:
        content = forged(whole, path, **{entry: json.dumps(tree).encode()})
    tried(content, path)
