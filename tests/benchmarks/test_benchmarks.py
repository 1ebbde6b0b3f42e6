"""The benchmarks still run, and what they measure in seconds holds in what is imported too."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROWS = {
    "overhead.py": [
        "whole fit, 2 classes, libsvm",
        "whole predict, 2 classes, libsvm",
        "whole fit, 5 classes, libsvm",
        "whole predict, 5 classes, libsvm",
        "whole fit, 2 classes, own",
        "whole predict, 2 classes, own",
        "whole fit, 5 classes, own",
        "whole predict, 5 classes, own",
        "chunks part, 1 job",
        "chunks part, 2 jobs",
    ],
    "routing.py": ["2,000 rows to 29 leaves"],
    "single_rows.py": [
        "whole + route",
        "class_pairs + dag",
        "tree + route",
        "kmeans + route",
        "kernel_kmeans + route",
        "oblique_tree + route (majority)",
        "oblique_tree + route (majority), compiled",
        "class_pairs + vote",
        "class_rest + argmax",
        "class_codes + decode",
        "whole + vote",
        "whole + mean",
        "whole + route (krr)",
        "rd_subspaces + mean",
        "pca_subspaces + fusion",
        "5 * tree + mean",
        "5 * tree + mean, SVC",
        "5 * tree + mean, probabilities, predict",
        "5 * tree + mean, probabilities, predict_proba",
        "bootstrap + vote",
        "chunks + vote",
    ],
    "forest_batches.py": ["10 trees of 2,000 rows, member by member"],
    "startup.py": [
        "import dcsvm",
        "dcsvm --help",
        "dcsvm predict, ten rows, an SVM, processor",
        "dcsvm predict, ten rows, a forest, processor",
        "dcsvm predict, ten rows, boosted trees, processor",
        "dcsvm predict, ten rows, a blend, processor",
    ],
    "limits.py": [
        "squared distances",
        "kernel matrix",
        "pairwise steps of the dual",
        "large solver",
        "Cholesky factor of a ridge",
        "binning features",
        "histogram of a node",
        "batch, 16 features, float32",
        "batch, 16 features, float64",
        "one row, 16 features",
        "batch, 256 features, float32",
        "batch, 256 features, float64",
        "one row, 256 features",
        "tree of hyperplanes",
        "one row, five trees",
    ],
    "first_fit.py": [
        "first fit in a fresh environment",
        "first fit of a later process",
        "first fit, dcsvm imported",
    ],
}


def python(*arguments: str) -> str:
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("script", ROWS)
def test_a_benchmark_prints_its_ratios(script: str) -> None:
    ratios = json.loads(python(str(HERE / script), "--quick", "--json"))
    assert list(ratios) == ROWS[script]
    assert all(ratio > 0 for ratio in ratios.values())


@pytest.mark.slow
def test_answering_a_file_takes_little_memory_and_parsing_is_quick() -> None:
    found = json.loads(python(str(HERE / "predict_stream.py"), "--quick"))
    assert found["peak_megabytes"] < 500
    assert found["parsing_megabytes_per_second"] > found["csv_module_megabytes_per_second"]


def test_a_table_is_aligned_and_says_what_held(capsys: pytest.CaptureFixture[str]) -> None:
    table = runpy.run_path(str(HERE / "table.py"))
    row = table["Row"]
    rows = [
        row("fit", "s", 1.0, 2.0, "ratio < 1.10", 0.5, 1.1),
        row("a longer name", "ms", 12.0, 2.0, "beyond < 2 ms", 10.0, 2.0),
    ]
    table["show"](rows, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "row                 ours    theirs  ratio          asked  held",
        "fit              1.000 s   2.000 s   0.50   ratio < 1.10   yes",
        "a longer name  12.000 ms  2.000 ms   6.00  beyond < 2 ms    no",
    ]


@pytest.mark.parametrize("start", ["import dcsvm", "from dcsvm.cli import main"])
def test_starting_imports_nothing_slow(start: str) -> None:
    loaded = python("-c", f"import sys; {start}; print(*sys.modules)").split()
    assert not {"numpy", "scipy", "sklearn", "joblib", "pandas", "hypothesis"} & set(loaded)


def test_a_billion_rows_are_simulated() -> None:
    words = [sys.executable, HERE / "scale_simulation.py", "--rows", "1e7", "--workers", "8", "64"]
    output = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    table = [line.split(" | ") for line in output.splitlines() if "TD" in line]
    assert all(float(few) >= float(many) for _, few, many, _ in table)
    assert "the client divides" in table[0][-1]
