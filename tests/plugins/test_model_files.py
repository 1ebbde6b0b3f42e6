"""Model files of every built-in: what is loaded answers with the same bits at the same cost."""

import re
from itertools import product

import numpy as np
import pytest
from registered import components, small
from scipy import sparse
from sklearn.datasets import load_iris

import dcsvm
from dcsvm import DivideAndConquerClassifier, build
from dcsvm.base.errors import CompositionError, ModelFileError
from dcsvm.drive.registry import default_registry

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0) + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
ASKED = X[::3] + 0.1
X, Y = X[::2], Y[::2]  # enough to be divided, and quick in every combination
NAMES = {kind: [name for each, name in components() if each == kind] for kind, _ in components()}


def fitted(decomposer, learner, combiner, rows=X, labels=Y, **settings):
    classifier = DivideAndConquerClassifier(decomposer, learner, combiner, **settings)
    return classifier.fit(rows, labels)


def check_round_trip(before, folder, asked=ASKED):
    dcsvm.save(before, folder / "first")
    after = dcsvm.load(folder / "first")
    dcsvm.save(after, folder / "second")
    assert (folder / "first").read_bytes() == (folder / "second").read_bytes()
    assert before.decision_function(asked).tobytes() == after.decision_function(asked).tobytes()
    assert before.predict(asked).tolist() == after.predict(asked).tolist()
    costs = before.cost(asked), after.cost(asked)
    for count in ("kernel_evaluations", "unique_kernel_evaluations", "hyperplanes"):
        np.testing.assert_array_equal(*(getattr(cost, count) for cost in costs))
    assert {key: str(value) for key, value in after.get_params().items()} == {
        key: str(value) for key, value in before.get_params().items()
    }
    return after


def pair_up(turn):
    """Pairs of a learner and a combiner, in an order that begins with all of both."""
    learners, combiners = NAMES["learner"], NAMES["combiner"]
    places = product(range(len(learners)), range(len(combiners)))
    order = sorted(places, key=lambda place: (place[0] - place[1] - turn) % len(learners))
    return [(learners[one], combiners[other]) for one, other in order]


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "decomposer"), list(enumerate(NAMES["decomposer"])))
def test_models_of_a_decomposer_come_back_with_every_learner_and_combiner(
    turn, decomposer, tmp_path
):
    """Files hold the three pieces one by one: each pair of pieces is tried, not each triple."""
    met = set()
    for learner, combiner in pair_up(turn):
        if {learner, combiner} <= met:
            continue
        parts = small("decomposer", decomposer), small("learner", learner)
        try:
            model = fitted(*parts, small("combiner", combiner), random_state=0)
        except CompositionError as error:  # what does not fit together is not asked here
            assert re.search("fit|needs a learner with support vectors", str(error))  # noqa: PT017
            continue
        check_round_trip(model, tmp_path)
        met |= {learner, combiner}
    assert met


@pytest.mark.parametrize("learner", NAMES["learner"])
def test_every_learner_comes_back_from_sparse_rows_two_classes_and_texts(learner, tmp_path):
    labels = np.array(["setosa", "versicolor", "virginica"])[Y]
    for rows, asked in ((X, ASKED), (sparse.csr_matrix(X), sparse.csr_array(ASKED))):
        for kept in (Y < 2, Y < 3):
            model = fitted(
                small("decomposer", "tree"),
                small("learner", learner),
                "route",
                rows[kept],
                labels[kept],
                random_state=0,
            )
            check_round_trip(model, tmp_path, asked)


@pytest.mark.parametrize(
    "kernel", ["linear", "poly", "sigmoid", "laplacian", "trbf", "precomputed"]
)
def test_every_kernel_comes_back(kernel, tmp_path):
    rows, asked = (X @ X.T, ASKED @ X.T) if kernel == "precomputed" else (X, ASKED)
    learner = build("learner", "krr", kernel=kernel, gamma=0.1, degree=2)
    model = fitted(build("decomposer", "chunks", parts=3), learner, "mean", rows, random_state=0)
    check_round_trip(model, tmp_path, asked)


def test_pipelines_nested_twice_come_back(tmp_path):
    pairs = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote")
    bags = DivideAndConquerClassifier(small("decomposer", "bootstrap"), pairs, "mean")
    model = fitted(build("decomposer", "tree", ceiling=80), bags, "route", random_state=0)
    after = check_round_trip(model, tmp_path)
    assert after.get_params()["learner__learner__combiner"] == "vote"


def test_names_and_objects_come_back_as_they_were_given(tmp_path):
    after = check_round_trip(fitted("tree", build("learner", "krr"), "route"), tmp_path)
    assert after.decomposer == "tree"
    assert after.learner.ridge == 1.0


def test_a_loaded_model_can_be_fitted_again(tmp_path):
    model = fitted(small("decomposer", "tree"), "kernel_svm", "route", random_state=0)
    after = check_round_trip(model, tmp_path)
    assert after.ledger_ == []
    after.fit(X, Y)
    assert len(after.ledger_) == len(model.ledger_)
    assert after.decision_function(ASKED).tobytes() == model.decision_function(ASKED).tobytes()


def test_data_frames_keep_their_column_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = load_iris(as_frame=True)
    model = fitted("tree", "kernel_svm", "route", frame.data, frame.target_names[frame.target])
    after = check_round_trip(model, tmp_path, frame.data)
    assert after.feature_names_in_.tolist() == list(frame.data.columns)
    assert set(after.predict(frame.data)) == {"setosa", "versicolor", "virginica"}
    assert isinstance(frame.data, pandas.DataFrame)


def test_a_kernel_that_is_a_function_is_refused(tmp_path):
    def product_kernel(left, right):
        return left @ right.T

    model = fitted("whole", build("learner", "kernel_svm", kernel=product_kernel), "route")
    with pytest.raises(ModelFileError) as caught:
        dcsvm.save(model, tmp_path / "model")
    assert str(caught.value) == (
        "cannot save kernel_svm: kernel is a function (product_kernel), and a model file holds no "
        "code; choose a function that has a registered name"
    )
    assert not (tmp_path / "model").exists()


def test_the_manifest_names_the_distribution_of_every_built_in(tmp_path):
    import json
    import zipfile

    dcsvm.save(fitted("tree", build("learner", "krr"), "route"), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as zipped:
        manifest = json.loads(zipped.read("manifest.json"))
    offer = default_registry().offers["decomposer", "tree"]
    assert manifest["plugins"] == [
        {
            "distribution": offer.distribution,
            "version": offer.version,
            "offers": ["combiner:route", "decomposer:tree", "learner:krr"],
        }
    ]
