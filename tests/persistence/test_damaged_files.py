"""Files that are damaged, altered, too large or no model files: one clear sentence each."""

import copy
import io
import json
import os
import zipfile

import numpy as np
import pytest
from fakes import Deal, blobs
from scipy import sparse
from store_fakes import FAKES, Keeps, fitted, registry_of
from store_files import entries_of, forged, objects_in, rezipped, written

import dcsvm
from dcsvm.base.errors import ModelFileError
from dcsvm.persistence.decoder import _restore_random_state
from dcsvm.persistence.model_file_format import FormatError

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


def sentence_for(content, path, **options):
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        dcsvm.load(path, **options)
    start = f"model file {str(path)!r} "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


def test_a_missing_file_is_named(path):
    with pytest.raises(ModelFileError) as caught:
        dcsvm.load(path)
    assert str(caught.value) == f"model file {str(path)!r} does not exist"


def test_a_folder_is_not_a_model_file(tmp_path):
    with pytest.raises(ModelFileError) as caught:
        dcsvm.load(tmp_path)
    assert str(caught.value) == (
        f"model file {str(tmp_path)!r} is a folder without a saved model; pass the "
        "path of a model file"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_says_why(path):
    path.touch(mode=0)
    with pytest.raises(ModelFileError, match="cannot be read: Permission denied"):
        dcsvm.load(path)


def test_a_path_that_no_system_allows_is_refused():
    with pytest.raises(ModelFileError, match="null"):
        dcsvm.load("a\0b")


def test_an_empty_file_is_refused(path):
    assert sentence_for(b"", path) == "is empty"


@pytest.mark.parametrize("content", [b"x", b"PK", b"PK\x05\x06" + bytes(17), b"\x80\x05N.", b"{}"])
def test_a_file_that_is_no_zip_is_refused(content, path):
    assert sentence_for(content, path) == "is not a dcsvm model file"


def test_other_zip_files_are_refused(path):
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(3))
    for content in (buffer.getvalue(), rezipped({}), rezipped({"a.txt": b"hello"})):
        assert sentence_for(content, path) == (
            "is not a dcsvm model file: it is a zip file without a manifest"
        )
    assert sentence_for(rezipped({"manifest.json": b'{"name": "extension"}'}), path) == (
        "is not a dcsvm model file: its manifest has another format"
    )
    assert sentence_for(rezipped({"manifest.json": b"[1, 2"}), path) == (
        "is damaged: its entry 'manifest.json' is not JSON"
    )
    assert sentence_for(rezipped({"manifest.json": b"[1, 2]"}), path) == (
        "is damaged: its entry 'manifest.json' is not a JSON object"
    )


def test_a_newer_format_says_so_whatever_else_it_changed(whole, path):
    entries = entries_of(whole)
    manifest = json.loads(entries["manifest.json"]) | {"format_version": 2, "dcsvm_version": "9"}
    entries["manifest.json"] = json.dumps(manifest).encode()
    del entries["manifest.sha256"]
    assert sentence_for(rezipped(entries), path) == (
        "has format version 2 (written by dcsvm 9), but this dcsvm reads versions up to 1; "
        "install a newer dcsvm"
    )


@pytest.mark.parametrize("version", [0, None, "1", 1.5, True])
def test_an_unknown_format_version_is_refused(version, whole, path):
    manifest = json.loads(entries_of(whole)["manifest.json"]) | {"format_version": version}
    content = forged(whole, path, manifest)
    assert sentence_for(content, path) == f"has the unknown format version {version!r}"


def test_an_altered_manifest_is_noticed(whole, path):
    entries = entries_of(whole)
    entries["manifest.json"] = entries["manifest.json"].replace(
        b'"n_features": 2', b'"n_features": 3'
    )
    assert sentence_for(rezipped(entries), path) == (
        "is damaged or was altered: the checksum of its manifest does not match"
    )
    del entries["manifest.sha256"]
    assert sentence_for(rezipped(entries), path) == (
        "is damaged: it has no entry 'manifest.sha256'"
    )


def test_an_altered_entry_is_noticed(whole, path):
    entries = entries_of(whole)
    pool = entries["arrays/0.npy"]
    entries["arrays/0.npy"] = pool[:-1] + bytes([pool[-1] ^ 1])
    assert sentence_for(rezipped(entries), path) == (
        "is damaged or was altered: the checksum of 'arrays/0.npy' does not match"
    )
    entries["arrays/0.npy"] = pool + b"more"
    assert sentence_for(rezipped(entries), path) == (
        "is damaged or was altered: its entry 'arrays/0.npy' has another size"
    )
    del entries["arrays/0.npy"]
    assert sentence_for(rezipped(entries), path) == (
        "is damaged: its entry 'arrays/0.npy' is missing"
    )


def test_an_entry_that_no_one_listed_is_noticed(whole, path):
    assert sentence_for(rezipped(entries_of(whole) | {"extra": b"?"}), path) == (
        "is damaged or was altered: its manifest does not list 'extra'"
    )


def test_a_compressed_entry_is_refused_before_it_is_unpacked(whole, path):
    bomb = entries_of(whole) | {"objects.json": b" " * 50_000_000}
    content = rezipped(bomb, zipfile.ZIP_DEFLATED)
    assert len(content) < 200_000
    assert sentence_for(content, path).startswith("has a compressed entry")


