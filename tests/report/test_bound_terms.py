"""The terms of the bound for regions, as a report shows them."""

import pytest
from fakes import Average, Everything, Machine, Regional, Rest, Strips, blobs

from dcsvm import DivideAndConquerClassifier
from dcsvm.inspection.bounds import tree_terms
from dcsvm_report.bound_terms import Term, terms_of
from dcsvm_report.evidence import Evidence, gather_evidence


def fitted(decomposer, combiner=None):
    X, y = blobs(120, seed=1)
    learner = Machine(C=2.0, kernel="rbf", gamma=0.3)
    clf = DivideAndConquerClassifier(decomposer, learner, combiner or Regional()).fit(X, y)
    return clf, X, y


def test_regions_have_four_terms_and_an_undivided_model_two():
    clf, X, y = fitted(Strips(3))
    found = {term.name: term.value for term in terms_of(clf, X, y)}
    told = tree_terms(clf, X, y)
    assert found == {
        "T1": told.T1.value,
        "T2": told.T2.value,
        "R": told.R.value,
        "R / L": pytest.approx(told.R.value / 3),
    }
    assert [term.name for term in terms_of(*fitted(Everything()))] == ["T1", "S"]


def test_there_are_none_without_a_bound_or_where_that_would_take_long(monkeypatch):
    assert terms_of(*fitted(Rest(), Average())) == ()
    monkeypatch.setattr("dcsvm_report.bound_terms.MOST_VALUES", 10)
    assert terms_of(*fitted(Strips(3))) == ()


def test_they_are_kept_with_the_evidence():
    clf, X, y = fitted(Strips(3))
    seen = gather_evidence(clf, X, y, X, y)
    assert seen.terms == terms_of(clf, X, y)
    assert Evidence.from_dict(seen.as_dict()).terms == seen.terms
    assert gather_evidence(clf, X, y).terms == ()


def test_large_values_are_written_without_digits_after_the_point():
    assert Term("T1", 46973.4, "").shown == "46,973"
    assert Term("T2", 61.78, "").shown == "61.8"
