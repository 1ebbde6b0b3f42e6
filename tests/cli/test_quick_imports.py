"""Commands import scikit-learn without what it seldom uses, which still works when it is used."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from dcsvm import DivideAndConquerClassifier, build, save

pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")

#: Modules that scikit-learn imports, and predicting does not need.
UNUSED = {
    *("asyncio", "numpy.f2py", "pandas", "scipy.interpolate", "scipy.optimize"),
    *("scipy.stats", "sklearn.ensemble", "sklearn.metrics", "sklearn.neighbors", "sklearn.tree"),
}
#: Beyond these, what models without probabilities do not need, if SciPy imports it when asked.
UNUSED_BY_SCORES = {"scipy.linalg", "scipy.special"}
UNUSED_BY_SCORES |= {"scipy.sparse.csgraph", "scipy.sparse.linalg"}
if not hasattr(scipy.sparse, "__getattr__"):
    UNUSED_BY_SCORES = set()

FITTED = """
import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.manifold import spectral_embedding
from sklearn.preprocessing import PolynomialFeatures, PowerTransformer, QuantileTransformer
from sklearn.preprocessing import SplineTransformer
X = np.random.default_rng(0).random((60, 2)) + 0.5
print(Ridge(solver="sparse_cg").fit(sparse.csr_array(X), X[:, 0]).coef_.tobytes().hex())
print(spectral_embedding(sparse.csr_array(X @ X.T), random_state=0).round(6).tolist())
for each in (
    PowerTransformer(method="box-cox"),
    QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    SplineTransformer(),
    PolynomialFeatures(),
):
    print(each.fit_transform(X).tobytes().hex())
"""


def python(*lines):
    """What lines of Python print in a new process."""
    code = "\n".join(lines)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def make_models():
    """Fitted classifiers by name: an SVM, a forest, boosted trees, and a blend of both kinds."""
    svm = build("learner", "kernel_svm")
    trees = build("learner", "sklearn", classifier="HistGradientBoostingClassifier")
    scaled = DivideAndConquerClassifier("whole", svm, "route", probability="auto")
    forest = 3 * build("decomposer", "tree", ceiling=60, splitter="random")
    blend = build("decomposer", "blend", learners=(scaled, trees))
    return {
        "svm": DivideAndConquerClassifier("whole", svm, "route"),
        "forest": DivideAndConquerClassifier(forest, svm, "mean", random_state=0),
        "boosted": DivideAndConquerClassifier("whole", trees, "route", probability="auto"),
        "blend": DivideAndConquerClassifier(blend, svm, "mean", probability="auto"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", make_models())
def test_predicting_imports_nothing_that_only_scikit_learn_wants(name, tmp_path):
    X = np.random.default_rng(0).normal(size=(120, 2))
    save(make_models()[name].fit(X, X[:, 0] > X[:, 1] ** 2), tmp_path / "kept.dcsvm")
    (tmp_path / "rows.csv").write_text("x0,x1\n" + "0.5,0.25\n" * 10)
    loaded = python(
        "import sys",
        f"sys.argv = ['dcsvm', 'predict', {str(tmp_path / 'kept.dcsvm')!r},"
        f" {str(tmp_path / 'rows.csv')!r}, '--out', {str(tmp_path / 'answers.csv')!r}]",
        "from dcsvm.cli import main",
        "try: main()",
        "except SystemExit as done: assert not done.code",
        "print(*sys.modules)",
    ).split()
    assert "sklearn.base" in loaded
    unused = UNUSED | UNUSED_BY_SCORES if name in ("svm", "forest") else UNUSED
    assert not unused & set(loaded)


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
