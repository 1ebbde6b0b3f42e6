"""The page about the feature-space paper says what was measured, and its data is what it says."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "reproduce_fsd"


@pytest.fixture
def module(monkeypatch):
    """Import a script of the folder as its neighbours would."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)

    def load(name):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        made = importlib.util.module_from_spec(spec)
        sys.modules[name] = made
        spec.loader.exec_module(made)
        return made

    yield load
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(FOLDER) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]


@pytest.mark.skipif(
    (FOLDER.parents[1] / "PKG-INFO").exists(), reason="the sdist leaves out what was measured"
)
def test_the_page_is_what_its_script_writes(module):
    page = module("page")
    written, due = page.PAGE.read_text(), "\n".join(page.page()) + "\n"
    assert page.without_births(written) == page.without_births(due)


def test_generated_texts_have_the_shape_of_news20(module):
    split = module("data").generated(rows=300, features=200_000, per_row=450)
    X, y = split.training
    assert (X.shape[1], X.shape[0] + len(split.validation[1]) + len(split.test()[1])) == (
        200_000,
        300,
    )
    assert 250 < X.nnz / X.shape[0] <= 460
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0)
    assert 0.3 < y.mean() < 0.7


def test_swapping_answers_of_equal_methods_finds_no_difference(module):
    text = module("text")
    truth = np.arange(200) % 2
    theirs = np.where(np.arange(200) < 20, 1 - truth, truth)
    assert text.randomised(truth, theirs.copy(), theirs) == 1.0
    assert text.randomised(truth, truth.copy(), theirs) < 0.01


def test_table_twos_setting_has_twenty_subspaces(module):
    classifier = module("covertype").fsd(level=1, folds=0, ridge=1.0)
    spaces = classifier.decomposer.summands
    assert [(each.name, each.subspaces, each.features) for each in spaces] == [
        ("rd_subspaces", 4, 40),
        ("pca_subspaces", 4, 40),
        ("dca_subspaces", 4, 40),
        ("bcd_subspaces", 4, 27),
        ("abd_subspaces", 4, 27),
    ]


def test_no_test_row_is_read_before_something_was_chosen(module, monkeypatch, tmp_path):
    covertype = module("covertype")
    monkeypatch.setattr(covertype.measured, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"nothing is chosen yet: run .*ablation\.py first"):
        covertype.chosen()
    for folds, error in ((0, 9.5), (2, 9.1)):
        record = {"kind": "choice", "folds": folds, "ridge": 1.0, "error": error}
        covertype.measured.append("ablation", record)
    assert covertype.chosen() == {"folds": 2, "ridge": 1.0}


def test_hours_of_missing_rows_are_those_of_a_size_by_a_power_of_the_rows(module):
    approximations = module("approximations")
    tenth = (approximations.ALL // 10, 36.0, 0.0)
    assert approximations.extend(tenth, 2.0) == pytest.approx(1.0)
    assert approximations.extend(tenth, 3.0) == pytest.approx(10.0)


def test_an_approximation_says_what_ended_its_growth(module):
    approximations = module("approximations")
    sizes = [
        {"validation": error, "training": {"cpu_seconds": seconds}, "components": size}
        for error, seconds, size in ((30.0, 1.0, 4000), (20.0, 9.0, 500), (19.8, 3.0, 500))
    ]
    assert approximations._reason(sizes[:1], 10.0) == "memory"
    assert approximations._reason(sizes[:1], 100.0) == "memory"
    assert approximations._reason(sizes[:2], 100.0) == "not measured further"
    assert approximations._reason(sizes[:2], 10.0) == "time"
    assert approximations._reason(sizes, 10.0) == "gain"


def test_components_are_told_as_the_pipelines_have_them(module):
    told = module("approximations").tell_components()
    assert "Nystroem 300, RBFSampler 1,000, the RBF network 1,000" in told
