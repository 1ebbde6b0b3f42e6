"""The showcase of SVM forests: choices by validation rows, test rows once, and its page."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
MODULES = (
    "forest_showcase",
    "forest_how_far",
    "data",
    "measured",
    "paper",
    "tables",
    "td",
    "global_svm",
)


@pytest.fixture
def showcase(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    before = list(sys.path)
    yield __import__("forest_showcase")
    sys.path[:] = before
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture
def small(showcase, monkeypatch, tmp_path):
    """The same with a small data set, few settings and an empty folder of measurements."""
    generator = np.random.default_rng(0)
    X = generator.integers(0, 16, size=(1200, 3))
    y = ((X[:, 0] > 7) + (X[:, 1] > 11)).astype(np.uint8)
    np.savez(tmp_path / "letter.npz", X=X, y=y, classes=np.array(["a", "b", "c"]))
    monkeypatch.setenv("DCSVM_DATA", str(tmp_path))
    monkeypatch.setattr(showcase.measured, "FOLDER", tmp_path / "measured")
    monkeypatch.setattr(showcase, "TRIES", 2)
    forests = [{"times": [2], "C": [1.0, 10.0], "gamma": [3.0], "kernel": ["laplacian"]}]
    boosting = [{"max_iter": [20], "learning_rate": [0.1, 0.5]}]
    grids = {"svm_forest": forests, "hist_gradient_boosting": boosting}
    monkeypatch.setattr(showcase, "GRIDS", grids)
    return showcase


def test_every_method_has_its_twenty_settings_and_no_two_alike(showcase):
    for method in showcase.METHODS:
        settings = showcase.settings_of(method)
        assert len(settings) == len({str(sorted(one.items())) for one in settings}) == 20
        assert settings == showcase.settings_of(method)


@pytest.mark.slow
def test_the_best_setting_meets_the_test_rows_once_with_its_rounds(small):
    for method in small.GRIDS:
        small.conclude("letter", None, method)
        assert not small.measured.read("showcase_final")
        for _ in range(2):
            small.attempt("letter", None, method, small.settings_of(method))
        tried = small.measured.read("showcase", method=method)
        assert len(tried) == 2
        for _ in range(2):
            small.conclude("letter", None, method)
        (final,) = small.measured.read("showcase_final", method=method)
        best = max(tried, key=lambda one: one["accuracy"])
        assert final["validation_accuracy"] == best["accuracy"]
        assert final["accuracy"] > 0.9
        if method in small.ROUNDS:
            assert final["settings"][small.ROUNDS[method]] == best["rounds"] <= 20
        small.measured.FOLDER.joinpath("showcase_final.jsonl").rename(
            small.measured.FOLDER / f"{method}.jsonl"
        )


def test_the_page_tells_who_is_ahead(small):
    for method, accuracy, seconds in (
        ("svm_forest", 0.98, 3.0),
        ("xgboost", 0.97, 2.0),
        ("lightgbm", 0.96, 9.0),
    ):
        record = {"data_set": "letter", "rows": None, "method": method, "accuracy": accuracy}
        record |= {"settings": {"C": 10.0, "kernel": "rbf"}, "validation_accuracy": 0.9}
        record |= {"worst": 0.5, "tried": 20, "fit_wall_seconds": seconds}
        small.measured.append("showcase_final", record | {"predict_wall_seconds": 1.0})
    lines = "\n".join(small.page()).splitlines()
    (duel,) = (line for line in lines if line.startswith("| Letter | xgboost | 98.00"))
    assert duel == "| Letter | xgboost | 98.00 / 97.00 | ahead | 3 / 2 | **behind** | 1 / 1 | = |"
    assert sum(line.startswith("| Letter | ") for line in lines) == 4


@pytest.mark.skipif(
    (FOLDER.parent / "PKG-INFO").exists(), reason="the sdist leaves out what was measured"
)
def test_the_page_in_the_docs_is_what_was_measured(showcase):
    assert showcase.PAGE.read_text(encoding="utf-8") == "\n".join(showcase.page()) + "\n"
