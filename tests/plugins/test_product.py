"""The product is that of probabilities: exact for naive Bayes, and sure of what one is sure of."""

import attrs
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from dcsvm import DivideAndConquerClassifier, LocalLearner, LocalModel, build, component

X, y = load_iris(return_X_y=True)
X, y = X[20:], y[20:]  # classes with unequal shares


@attrs.frozen(eq=False)
class BayesModel(LocalModel):
    bayes: GaussianNB

    def probabilities(self, X):
        return self.bayes.predict_proba(X)

    def scores(self, X):
        return 2.0 * self.probabilities(X) - 1.0


@component
class Bayes(LocalLearner):
    """Gaussian naive Bayes."""

    def fit(self, problem):
        return BayesModel(GaussianNB(var_smoothing=1e-6).fit(problem.X, problem.y))


def test_naive_bayes_of_each_feature_makes_naive_bayes_of_all():
    features = build("decomposer", "rd_subspaces", groups=((0,), (1,), (2,), (3,)))
    clf = DivideAndConquerClassifier(features, Bayes(), "product", probability="auto").fit(X, y)
    expected = GaussianNB(var_smoothing=1e-6).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=2e-3)


@pytest.mark.parametrize("prior", ["divide", "ignore"])
def test_a_product_of_one_is_that_member(prior):
    product = build("combiner", "product", prior=prior)
    clf = DivideAndConquerClassifier("whole", "logistic", product, probability="auto").fit(X, y)
    (member,) = clf.model_.committee.members
    np.testing.assert_allclose(clf.predict_proba(X), member.model.probabilities(X), atol=1e-9)


def test_log_probabilities_are_summed_less_those_of_the_prior():
    shares = np.bincount(y) / len(y)
    for prior, times in (("divide", 9), ("ignore", 0)):
        product = build("combiner", "product", prior=prior)
        chunks = build("decomposer", "chunks", parts=10)
        clf = DivideAndConquerClassifier(chunks, "logistic", product, random_state=0).fit(X, y)
        members = clf.model_.committee.members
        logs = sum(np.log(np.maximum(member.probabilities(X), 1e-9)) for member in members)
        odds = np.exp(logs - times * np.log(shares))
        expected = np.log(odds / odds.sum(axis=1, keepdims=True))
        np.testing.assert_allclose(clf.decision_function(X), expected, atol=1e-9)


def test_members_without_probabilities_give_the_softmax_of_their_scores():
    product = build("combiner", "product", prior="ignore")
    chunks = build("decomposer", "chunks", parts=2)
    clf = DivideAndConquerClassifier(chunks, "krr", product, random_state=0).fit(X, y)
    logits = sum(2.0 * member.scores(X) for member in clf.model_.committee.members)
    differences = clf.decision_function(X) - logits
    np.testing.assert_allclose(np.ptp(differences, axis=1), 0.0, atol=1e-9)
