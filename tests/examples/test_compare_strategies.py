"""The matrix of strategies: records, shared parts, significance and tables."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from warm import run_script

from dcsvm.drive.registry import default_registry

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPT = EXAMPLES / "compare_strategies" / "matrix.py"
FLOWERS = str(EXAMPLES / "flowers.csv")
PLUGIN = EXAMPLES / "third_party_plugin" / "dcsvm_cells.py"

DASH = "\N{EN DASH}"


@pytest.fixture(scope="module")
def run(warm: str) -> Callable[..., str]:
    """Run the script to its end, and return what it says besides its results."""

    def run_matrix(*arguments: str) -> str:
        done = run_script(warm, SCRIPT, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run_matrix


@pytest.fixture
def refusal_of(warm: str) -> Callable[..., str]:
    """Run the script, and return why it ended without a result."""

    def run_refused(*arguments: str) -> str:
        done = run_script(warm, SCRIPT, *arguments)
        assert done.returncode != 0
        return done.stderr

    return run_refused


def read(record: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.read_text().splitlines()]


@pytest.fixture(scope="module")
def matrix(run: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the records and tables of two learners and three combiners."""
    folder = tmp_path_factory.mktemp("matrix")
    settings = ["--decomposers", "whole,tree,class_tree", "--learners", "linear_svm,krr"]
    record = str(folder / "found.jsonl")
    run(FLOWERS, *settings, "--combiners", "route,mean,class_path", "--record", record)
    run("--tables", record, "--out", str(folder))
    return folder


def test_every_strategy_has_a_record(matrix: Path) -> None:
    found = read(matrix / "found.jsonl")
    strategies = [
        *(("tree", "route"), ("tree", "mean")),
        *(("whole", "route"), ("whole", "mean"), ("class_tree", "class_path")),
    ]
    assert [(each["learner"], each["decomposer"], each["combiner"]) for each in found] == [
        (learner, *strategy) for learner in ("linear_svm", "krr") for strategy in strategies
    ]
    assert {each["p"] for each in found if each["decomposer"] == "tree"} == {1.0}
    assert {each["rows"] for each in found} == {100}
    assert found[0]["decomposer_settings"] == {"ceiling": 500}


def test_tables_tell_strategies_of_two_learners_apart(matrix: Path) -> None:
    found = read(matrix / "found.jsonl")
    lines = (matrix / "table.md").read_text().splitlines()
    assert lines[0] == "## flowers"
    assert lines[2].startswith(
        "100 training and 50 test rows; `linear_svm` with its defaults and `krr` with its defaults"
    )
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[6:]]
    assert {(*row[:3], row[3].strip("+-")) for row in cells} == {
        (r["decomposer"], r["learner"], r["combiner"], f"{100 * r['accuracy']:.2f}") for r in found
    }
    tex = (matrix / "table.tex").read_text()
    for record in found:
        names = (record["decomposer"], record["learner"], record["combiner"])
        row = " & ".join([*names, f"{100 * record['accuracy']:.2f}"]).replace("_", r"\_")
        assert tex.count(row) == 1
        assert (matrix / "table.svg").read_text().count(f">{', '.join(names)}</text>") == 1
    assert (matrix / "table.svg").read_text().count("<circle") == len(found)


def test_the_page_has_a_line_for_each_strategy_and_dashes_where_one_is_missing(
    run: Callable[..., str], matrix: Path, tmp_path: Path
) -> None:
    found = read(matrix / "found.jsonl")
    other = [record | {"data": "other"} for record in found[:-1]]
    refused = {key: found[2][key] for key in ("data", "decomposer", "learner", "rows", "settings")}
    other.append(refused | {"combiner": "vote", "refused": "too few rows"})
    record = tmp_path / "both.jsonl"
    record.write_text("".join(json.dumps(each) + "\n" for each in found + other))
    run("--tables", str(record), "--page", str(tmp_path / "page.md"))
    lines = [line for line in (tmp_path / "page.md").read_text().splitlines() if line[:2] == "| "]
    assert lines[0].startswith(
        "| decomposer | learner | combiner | flowers | other | + / - `tree`"
    )
    assert len(lines) == 1 + len(found) + 1
    (lacking,) = [line for line in lines if line.startswith("| class_tree | krr | class_path |")]
    assert lacking.split(" | ")[4] == DASH
    assert lines[-1] == f"| whole | linear_svm | vote |{5 * f' {DASH} |'}"
    run("--tables", str(record), "--out", str(tmp_path))
    assert (tmp_path / "table.tex").read_text().count(" & --") == 3
    assert (tmp_path / "table.svg").read_text().count(f">{DASH}</text>") == 3


def test_a_plugin_of_ones_own_takes_part(run: Callable[..., str], tmp_path: Path) -> None:
    record = str(tmp_path / "found.jsonl")
    names = ["--decomposers", "tree,cells", "--plugin", str(PLUGIN)]
    run(FLOWERS, *names, "--learners", "linear_svm", "--record", record)
    found = read(tmp_path / "found.jsonl")
    assert [each["decomposer"] for each in found] == ["tree", "cells"]
    digest = hashlib.sha256(PLUGIN.read_bytes()).hexdigest()
    assert found[1]["versions"] == found[0]["versions"] | {PLUGIN.name: digest}


