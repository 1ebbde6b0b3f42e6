"""Which learners fit a decomposer that lives on support vectors, told before training."""

import pytest
from sklearn.datasets import load_breast_cancer

from dcsvm import DivideAndConquerClassifier, LocalLearner, build, component
from dcsvm.base.errors import CompositionError
from dcsvm.drive.registry import default_registry

X, y = load_breast_cancer(return_X_y=True)
FITTING = "its models have none; learners that fit: kernel_svm, krr, lasvm, rbf_network, spsvm"


def refusal(decomposer, learner, combiner="route"):
    clf = DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0)
    with pytest.raises(CompositionError) as error:
        clf.fit(X, y)
    assert not hasattr(clf, "n_features_in_") or not isinstance(learner, str)
    return str(error.value)


@pytest.mark.parametrize("learner", ["linear_svm", "majority", "pegasos", "sklearn"])
@pytest.mark.parametrize("decomposer", ["cascade", "graf_cascade", "dc_svm"])
def test_a_learner_without_support_vectors_is_refused_by_name(decomposer, learner):
    told = refusal(decomposer, learner)
    assert f"learner {learner!r} does not fit decomposer {decomposer!r}" in told
    assert FITTING in told


@pytest.mark.parametrize("learner", default_registry().names("learner"))
def test_every_learner_says_itself_whether_it_keeps_support_vectors(learner):
    assert "keeps_support" in vars(type(build("learner", learner)))


def test_the_truncated_kernel_keeps_rows_only_where_it_is_solved_by_them():
    spaces = {"empirical": True, "intrinsic": False, "auto": None}
    for space, keeps in spaces.items():
        assert build("learner", "trbf_krr", space=space).keeps_support is keeps
    clf = DivideAndConquerClassifier("cascade", build("learner", "trbf_krr", space="intrinsic"))
    with pytest.raises(CompositionError, match="learner 'trbf_krr' does not fit") as error:
        clf.fit(X, y)
    assert FITTING in str(error.value)
    assert not hasattr(clf, "n_features_in_")  # told before the rows were looked at


def test_nested_pipelines_say_what_their_learner_says():
    inner = DivideAndConquerClassifier("whole", "linear_svm", "route")
    assert "learner 'linear_svm' does not fit decomposer 'cascade'" in refusal("cascade", inner)
    fits = DivideAndConquerClassifier("chunks", "kernel_svm", "vote")
    DivideAndConquerClassifier("cascade", fits, random_state=0).fit(X, y)
    outer = DivideAndConquerClassifier("cascade", "linear_svm")
    assert "decomposer 'cascade'" in refusal("whole", outer)


def test_decomposers_made_of_others_need_what_these_need():
    told = refusal(2 * build("decomposer", "cascade"), "linear_svm", "mean")
    assert "decomposer 'cascade'" in told


@pytest.mark.slow
def test_a_learner_that_says_nothing_is_refused_by_name_when_its_first_stage_is_learned():
    @component
    class Silent(LocalLearner):
        name = "silent"

        def fit(self, problem):
            return build("learner", "linear_svm").fit(problem)

    told = refusal("dc_svm", Silent())
    assert "learner 'silent' does not fit decomposer 'dc_svm'" in told
    assert FITTING in told


def test_early_clusters_may_have_any_learner():
    early = build("decomposer", "dc_svm", depth=3, early=1, branching=2)
    clf = DivideAndConquerClassifier(early, "linear_svm", random_state=0).fit(X, y)
    assert {record.about["level"] for record in clf.ledger_} == {3, 1}
    assert clf.score(X, y) > 0.8
