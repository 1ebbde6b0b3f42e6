"""Rows that each ask a member of their own: the same answers and the same count as one by one."""

import numpy as np
import pytest
from fakes import Average, Machine, Pairs, blobs
from scipy import sparse

from dcsvm import Committee, DivideAndConquerClassifier, Member
from dcsvm.drive.committee.committee import Group
from dcsvm.drive.committee.shared_kernels import pool_points
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Hyperplanes, KernelExpansion
from dcsvm_plugins.combiners.dag.row_queries import RowQueries


def members_of_two_kinds(X):
    """Expansions over shared points, hyperplanes, and one expansion that stands alone."""
    generator = np.random.default_rng(0)
    code = np.array([[1, -1]], dtype=np.int8)
    kernels = [Kernel("rbf", gamma=0.3)] * 6 + [Kernel("rbf", gamma=2.0)]
    expansions = []
    for kernel in kernels:
        kept = np.sort(generator.permutation(X.shape[0])[:20])
        model = KernelExpansion(
            X[kept], generator.normal(size=(20, 1)), generator.normal(size=1), kernel, kept
        )
        expansions.append(Member(model, code, support=kept))
    planes = [
        Member(Hyperplanes(generator.normal(size=(2, 1)), generator.normal(size=1)), code)
        for _ in range(5)
    ]
    for number, model in pool_points(expansions).items():
        expansions[number] = expansions[number].with_model(model)
    return (*expansions, *planes)


@pytest.fixture(params=["dense", "sparse"])
def rows(request):
    X = blobs(40)[0]
    return X if request.param == "dense" else sparse.csr_matrix(X)


def test_every_row_hears_its_own_member(rows) -> None:
    members = members_of_two_kinds(rows)
    committee = Committee(members, (Group(0, len(members)),), 2).with_counter(40)
    each = RowQueries.of(committee)
    assert [type(stack).__name__ for stack in each.stacks] == ["Expansions", "Planes"]
    assert np.flatnonzero(each.stack_of < 0).tolist() == [6]
    generator = np.random.default_rng(1)
    (block,) = each.blocks(committee, rows)
    for _ in range(3):
        asked = generator.integers(len(members), size=40)
        said = block.values(asked)
        alone = [members[a].answer(rows[[row]])[0][0, 0] for row, a in enumerate(asked)]
        np.testing.assert_allclose(said, alone, atol=1e-12)


def test_a_member_that_many_rows_ask_is_asked_once(rows) -> None:
    members = members_of_two_kinds(rows)
    committee = Committee(members, (Group(0, len(members)),), 2).with_counter(40)
    (block,) = RowQueries.of(committee).blocks(committee, rows)
    block.values(np.full(40, 2))
    assert len(committee.cost_counter.member_sets) == 1
    assert [committee.cost_counter.members_of(row) for row in (0, 39)] == [[2], [2]]


def test_what_was_asked_is_counted_row_by_row(rows) -> None:
    members = members_of_two_kinds(rows)
    committee = Committee(members, (Group(0, len(members)),), 2).with_counter(40)
    (block,) = RowQueries.of(committee).blocks(committee, rows)
    first = np.arange(40) % len(members)
    second = (first + 3) % len(members)
    block.values(first)
    block.values(second)
    cost = committee.cost_counter.cost(members)
    for row in range(40):
        asked = [first[row], second[row]]
        assert committee.cost_counter.members_of(row) == asked
        assert cost.hyperplanes[row] == sum(number > 6 for number in asked)
        supports = [members[n].support for n in asked if n < 6]
        shared = len(np.unique(np.concatenate([[-1], *supports]))) - 1
        assert cost.unique_kernel_evaluations[row] == shared + 20 * asked.count(6)


def test_all_pairs_of_classes_are_answered_from_sums_by_class() -> None:
    X, y = blobs(60, k=5, seed=2)
    learner = Machine(kernel="rbf", gamma=0.2, C=5.0)
    clf = DivideAndConquerClassifier(Pairs(), learner, Average()).fit(X, y)
    committee = clf.model_.committee.with_counter(60)
    each = RowQueries.of(committee)
    assert [type(stack).__name__ for stack in each.stacks] == ["Pairs"]
    (block,) = each.blocks(committee, X)
    asked = np.random.default_rng(0).integers(10, size=60)
    alone = [committee.members[a].answer(X[[row]])[0][0, 0] for row, a in enumerate(asked)]
    np.testing.assert_allclose(block.values(asked), alone, atol=1e-9)
    supports = [len(committee.members[a].support) for a in asked]
    assert committee.cost_counter.cost(committee.members).kernel_evaluations.tolist() == supports
