"""What a model file cannot hold says so; what cannot be written leaves nothing behind."""

import os

import attrs
import numpy as np
import pytest
from fakes import Deal, Everything, Strips
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from store_fakes import FAKES, Keeps, Kernels, assert_same, fitted, registry_of

import dcsvm
from dcsvm import DivideAndConquerClassifier, LocalModel, component
from dcsvm.base.errors import ModelFileError
from dcsvm.persistence import model_file_format


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    registry = registry_of(*FAKES)
    monkeypatch.setattr("dcsvm.persistence.model_file.default_registry", lambda: registry)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dcsvm"


def refused(model, path):
    with pytest.raises(ModelFileError) as caught:
        dcsvm.save(model, path)
    assert not path.exists()
    assert os.listdir(path.parent) == []
    return str(caught.value)


def test_a_classifier_that_is_not_fitted_is_refused(path):
    model = DivideAndConquerClassifier()
    assert refused(model, path) == "cannot save a classifier that is not fitted: call fit first"


def test_something_else_is_refused(path):
    assert refused(object(), path) == (
        "cannot save a object: a model file holds a fitted DivideAndConquerClassifier"
    )


def test_a_pipeline_is_refused_with_the_way_out(path):
    model = make_pipeline(StandardScaler(), DivideAndConquerClassifier())
    assert refused(model, path) == (
        "cannot save a Pipeline with a StandardScaler: before the classifier a model file holds a "
        "TablePreparation only, which fills in missing values, encodes categories and rescales; "
        "or save the last step and keep the others yourself"
    )


def test_a_search_that_learned_nothing_is_refused(path):
    model = dcsvm.GranularitySearch(DivideAndConquerClassifier(), refit=False)
    assert refused(model, path) == (
        "cannot save a GranularitySearch: a model file holds a fitted "
        "DivideAndConquerClassifier, and this search has no best_estimator_: fit it, with "
        "refit=True"
    )


def test_a_function_as_a_setting_is_refused(path):
    def my_kernel(X, Y):
        return X @ Y.T

    model, _ = fitted(Everything(), Kernels(my_kernel))
    assert refused(model, path) == (
        "cannot save kernels: kernel is a function (my_kernel), and a model file holds no code; "
        "choose a function that has a registered name"
    )
    model.learner = "kernels"
    assert "cannot save Kernel: function is a function (my_kernel)" in refused(model, path)


def test_a_component_that_no_plugin_offers_is_refused(path):
    @component
    class Homemade(Everything):
        name = "homemade"

    model, _ = fitted(Homemade())
    assert refused(model, path) == (
        "cannot save Homemade: no loaded plugin offers it, so it could not be loaded again; "
        "offer it from an installed plugin, or from a plugin file (dcsvm.load_plugin)"
    )


def test_a_type_that_no_component_lists_is_refused(path):
    @attrs.frozen
    class Stranger:
        value: int = 1

    model, _ = fitted(Everything(), Keeps(None), k=2)
    object.__setattr__(model.model_.committee.members[0].model, "things", [Stranger()])
    assert refused(model, path) == (
        "cannot save Keepsake: things holds a Stranger, which no registered component lists; add "
        "it to the stored_types of the component that makes it"
    )


def test_a_value_of_an_unknown_kind_is_refused(path):
    model, _ = fitted(Everything(), Keeps({1, 2}), k=2)
    assert refused(model, path) == (
        "cannot save keeps: things holds a set, but a model file holds arrays, CSR and CSC "
        "matrices, numbers, strings, lists, tuples, dicts and stored types only"
    )


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.array([object()]), "is an object array with values that are not strings"),
        (np.array(["2020"], dtype="M8[D]"), "is an array of dtype datetime64[D]"),
        (np.zeros(2, dtype=[("a", int)]), "is an array of dtype"),
    ],
)
def test_an_array_of_an_unknown_kind_is_refused(array, sentence, path):
    model, _ = fitted(Everything(), Keeps(array), k=2)
    assert f"cannot save keeps: things {sentence}" in refused(model, path)


def test_labels_of_an_unknown_kind_are_refused(path):
    model, _ = fitted()
    model.classes_ = np.array([b"a", b"b", b"c"])
    assert refused(model, path) == (
        "cannot save class labels of dtype |S1: labels must be numbers, booleans or strings"
    )


