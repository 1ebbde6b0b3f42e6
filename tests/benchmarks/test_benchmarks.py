"""The benchmarks still run, and what they measure in seconds holds in what is imported too."""

import json
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from dcsvm.drive.registry import default_registry

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
        "growing a tree",
        "sorted search of a node",
        "batch, 16 features, float32",
        "batch, 16 features, float64",
        "one row, 16 features",
        "batch, 256 features, float32",
        "batch, 256 features, float64",
        "one row, 256 features",
        "tree of hyperplanes",
        "one row, five trees",
        "batch, five trees",
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


def test_the_order_of_the_portfolio_is_the_greedy_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    script = runpy.run_path(str(HERE / "portfolio_order.py"))
    losses = np.array([[0.5, 0.4, 0.9], [0.5, 0.8, 0.1]])
    assert script["order_greedily"](losses) == [0, 2, 1]
    assert script["order_without_each"](losses) == [[2, 0, 1], [1, 0, 2]]
    sets, recipes, measured = script["read_losses"]()
    places = {
        name: tomllib.loads(default_registry().offers["recipe", name].what)["auto"]
        for name in recipes
    }
    assert len(sets) > 10
    order = [recipes[place] for place in script["order_greedily"](measured)]
    assert order == sorted(places, key=lambda name: places[name])


def test_an_ablation_chooses_as_auto_does_and_compares_with_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    script = runpy.run_path(str(HERE / "portfolio_ablation.py"))
    y = np.arange(100) % 2
    right = np.column_stack([1 - y, y]) * 0.8 + 0.1
    shares = {"good": right, "bad": right[:, ::-1], "useless": np.full((100, 2), 0.5)}
    recipes = {
        name: {"out_of_fold": each, "judged": each, "seconds": 1.0, "predict_seconds": 0.1}
        for name, each in shares.items()
    }
    found = {"y": y, "y_judged": y, "home": np.arange(100) // 20, "recipes": recipes}
    assert script["choose"](found, list(recipes), 4) == {"good": 1.0}
    best, rest = (script["judge"](found, names, 4) for names in (list(recipes), ["useless"]))
    assert best["accuracy"] == 1.0
    assert rest["log_loss"] == pytest.approx(np.log(2))
    records = [{"set": "a", "without": "nothing"} | best, {"set": "a", "without": "good"} | rest]
    assert script["write_table"](records)[-1].startswith(
        "| good | 1 | -50.00 | -50.00 | +557.9% |"
    )


def test_budgets_are_spread_over_sets_and_told_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    script = runpy.run_path(str(HERE / "budgets.py"))
    assert script["list_runs"](["a", "b", "c"], [10.0, 20.0], 4) == [
        *(("a", 10.0), ("b", 20.0), ("c", 10.0), ("a", 20.0))
    ]
    record = {"set": "a", "rows": 2000, "asked": 10.0, "taken": 11.5, "kept": False, "tried": 3}
    table = script["write_table"]([{**record, "learned": 1500, "accuracy": 0.9}, {"error": "x"}])
    assert table[2] == "| a | 2,000 | 10 | 11.5 | **no** | 3 | 1,500 | 0.9000 |"
    assert table[-1] == "Budgets kept within a tenth: 0 of 1."


def test_labels_of_equal_scores_are_a_tie_and_others_are_not() -> None:
    is_tie = runpy.run_path(str(HERE / "same_bits.py"))["is_tie"]
    classes = np.array(["a", "b", "c"])
    assert is_tie(np.array([0.3, 0.1, 0.3 - 1e-15]), classes, "c")
    assert not is_tie(np.array([0.3, 0.1, 0.3 - 1e-9]), classes, "c")
    assert is_tie(np.float64(-1e-14), classes[:2], "b")
    assert not is_tie(np.float64(-1e-6), classes[:2], "b")


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
