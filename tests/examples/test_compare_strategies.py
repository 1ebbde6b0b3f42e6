"""The matrix of strategies: records, shared parts, significance and tables."""

import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPT = EXAMPLES / "compare_strategies" / "matrix.py"


def run(*arguments: str) -> str:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_matrix_is_measured_and_written_as_tables(tmp_path: Path) -> None:
    record = tmp_path / "found.jsonl"
    settings = ["--decomposers", "whole,tree,class_tree", "--combiners", "route,mean,class_path"]
    run(str(EXAMPLES / "flowers.csv"), *settings, "--record", str(record))
    found = [json.loads(line) for line in record.read_text().splitlines()]
    strategies = [(each["decomposer"], each["combiner"]) for each in found]
    assert strategies == [
        *(("tree", "route"), ("tree", "mean")),
        *(("whole", "route"), ("whole", "mean"), ("class_tree", "class_path")),
    ]
    assert found[0]["p"] == 1.0  # against itself
    assert {each["rows"] for each in found} == {100}
    run("--tables", str(record), "--out", str(tmp_path))
    assert (tmp_path / "table.md").read_text().startswith("## flowers\n\n100 training and 50 test")
    assert r"class\_tree" in (tmp_path / "table.tex").read_text()
    assert (tmp_path / "table.svg").read_text().count("<circle") == len(found)


def test_the_page_is_written_from_the_records(repository: Path, tmp_path: Path) -> None:
    records = EXAMPLES / "compare_strategies" / "measured" / "suite.jsonl"
    run("--tables", str(records), "--page", str(tmp_path / "page.md"))
    page = (repository / "docs" / "strategies.md").read_text()
    assert (tmp_path / "page.md").read_text() == page
    assert page.count("\n| ") == 1 + len(
        {json.loads(s)["decomposer"] for s in records.read_text().splitlines()}
    )
