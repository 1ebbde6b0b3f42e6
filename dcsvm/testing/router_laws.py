"""Laws of the routers that decomposers return."""

import numpy as np
from scipy import sparse

from dcsvm.base.decomposer import REGIONS, Decomposer
from dcsvm.base.problem import Problem
from dcsvm.base.routing import Division, Router, Routing
from dcsvm.numeric.array_types import FloatArray, IntArray, Matrix
from dcsvm.testing.checks import expect, for_any, law
from dcsvm.testing.problems import as_sparse, new_rows, problems
from dcsvm.testing.trials import DivisionRecord, look_up

#: Why the laws of routers do not apply.
NO_ROUTER = 'its `yields` lacks "regions", so it has no router'


def _yields_regions(decomposer: Decomposer) -> bool:
    return REGIONS in decomposer.yields


@law("decomposer", when=_yields_regions, otherwise=NO_ROUTER)
@for_any(problems())
def sends_training_rows_home(decomposer: Decomposer, problem: Problem) -> None:
    """a training row's home at prediction is a member whose part held it, unless softly routed"""
    for group, router in _list_routed(look_up(decomposer, problem)):
        if router.soft:
            continue
        held = _find_learned_rows(group, problem)
        for row, member in _homes(router.route(problem.X)).items():
            expect(
                held[member, row] or not held[:, row].any(),
                f"row {row} was learned by member(s) {np.flatnonzero(held[:, row]).tolist()} "
                f"and is sent to member {member}",
            )


@law("decomposer", when=_yields_regions, otherwise=NO_ROUTER)
@for_any(problems())
def asks_a_member_that_learned_the_row(decomposer: Decomposer, problem: Problem) -> None:
    """of the members that are asked about a training row, one has learned it, if any did"""
    for group, router in _list_routed(look_up(decomposer, problem)):
        held = _find_learned_rows(group, problem)
        asked = _table(router.route(problem.X), problem.n_rows, group).T > 0
        lost = np.flatnonzero(held.any(axis=0) & ~(held & asked).any(axis=0))
        expect(
            not len(lost),
            f"row {lost[:1]} was learned by member(s) {np.flatnonzero(held[:, lost[:1]].any(1))} "
            f"and only {np.flatnonzero(asked[:, lost[:1]].any(1))} are asked about it",
        )


@law("decomposer", when=_yields_regions, otherwise=NO_ROUTER)
@for_any(problems())
def shares_out_the_weight_of_a_row(decomposer: Decomposer, problem: Problem) -> None:
    """a soft router's weights of a row sum to one"""
    for group, router in _list_routed(look_up(decomposer, problem)):
        if router.soft:
            X = new_rows(problem)
            total = _table(router.route(X), X.shape[0], group).sum(axis=1)
            worst = np.abs(total - 1.0).argmax()
            expect(
                np.allclose(total, 1.0),
                f"the weights of row {worst} sum to {total[worst]:.6g}; a router with soft = True "
                "gives weights that sum to one",
            )


@law("decomposer", when=_yields_regions, otherwise=NO_ROUTER)
@for_any(problems())
def sends_every_row_somewhere(decomposer: Decomposer, problem: Problem) -> None:
    """every row, also one never seen, is routed to members that exist, with finite weights"""
    for group, router in _list_routed(look_up(decomposer, problem)):
        X = new_rows(problem)
        n_rows, n_members = X.shape[0], len(group.members or ())
        routing = router.route(X)
        expect(
            len(routing.row) == len(routing.member),
            f"{len(routing.row)} rows are paired with {len(routing.member)} members",
        )
        expect(
            set(np.unique(routing.row)) == set(range(n_rows)),
            f"of {n_rows} rows, {len(np.unique(routing.row))} are routed",
        )
        expect(
            routing.member.min() >= 0 and routing.member.max() < n_members,
            f"members {routing.member.min()} to {routing.member.max()} of {n_members} are named",
        )
        if routing.weight is not None:
            mass = np.bincount(routing.row, routing.weight, minlength=n_rows)
            expect(
                np.isfinite(routing.weight).all() and (routing.weight >= 0).all() and mass.all(),
                "some weights are negative or not finite, or a row has no weight at all",
            )
        for word in ("hyperplanes", "kernel_evaluations"):
            counts = getattr(routing, word)
            if counts is not None:
                expect(
                    counts.shape == (n_rows,),
                    f"{word.replace('_', ' ')} are counted with shape {counts.shape}",
                )


