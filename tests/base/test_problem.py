"""Problems, parts, seeds, tasks and views."""

import pickle

import attrs
import numpy as np
import pytest
from scipy import sparse

from dcsvm import DataError, Part, Problem, Task
from dcsvm.base.problem import part, union
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.toolbox import Chain, Columns, LinearMap, RowIdUnion, Scaling

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 2, 0, 1, 2])


def test_a_seed_is_its_path_and_nothing_else():
    seed = Seed(7).child(1, 2)
    assert seed == Seed(7, (1, 2))
    assert seed.generator().random() == Seed(7).child(1).child(2).generator().random()
    assert seed.generator().random() != Seed(7).child(2, 1).generator().random()
    assert 0 <= seed.integer() < 2**31


def test_a_task_codes_the_classes():
    assert Task((2,), (0,)).code(4).tolist() == [-1, 0, 1, 0]


def test_parts_join_disjoint_sets_of_rows():
    assert part([3, 1], [0]).rows.tolist() == [3, 1, 0]
    assert union([np.array([3, 1]), np.array([1, 5])]).tolist() == [1, 3, 5]


def test_joined_sets_are_kept_once_and_put_in_order_when_asked():
    sets = np.array([1, 4]), np.array([0, 3])
    joined = Part(RowIdUnion(sets))
    assert joined.n_rows == 4
    assert joined.rows.tolist() == [0, 1, 3, 4]
    assert joined._rows.sets[0] is sets[0]
    local = cut(Part(RowIdUnion((np.array([1, 4]), np.array([2, 5]))), task=Task((2,), (1,))))
    assert local.rows.tolist() == [1, 2, 4, 5]


class AnyLearner:
    pairwise = False


class Pairwise:
    pairwise = True


def cut(part, learner=AnyLearner, **others):
    return Subproblem(Problem(X, y, 3, **others), part, learner(), Seed(0)).extract()


def test_a_cut_is_encoded_over_the_classes_it_holds():
    local = cut(part([2, 0, 5]))
    assert local.problem.n_classes == 2
    assert local.problem.y.tolist() == [1, 0, 1]
    assert local.code.tolist() == [[-1, 0, 1]]
    assert local.problem.X.tolist() == X[[2, 0, 5]].tolist()


def test_a_cut_of_a_task_drops_the_classes_left_out():
    local = cut(Part(np.arange(6), task=Task((2,), (1,))))
    assert local.rows.tolist() == [1, 2, 4, 5]
    assert local.problem.y.tolist() == [0, 1, 0, 1]
    assert local.code.tolist() == [[0, -1, 1]]


def test_weights_and_starts_follow_their_rows():
    weights = np.arange(1.0, 7.0)
    asked = Part(np.array([5, 4, 3]), task=Task((2,), (1,)), weights=np.array([2.0, 3.0, 4.0]),
                 start=np.array([0.1, 0.2, 0.3]))  # fmt: skip
    local = cut(asked, weights=weights)
    assert local.problem.weights.tolist() == [12.0, 15.0]
    assert local.problem.start.tolist() == [0.1, 0.2]


def test_a_kernel_matrix_is_cut_in_both_directions():
    gram = np.arange(36.0).reshape(6, 6)
    local = Subproblem(Problem(gram, y, 3), part([1, 4, 2]), Pairwise(), Seed(0)).extract()
    assert local.problem.X.tolist() == gram[np.ix_([1, 4, 2], [1, 4, 2])].tolist()
    assert local.view.apply(gram[:1]).tolist() == [[1.0, 4.0, 2.0]]


def test_a_view_is_fitted_on_the_parts_own_rows():
    local = cut(Part(np.array([0, 1, 2]), view=Chain((Columns(np.array([1])), Scaling("minmax")))))
    assert local.problem.X.tolist() == [[0.0], [0.5], [1.0]]
    assert local.view.apply(X[5:]).tolist() == [[2.5]]


