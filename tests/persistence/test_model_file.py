"""Model files of the core alone: what goes in comes out, to the bit."""

import json
import zipfile

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Everything, Regional, Strips, blobs
from scipy import sparse
from store_fakes import (
    FAKES,
    Keeps,
    Kernels,
    Learned,
    Shared,
    again,
    assert_same,
    fitted,
    registry_of,
)

import dcsvm
from dcsvm import DivideAndConquerClassifier, LocalModel
from dcsvm.persistence.stored_types import CORE_TYPES
from dcsvm.toolbox import Hyperplanes, View


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    registry = registry_of(*FAKES)
    monkeypatch.setattr("dcsvm.persistence.model_file.default_registry", lambda: registry)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dcsvm"


def manifest_of(path):
    with zipfile.ZipFile(path) as zipped:
        return json.loads(zipped.read("manifest.json"))


PIPELINES = {
    "regions": lambda: fitted(Strips(4), random_state=3),
    "two classes": lambda: fitted(Strips(4), k=2),
    "groups": lambda: fitted(Strips(2) + Deal(3), random_state=1),
    "a repetition": lambda: fitted(3 * Deal(2), random_state=1),
    "a nested classifier": lambda: fitted(
        Strips(2), DivideAndConquerClassifier(Deal(2), Centroids(0.1), Average()), Regional()
    ),
    "nested twice": lambda: fitted(
        Strips(2),
        DivideAndConquerClassifier(
            Deal(2), DivideAndConquerClassifier(Strips(2), Centroids(), Regional()), Average()
        ),
        random_state=5,
    ),
    "kernels": lambda: fitted(Deal(3), Kernels()),
    "shared views": lambda: fitted(Shared(), Kernels()),
    "a combiner that learns": lambda: fitted(Deal(2), Centroids(), Learned()),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_loaded_model_answers_with_the_same_bits_at_the_same_cost(name, path):
    before, X = PIPELINES[name]()
    after = again(before, path)
    assert_same(before, after, X[:50])
    assert repr(after) == repr(before)
    assert after.get_params().keys() == before.get_params().keys()


@pytest.mark.parametrize("name", PIPELINES)
def test_a_loaded_model_saves_to_the_same_bytes(name, path, tmp_path):
    before, _ = PIPELINES[name]()
    dcsvm.save(again(before, path), tmp_path / "second")
    dcsvm.save(before, tmp_path / "third")
    assert path.read_bytes() == (tmp_path / "second").read_bytes()
    assert path.read_bytes() == (tmp_path / "third").read_bytes()


def test_models_that_differ_in_how_they_were_trained_are_one_file(path, tmp_path):
    model, _ = fitted(Deal(2))
    dcsvm.save(model, path)
    dcsvm.save(model.set_params(n_jobs=2), tmp_path / "second")
    assert path.read_bytes() == (tmp_path / "second").read_bytes()
    assert dcsvm.load(path).n_jobs is None


def test_the_manifest_can_be_read_by_people(path):
    model, _ = fitted(Strips(2) + Deal(3))
    dcsvm.save(model, path)
    manifest = manifest_of(path)
    assert manifest["format_version"] == 1
    assert manifest["dcsvm_version"] == dcsvm.__version__
    assert manifest["classes"]["values"] == [0, 1, 2]
    assert manifest["n_features"] == 2
    assert manifest["n_rows"] == dcsvm.load(path).n_rows_ == model.n_rows_
    assert manifest["plugins"] == [
        {
            "distribution": "fakes",
            "version": "1.2",
            "offers": [
                "combiner:average",
                "decomposer:deal",
                "decomposer:strips",
                "learner:centroids",
            ],
        }
    ]
    pipeline = manifest["pipeline"]["settings"]
    assert pipeline["decomposer"]["component"] == "decomposer:sum"
    summands = pipeline["decomposer"]["settings"]["summands"]["tuple"]
    assert summands[1] == {"component": "decomposer:deal", "settings": {"parts": 3}}


LABELS = {
    "integers": np.array([5, -3, 7]),
    "small integers": np.array([5, 3, 7], dtype=np.uint8),
    "floats": np.array([1.0, 2.0, -3.0]),
    "texts": np.array(["b", "ä", "longer"]),
    "objects": np.array(["b", "ä", "longer"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_class_labels_keep_their_type(labels, path):
    X, y = blobs(60, 3)
    before = DivideAndConquerClassifier(Strips(), Centroids(), Average()).fit(X, labels[y])
    after = again(before, path)
    assert after.classes_.dtype == before.classes_.dtype
    assert after.predict(X).tolist() == before.predict(X).tolist()


def test_truth_values_as_labels_stay_truth_values(path):
    X, y = blobs(60, 2)
    before = DivideAndConquerClassifier(Strips(), Centroids(), Average()).fit(X, y > 0)
    assert again(before, path).classes_.tolist() == [False, True]
    assert dcsvm.load(path).classes_.dtype == bool


def test_feature_names_come_back_and_are_checked(path):
    pandas = pytest.importorskip("pandas")
    X, y = blobs(60, 3)
    frame = pandas.DataFrame(X, columns=["left", "right"])
    before = DivideAndConquerClassifier(Strips(), Centroids(), Average()).fit(frame, y)
    after = again(before, path)
    assert after.feature_names_in_.tolist() == ["left", "right"]
    assert after.feature_names_in_.dtype == object
    assert_same(before, after, frame)
    with pytest.raises(ValueError, match="feature names"):
        after.predict(frame[["right", "left"]])


def test_settings_of_every_kind_come_back(path):
    generator = np.random.RandomState(7)
    generator.normal()
    things = {
        "list": [1, 2.5, None, True, "text", -0.0],
        "tuple": (1, (2, [3])),
        3: {4.5: ()},
        "odd floats": [float("inf"), float("-inf")],
        "numpy": np.float32(0.1),
        "array": np.arange(3),
    }
    model, X = fitted(Everything(), Keeps(things), k=2, random_state=generator)
    model.set_params(class_weight={0: 1.0, np.int64(1): 2.0})
    after = again(model, path)
    back = after.learner.things
    np.testing.assert_array_equal(back.pop("array"), things.pop("array"))
    assert back == things
    assert str(back["list"][-1]) == "-0.0"
    assert type(back["numpy"]) is np.float32
    assert after.class_weight == {0: 1.0, 1: 2.0}
    assert after.random_state.normal() == generator.normal()
    assert_same(model, after, X)


def test_fields_that_are_not_stored_take_their_default(path):
    model, _ = fitted(Everything(), Keeps(1), k=2)
    before = model.model_.committee.members[0].model
    after = again(model, path).model_.committee.members[0].model
    assert (before.skipped, after.skipped) == ("changed", "as by default")
    assert (before.derived, after.derived) == ("by hand", "by hand")


def test_what_is_shared_is_stored_once_and_comes_back_shared(path):
    array, text = np.arange(1000.0), np.array(["a"], dtype=object)
    matrix = sparse.csr_array(np.eye(3))
    things = [array, array, matrix, matrix, array.copy(), text, text]
    model, _ = fitted(Everything(), Keeps(things), k=2)
    back = again(model, path).model_.committee.members[0].model.things
    assert back[0] is back[1]
    assert back[2] is back[3]
    assert back[4] is not back[0]
    assert back[5] is back[6]
    assert back[5].tolist() == ["a"]
    assert path.stat().st_size < 3 * array.nbytes


def test_members_that_share_a_view_share_it_after_loading(path):
    model, X = fitted(Shared(), Kernels())
    one, two = model.model_.committee.members
    assert one.view is two.view
    after = again(model, path)
    one, two = after.model_.committee.members
    assert one.view is two.view
    unique = after.cost(X).unique_kernel_evaluations
    assert np.all(unique < after.cost(X).kernel_evaluations)


ARRAYS = {
    "by rows": np.arange(12.0).reshape(3, 4),
    "by columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "in steps": np.arange(24.0).reshape(4, 6)[::2, 1::3],
    "backwards": np.arange(5)[::-1],
    "of another byte order": np.arange(5, dtype=">f8"),
    "empty": np.zeros((0, 7)),
    "without dimensions": np.array(3.5),
    "of truth values": np.array([True, False]),
    "of small numbers": np.arange(3, dtype=np.int8),
    "of half precision": np.arange(3, dtype=np.float16),
    "of complex numbers": np.array([1 + 2j]),
    "of texts": np.array(["a", "äöü"]),
    "of bytes": np.array([b"a", b"bcd"]),
    "of three dimensions": np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
    "of odd numbers": np.array([np.nan, -np.inf, -0.0, 5e-324]),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_arrays_keep_their_bits_their_dtype_and_their_order(array, path):
    model, _ = fitted(Everything(), Keeps([array, array.T]), k=2)
    back, turned = again(model, path).model_.committee.members[0].model.things
    assert back.dtype.str == array.dtype.str
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    assert turned.tobytes() == array.T.tobytes()
    assert back.flags.writeable
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    assert back.flags.c_contiguous == (array.flags.c_contiguous or not contiguous)
    assert back.flags.f_contiguous == (array.flags.f_contiguous or back.ndim < 2)


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array", "csc_matrix"])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_sparse_matrices_keep_their_kind_and_their_indices(kind, indices, path):
    dense = np.arange(12.0).reshape(3, 4) % 5
    matrix = getattr(sparse, kind)(dense)
    matrix.indices, matrix.indptr = matrix.indices.astype(indices), matrix.indptr.astype(indices)
    model, _ = fitted(Everything(), Keeps(matrix), k=2)
    back = again(model, path).model_.committee.members[0].model.things
    assert type(back) is type(matrix)
    np.testing.assert_array_equal(back.toarray(), dense)
    assert back.indices.dtype == back.indptr.dtype == indices


def test_many_arrays_fill_several_pools(path, monkeypatch):
    monkeypatch.setattr("dcsvm.persistence.array_codec.POOL_BYTES", 1000)
    arrays = [np.full(size, float(size)) for size in (50, 100, 1, 300, 0, 20)]
    model, _ = fitted(Everything(), Keeps(arrays), k=2)
    back = again(model, path).model_.committee.members[0].model.things
    assert [each.tolist() for each in back] == [each.tolist() for each in arrays]
    assert len([name for name in manifest_of(path)["entries"] if name.endswith(".npy")]) > 3


def test_every_model_and_view_of_the_core_can_be_stored():
    def below(cls):
        return {cls}.union(*(below(each) for each in cls.__subclasses__()))

    mine = {
        cls
        for cls in below(LocalModel) | below(View)
        if cls.__module__.startswith("dcsvm.")
        and not cls.__module__.startswith("dcsvm.testing.")  # stand-ins for laws
        and not getattr(cls, "__abstractmethods__", None)
    }
    assert Hyperplanes in mine
    assert mine <= set(CORE_TYPES)
