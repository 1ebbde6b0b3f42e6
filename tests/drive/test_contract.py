"""The contract of divisions and parts: weights, structures, labels of their own, kept rows."""

import attrs
import numpy as np
import pytest
from sklearn.datasets import load_iris

from dcsvm import (
    Committee,
    DataError,
    Decomposer,
    DivideAndConquerClassifier,
    Division,
    LocalLearner,
    Member,
    Part,
    Problem,
    Router,
    Routing,
    SettingError,
    Task,
    component,
    part,
)
from dcsvm.base.errors import CompositionError, ContractError
from dcsvm.numeric import FloatArray, Stored, axes
from dcsvm.testing import easy_problem
from dcsvm.testing.trials import Centroids, MeanScores
from dcsvm.toolbox import Wrapped

X, y = load_iris(return_X_y=True)


@attrs.frozen(eq=False)
class Names(Stored):
    """A structure: a number for each member."""

    numbers: FloatArray = attrs.field(metadata=axes("members"))


@component
class Weighed(Decomposer):
    """Thirds of the rows, the first of which counts for all."""

    name = "weighed"
    yields = frozenset({"subsets", "weights"})
    stored_types = (Names,)
    weights = (1.0, 0.0, 0.0)

    def divide(self, problem):
        yield [part(np.arange(start, problem.n_rows, 3)) for start in range(3)]
        return Division(weights=np.array(self.weights), structure=Names(np.arange(3.0)))


def fit(decomposer, learner=None, combiner=None, **others):
    pipeline = decomposer, learner or Centroids(), combiner or MeanScores()
    return DivideAndConquerClassifier(*pipeline, random_state=0, **others).fit(X, y)


def test_a_member_without_weight_has_no_say():
    clf = fit(Weighed())
    (member, *_) = clf.model_.committee.members
    np.testing.assert_allclose(clf.decision_function(X), member.scores(X))


def test_weights_of_members_multiply_those_of_the_router():
    class Both(Router):
        def route(self, X):
            n = X.shape[0]
            rows, members = np.tile(np.arange(n), 2), np.repeat([0, 1], n)
            return Routing(rows, members, np.repeat([0.25, 0.75], n))

    @component
    class Halves(Decomposer):
        """Both halves are asked."""

        yields = frozenset({"regions", "weights"})

        def divide(self, problem):
            yield [part(np.arange(start, problem.n_rows, 2)) for start in range(2)]
            return Division(Both(), weights=np.array([3.0, 1.0]))

    clf = fit(Halves())
    first, second = (member.scores(X) for member in clf.model_.committee.members)
    np.testing.assert_allclose(clf.decision_function(X), (first + second) / 2)


@pytest.mark.parametrize("weights", [(1.0, 2.0), (1.0, -1.0, 1.0), (0, 0, 0), (1.0, np.nan, 1.0)])
def test_weights_are_one_number_for_each_member(weights):
    decomposer = Weighed()
    decomposer.weights = weights
    with pytest.raises(ContractError, match="weights of a Division must be 3 numbers of at least"):
        fit(decomposer)


def test_a_combiner_sees_the_structure():
    committee = fit(Weighed()).model_.committee
    assert committee.structure.numbers.tolist() == [0, 1, 2]
    both = Committee.merge([committee, committee])
    assert [group.structure is committee.structure for group in both.groups] == [True, True]
    with pytest.raises(ContractError, match="several groups"):
        _ = both.structure


def test_weights_and_structures_are_checked_like_any_stored_type():
    committee = fit(Weighed()).model_.committee
    committee.check_stored(features=4)
    (group,) = committee.groups
    for changed, message in [
        ({"weights": np.ones(2)}, r"Group.weights has shape \(2,\)"),
        ({"weights": -np.ones(3)}, "Group.weights holds -1.0"),
        ({"weights": np.zeros(3)}, "all zero"),
        ({"structure": Names(np.ones(4))}, "Names.numbers has shape"),
    ]:
        wrong = attrs.evolve(committee, groups=(attrs.evolve(group, **changed),))
        with pytest.raises(ValueError, match=message):
            wrong.check_stored(features=4)


@component
class Sided(Decomposer):
    """Learns on the side which half a row is in, and routes by that."""

    yields = frozenset({"regions"})
    task: object = None
    n_labels: object = 2

    def divide(self, problem):
        everyone = np.arange(problem.n_rows)
        half = (everyone >= problem.n_rows // 2).astype(int)
        (gate,) = yield [Part(everyone, labels=half, n_labels=self.n_labels, task=self.task)]
        self.gate.append(gate)
        yield [part(everyone[half == side]) for side in range(2)]

    gate = []


def test_a_part_may_have_labels_of_its_own():
    clf = fit(Sided())
    gate = Sided.gate[-1]
    assert gate.code.tolist() == [[-1, 1]]
    halves = (np.arange(150) >= 75).astype(int)
    assert (gate.labels(X) == halves).mean() > 0.8
    assert [record.classes for record in clf.ledger_] == [2, 2, 2]


def test_labels_without_n_labels_are_classes():
    @component
    class Cleaned(Decomposer):
        """All rows, with the second class taken for the third."""

        yields = frozenset({"one part"})

        def divide(self, problem):
            yield [Part(np.arange(problem.n_rows), labels=np.where(problem.y == 1, 2, problem.y))]

    clf = fit(Cleaned())
    assert set(clf.predict(X)) == {0, 2}


def test_a_task_names_labels():
    fit(Sided(task=Task((0,), (2,)), n_labels=3))
    assert Sided.gate[-1].code.tolist() == [[1, 0, 0]]  # only one side has rows


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"labels": np.zeros(3, dtype=int)}, r"labels of shape \(3,\) and dtype int64"),
        ({"labels": np.zeros(150)}, "dtype float64, but it needs a whole number for each of its"),
        ({"labels": np.arange(150) - 1}, "labels -1 to 148, but must have 0 to 2"),
        ({"labels": np.arange(150), "n_labels": 5}, "but must have 0 to 4"),
        ({"n_labels": 5}, "n_labels = 5, but without labels"),
    ],
)
def test_labels_are_one_whole_number_for_each_row(others, message):
    @component
    class Wrong(Decomposer):
        """A part with wrong labels."""

        name = "wrong"
        yields = frozenset({"one part"})

        def divide(self, problem):
            yield [Part(np.arange(problem.n_rows), **others)]

    with pytest.raises(ContractError, match=f"^wrong yielded part 0 with.*{message}"):
        fit(Wrong())


