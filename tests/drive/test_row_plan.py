"""Plans of models: Python is asked where needed, and sizes are checked."""

import attrs
import numpy as np
import pytest
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, LocalModel, build
from dcsvm.drive.committee.strategy_plan import MEANS, VOTES
from dcsvm.numeric import Plan, native
from dcsvm.numeric.plan_runner import PlanRunner
from dcsvm.toolbox import Chain, Columns, Constant, View

X, Y = load_iris(return_X_y=True)
native_only = pytest.mark.skipif(native.library is None, reason="plans are executed in C")


@attrs.frozen(eq=False)
class Unknown(LocalModel):
    """A model that no plan knows, and that may fail."""

    fails: bool = False

    def scores(self, X):
        if self.fails:
            raise RuntimeError("no answer")
        return X[:, :1] - 0.5


@attrs.frozen(eq=False)
class Doubled(View):
    """A view that no plan knows."""

    def apply(self, X):
        return 2 * X


def compile_model(model, n_features):
    plan = Plan()
    step = model.add_to_plan(plan, n_features)
    return PlanRunner(plan, plan.ask(model.scores, n_features, 1) if step is None else step)


@native_only
def test_what_no_plan_knows_is_asked_in_python():
    runner = compile_model(Unknown(), 2)
    np.testing.assert_array_equal(runner.scores(X[:3, :2]), X[:3, :1] - 0.5)
    np.testing.assert_array_equal(runner.labels(X[:3, :2]), [1, 1, 1])


@native_only
def test_an_exception_in_python_reaches_the_caller():
    with pytest.raises(RuntimeError, match="no answer"):
        compile_model(Unknown(fails=True), 2).scores(X[:1, :2])


@native_only
@pytest.mark.parametrize("number", [1e101, np.inf, np.nan])
def test_numbers_that_may_overflow_are_left_to_numpy(number):
    assert compile_model(Constant(1.0), 1).scores(np.array([[number]])) is None


def test_sizes_are_checked_before_c_reads_an_array():
    plan = Plan()
    with pytest.raises(ValueError, match="must hold numbers from 0 to 1"):
        Columns(np.array([0, 2])).add_to_plan(plan, 2)
    with pytest.raises(ValueError, match="a step of 3 features follows one that gives 1"):
        plan.chain(plan.columns(2, np.array([0])), plan.scaling(np.ones(3)))


def test_trees_and_lookups_are_checked_before_c_follows_them():
    plan, one = Plan(), np.ones(1)
    with pytest.raises(ValueError, match="two children for each of its nodes"):
        plan.spill(np.ones((1, 2)), one, one, np.array([[1, -1]]))
    with pytest.raises(ValueError, match="every child of a tree must come after its parent"):
        plan.spill(np.ones((1, 2)), one, one, np.array([[0, -1]]))
    with pytest.raises(ValueError, match="a lookup needs a column, and a member for each value"):
        plan.lookup(2, 2, one, np.array([0]), 1)


@native_only
def test_a_view_in_python_is_asked_at_its_place_in_a_chain():
    plan = Plan()
    step = Chain((Columns(np.array([1, 0])), Doubled(), Columns(np.array([1])))).add_to_plan(
        plan, 2
    )
    runner = PlanRunner(plan, step)
    assert [each.kind for each in plan.steps] == ["columns", "ask", "columns", "chain"]
    np.testing.assert_array_equal(runner.scores(X[:3, :2]), 2 * X[:3, :1])


@native_only
@pytest.mark.parametrize("combiner", ["mean", "vote"])
def test_single_precision_changes_no_label_beside_a_border(combiner):
    """Rows that are halved towards a border of classes, until rounding decides."""
    pytest.importorskip("dcsvm_plugins", reason="the committee is made of built-in plugins")
    generator = np.random.default_rng(0)
    X = generator.random((1000, 60))
    y = (5 * (X[:, 0] + 0.3 * X[:, 1] ** 2) / 1.3).astype(int)
    decomposer, learner = (
        build("decomposer", "rd_subspaces"),
        build("learner", "kernel_svm", C=10.0),
    )
    clf = DivideAndConquerClassifier(decomposer, learner, combiner, random_state=0).fit(X, y)
    plan = Plan()
    strategy = plan.steps[clf.model_.add_to_plan(plan, 60)]
    assert strategy.sizes[4] == {"mean": MEANS, "vote": VOTES}[combiner]
    low, high = X[:100].copy(), X[100:200].copy()
    labels = clf.predict(low)
    rows = []
    for _ in range(40):
        middle = (low + high) / 2
        same = clf.predict(middle) == labels
        low[same], high[~same] = middle[same], middle[~same]
        rows.append(middle[::12])
    asked = np.concatenate(rows)
    expected = np.concatenate([clf.predict(each) for each in np.split(asked, 4)])
    runner = PlanRunner(plan, len(plan.steps) - 1)
    np.testing.assert_array_equal([runner.labels(row[None])[0] for row in asked], expected)
