"""The kernel support vector machine against scikit-learn's SVC."""

import sys
import warnings

import attrs
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from dcsvm import DataError, DivideAndConquerClassifier, Problem, SettingError, build, component
from dcsvm.testing import easy_problem
from dcsvm.testing.problems import as_sparse
from dcsvm_plugins.learners.kernel_svm.memory_forecast import WORKING_BYTES
from dcsvm_plugins.learners.kernel_svm.multiclass import iterate_grams
from dcsvm_plugins.learners.kernel_svm.row_cache import KernelRows

KERNELS = {
    "rbf": {"gamma": 0.7},
    "linear": {},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
    "sigmoid": {"gamma": 0.1, "coef0": 0.2},
}


#: libsvm gives the same bits through us; two solvers agree as far as both are pushed.
SOLVERS = {"libsvm": 1e-8, "own": 1e-5}
INDEFINITE = "an indefinite kernel has several solutions"


def ours_and_theirs(problem, solver="own", **settings):
    settings = {"tol": 1e-8, **settings}
    ours = build("learner", "kernel_svm", solver=solver, **settings).fit(problem)
    theirs = SVC(**settings).fit(problem.X, problem.y, sample_weight=problem.weights)
    return ours, theirs


def skip_if_indefinite(kernel, solver):
    if kernel == "sigmoid" and solver == "own":
        pytest.skip(INDEFINITE)


def test_settings_that_a_kernel_does_not_look_at_make_no_other_cell():
    cells = [
        {"kernel": kernel, "degree": degree, "coef0": constant}
        for kernel in ("rbf", "poly")
        for degree in (1, 2)
        for constant in (0.0, 1.0)
    ]
    problem = easy_problem(2)
    found = list(build("learner", "kernel_svm", gamma=0.5).fit_path(problem, cells))
    assert sorted(map(str, (cell for cell, _ in found))) == sorted(map(str, cells))
    assert len({id(model) for cell, model in found if cell["kernel"] == "rbf"}) == 1
    assert len({id(model) for cell, model in found if cell["kernel"] == "poly"}) == 4
    for cell, model in found:
        alone = build("learner", "kernel_svm", gamma=0.5, **cell).fit(problem)
        np.testing.assert_allclose(model.scores(problem.X), alone.scores(problem.X), atol=1e-2)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_two_classes_have_the_decision_values_of_svc(kernel, weighted, form, solver):
    skip_if_indefinite(kernel, solver)
    problem = variant(easy_problem(2, gap=1.0), weighted, form)
    ours, theirs = ours_and_theirs(problem, solver, kernel=kernel, **KERNELS[kernel])
    expected = theirs.decision_function(problem.X)
    np.testing.assert_allclose(ours.scores(problem.X)[:, 0], expected, atol=SOLVERS[solver])
    assert sorted(ours.support.tolist()) == sorted(theirs.support_.tolist())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_more_classes_have_the_scores_and_predictions_of_svc(kernel, weighted, form, solver):
    skip_if_indefinite(kernel, solver)
    problem = variant(easy_problem(4, rows=80, gap=1.0), weighted, form)
    ours, theirs = ours_and_theirs(problem, solver, kernel=kernel, **KERNELS[kernel])
    expected = theirs.decision_function(problem.X)
    # Theirs are votes from 0 to 3; ours are the same between -1 and 1.
    np.testing.assert_allclose(
        1.5 * (ours.scores(problem.X) + 1.0), expected, atol=SOLVERS[solver]
    )
    assert (ours.labels(problem.X) == expected.argmax(axis=1)).all()


