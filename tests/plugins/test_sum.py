"""Several decomposers side by side; the class lives in the core, behind the operator `+`."""

from pathlib import Path

import numpy as np
import pytest

from dcsvm import DivideAndConquerClassifier, SettingError, build
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import parse
from dcsvm.testing import easy_problem
from dcsvm.testing.trials import try_out
from dcsvm.toolbox import Sum


def test_adding_makes_one_flat_sum():
    whole, chunks, tree = (build("decomposer", name) for name in ("whole", "chunks", "tree"))
    assert (whole + chunks + tree).summands == (whole, chunks, tree)
    assert (whole + (chunks + tree)).summands == (whole, chunks, tree)


def test_it_yields_the_words_of_all_and_groups():
    both = build("decomposer", "tree") + build("decomposer", "chunks")
    assert both.yields == {"groups", "regions", "subsets"}


def test_it_covers_what_all_of_them_cover():
    chunks, bootstrap = build("decomposer", "chunks"), build("decomposer", "bootstrap")
    assert (chunks + chunks).covers is True
    assert (chunks + bootstrap).covers is False


def test_each_summand_has_its_own_seed_router_and_group():
    chunks, tree = build("decomposer", "chunks", parts=3), build("decomposer", "tree", ceiling=20)
    trial = try_out(Sum((chunks, chunks, tree)), easy_problem(gap=1.0))
    first, second, third = trial.groups
    assert [len(first.members), len(second.members)] == [3, 3]
    assert first.router is None
    assert third.router is not None
    rows = [[member.part.rows.tolist() for member in group.members] for group in (first, second)]
    assert rows[0] != rows[1]


def test_its_mean_is_the_mean_over_all_members():
    problem = easy_problem(2, gap=1.0)
    both = build("decomposer", "whole") + build("decomposer", "chunks", parts=2)
    clf = DivideAndConquerClassifier(both, "krr", "mean", random_state=0).fit(problem.X, problem.y)
    values = [member.answer(problem.X)[0][:, 0] for member in clf.model_.committee.members]
    np.testing.assert_allclose(clf.decision_function(problem.X), np.mean(values, axis=0))


def test_a_sum_of_nothing_is_refused():
    clf = DivideAndConquerClassifier(Sum(()), "kernel_svm", "mean")
    with pytest.raises(SettingError, match="sum: summands must name at least one decomposer"):
        clf.fit([[0.0], [1.0]], [0, 1])


def test_one_decomposer_is_no_list_in_python_and_a_list_of_one_in_a_recipe():
    with pytest.raises(SettingError, match="summands must be a list of decomposers or their name"):
        build("decomposer", "sum", summands="chunks")
    text = 'data = { use = "iris" }\nlearner = "kernel_svm"\ncombiner = "mean"\n'
    for given in ('"chunks"', '{ use = "chunks" }', '["chunks"]'):
        whole = f"{text}[decomposer]\nuse = 'sum'\nsummands = {given}\n"
        recipe = parse(whole, "a.toml", Path(), default_registry())
        (one,) = recipe.candidates[0].classifier.decomposer.summands
        assert one.name == "chunks"
