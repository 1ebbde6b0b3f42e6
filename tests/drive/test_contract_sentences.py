"""Mistakes of a component's author, each answered by a sentence that names the class."""

from types import ModuleType

import attrs
import fakes
import numpy as np
import pytest
from sklearn.datasets import load_iris

from dcsvm import (
    Combiner,
    Decomposer,
    DivideAndConquerClassifier,
    LocalLearner,
    LocalModel,
    Router,
    Routing,
    component,
    hookimpl,
    part,
    setting,
)
from dcsvm.base.errors import CompositionError, ContractError, SettingError
from dcsvm.drive.registry import Registry
from dcsvm.testing import checks_of
from dcsvm.testing.trials import Centroids, MeanScores

pytest.importorskip("dcsvm_plugins", reason="the combiners are built-in plugins")

X, y = load_iris(return_X_y=True)
TWO = y < 2


@attrs.frozen(eq=False)
class Wrong(Router):
    answer: object

    def route(self, X):
        member = np.zeros(X.shape[0], dtype=int)
        return member if self.answer is None else Routing.to_one(member + self.answer)


@component
class Astray(Decomposer):
    """A division whose router errs.

    >>> Astray()
    Astray()
    """

    name = "astray"
    yields = frozenset({"regions"})
    stored_types = (Wrong,)
    answer = 2

    def divide(self, problem):
        yield [part(np.arange(start, problem.n_rows, 2)) for start in range(2)]
        return Wrong(self.answer)


@component
class Nothing(Astray):
    answer = None


@pytest.mark.parametrize(
    ("decomposer", "sentence"),
    [
        (Astray(), "Wrong.route names member 2, but the members are 0 to 1"),
        (Nothing(), "Wrong.route must return a Routing, got ndarray; Routing.to_one"),
    ],
)
@pytest.mark.parametrize("combiner", ["route", "mean"])
def test_a_router_that_errs_is_named(decomposer, sentence, combiner):
    clf = DivideAndConquerClassifier(decomposer, Centroids(), combiner).fit(X, y)
    with pytest.raises(ContractError, match=sentence):
        clf.predict(X)
    with pytest.raises(ValueError, match=r"Wrong.route must return a Routing to members 0 to 1, "):
        clf.predict(X[:1])


def test_the_kit_names_a_router_that_errs_and_no_other():
    first = checks_of(Astray)[0]
    assert first.law.__name__ == "divides_and_answers_at_all"
    with pytest.raises(AssertionError, match=r"But Wrong.route names member 2") as failure:
        first()
    assert "with which it was tried" not in str(failure.value)


@attrs.frozen(eq=False)
class Distances(LocalModel):
    centres: np.ndarray
    form: str

    def scores(self, X):
        two = -np.square(X[:, None] - self.centres).sum(axis=2)
        return {"two columns": two, "one axis": two[:, 1] - two[:, 0]}[self.form]


@attrs.frozen(eq=False)
class Named(LocalModel):
    def scores(self, X):
        return np.ones((X.shape[0], 1))

    def labels(self, X):
        return np.array(["first"] * X.shape[0])


@component
class Nearest(LocalLearner):
    """The nearest centre, in a wrong form."""

    form: str = setting("two columns", help="what is wrong")

    def fit(self, problem):
        if self.form == "texts":
            return Named()
        means = [problem.X[problem.y == label].mean(axis=0) for label in range(problem.n_classes)]
        return Distances(np.array(means), self.form)


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ("two columns", r"Distances.scores returned shape \({n}, 2\) where \({n}, 1\) was"),
        ("one axis", r"Distances.scores returned shape \({n},\) where \({n}, 1\) was"),
    ],
)
@pytest.mark.parametrize("combiner", ["route", "mean"])
def test_scores_of_two_classes_are_one_column_for_predictions_too(form, sentence, combiner):
    clf = DivideAndConquerClassifier("whole", Nearest(form), combiner).fit(X[TWO], y[TWO])
    for ask in (clf.predict, clf.decision_function):
        with pytest.raises(ContractError, match=sentence.format(n=100)):
            ask(X[TWO])
        with pytest.raises(ValueError, match=sentence.format(n=1)):
            ask(X[:1])


def test_labels_of_a_model_are_numbers():
    clf = DivideAndConquerClassifier("whole", Nearest("texts"), "route").fit(X[TWO], y[TWO])
    with pytest.raises(ContractError, match=r"Named.labels returned <U5 of shape \(100,\) where"):
        clf.predict(X[TWO])


def with_words(words):
    @component
    class Worded(fakes.Deal):
        name = "worded"
        yields = words

    return Worded