@pytest.mark.parametrize("kind", ["none", "minmax", "standard", "robust"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_multiply_what_scaling_leaves(kind, form):
    rows, weights = form(np.random.default_rng(0).normal(size=(9, 3))), np.array([1.0, 0.5, 0.0])
    weighed = Scaling(kind, weights=weights).fit(rows).apply(rows)
    plain = rows if kind == "none" else Scaling(kind).fit(rows).apply(rows)
    if form is not np.asarray:
        weighed, plain = weighed.toarray(), plain.toarray()
    assert np.allclose(weighed, plain * weights)


@pytest.mark.parametrize("kind", ["minmax", "standard", "robust"])
def test_sparse_rows_are_seen_as_dense_ones_by_a_scaling_of_dense_ones(kind):
    rows = np.random.default_rng(0).normal(loc=3.0, size=(9, 3))
    rows[rows < 2.5] = 0.0
    fitted = Scaling(kind).fit(rows)
    assert np.array_equal(fitted.apply(sparse.csr_array(rows)), fitted.apply(rows))


@pytest.mark.parametrize("kind", ["minmax", "standard"])
def test_scaling_leaves_constant_features_at_zero(kind):
    rows = np.column_stack([np.full(5, 0.1), np.arange(5.0)])
    scaled = Scaling(kind).fit(rows).apply(rows)
    assert (scaled[:, 0] == 0).all()
    if kind == "minmax":
        assert scaled[:, 1].tolist() == [0, 0.25, 0.5, 0.75, 1]
    else:
        assert abs(scaled[:, 1].mean()) < 1e-15
        assert scaled[:, 1].std() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["minmax", "standard"])
def test_scaling_keeps_sparse_rows_sparse(kind):
    rows = sparse.csr_array(np.array([[0.0, -4.0], [2.0, 0.0], [0.0, 0.0]]))
    scaled = Scaling(kind).fit(rows).apply(rows)
    assert sparse.issparse(scaled)
    assert scaled.nnz == 2
    expected = (
        [[0, -1], [1, 0], [0, 0]] if kind == "minmax" else [[0, -(3**0.5)], [3**0.5, 0], [0, 0]]
    )
    np.testing.assert_allclose(scaled.toarray(), expected)


def test_a_linear_map_projects_dense_and_sparse_rows_alike():
    view = LinearMap(np.array([[1.0], [2.0]]), offset=np.array([1.0]))
    np.testing.assert_allclose(view.apply(X), view.apply(sparse.csr_array(X)))
    assert view.apply(X)[0].tolist() == [1.0]


def test_a_part_with_a_task_knows_the_whole_it_was_cut_from():
    problem = Problem(X, y, 3)
    inner = (
        Subproblem(problem, Part(np.arange(1, 6), task=Task((0,), (2,))), AnyLearner(), Seed(0))
        .extract()
        .problem
    )
    assert inner.whole is problem
    assert inner.rows.tolist() == [2, 3, 5]
    np.testing.assert_array_equal(problem.X[inner.rows], inner.X)
    assert attrs.evolve(inner, X=inner.X + 1).whole is None
    for other in (Part(np.arange(6)), Part(np.arange(6), Columns([0]), Task((0,), (1,)))):
        assert Subproblem(problem, other, AnyLearner(), Seed(0)).extract().problem.whole is None


def test_what_is_made_once_is_made_once_for_a_problem():
    problem, calls = Problem(X, y, 3), []
    made = [problem.once("total", lambda: calls.append(1) or X.sum()) for _ in range(2)]
    assert made == [66.0, 66.0]
    assert calls == [1]
    assert problem.with_child_seed(1).once("total", lambda: 0.0) == 66.0
    assert problem.subset(np.arange(2)).once("total", lambda: 0.0) == 0.0
    assert pickle.loads(pickle.dumps(problem)).once("total", lambda: 1.0) == 1.0


def test_an_unfitted_scaling_says_so():
    with pytest.raises(ValueError, match="a Scaling must be fitted before it is applied"):
        Scaling().apply(X)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("poly", {"gamma": 1.0, "coef0": 1e300}),
        ("poly", {"gamma": 1e300}),
        ("poly", {"gamma": 1.0, "degree": 300}),
        ("trbf", {"gamma": 1e300}),
    ],
)
def test_a_kernel_whose_values_overflow_is_refused(kind, settings):
    problem = Problem(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]), 2)
    with pytest.raises(DataError, match=rf"the {kind} kernel of these rows .* gamma, degree"):
        problem.kernel(kind, **settings)


def test_a_linear_kernel_of_huge_values_is_refused_and_others_are_not():
    problem = Problem(np.array([[1e60, 2.0], [3.0, 4.0]]), np.array([0, 1]), 2)
    with pytest.raises(DataError, match=r"linear kernel of these rows reaches 1e.120"):
        problem.kernel("linear", 1.0)
    for kind in ("rbf", "laplacian", "sigmoid", "precomputed"):
        assert problem.kernel(kind, 1e300).kind == kind


@pytest.mark.parametrize("kind", ["linear", "poly", "rbf", "laplacian", "sigmoid", "trbf"])
def test_no_kernel_value_exceeds_its_bound(kind):
    X = np.random.default_rng(0).normal(size=(30, 4)) * 3
    problem = Problem(X, np.arange(30) % 2, 2)
    kernel = problem.kernel(kind, 0.7, 3, -2.0)
    assert np.abs(kernel(X)).max() <= kernel.bound(X) * (1 + 1e-12)
