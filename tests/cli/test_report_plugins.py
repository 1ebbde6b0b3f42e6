"""Reports of plugins: what the core asks of them, and what it says where there is none."""

import subprocess
import sys
from types import ModuleType

import pytest

from dcsvm import hookimpl
from dcsvm.base.errors import ContractError
from dcsvm.drive.registry import REPORT, Registry
from dcsvm.toolbox import Report

PLUGIN = """
from dcsvm import hookimpl
from dcsvm.toolbox import Report

class Tested(Report):
    "The number of test rows."

    name = "tested"
    file_name = "tested.txt"

    def gather(self, run):
        assert run.X_test.shape[0] == len(run.y_test) == len(run.answers)
        assert run.X_train.shape[0] == len(run.y_train)
        assert len(run.features) == run.X_test.shape[1]
        return {"rows.json": {"tested": len(run.y_test)}}

    def find_missing(self):
        return MISSING

    def render(self, record):
        FAILURE
        rows = record.read_json("rows.json")["tested"]
        assert rows == record.result["n_test"] == len(record.read_csv("predictions.csv"))
        return f"{rows} rows, {record.recipe['learner']}"

@hookimpl
def dcsvm_reports():
    return [Tested]
"""


class Stray:
    name = "stray"


@pytest.fixture
def run(dcsvm, recipe, iris_pipeline, tmp_path):
    """Run a recipe with the report above as a plugin of one file."""

    def run_with(missing="", failure="pass"):
        text = PLUGIN.replace("MISSING", repr(missing)).replace("FAILURE", failure)
        (tmp_path / "mine.py").write_text(text)
        return dcsvm("run", recipe(iris_pipeline), "--out", "kept", "--plugin", "mine.py")

    return run_with


@pytest.mark.slow
def test_every_report_of_a_plugin_is_written(run, dcsvm, tmp_path):
    assert run().exit_code == 0
    written = tmp_path / "kept" / "tested.txt"
    first = written.read_text()
    assert first.startswith("38 rows, {'use': 'kernel_svm'")
    assert (tmp_path / "kept" / "report.html").exists()
    written.unlink()
    done = dcsvm("report", "kept", "--plugin", "mine.py")
    assert done.stdout.split() == ["kept/report.html", "kept/tested.txt"]
    assert written.read_text() == first


@pytest.mark.filterwarnings("default:the report is incomplete")
def test_a_report_that_fails_costs_nothing_else(run, tmp_path):
    done = run(failure="1 / 0")
    assert done.exit_code == 5
    assert "the report is incomplete: division by zero" in done.stderr
    assert (tmp_path / "kept" / "report.html").exists()
    assert (tmp_path / "kept" / "model.dcsvm").exists()
    assert not (tmp_path / "kept" / "tested.txt").exists()


@pytest.mark.filterwarnings("default:there is no tested.txt")
def test_a_report_that_misses_a_library_says_so(run, tmp_path, dcsvm):
    done = run(missing="it needs ink")
    assert done.exit_code == 0
    assert "there is no tested.txt: it needs ink" in done.stderr
    again = dcsvm("report", "kept", "--plugin", "mine.py")
    assert (again.exit_code, again.stderr) == (2, "error: it needs ink\n")


@pytest.mark.filterwarnings("default:there is no report")
def test_without_a_plugin_a_run_says_so_and_goes_on(dcsvm, recipe, iris_pipeline, monkeypatch):
    monkeypatch.setattr("dcsvm.experiments.run.reports._load_reports", list)
    done = dcsvm("run", recipe(iris_pipeline), "--out", "kept")
    assert done.exit_code == 0
    assert "there is no report: no plugin that writes reports is installed" in done.stderr
    again = dcsvm("report", "kept")
    assert again.exit_code == 3
    assert again.stderr == (
        "error: cannot write a report: no plugin that writes reports is installed\n"
    )


@pytest.mark.parametrize(
    ("offered", "sentence"),
    [
        (Stray, f"mine offers {Stray!r} as a report, which is not one"),
        (type("Nameless", (Report,), {}), "Nameless of mine has no name"),
        (type("Lost", (Report,), {"name": "lost"}), "Lost of mine has no file_name"),
        (
            type("Blank", (Report,), {"name": "blank", "file_name": "blank.txt"}),
            "Blank of mine does not define render",
        ),
    ],
)
def test_what_is_no_report_is_refused(offered, sentence):
    module = ModuleType("mine")
    module.dcsvm_reports = hookimpl(lambda: [offered])
    module.dcsvm_reports.__name__ = "dcsvm_reports"
    registry = Registry([])
    with pytest.raises(ContractError) as refusal:
        registry.add_module(module, "mine")
    assert str(refusal.value) == sentence
    assert registry.of_kind(REPORT) == []


@pytest.mark.slow
def test_importing_the_report_imports_nothing_that_draws():
    code = "import dcsvm_report, sys; print({'matplotlib', 'jinja2'} & sys.modules.keys())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "set()\n"