@pytest.mark.parametrize("kernel", ["laplacian", "trbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernels_that_libsvm_lacks_are_given_to_it_as_functions(kernel, n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    settings = {"kernel": kernel, "gamma": 0.3, "degree": 2, "tol": 1e-8}
    own = build("learner", "kernel_svm", **settings).fit(problem)
    libsvm = build("learner", "kernel_svm", solver="libsvm", **settings).fit(problem)
    np.testing.assert_allclose(own.scores(problem.X), libsvm.scores(problem.X), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_against_the_rest_is_one_machine_for_each_class(n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    ours = build("learner", "kernel_svm", multiclass="rest", tol=1e-8).fit(problem)
    for label in range(n_classes if n_classes > 2 else 0):
        theirs = SVC(tol=1e-8).fit(problem.X, problem.y == label)
        expected = theirs.decision_function(problem.X)
        np.testing.assert_allclose(ours.scores(problem.X)[:, label], expected, atol=1e-5)
    assert ours.scores(problem.X).shape == (problem.n_rows, n_classes if n_classes > 2 else 1)


GRID = [{"C": C, "gamma": gamma} for C in (10.0, 0.1, 1.0) for gamma in (0.1, 1.0)]


@pytest.mark.parametrize("multiclass", ["pairs", "rest"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("grid_rows", [0, 6000], ids=["cell by cell", "by one matrix"])
def test_a_path_gives_what_each_cell_alone_gives(n_classes, multiclass, grid_rows, monkeypatch):
    monkeypatch.setattr("dcsvm_plugins.learners.kernel_svm.GRID_ROWS", grid_rows)
    problem = easy_problem(n_classes, gap=1.0)
    learner = build("learner", "kernel_svm", multiclass=multiclass, tol=1e-8)
    cells = []
    for cell, model in learner.fit_path(problem, GRID):
        alone = build("learner", "kernel_svm", multiclass=multiclass, tol=1e-8, **cell)
        expected = alone.fit(problem).scores(problem.X)
        np.testing.assert_allclose(model.scores(problem.X), expected, atol=1e-5)
        cells.append(cell)
    assert sorted(map(str, cells)) == sorted(map(str, GRID))


def test_a_start_changes_the_way_but_not_the_solution():
    problem = easy_problem(2, gap=1.0)
    learner = build("learner", "kernel_svm", tol=1e-8)
    plain = learner.fit(problem)
    start = np.linspace(-3.0, 3.0, problem.n_rows)
    started = learner.fit(attrs.evolve(problem, start=start))
    np.testing.assert_allclose(started.scores(problem.X), plain.scores(problem.X), atol=1e-5)


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_may_be_said_in_words(gamma):
    ours, theirs = ours_and_theirs(easy_problem(2, gap=1.0), gamma=gamma)
    assert ours.kernel.gamma == pytest.approx(theirs._gamma)


def test_a_coarse_machine_ends_earlier_unless_its_tolerance_is_set():
    problem = easy_problem(2, rows=500, gap=0.5)
    machine = build("learner", "kernel_svm", C=1.0)
    exact, coarse = (each.fit(problem) for each in (machine, machine.coarse()))
    assert coarse.facts["iterations"] < exact.facts["iterations"]
    assert np.abs(coarse.margins(problem.X) - exact.margins(problem.X)).max() < 0.05
    own = machine.set_params(tol=0.5)
    assert own.coarse() is own


def test_gamma_scale_counts_a_weighted_row_as_repeated():
    problem = easy_problem(2, gap=1.0)
    times = 1 + np.arange(60) % 3
    weighted = build("learner", "kernel_svm").fit(attrs.evolve(problem, weights=times * 1.0))
    repeated = build("learner", "kernel_svm").fit(problem.subset(np.repeat(np.arange(60), times)))
    assert weighted.kernel.gamma == pytest.approx(repeated.kernel.gamma, rel=1e-12)


def test_a_kernel_may_be_a_function():
    problem = easy_problem(2, gap=1.0)
    ours, theirs = ours_and_theirs(problem, kernel=plain_product)
    np.testing.assert_allclose(
        ours.scores(problem.X)[:, 0], theirs.decision_function(problem.X), atol=1e-5
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_precomputed_kernel_matrix_serves(n_classes):
    problem = easy_problem(n_classes, gap=1.0)
    gram = problem.X @ problem.X.T
    ours, theirs = ours_and_theirs(attrs.evolve(problem, X=gram), kernel="precomputed")
    scores = ours.scores(gram)
    expected = theirs.decision_function(gram).reshape(scores.shape)
    if n_classes == 3:
        expected = expected - 1.0  # votes from 0 to 2
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert build("learner", "kernel_svm", kernel="precomputed").pairwise is True


def test_cost_counts_every_support_vector_of_every_pair():
    ours, theirs = ours_and_theirs(easy_problem(3, gap=1.0))
    assert ours.cost.kernel_evaluations == np.count_nonzero(theirs.dual_coef_)
    assert ours.cost.unique_kernel_evaluations == len(theirs.support_)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(SettingError) as refusal:
        build("learner", "kernel_svm", kernel="rbg")
    assert str(refusal.value) == (
        "kernel_svm: kernel must be 'rbf' or 'linear' or 'poly' or 'laplacian' or 'sigmoid' or "
        "'trbf' or 'precomputed' or a function, got 'rbg'"
    )


def plain_product(X, Y):
    return X @ Y.T


def variant(problem, weighted, form):
    weights = 0.5 + np.arange(problem.n_rows) % 4 if weighted else None
    X = as_sparse(problem.X) if form == "csr" else problem.X
    return attrs.evolve(problem, X=X, weights=weights)


@pytest.mark.parametrize("multiclass", ["pairs", "rest"])
def test_a_large_part_of_nearly_one_class_is_solved_without_its_whole_matrix(
    multiclass, monkeypatch
):
    generator = np.random.default_rng(0)
    X = np.concatenate([generator.normal(size=(3000, 2)), generator.normal(4.0, 1.0, (40, 2))])
    y = np.repeat([0, 1, 2], [3000, 20, 20])
    X[3020:, 1] -= 9.0
    cells = [{"C": C, "gamma": gamma} for gamma in (0.1, 1.0) for C in (1.0, 100.0)]
    learner = build("learner", "kernel_svm", multiclass=multiclass)
    module = sys.modules[type(learner).__module__]
    problem = Problem(X, y, 3)
    with monkeypatch.context() as patch:
        patch.setattr(module, "solve_grid", None)
        sparing = dict_of(learner.fit_path(problem, cells))
    monkeypatch.setattr(module, "LARGE_ROWS", 10**6)
    whole = dict_of(learner.fit_path(problem, cells))
    for cell, model in sparing.items():
        assert (model.labels(X) == whole[cell].labels(X)).mean() > 0.999


def dict_of(path):
    return {tuple(cell.values()): model for cell, model in path}


def test_a_precomputed_kernel_that_is_not_square_is_refused():
    problem = easy_problem()
    with pytest.raises(DataError) as refusal:
        build("learner", "kernel_svm", kernel="precomputed").fit(problem)
    assert str(refusal.value) == (
        f"kernel_svm: a precomputed kernel must be square, got {problem.X.shape}"
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("gamma", [0.5, "scale"])
@pytest.mark.parametrize("decomposer", ["class_pairs", "class_rest"])
def test_parts_with_a_task_share_one_matrix(monkeypatch, decomposer, gamma, n_jobs):
    problem = easy_problem(n_classes=4)
    module = sys.modules["dcsvm_plugins.learners.kernel_svm"]
    made = []

    def counted(kernel, X, gammas):
        made.append(X.shape[0])
        return iterate_grams(kernel, X, gammas)

    def learned():
        machine = build("learner", "kernel_svm", C=3.0, gamma=gamma)
        combiner = "vote" if decomposer == "class_pairs" else "argmax"
        clf = DivideAndConquerClassifier(decomposer, machine, combiner, n_jobs=n_jobs)
        return clf.fit(problem.X, problem.y).decision_function(problem.X)

    monkeypatch.setattr(module, "iterate_grams", counted)
    shared = learned()
    assert made == [problem.n_rows]
    monkeypatch.setattr(module, "SHARED_ROWS", 0)
    np.testing.assert_array_equal(learned(), shared)


@pytest.mark.parametrize("gamma", [0.5, "scale"])
@pytest.mark.parametrize("shared", [True, False])
def test_parts_learned_in_one_call_are_what_they_are_alone(gamma, shared, monkeypatch):
    module = sys.modules[type(build("learner", "kernel_svm")).__module__]
    monkeypatch.setattr(module, "SHARED_ROWS", 1000 if shared else 0)
    problem = easy_problem(6, rows=120, gap=0.7)
    learner = build("learner", "kernel_svm", C=3.0, gamma=gamma)

    @component
    class OneByOne(type(learner)):
        """Has a `fit` of its own, for which the `fit_together` above it was not made."""

        name = "one_by_one"

        def fit(self, problem):
            return super().fit(problem)

    alone = OneByOne(C=3.0, gamma=gamma)
    calls, ours = [], type(learner).fit_together

    def counted(self, parts):
        calls.append(len(parts))
        return ours(self, parts)

    monkeypatch.setattr(type(learner), "fit_together", counted)
    models = [
        DivideAndConquerClassifier("class_pairs", each, "vote", n_jobs=1).fit(problem.X, problem.y)
        for each in (learner, alone)
    ]
    assert calls == [15]
    one, other = (model.model_.committee.members for model in models)
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine.support, theirs.support)
        np.testing.assert_array_equal(mine.duals, theirs.duals)
        np.testing.assert_array_equal(mine.model.biases, theirs.model.biases)
    facts = [[dict(record.about) for record in model.ledger_] for model in models]
    assert facts[0] == facts[1]


def test_libsvm_ends_where_it_would_never_converge():
    X = np.random.default_rng(0).normal(size=(30, 2))
    problem = Problem(X, np.arange(30) % 2, 2)
    machine = build("learner", "kernel_svm", kernel="linear", solver="libsvm", C=1e12)
    with pytest.warns(ConvergenceWarning, match="max_iter=300000"):
        assert np.isfinite(machine.fit(problem).scores(X)).all()


def test_parts_with_other_features_are_not_learned_in_one_call():
    random = np.random.default_rng(0)
    problems = [
        easy_problem(n_classes=2),
        Problem(random.normal(size=(20, 7)), np.arange(20) % 2, 2),
    ]
    machine = build("learner", "kernel_svm", gamma=0.5)
    for problem, model in zip(problems, machine.fit_together(problems), strict=True):
        np.testing.assert_array_equal(
            model.scores(problem.X), machine.fit(problem).scores(problem.X)
        )


def fit_whole(X, y, **settings):
    svm = build("learner", "kernel_svm", **settings)
    return DivideAndConquerClassifier("whole", svm, "route").fit(X, y)


def noisy(rows, classes=3):
    generator = np.random.default_rng(rows)
    X = generator.normal(size=(rows, 4))
    return X, (X[:, 0] + 0.5 * generator.normal(size=rows) > 0).astype(int) + (X[:, 1] > 1)


@pytest.mark.parametrize(("rows", "as_if"), [(300, 1e-8), (301, 1e-3)])
@pytest.mark.parametrize("settings", [{}, {"kernel": "linear"}, {"multiclass": "rest"}])
def test_small_fits_are_solved_to_full_precision(rows, as_if, settings):
    X, y = noisy(rows)
    fitted, same = (fit_whole(X, y, **settings, **more) for more in ({}, {"tol": as_if}))
    np.testing.assert_array_equal(fitted.decision_function(X), same.decision_function(X))


def test_a_row_of_weight_two_counts_like_two_rows():
    X, y = noisy(60)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    svm = DivideAndConquerClassifier("whole", "kernel_svm", "route")
    one = svm.fit(X, y, sample_weight=weights).decision_function(X)
    other = svm.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("decomposer", ["tree", "class_pairs"])
def test_small_parts_of_a_large_fit_are_as_quick_as_ever(decomposer):
    X, y = noisy(400)
    division = build("decomposer", decomposer, **{"ceiling": 50} if decomposer == "tree" else {})
    combiner = "route" if decomposer == "tree" else "vote"
    fitted, same = (
        DivideAndConquerClassifier(division, build("learner", "kernel_svm", **more), combiner)
        .fit(X, y)
        .decision_function(X)
        for more in ({}, {"tol": 1e-3})
    )
    np.testing.assert_array_equal(fitted, same)


def test_what_rounding_hides_is_not_asked_for():
    """The gap of huge kernel values cannot get as small as that of others."""
    X, y = noisy(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel, scale in (("linear", 1e3), ("poly", 10.0)):
            svm = build("learner", "kernel_svm", kernel=kernel, C=100.0)
            effort = svm.fit(Problem(X * scale, (y > 0).astype(int), 2)).effort
            assert effort["iterations"] < 1_000_000


def flipped(n, noise, seed=0):
    """A problem of two features, some of whose labels are those of the other class."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    y = (X[:, 0] > 0) ^ (random.uniform(size=n) < noise)
    return Problem(X, y.astype(int), 2)


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_the_memory_of_a_large_part_is_forecast_by_a_sample(monkeypatch, noise):
    machine, looked_at = build("learner", "kernel_svm", C=10.0, gamma=0.5), []
    bound, width = machine.memory(5000, 2), 2
    forecast = machine.memory_like(flipped(1500, noise), 5000)
    made = KernelRows.__init__

    def note(self, *given):
        made(self, *given)
        looked_at.append(self)

    monkeypatch.setattr(KernelRows, "__init__", note)
    machine.fit(flipped(5000, noise, seed=1))
    share = np.count_nonzero(looked_at[0].row_in >= 0) / 5000
    kept = 4.0 * share * 5000**2 + WORKING_BYTES + 12.0 * 5000 * width
    assert forecast == pytest.approx(kept, rel=0.2)
    assert forecast < bound


def test_the_memory_of_pairs_is_that_of_the_largest():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(1500, 2)), random.choice(3, 1500, p=[0.1, 0.5, 0.4])
    machine = build("learner", "kernel_svm", C=1.0, gamma=0.5)
    two = y > 0
    pair = Problem(X[two], y[two] - 1, 2)
    n_rows = round(5000 * pair.n_rows / 1500)
    found = machine.memory_like(Problem(X, y, 3), 5000)
    assert found == pytest.approx(machine.memory_like(pair, n_rows), rel=0.05)
    assert found < machine.memory(5000, 2)


def test_other_kernels_are_expected_to_take_more_memory():
    rbf, laplacian = (build("learner", "kernel_svm", kernel=each) for each in ("rbf", "laplacian"))
    for n_rows in (1000, 6000):
        assert laplacian.memory(n_rows, 10) > 1.5 * rbf.memory(n_rows, 10)