@law("decomposer", when=_yields_regions, otherwise=NO_ROUTER)
@for_any(problems(), examples=6)
def routes_one_row_as_many(decomposer: Decomposer, problem: Problem) -> None:
    """a row asked alone is routed as in a batch"""
    for group, router in _list_routed(look_up(decomposer, problem)):
        X = new_rows(problem, count=8)
        together = _table(router.route(X), 8, group)
        alone = np.vstack([_table(router.route(X[[row]]), 1, group) for row in range(8)])
        _expect_same(together, alone, "a batch", "one row at a time")


@law("decomposer", when=_yields_regions, otherwise=NO_ROUTER)
@for_any(problems(sparse_too=False), examples=6)
def routes_sparse_rows_as_dense(decomposer: Decomposer, problem: Problem) -> None:
    """a CSR row is routed as the same row is when dense"""
    for group, router in _list_routed(look_up(decomposer, problem)):
        X = new_rows(problem)
        dense, csr = router.route(X), router.route(as_sparse(X))
        _expect_same(_table(dense, len(X), group), _table(csr, len(X), group), "dense", "CSR rows")


@law("decomposer", when=_yields_regions, otherwise=NO_ROUTER)
@for_any(problems(), examples=6)
def explains_a_route(decomposer: Decomposer, problem: Problem) -> None:
    """a router's trace is a list of sentences, and asking for it changes nothing"""
    for _, router in _list_routed(look_up(decomposer, problem)):
        row: Matrix = problem.X[[0]]
        before = row.copy()
        sentences = router.trace(row)
        expect(
            isinstance(sentences, list) and all(isinstance(each, str) for each in sentences),
            f"trace gave {sentences!r}",
        )
        kept = (row != before).nnz == 0 if sparse.issparse(row) else (row == before).all()
        expect(kept, "trace wrote to the row")


def _list_routed(trial: DivisionRecord) -> list[tuple[Division, Router]]:
    return [(group, group.router) for group in trial.groups if group.router is not None]


def _find_learned_rows(group: Division, problem: Problem) -> IntArray:
    """Return whether a member (first axis) was trained on a row (second axis)."""
    members = list(group.members or ())
    held = np.zeros((len(members), problem.n_rows), dtype=bool)
    for number, member in enumerate(members):
        if member.part is not None:
            held[number, member.part.rows] = True
    return held


def _homes(routing: Routing) -> dict[int, int]:
    """Return the member with the largest weight for each row."""
    weight = np.ones(len(routing.row)) if routing.weight is None else routing.weight
    order = np.argsort(weight, kind="stable")
    return dict(zip(routing.row[order].tolist(), routing.member[order].tolist(), strict=True))


def _table(routing: Routing, n_rows: int, group: Division) -> FloatArray:
    weight = np.ones(len(routing.row)) if routing.weight is None else routing.weight
    table = np.zeros((n_rows, len(group.members or ())))
    np.add.at(table, (routing.row, routing.member), weight)
    return table


def _expect_same(one: FloatArray, other: FloatArray, how: str, otherwise: str) -> None:
    differ = np.flatnonzero(~np.isclose(one, other, rtol=1e-9, atol=1e-12).all(axis=1))
    if len(differ):
        row = differ[0]
        expect(
            False,
            f"row {row} goes to {_name_members(one[row])} in {how} "
            f"and to {_name_members(other[row])} in {otherwise}",
        )


def _name_members(weights: FloatArray) -> str:
    """Name the members that a row goes to, with weights if there are several."""
    asked = np.flatnonzero(weights)
    if len(asked) < 2:
        return f"member {asked[0]}" if len(asked) else "no member"
    return "members " + ", ".join(f"{member} ({weights[member]:.4g})" for member in asked[:5])
