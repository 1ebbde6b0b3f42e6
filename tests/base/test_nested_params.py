"""Settings of components in lists: read, changed and searched by their numbers."""

import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Strips, blobs
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dcsvm import DivideAndConquerClassifier, GranularitySearch, build
from dcsvm.base.errors import SettingError

X, y = blobs()


def summed():
    return DivideAndConquerClassifier(Strips(2) + Deal(3), Centroids(), Average(), random_state=0)


def test_parameters_of_components_in_lists_are_listed_by_number():
    clf = summed()
    params = clf.get_params()
    assert params["decomposer__summands__0"] is clf.decomposer.summands[0]
    assert params["decomposer__summands__0__strips"] == 2
    assert params["decomposer__summands__1__parts"] == 3
    assert "summands__0" not in clf.decomposer.get_params(deep=False)


def test_setting_one_leaves_what_the_user_gave_as_it_was():
    clf = summed()
    before = clf.decomposer.summands
    first, second = before
    copy = clone(clf).set_params(decomposer__summands__0__strips=4)
    clf.set_params(decomposer__summands__0__strips=5)
    assert copy.decomposer.summands[0].strips == 4
    assert clf.decomposer.summands[0].strips == 5
    assert isinstance(clf.decomposer.summands, tuple)
    assert before == (first, second)
    assert first.strips == 2
    assert clf.decomposer.summands[1] is second


def test_what_stands_twice_in_a_list_is_changed_once():
    deal = Deal(3)
    both = (deal + deal).set_params(summands__1__parts=5)
    assert [each.parts for each in both.summands] == [3, 5]


def test_a_component_in_a_list_can_be_replaced_and_set_at_once():
    clf = summed().set_params(decomposer__summands__1=Strips(3), decomposer__summands__1__strips=6)
    assert [type(each) for each in clf.decomposer.summands] == [Strips, Strips]
    assert clf.decomposer.summands[1].strips == 6


def test_a_list_given_with_its_settings_takes_them():
    both = (Deal(2) + Deal(3)).set_params(summands=[Deal(4)], summands__0__parts=7)
    assert [each.parts for each in both.summands] == [7]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "summands__2__parts",
            "'summands__2__parts': summands is a list of 2, whose components",
        ),
        ("summands__parts", "'summands__parts': summands is a list of 2, whose components are"),
        ("summands__-1", "'summands__-1': summands is a list of 2, whose components are"),
    ],
)
def test_a_number_that_is_not_there_is_refused(name, sentence):
    with pytest.raises(SettingError, match=f"^sum has no setting {sentence}"):
        (Deal(2) + Deal(3)).set_params(**{name: 1})


def test_a_wrong_value_inside_a_list_is_refused():
    with pytest.raises(SettingError, match="parts must be a whole number"):
        summed().set_params(decomposer__summands__1__parts="many")


def test_names_in_lists_cannot_be_set_without_the_registry():
    pytest.importorskip("dcsvm_plugins")
    rd = build("decomposer", "rd_subspaces", learners=["linear_svm"])
    with pytest.raises(SettingError, match="learners 0 is 'linear_svm', a name; give a component"):
        rd.set_params(learners__0__C=3.0)
    fusion = build("combiner", "fusion", learner="krr")
    with pytest.raises(SettingError, match="learner__gamma cannot be set: learner is 'krr', a na"):
        fusion.set_params(learner__gamma=3.0)


def test_a_classifier_builds_names_in_lists():
    pytest.importorskip("dcsvm_plugins")
    rd = build("decomposer", "rd_subspaces", learners=["linear_svm", "kernel_svm"])
    clf = DivideAndConquerClassifier(rd, combiner="mean")
    clf.set_params(decomposer__learners__1__gamma=3.0)
    assert clf.decomposer.learners[1].gamma == 3.0
    assert rd.learners == ["linear_svm", "kernel_svm"]


def test_grid_search_reaches_into_lists():
    names = ("decomposer__summands__0__strips", "decomposer__summands__1__parts")
    search = GridSearchCV(summed(), {names[0]: [1, 2], names[1]: [1, 2]}, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    parts = [len(search.best_estimator_.model_.committee.members), *search.best_params_.values()]
    assert parts[0] == parts[1] + parts[2]


def test_granularity_search_reaches_into_lists():
    pytest.importorskip("dcsvm_plugins")
    clf = DivideAndConquerClassifier(
        build("decomposer", "tree", ceiling=60), summed(), "route", random_state=0
    )
    grid = {"learner__decomposer__summands__1__parts": [1, 2]}
    search = GranularitySearch(clf, grid, random_state=0).fit(X, y)
    chosen = search.best_params_["learner__decomposer__summands__1__parts"]
    assert chosen == search.best_estimator_.learner.decomposer.summands[1].parts
    assert set(np.asarray(search.results_["param_learner__decomposer__summands__1__parts"])) == {
        *(1, 2)
    }