def test_entries_that_overlap_are_refused(path):
    """The entries of a zip may claim the same bytes over and over."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.writestr("manifest.json", b"{}" + b" " * 10_000)
        for number in range(1000):
            again = copy.copy(zipped.filelist[0])
            again.filename = again.orig_filename = f"manifest.{number:04d}"
            zipped.filelist.append(again)
    assert sentence_for(buffer.getvalue(), path) == (
        "is damaged: its entries claim to be larger than the file"
    )


def test_two_entries_of_one_name_are_refused(whole, path):
    content = io.BytesIO(whole)
    with zipfile.ZipFile(content, "a") as zipped:
        zipped.writestr("manifest.jso2", b"{}")
    content = io.BytesIO(content.getvalue().replace(b"manifest.jso2", b"manifest.json"))
    assert sentence_for(content.getvalue(), path) == ("is damaged: two entries have the same name")


def test_a_file_larger_than_allowed_is_not_read(whole, path):
    assert sentence_for(whole, path, max_bytes=1000) == (
        f"has {len(whole)} bytes, more than max_bytes=1000"
    )
    assert dcsvm.load(path, max_bytes=len(whole)).n_features_in_ == 2


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        (
            [10**15],
            "is damaged: an array of shape [1000000000000000] is larger than its entry",
        ),
        ([2**40, 2**40], "is larger than its entry"),
        ([-1], "is damaged: [-1] is not a valid array shape"),
        ([1.5], "is not a valid array shape"),
        ([True], "is not a valid array shape"),
        ([1] * 100, "is not a valid array shape"),
        ([0], "has extra values"),
    ],
)
def test_absurd_shapes_are_refused_before_memory_is_taken(shape, sentence, whole, path):
    objects = objects_in(whole)
    objects["arrays"][0][1] = shape
    content = forged(whole, path, **{"objects.json": json.dumps(objects).encode()})
    assert sentence in sentence_for(content, path)


def test_a_header_that_lies_is_refused(whole, path):
    pool = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        pool, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)}
    )
    content = forged(whole, path, **{"arrays/0.npy": pool.getvalue() + bytes(8)})
    assert "does not match its header" in sentence_for(content, path)
    objects = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        objects, {"descr": "|O", "fortran_order": False, "shape": (1,)}
    )
    content = forged(whole, path, **{"arrays/0.npy": objects.getvalue() + bytes(8)})
    assert "does not match its header" in sentence_for(content, path)


def test_a_sparse_matrix_cannot_point_outside_itself(path):
    with_matrix, _ = fitted(Deal(1), Keeps(sparse.csr_array(np.eye(3))), k=2)
    dcsvm.save(with_matrix, path)
    whole = path.read_bytes()
    objects = objects_in(whole)
    objects["matrices"][0][1] = [3, 2]
    content = forged(whole, path, **{"objects.json": json.dumps(objects).encode()})
    assert sentence_for(content, path).startswith("is damaged or was altered: ValueError")
    objects["matrices"][0][1] = [10**12, 3]
    content = forged(whole, path, **{"objects.json": json.dumps(objects).encode()})
    assert sentence_for(content, path) == (
        "is damaged: the shape of a sparse matrix does not match its data"
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"classes": {"dtype": "<i8", "values": [0, 1, 2]}},
            "its classes or features do not match",
        ),
        ({"classes": {"dtype": "V9", "values": []}}, "class labels have the invalid dtype 'V9'"),
        ({"classes": {"dtype": "<U999999", "values": []}}, "class labels have the invalid dtype"),
        ({"n_features": "2"}, "its classes or features do not match its model"),
        ({"n_rows": "80"}, "n_rows is not an integer"),
        ({"feature_names": ["a"]}, "its feature names do not match its model"),
        ({"feature_names": ["a", 1]}, "its feature names do not match its model"),
        ({"model": {"array": 0}}, "it does not hold a fitted classifier"),
        ({"model": {"object": -1}}, "it refers to number -1 of"),
        ({"model": {"object": 10**9}}, "it refers to number 1000000000 of"),
        ({"model": {"os.system": "true"}}, "it has a value of the unknown kind 'os.system'"),
        ({"model": {"tuple": [], "list": []}}, "'tuple' has unknown keys"),
        ({"pipeline": {"tuple": []}}, "it does not hold a fitted classifier"),
        ({"pipeline": {"component": "learner:os", "settings": {}}}, "needs the learner 'os'"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(change, sentence, whole, path):
    manifest = json.loads(entries_of(whole)["manifest.json"]) | change
    assert sentence in sentence_for(forged(whole, path, manifest), path)


def test_settings_that_a_component_does_not_allow_are_refused(whole, path):
    manifest = json.loads(entries_of(whole)["manifest.json"])
    summand = manifest["pipeline"]["settings"]["decomposer"]["settings"]["summands"]["tuple"][0]
    summand["settings"]["strips"] = -1
    content = forged(whole, path, manifest)
    assert "strips must be a whole number of at least 1, got -1" in sentence_for(content, path)


def test_deeply_nested_json_is_refused(whole, path):
    deep = b'{"types": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    content = forged(whole, path, **{"objects.json": deep})
    assert sentence_for(content, path).startswith("is damaged or was altered: RecursionError")


def test_a_file_without_its_end_is_called_damaged(whole, path):
    assert sentence_for(whole[: len(whole) // 2], path) == (
        "is damaged: its end is missing or was altered"
    )


@pytest.mark.parametrize(
    ("keys", "rest"),
    [
        (np.zeros(624, dtype=np.uint32), (2**31 - 1, 0, 0.0)),
        (np.zeros(624, dtype=np.uint32), (-5, 0, 0.0)),
        (np.zeros(3, dtype=np.uint32), (1, 0, 0.0)),
        (np.zeros(624), (1, 0, 0.0)),
        (None, (1, 0, 0.0)),
        (np.zeros(624, dtype=np.uint32), (1, 2, 0.0)),
    ],
)
def test_a_random_state_that_points_elsewhere_is_refused(keys, rest):
    with pytest.raises(FormatError, match="a random state must have 624 keys"):
        _restore_random_state(keys, *rest)