def test_a_member_of_other_labels_cannot_predict_classes():
    @component
    class Stray(Decomposer):
        """A part with labels of its own that is left to predict."""

        yields = frozenset({"one part"})

        def divide(self, problem):
            labels = np.arange(problem.n_rows) % 2
            yield [Part(np.arange(problem.n_rows), labels=labels, n_labels=2)]

    with pytest.raises(ContractError, match="keep the others in its router or structure"):
        fit(Stray())


def test_a_checkpoint_of_other_labels_is_another_one():
    from dcsvm.base.subproblem import Subproblem

    problem = easy_problem()
    rows = np.arange(problem.n_rows)
    keys = {
        Subproblem(problem, Part(rows, **labels), Centroids(), problem.seed).key()
        for labels in (
            {},
            {"labels": rows % 2},
            {"labels": rows % 2, "n_labels": 2},
            {"labels": rows % 3},
        )
    }
    assert len(keys) == 4


class Refusing(Centroids):
    row_weights = "refused"


def test_a_learner_that_refuses_weights_does_not_fit_a_decomposer_that_needs_them():
    @component
    class Weighing(Decomposer):
        """All rows."""

        name = "weighing"
        yields = frozenset({"one part"})
        needs_row_weights = True

        def divide(self, problem):
            yield [part(np.arange(problem.n_rows))]

    fit(Weighing())
    for learner in (Refusing(), DivideAndConquerClassifier(Weighed(), Refusing(), MeanScores())):
        with pytest.raises(CompositionError, match="gives rows unequal weights"):
            fit(Weighing(), learner)


def test_a_learner_of_a_part_may_wrap_that_of_the_strategy():
    @component
    class Loud(LocalLearner):
        """The strategy's learner, ten times as loud."""

        inner: object = None

        def around(self, learner):
            return Loud(learner)

        def fit(self, problem):
            model = self.inner.fit(problem)
            return attrs.evolve(
                model, coefficients=10 * model.coefficients, biases=10 * model.biases
            )

    @component
    class All(Decomposer):
        """All rows."""

        yields = frozenset({"one part"})
        learner = None

        def divide(self, problem):
            yield [part(np.arange(problem.n_rows), learner=self.learner)]

    loud = All()
    loud.learner = Loud()
    np.testing.assert_allclose(
        fit(loud).decision_function(X), 10 * fit(All()).decision_function(X)
    )


def test_members_can_be_replaced():
    clf = fit(Weighed(), combiner=MeanScores())
    committee = clf.model_.committee
    first, second, _ = committee.members
    other = clf.with_committee(committee.replace({0: second}))
    np.testing.assert_allclose(other.decision_function(X), second.scores(X))
    np.testing.assert_allclose(clf.decision_function(X), first.scores(X))
    with pytest.raises(SettingError, match="there is no member 3, only 0 to 2"):
        committee.replace({3: first})
    with pytest.raises(SettingError, match="member 1 is one of 2 classes, not 3"):
        committee.replace({1: Member(first.model, np.array([[-1, 1]]))})


def test_a_fitted_strategy_prints_no_arrays():
    clf = fit(Weighed(), combiner=MeanScores())
    committee = clf.model_.committee
    assert repr(clf.model_) == "FittedStrategy(3 members in 1 group, MeanScores)"
    assert repr(committee) == f"Committee(3 members in 1 group, {committee.n_classes} classes)"
    rows, classes = committee.members[0].n_rows, list(range(committee.n_classes))
    assert repr(committee.members[0]).endswith(f" of {rows} rows, classes {classes})")


def test_a_problem_takes_whole_numbers_as_labels():
    with pytest.raises(DataError, match=r"y of a Problem must be .* got dtype float64"):
        Problem(X, y.astype(float), 3)
    with pytest.raises(DataError, match="got a list"):
        Problem(X, y.tolist(), 3)


def test_row_ids_are_whole_numbers():
    with pytest.raises(DataError, match="row ids must be whole numbers, got dtype float64"):
        part([1.5])
    with pytest.raises(DataError, match=r"dtype bool; np.flatnonzero turns a mask into ids"):
        part(y == 1)
    assert part([], [3]).rows.tolist() == [3]


def test_forests_score_three_classes_on_the_scale_of_two():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import Perceptron
    from sklearn.neighbors import NearestCentroid

    forest = Wrapped(RandomForestClassifier(10, random_state=0).fit(X, y)).scores(X)
    assert forest.min() == -1.0
    assert forest.max() == 1.0
    for estimator in (NearestCentroid, Perceptron):
        scores = Wrapped(estimator().fit(X, y)).scores(X)
        assert scores.shape == (150, 3)
        assert scores.min() <= -1.0 or estimator is NearestCentroid
