"""Dataframes and arrays of Dask: the bits of arrays, gathered by partition, answered lazily."""

import tempfile
import warnings

import numpy as np
import pytest
from fakes import Average, Centroids, Deal
from sklearn.exceptions import NotFittedError

from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import DataError
from dcsvm.numeric import implementation

da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="pandas or pyarrow is not installed")
pd = pytest.importorskip("pandas")
pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
y = np.where(X[:, 0] > X[:, 1] ** 2, "up", "down")
ROWS, LABELS = da.from_array(X, chunks=(250, 2)), da.from_array(y, chunks=250)
FRAME = pd.DataFrame(X, columns=list("abc"))


def made(**settings):
    tree = build("decomposer", "tree", ceiling=200)
    return DivideAndConquerClassifier(tree, "kernel_svm", "route", random_state=0, **settings)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def here():
    return made(probability="auto").fit(X, y)


@pytest.mark.parametrize("labels", [LABELS, y], ids=["lazy", "array"])
def test_arrays_are_learned_and_answered_with_the_bits_of_arrays(here, labels, monkeypatch):
    there = made(probability="auto").fit(ROWS, labels)
    for ask in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        answers = getattr(there, ask)(ROWS)
        assert isinstance(answers, da.Array)
        expected = getattr(here, ask)(X)
        if implementation() == "native" or ask == "predict":
            np.testing.assert_array_equal(answers.compute(), expected)
        else:  # BLAS rounds blocks of other sizes in other ways
            np.testing.assert_allclose(answers.compute(), expected, rtol=1e-12)


def test_dataframes_keep_their_names(here):
    frame = dd.from_pandas(FRAME.assign(kind=y), npartitions=3)
    there = made(probability="auto").fit(frame[["a", "b", "c"]], frame["kind"])
    assert there.feature_names_in_.tolist() == ["a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = there.predict(frame[["a", "b", "c"]]).compute()
    np.testing.assert_array_equal(answers, here.predict(X))


def test_weights_count_and_empty_partitions_have_no_answers(here):
    weights = np.linspace(1.0, 2.0, len(X))
    there = made().fit(ROWS, LABELS, da.from_array(weights, chunks=250))
    ordered = FRAME.sort_values("a", ignore_index=True)
    few = dd.from_pandas(ordered, npartitions=3)
    own = made().fit(X, y, weights)
    answers = there.decision_function(few[few.a > 1.0].to_dask_array()).compute()
    rows = ordered[ordered.a > 1.0].to_numpy()
    assert len(answers) == len(rows) > 0
    np.testing.assert_array_equal(answers, own.decision_function(rows))


def test_the_file_of_the_rows_goes_with_them(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    DivideAndConquerClassifier(Deal(2), Centroids(), Average()).fit(ROWS, LABELS)
    assert not any(tmp_path.iterdir())


def test_what_cannot_be_learned_is_refused(here):
    with pytest.raises(DataError, match=r"X has 3 partitions and y has 2: both must be divided"):
        made().fit(ROWS, da.from_array(y, chunks=300))
    texts = dd.from_pandas(pd.DataFrame({"a": list("uvwx")}), npartitions=2)
    with pytest.raises(DataError, match="a partition of X holds values that are no numbers"):
        made().fit(texts, np.array([0, 1, 0, 1]))
    with pytest.raises(NotFittedError):
        made().predict(ROWS)