@pytest.mark.parametrize("words", ["regions", ["regions"], frozenset(), None])
def test_words_are_a_set(words):
    sentence = r"Worded.yields must be a set of words, as in yields = frozenset\({\"subsets\"}\), "
    with pytest.raises(ContractError, match=sentence):
        DivideAndConquerClassifier(with_words(words)(), "kernel_svm", "vote").fit(X, y)
    with pytest.raises(ContractError, match=sentence):
        Registry(()).add_module(module(dcsvm_decomposers=[with_words(words)]), "file.py")
    with pytest.raises(ContractError, match=sentence):
        checks_of(with_words(words))


def test_a_word_that_nobody_declares_gets_the_nearest_one():
    misspelt = with_words(frozenset({"regoins"}))
    clf = DivideAndConquerClassifier(misspelt(), "kernel_svm", "route")
    with pytest.raises(CompositionError, match=r"yields 'regoins', .*; did you mean 'regions'\?"):
        clf.fit(X, y)
    checks = {each.law.__name__: each for each in checks_of(misspelt)}
    with pytest.raises(AssertionError, match=r"'regoins'; did you mean 'regions'\?"):
        checks["yields_what_it_says"]()


@component
class Forgetful(Combiner):
    """Learns, and returns nothing."""

    name = "forgetful"

    def fit(self, committee, problem, answers):
        self.seen = problem.n_rows

    def combine(self, committee, X):
        return committee.mean_scores(X)


def test_a_combiner_that_returns_nothing_is_told_what_to_return():
    sentence = "Forgetful.fit must return a Combination, such as the combiner itself, got None"
    with pytest.raises(ContractError, match=sentence):
        DivideAndConquerClassifier("whole", "kernel_svm", Forgetful()).fit(X, y)


def module(**hooks):
    made = ModuleType("made")
    for name, returned in hooks.items():

        def hook(returned=returned):
            return returned

        hook.__name__ = name
        setattr(made, name, hookimpl(hook))
    return made


@pytest.mark.parametrize(
    ("hook", "returned", "sentence"),
    [
        ("decomposers", fakes.Deal, "must return a list of classes, got <class 'fakes.Deal'>"),
        ("decomposers", None, "must return a list of classes, got None"),
        ("decomposers", [fakes.Deal()], r"lists Deal\(\): offer the class, not an instance"),
        ("recipes", ["a"], r"must return a dict of texts by name, got \['a'\]"),
    ],
)
def test_a_hook_returns_a_list_of_classes(hook, returned, sentence):
    with pytest.raises(ContractError, match=f"dcsvm_{hook} of file.py {sentence}"):
        Registry(()).add_module(module(**{f"dcsvm_{hook}": returned}), "file.py")


def test_a_setting_without_an_annotation_is_refused():
    sentence = "Bare: a setting needs an annotation, .* `k: int = setting.*`; without one: k"
    with pytest.raises(ContractError, match=sentence):

        @component
        class Bare(Decomposer):
            k = setting(2)


def test_a_committee_can_be_reweighed():
    clf = DivideAndConquerClassifier(fakes.Deal(), Centroids(), MeanScores(), random_state=0)
    committee = clf.fit(X, y).model_.committee
    first = committee.reweigh(np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(first.mean_scores(X), committee.members[0].scores(X))
    assert committee.groups[0].weights is None
    both = type(committee).merge([committee, committee]).reweigh(np.arange(6.0))
    assert [group.weights.tolist() for group in both.groups] == [[0, 1, 2], [3, 4, 5]]
    for weights in (np.ones(2), -np.ones(3), np.full(3, np.nan)):
        with pytest.raises(SettingError, match=r"Committee.reweigh needs 3 numbers of at least"):
            committee.reweigh(weights)


@component
class Folded(MeanScores):
    """A combiner of folds."""

    wants_answers = True
    folds = 3


def test_the_kit_takes_folds_that_are_no_setting():
    checks = {each.law.__name__: each for each in checks_of(Folded)}
    checks["labels_are_the_likeliest_classes"]()


@component
class Drifting(MeanScores):
    """Weighs members in `combine`, and forgets the weights in `margins`."""

    def combine(self, committee, X):
        weights = np.arange(len(committee.members)) == 0
        return committee.reweigh(weights).mean_scores(X)

    def margins(self, committee, X):
        return committee.mean_scores(X)


def test_the_kit_finds_margins_that_lack_the_weights():
    checks = {each.law.__name__: each for each in checks_of(Drifting)}
    with pytest.raises(AssertionError, match="margins choose the class of the largest score for"):
        checks["has_margins_that_decide_as_its_scores"]()
