"""Models of one part, asked together, say what each says when it is asked alone."""

import attrs
import numpy as np
import pytest
from scipy import sparse

from dcsvm import Part, Problem, build
from dcsvm.base.feature_views import Columns
from dcsvm.base.member import Member
from dcsvm.base.models import Constant
from dcsvm.base.problem import Task
from dcsvm.base.seed import Seed
from dcsvm.base.subproblem import Subproblem
from dcsvm.model_selection import candidate_scoring

GRID = [{"C": C, "gamma": gamma} for gamma in (0.1, 3.0) for C in (1.0, 100.0)]


def cut_of(X, y, **settings):
    rows = np.arange(0, len(y), 2)
    learner = build("learner", "kernel_svm", **settings)
    part = Part(rows, view=Columns([2, 0]))
    return Subproblem(Problem(X, y, y.max() + 1), part, learner, Seed(0)).extract()


@pytest.mark.parametrize("kind", ["rbf", "linear"])
@pytest.mark.parametrize("scheme", ["pairs", "rest"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("few", [candidate_scoring.FEW_VALUES, 10])
def test_answers_are_those_of_each_model(kind, scheme, classes, form, few, monkeypatch):
    monkeypatch.setattr(candidate_scoring, "FEW_VALUES", few)
    random = np.random.default_rng(0)
    X, y = form(random.random((120, 3))), random.integers(0, classes, 120)
    cut = cut_of(X, y, kernel=kind, multiclass=scheme)
    asks = np.array([1, 5, 7, 90])
    asked = candidate_scoring.PartQueries(X, asks, cut)
    for _, model in cut.job.learner.fit_path(cut.problem, GRID):
        values, cost = asked.answer(model)
        alone, known = Member(model, cut.code, cut.view).answer(X[asks])
        np.testing.assert_allclose(values, alone, rtol=1e-9, atol=1e-9)
        assert attrs.asdict(cost) == attrs.asdict(known)


def test_a_part_of_one_class_looks_at_no_feature():
    X = np.random.default_rng(0).random((10, 3))
    cut = cut_of(X, np.array([0, 1] * 5))
    asked = candidate_scoring.PartQueries(X, np.array([3, 4]), cut)
    values, cost = asked.answer(Constant(-1.0))
    assert values.tolist() == [[-1.0], [-1.0]]
    assert cost.kernel_evaluations == 0
    assert "_gathered" not in vars(cut)


@pytest.mark.parametrize("kept", [0, 1, 4])
@pytest.mark.parametrize("shared", [0, candidate_scoring.SHARED_DISTANCES])
def test_parts_that_overlap_answer_as_each_model_does(kept, shared, monkeypatch):
    monkeypatch.setattr(candidate_scoring, "SHARED_GAMMAS", kept)
    monkeypatch.setattr(candidate_scoring, "SHARED_DISTANCES", shared)
    made = []
    distances = candidate_scoring.squared_distances
    monkeypatch.setattr(
        candidate_scoring, "squared_distances", lambda *rows: made.append(0) or distances(*rows)
    )
    random = np.random.default_rng(0)
    X, y, asks = random.random((90, 3)), np.arange(90) % 3, random.random((20, 3))
    problem, learner = Problem(X, y, 3), build("learner", "kernel_svm")
    for pair in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero(np.isin(y, pair))
        cut = Subproblem(
            problem, Part(rows, task=Task(pair[:1], pair[1:])), learner, Seed(0)
        ).extract()
        asked = candidate_scoring.PartQueries(asks, np.arange(20), cut)
        for _, model in learner.fit_path(cut.problem, GRID):
            values, cost = asked.answer(model)
            alone, known = Member(model, cut.code).answer(asks)
            np.testing.assert_allclose(values, alone, rtol=1e-9, atol=1e-9)
            assert attrs.asdict(cost) == attrs.asdict(known)
    assert len(made) == (1 if shared else 3)
