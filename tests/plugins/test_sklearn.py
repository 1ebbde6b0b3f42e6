"""Any classifier that scikit-learn registers, by its name."""

import attrs
import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dcsvm import DataError, DivideAndConquerClassifier, SettingError, build
from dcsvm.testing import easy_problem


def fitted(problem, **settings):
    return build("learner", "sklearn", **settings).fit(problem)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_decision_values_where_there_are_any(n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    scores = fitted(problem, settings={"C": 0.5}).scores(problem.X)
    theirs = LogisticRegression(C=0.5).fit(problem.X, problem.y).decision_function(problem.X)
    np.testing.assert_allclose(scores, theirs.reshape(scores.shape), atol=1e-9)


def test_scores_are_shares_where_there_are_no_decision_values():
    three = easy_problem(3, gap=1.0)
    shares = GaussianNB().fit(three.X, three.y).predict_proba(three.X)
    scores = fitted(three, classifier="GaussianNB").scores(three.X)
    np.testing.assert_allclose(scores, 2 * shares - 1)  # as for two classes: -1 is a sure no
    two = easy_problem(2, gap=1.0)
    shares = GaussianNB().fit(two.X, two.y).predict_proba(two.X)
    scores = fitted(two, classifier="GaussianNB").scores(two.X)
    np.testing.assert_allclose(scores[:, 0], shares[:, 1] - shares[:, 0])


def test_rows_pass_transformers_first():
    problem = easy_problem(3, gap=1.0)
    ours = fitted(problem, transformers=["StandardScaler", {"use": "PCA", "n_components": 2}])
    theirs = make_pipeline(StandardScaler(), PCA(2), LogisticRegression()).fit(
        problem.X, problem.y
    )
    np.testing.assert_allclose(
        ours.scores(problem.X), theirs.decision_function(problem.X), atol=1e-6
    )


def test_row_weights_reach_the_classifier_behind_transformers():
    problem = easy_problem(2, gap=1.0)
    weights = np.where(problem.y == 0, 10.0, 1.0)
    weighted = fitted(attrs.evolve(problem, weights=weights), transformers=["StandardScaler"])
    plain = fitted(problem, transformers=["StandardScaler"])
    assert (weighted.labels(problem.X) == 0).sum() > (plain.labels(problem.X) == 0).sum()


def test_random_numbers_come_from_the_part_unless_the_settings_name_a_seed():
    problem = easy_problem(2, gap=0.5)
    settings = {"n_estimators": 5}
    forests = [
        fitted(each, classifier="RandomForestClassifier", settings=settings).scores(problem.X)
        for each in (problem, problem, problem.with_child_seed(1))
    ]
    assert (forests[0] == forests[1]).all()
    assert (forests[0] != forests[2]).any()
    ours = fitted(
        problem, classifier="RandomForestClassifier", settings={**settings, "random_state": 3}
    )
    theirs = RandomForestClassifier(5, random_state=3).fit(problem.X, problem.y)
    assert (ours.labels(problem.X) == theirs.predict(problem.X)).all()


def test_an_unknown_classifier_is_refused_with_the_nearest_name():
    with pytest.raises(SettingError) as refusal:
        fitted(easy_problem(), classifier="RandomForestClasifier")
    assert str(refusal.value).startswith(
        "sklearn: there is no classifier called 'RandomForestClasifier'; "
        "did you mean 'RandomForestClassifier'? available: AdaBoostClassifier, "
    )


def test_an_unknown_transformer_is_refused_with_the_nearest_name():
    with pytest.raises(SettingError) as refusal:
        fitted(easy_problem(), transformers=["StandardScaller"])
    assert str(refusal.value).startswith(
        "sklearn: there is no transformer called 'StandardScaller'; "
        "did you mean 'StandardScaler'? available: "
    )


@pytest.mark.parametrize("name", ["os.system", "sklearn.svm.SVC", "LinearRegression"])
def test_nothing_but_a_registered_classifier_is_built(name):
    with pytest.raises(SettingError, match="there is no classifier called"):
        fitted(easy_problem(), classifier=name)


def test_a_transformer_table_needs_a_name():
    with pytest.raises(SettingError) as refusal:
        fitted(easy_problem(), transformers=[{"n_components": 2}])
    assert str(refusal.value) == "sklearn: the transformer {'n_components': 2} needs the key 'use'"


def test_a_setting_that_the_classifier_does_not_have_is_refused():
    with pytest.raises(SettingError) as refusal:
        fitted(easy_problem(), settings={"c": 1})
    assert str(refusal.value).startswith(
        "sklearn: LogisticRegression cannot be made with {'c': 1}: "
    )


def test_row_weights_are_refused_where_the_classifier_takes_none():
    problem = attrs.evolve(easy_problem(), weights=np.ones(60))
    with pytest.raises(SettingError) as refusal:
        fitted(problem, classifier="KNeighborsClassifier")
    assert str(refusal.value) == "sklearn: KNeighborsClassifier does not take row weights"


def test_its_cost_is_unknown_and_not_zero():
    problem = easy_problem()
    clf = DivideAndConquerClassifier("whole", "sklearn", "route").fit(problem.X, problem.y)
    assert np.isnan(clf.cost(problem.X).kernel_evaluations).all()


def test_a_classifier_that_cannot_learn_from_a_part_is_named():
    problem = easy_problem(2)
    few = attrs.evolve(problem, X=problem.X[:2], y=np.array([0, 1]))
    with pytest.raises(DataError) as refusal:
        fitted(few, classifier="CalibratedClassifierCV")
    assert str(refusal.value).startswith(
        "sklearn: CalibratedClassifierCV cannot learn from a part of 2 rows: "
    )


def test_a_classifier_that_stumbles_over_constant_features_is_named():
    problem = easy_problem(2)
    constant = attrs.evolve(problem, X=np.ones((problem.n_rows, 2)))
    with pytest.raises(DataError, match="LinearDiscriminantAnalysis cannot learn from a part of"):
        fitted(constant, classifier="LinearDiscriminantAnalysis")


def test_a_classifier_that_cannot_answer_is_named():
    problem = easy_problem()
    model = fitted(problem, classifier="RadiusNeighborsClassifier")
    with pytest.raises(DataError) as refusal:
        model.scores(problem.X[:3] + 1e6)
    sentence = "RadiusNeighborsClassifier cannot predict 3 rows: No neighbors found"
    assert str(refusal.value).startswith(sentence)


def test_a_classifier_that_meets_a_category_it_never_saw_is_named():
    problem = easy_problem(2)
    whole = attrs.evolve(problem, X=np.zeros((problem.n_rows, 2)))
    model = fitted(whole, classifier="CategoricalNB")
    with pytest.raises(DataError, match="CategoricalNB cannot predict 3 rows: index 7 is out of"):
        model.scores(np.full((3, 2), 7.0))


def test_the_scikit_learn_learner_says_what_weights_do():
    for classifier, said in [
        ("LogisticRegression", "exact"),
        ("RandomForestClassifier", "approximate"),
        ("KNeighborsClassifier", "refused"),
    ]:
        assert build("learner", "sklearn", classifier=classifier).row_weights == said