def test_texts_and_missing_values_are_prepared(run: Callable[..., str], tmp_path: Path) -> None:
    rows = [f"{n % 7},q{n % 3}_0,{'' if n % 9 == 0 else n % 2},{n % 2}" for n in range(90)]
    (tmp_path / "mixed.csv").write_text("\n".join(["a,quarter,b,label", *rows]) + "\n")
    record, out = tmp_path / "found.jsonl", tmp_path / "tables"
    asked = [str(tmp_path / "mixed.csv"), "--out", str(out), "--record", str(record)]
    asked += ["--decomposers", "tree,chunks", "--combiners", "route,vote"]
    said = run(*asked, "--learners", "linear_svm")
    assert said == "skipped: chunks with route, which does not fit\n"
    assert (out / "table.md").exists()
    first, *others = read(record)
    assert len(others) == 2
    assert first["accuracy"] > 0.8
    assert first["parameters"]["learner__C"] == 1.0
    assert set(first["versions"]) == {"dcsvm"}


def test_a_script_that_is_forked_is_like_any_other(refusal_of: Callable[..., str]) -> None:
    asked = (FLOWERS, "--decomposers", "tree,chnks")
    cold = subprocess.run([sys.executable, SCRIPT, *asked], capture_output=True, text=True)
    assert cold.returncode != 0
    assert refusal_of(*asked) == cold.stderr


def test_an_unknown_name_is_told_in_a_sentence(refusal_of: Callable[..., str]) -> None:
    said = refusal_of(FLOWERS, "--decomposers", "tree,chnks")
    assert said.startswith("error: no decomposer is called 'chnks'; did you mean 'chunks'? ")
    assert refusal_of(FLOWERS, "--learners", "svmm").startswith("error: no learner is called")


def test_a_table_without_a_commit_names_versions() -> None:
    sys.path.insert(0, str(EXAMPLES / "compare_strategies"))
    try:
        from strategy_tables import tell_version
    finally:
        sys.path.pop(0)
    record = {"commit": "", "versions": {"dcsvm": "0.1.0", "mine.py": "a1b2"}}
    assert tell_version(record) == "dcsvm 0.1.0, mine.py a1b2"
    assert tell_version(record | {"commit": "3450b66"}) == "3450b66"


def test_a_reference_that_is_absent_or_refused_is_told(
    refusal_of: Callable[..., str], matrix: Path, tmp_path: Path
) -> None:
    names = ["--decomposers", "whole,chunks", "--learners", "linear_svm"]
    assert refusal_of(FLOWERS, *names).endswith(
        "error: --against: tree is not one of --decomposers whole,chunks\n"
    )
    record = ["--tables", str(matrix / "found.jsonl"), "--out", str(tmp_path)]
    assert refusal_of(*record, "--against", "whole") == (
        "--against whole: the records of flowers with linear_svm are not against it\n"
    )
    names = ["--decomposers", "tree,cascade", "--learners", "linear_svm", "--against", "cascade"]
    assert refusal_of(FLOWERS, *names).startswith("flowers: --against cascade: ")


def test_a_decomposer_without_a_combiner_is_told(refusal_of: Callable[..., str]) -> None:
    said = refusal_of(FLOWERS, "--decomposers", "tree,chunks", "--combiners", "route")
    assert said == "chunks yields subsets: name a combiner that accepts it by --combiners\n"


def test_the_page_is_written_from_the_records(
    run: Callable[..., str], repository: Path, tmp_path: Path
) -> None:
    records = EXAMPLES / "compare_strategies" / "measured" / "suite.jsonl"
    run("--tables", str(records), "--page", str(tmp_path / "page.md"))
    page = (repository / "docs" / "strategies.md").read_text()
    assert (tmp_path / "page.md").read_text() == page
    measured = {each["decomposer"] for each in read(records)}
    offers = default_registry().of_kind("decomposer")
    assert measured == {each.name for each in offers if each.distribution == "dcsvm"}
    assert page.count("\n| ") == 1 + len(measured)
    for name in measured:
        assert len({each["data"] for each in read(records) if each["decomposer"] == name}) == 6


def test_figures_told_beside_the_table_are_those_of_the_records(repository: Path) -> None:
    records = read(EXAMPLES / "compare_strategies" / "measured" / "suite.jsonl")
    found = {(each["data"], each["decomposer"]): each for each in records}
    page = " ".join((repository / "docs" / "strategies.md").read_text().split())
    asked = found["satimage", "class_tree"]["kernel_evaluations"]
    parts = [found[data, "groups"]["parts"] for data in ("eeg_eye_state", "satimage")]
    waits = [found[key]["predict_seconds"] for key in found if key[1] == "neighbours"]
    boosted = found["phishing", "boosting"]
    assert f"asks {asked:.0f} of the 906 kernels" in page
    assert f"with {parts[0]} and {parts[1]} parts" in page
    assert f"and {min(waits):.1f} to {max(waits):.1f} s for 2,000 rows" in page
    assert f"(p = {boosted['p']:.3f}), where C is {boosted['settings']['C']:.0f}" in page


def test_groups_are_the_values_of_the_column_with_the_fewest() -> None:
    sys.path.insert(0, str(EXAMPLES / "compare_strategies"))
    try:
        from matrix import Rows, settings_of
    finally:
        sys.path.pop(0)
    X = np.column_stack([np.arange(12), np.ones(12), np.arange(12) % 3, np.arange(12) % 4])
    rows = Rows("made up", X, None, None, None)
    assert settings_of("groups", rows) == {"column": 2}
    assert settings_of("tree", rows) == {"ceiling": 500}