def test_what_refers_to_itself_is_refused(path):
    model, _ = fitted(Everything(), Keeps(None), k=2)
    keepsake = model.model_.committee.members[0].model
    object.__setattr__(keepsake, "things", keepsake)
    assert refused(model, path) == "cannot save Keepsake: things refers to itself"
    endless = []
    endless.append(endless)
    object.__setattr__(keepsake, "things", endless)
    assert refused(model, path) == "cannot save the classifier: it is nested too deeply"


def test_a_file_that_needs_a_missing_component_says_who_offered_it(path, monkeypatch):
    model, _ = fitted(Strips())
    dcsvm.save(model, path)
    fewer = registry_of(*(each for each in FAKES if each is not Strips))
    monkeypatch.setattr("dcsvm.persistence.model_file.default_registry", lambda: fewer)
    with pytest.raises(ModelFileError) as caught:
        dcsvm.load(path)
    assert str(caught.value) == (
        f"model file {str(path)!r} needs the type 'decomposer:strips/StripRouter', which no "
        "loaded plugin offers; fakes 1.2 offered it when the file was saved"
    )
    model, _ = fitted(Everything())
    dcsvm.save(model, path)
    fewer = registry_of(Strips)
    monkeypatch.setattr("dcsvm.persistence.model_file.default_registry", lambda: fewer)
    with pytest.raises(ModelFileError) as caught:
        dcsvm.load(path)
    assert str(caught.value) == (
        f"model file {str(path)!r} needs the combiner 'average', which no loaded plugin offers; "
        "fakes 1.2 offered it when the file was saved"
    )


def test_a_file_whose_settings_are_gone_says_so(path, monkeypatch):
    model, _ = fitted(Deal(3))
    dcsvm.save(model, path)

    @component
    class Deal2(Everything):
        name = "deal"

    other = registry_of(*(each for each in FAKES if each is not Deal), Deal2)
    monkeypatch.setattr("dcsvm.persistence.model_file.default_registry", lambda: other)
    with pytest.raises(
        ModelFileError, match="needs the setting 'parts' of decomposer:deal, which"
    ):
        dcsvm.load(path)


def test_a_type_whose_fields_changed_says_so(path, monkeypatch):
    model, _ = fitted(Everything(), Keeps(1), k=2)
    dcsvm.save(model, path)
    for fields, sentence in (
        ({"other": attrs.field(default=1)}, "with a field 'things', which the installed version"),
        (
            {"things": attrs.field(), "derived": attrs.field(), "new": attrs.field()},
            "without the field 'new', which the installed version needs",
        ),
    ):
        changed = attrs.make_class("Keepsake", fields, bases=(LocalModel,))
        other = registry_of(*FAKES)
        monkeypatch.setattr(
            "dcsvm.persistence.model_file.default_registry", lambda other=other: other
        )
        with monkeypatch.context() as patched:
            patched.setattr(Keeps, "stored_types", (changed,))
            with pytest.raises(ModelFileError, match=sentence):
                dcsvm.load(path)


def test_an_interrupt_leaves_nothing_behind(path, monkeypatch):
    model, _ = fitted()

    def interrupted(*_):
        raise KeyboardInterrupt

    for place in ("os.fsync", "os.replace"):
        with monkeypatch.context() as patched:
            patched.setattr(place, interrupted)
            with pytest.raises(KeyboardInterrupt):
                dcsvm.save(model, path)
        assert os.listdir(path.parent) == []


def test_a_failed_save_keeps_the_file_that_was_there(path, monkeypatch):
    dcsvm.save(fitted()[0], path)
    other, _ = fitted(Deal())
    before = path.read_bytes()

    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(model_file_format, "_add_entry", broken)
    with pytest.raises(ModelFileError) as caught:
        dcsvm.save(other, path)
    assert str(caught.value) == (f"cannot write the model file {str(path)!r}: Input/output error")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    model, _ = fitted()
    where = str(tmp_path / "nowhere" / "model")
    with pytest.raises(ModelFileError, match=r"cannot write the model file .*No such file"):
        dcsvm.save(model, where)
    with pytest.raises(ModelFileError, match="cannot write the model file"):
        dcsvm.save(model, tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_link_is_followed_and_permissions_are_the_usual_ones(tmp_path):
    model, X = fitted()
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    dcsvm.save(model, link)
    assert link.is_symlink()
    assert_same(model, dcsvm.load(real), X)
    usual = tmp_path / "usual"
    usual.touch()
    assert real.stat().st_mode == usual.stat().st_mode
