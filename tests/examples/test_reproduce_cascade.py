"""The cascade's reproduction: its measurements are kept once, its page is what they say."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "reproduce_cascade"


@pytest.fixture
def modules(monkeypatch, tmp_path):
    """The scripts as modules, with measurements that go to a folder of their own."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = [path.stem for path in FOLDER.glob("*.py")]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import importlib

    loaded = {name: importlib.import_module(name) for name in names}
    monkeypatch.setattr(loaded["measured"], "FOLDER", tmp_path)
    yield loaded
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_the_page_is_what_was_measured():
    run = subprocess.run(
        [sys.executable, str(FOLDER / "page.py"), "--check"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_every_script_says_how_to_run_it():
    silent = [
        path.name
        for path in FOLDER.glob("*.py")
        if path.stem not in ("data", "measured")
        and f"python examples/reproduce_cascade/{path.name}" not in path.read_text()
    ]
    assert not silent


def test_a_measurement_is_made_once(modules):
    measured = modules["measured"]
    calls = []

    def measure():
        calls.append(1)
        return {"cpu": 1.5}

    for _ in range(2):
        record = measured.once("some", {"rows": 3}, measure)
        assert (record["rows"], record["cpu"]) == (3, 1.5)
    assert len(calls) == 1
    assert measured.read("some", rows=4) == []


def test_checkerboards_are_balanced_and_share_their_test_rows(modules):
    one, other = (modules["data"].checkerboard(number, 50, 80) for number in (1, 2))
    assert np.bincount(one.y).tolist() == [50, 50]
    assert ((one.X[:, 0] * one.X[:, 1] > 0) == (one.y == 1)).all()
    assert (one.X != other.X).any()
    np.testing.assert_array_equal(one.test()[0], other.test()[0])
    assert np.abs(one.X).max() <= 100


def test_a_row_of_table_1_counts_the_slowest_part_of_each_step(modules):
    record = modules["table1"].measure(1, "cascade", "own", 1, per_class=300, tested=200)
    assert [len(step) for step in record["steps"]] == [4, 2, 1]
    slowest = sum(max(part["cpu"] for part in step) for step in record["steps"])
    assert record["ideal"] == pytest.approx(slowest, abs=2e-3)
    assert record["test"] > 95
    assert record["steps"][0][0]["rows"] == 300
    assert record["support_vectors"] == record["steps"][2][0]["kept"]


def test_both_solvers_come_to_the_same_objective(modules):
    rows = modules["data"].checkerboard(1, 200, 10)
    measured = modules["measured"]
    from dcsvm import build

    own = measured.learn(
        build("decomposer", "whole"), measured.machine(10.0, 0.001), rows.X, rows.y
    )[1]
    svc = measured.learn_svc(rows.X, rows.y, 10.0, 0.001)[1]
    assert own["objective"] == pytest.approx(svc["objective"], rel=1e-3)
    assert svc["iterations"] > 0


def test_generated_text_has_rows_of_unit_length_and_two_classes(modules):
    split = modules["data"].generated_text(rows=60, features=200)
    lengths = np.sqrt(split.X.multiply(split.X).sum(axis=1))
    np.testing.assert_allclose(lengths, 1.0)
    assert set(split.y) == {0, 1}
    assert split.X.shape == split.test()[0].shape == (60, 200)


def test_the_power_law_is_that_of_the_measurements(modules):
    for rows in (1000, 2000, 4000):
        modules["measured"].append(
            "svc_scaling", {"rows": rows, "cpu": 3e-6 * rows**2, "support_vectors": 1}
        )
    factor, exponent = modules["page"].power_law()
    assert exponent == pytest.approx(2.0)
    assert factor == pytest.approx(3e-6)
    assert "rows^2.00" in "\n".join(
        line for line in modules["page"].page().splitlines() if "follows" in line
    )
