"""Stored rows are measured anew: a sample of cheap ones comes out as stored, changes are told."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PAGES = ("reproduce_td", "reproduce_cascade", "reproduce_dag", "reproduce_hlsvm", "reproduce_fsd")


@pytest.fixture
def remeasure(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import remeasure

    yield remeasure
    for name in ("remeasure", "births", "record_history"):
        sys.modules.pop(name, None)


@pytest.fixture
def measured(tmp_path):
    """Three stored rows of an example."""
    folder = tmp_path / "reproduce_dag" / "measured"
    folder.mkdir(parents=True)
    rows = [{"method": name, "error": error, "seconds": 0.1} for name, error in ROWS.items()]
    (folder / "tests.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return SimpleNamespace(FOLDER=folder, __file__=str(folder.parent / "measured.py"))


ROWS = {"one": 0.25, "two": 0.5, "three": 0.75}


def again(remeasure, measured, *words, found=ROWS):
    measures = {"tests": lambda row: {"error": found[row["method"]], "seconds": 9.0}}
    with pytest.raises(SystemExit) as ended:
        remeasure.run_again(measured, measures, list(words))
    return ended.value.code


def test_rows_that_come_out_as_stored_end_with_zero(remeasure, measured, capsys):
    assert again(remeasure, measured) == 0
    assert "3 of 3 rows are as stored" in capsys.readouterr().out


def test_a_row_that_differs_is_told_and_ends_with_one(remeasure, measured, capsys):
    assert again(remeasure, measured, found=ROWS | {"two": 0.4}) == 1
    assert "error is 0.4, stored 0.5" in capsys.readouterr().out


def test_only_rows_of_the_same_blas_are_compared_to_the_last_digit(remeasure, measured, capsys):
    path = measured.FOLDER / "tests.jsonl"
    here = {"machine": {"blas": remeasure.blas_architecture()}}
    for born, code in ((here, 1), ({"machine": {"blas": "Z80"}}, 0), ({}, 0)):
        row = {"method": "one", "error": 0.25, "seconds": 0.1, "born": born}
        remeasure.write(path, [row])
        assert again(remeasure, measured, found={"one": 0.251}) == code
    told = capsys.readouterr().out
    assert "error is 0.251, stored 0.25" in told
    assert told.count("the same, loosely") == 2


def test_a_certificate_names_what_decides_on_rounding(remeasure):
    import births

    machine = births.certify("reproduce_dag")["machine"]
    assert machine["blas"] not in ("", "unknown")
    assert machine["dcsvm"] in ("base", "avx2", "avx512", "numpy")


def test_a_fingerprint_changes_with_every_component_that_is_measured(
    remeasure, monkeypatch, tmp_path
):
    import births

    for example, modules in births.MODULES.items():
        assert modules
        assert all((births.PLUGINS / name).exists() for name in modules), example
    file = tmp_path / "plugins" / "one.py"
    file.parent.mkdir()
    monkeypatch.setattr(births, "ROOT", tmp_path)
    monkeypatch.setattr(births, "PLUGINS", file.parent)
    monkeypatch.setitem(births.MODULES, "some", ("one.py",))
    found = set()
    for text in ("x = 1", "x = 2"):
        file.write_text(text)
        births.fingerprint.cache_clear()
        found.add(births.fingerprint("some"))
    births.fingerprint.cache_clear()
    assert len(found) == 2


@pytest.mark.skipif(not (EXAMPLES.parent / ".git").exists(), reason="no history here")
def test_a_commit_that_was_rewritten_is_not_in_this_history(remeasure):
    import births

    head = births._git("rev-parse", "--short=12", "HEAD")
    assert births.is_in_history(head)
    assert births.is_in_history(f"{head}+")
    assert not births.is_in_history("0" * 12)


def test_only_the_rows_asked_for_are_measured(remeasure, measured, capsys):
    assert again(remeasure, measured, "--again", "tests", "method=three") == 0
    assert "1 of 1 rows" in capsys.readouterr().out


def test_a_kept_row_takes_the_place_of_the_old_one_and_has_a_certificate(remeasure, measured):
    again(remeasure, measured, "--again", "tests", "method=two", "--keep", found={"two": 0.4})
    rows = remeasure.read(measured.FOLDER / "tests.jsonl")
    assert [row["error"] for row in rows] == [0.25, 0.4, 0.75]
    assert set(rows[1]["born"]) >= {"commit", "versions", "machine", "date", "command", "seed"}
    assert "born" not in rows[0]


def test_a_row_sees_the_others_but_not_itself(remeasure, measured):
    def measure(row):
        others = remeasure.read(measured.FOLDER / "tests.jsonl")
        assert [other["method"] for other in others] == ["one", "three"]
        return {"error": row["error"]}

    with pytest.raises(SystemExit) as ended:
        remeasure.run_again(measured, {"tests": measure}, ["--again", "tests", "method=two"])
    assert ended.value.code == 0


def test_an_unknown_file_of_rows_is_named(remeasure, measured):
    message = r"no rows of 'test' can be measured anew; available: \['tests'\]"
    with pytest.raises(SystemExit, match=message):
        remeasure.run_again(measured, {"tests": lambda row: row}, ["--again", "test"])


def test_loose_comparisons_forgive_rounding_and_nothing_else(remeasure):
    old = {"error": 0.031, "iterations": 100, "support_vectors": 60, "steps": [1]}
    near = {"error": 0.033, "iterations": 300, "support_vectors": 64, "steps": [2]}
    far = {"error": 0.041, "iterations": 100, "support_vectors": 90, "steps": [1]}
    assert not list(remeasure.differ(old, near, remeasure.loosely))
    assert len(list(remeasure.differ(old, far, remeasure.loosely))) == 2
    assert len(list(remeasure.differ(old, near, remeasure.equal))) == 4


@pytest.mark.parametrize("page", PAGES)
def test_every_record_has_a_certificate_or_a_date_by_history(remeasure, page):
    for path in sorted((EXAMPLES / page / "measured").glob("*.jsonl")):
        for number, record in enumerate(remeasure.read(path), 1):
            known = {"commit", "date"}
            if "known" not in record["born"]:
                known |= {"versions", "machine", "command", "seed", "code"}
            assert known <= set(record["born"]), f"{path.name}, line {number}"


def test_a_record_is_recognized_by_its_figures(remeasure):
    from record_history import find_figures

    before = {"rows": 10, "error": 0.25, "cell": {"C": 1.5}}
    after = {"n": 20, "params": {"C": 1.5}, "error": 0.25, "born": {"share": 0.1}}
    assert find_figures(before) == find_figures(after) == (0.25, 1.5)
    assert find_figures({"rows": 10}) == (10.0,)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_sample_of_cheap_rows_comes_out_as_stored(dataset, page):
    """Loosely, since processors round differently; `remeasure.py` compares to the last digit."""
    if (EXAMPLES.parent / "PKG-INFO").exists():
        pytest.skip("the sdist leaves out what was measured")
    dataset("banana")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=EXAMPLES, capture_output=True)
    words = ["--sample", "2", "--seconds", "3", "--loose", "--seed", head.stdout.decode().strip()]
    command = [sys.executable, str(EXAMPLES / "remeasure.py"), "--page", page, *words]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " 2 of 2 rows are as stored" in run.stdout
