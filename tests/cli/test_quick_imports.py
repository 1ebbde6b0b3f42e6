"""Commands import scikit-learn without what it seldom uses, which still works when it is used."""

import subprocess
import sys

import pytest

FITTED = """
import numpy as np
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, SplineTransformer
X = np.random.default_rng(0).random((60, 2)) + 0.5
for each in (
    PowerTransformer(method="box-cox"),
    QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    SplineTransformer(),
):
    print(each.fit_transform(X).tobytes().hex())
"""


def python(*lines):
    """What lines of Python print in a new process."""
    code = "\n".join(lines)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_predicting_imports_nothing_that_only_scikit_learn_wants(dcsvm, tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n0.5,0.25\n")
    dcsvm("run", "quickstart", "--out", "kept", "--set", "data.rows=300")
    loaded = python(
        "import sys",
        f"sys.argv = ['dcsvm', 'predict', {str(tmp_path / 'kept')!r},"
        f" {str(tmp_path / 'rows.csv')!r}, '--out', {str(tmp_path / 'answers.csv')!r}]",
        "from dcsvm.cli import main",
        "try: main()",
        "except SystemExit as done: assert not done.code",
        "print(*sys.modules)",
    ).split()
    assert "sklearn.pipeline" in loaded
    assert not {"pandas", "scipy.stats", "scipy.interpolate", "scipy.optimize"} & set(loaded)


@pytest.mark.slow
def test_what_was_postponed_is_there_when_it_is_used():
    quickly = "from dcsvm.cli.quick_imports import import_sklearn; import_sklearn()"
    assert python(quickly, FITTED) == python(FITTED)


@pytest.mark.slow
def test_data_frames_are_recognized_afterwards():
    shown = python(
        "from dcsvm.cli.quick_imports import import_sklearn",
        "import_sklearn()",
        "import pandas as pd",
        "from sklearn.preprocessing import StandardScaler",
        "frame = pd.DataFrame({'a': [1.0, 2.0], 'b': [0.0, 1.0]})",
        "print(*StandardScaler().set_output(transform='pandas').fit_transform(frame).columns)",
        "import scipy.stats; print(scipy.stats.norm.cdf(0.0), scipy.stats is not None)",
    )
    assert shown == "a b\n0.5 True\n"


def test_imports_that_fail_leave_no_stand_in_behind():
    shown = python(
        "import sys",
        "from dcsvm.cli import quick_imports",
        "quick_imports.import_module = lambda name: 1 / 0",
        "try: quick_imports.import_sklearn()",
        "except ZeroDivisionError: print(set(quick_imports.POSTPONED) & set(sys.modules))",
    )
    assert shown == "set()\n"
