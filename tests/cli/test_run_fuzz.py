"""Pipelines that nobody would choose, on small data: trained, or refused in sentences.

`DCSVM_FUZZ=10000 python -m pytest tests -k fuzz` tries that many.
"""

import inspect
import typing
import warnings
from pathlib import Path

import numpy as np
import pytest
from fuzzing import fuzzed, in_time
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import all_estimators

from dcsvm.base.component import check_value, options_of, settings_of, type_hints
from dcsvm.base.errors import ContractError, DcsvmError, SettingError
from dcsvm.drive.registry import default_registry
from dcsvm.experiments.recipe import parse, to_toml
from dcsvm.experiments.run.runner import run_recipe

NUMBERS = {
    int: [0, 1, 2, 3],
    float: [0.0, 1e-300, 1e-9, 0.01, 0.3, 1.0, 2.5, 1e3, 1e12, 1e300, -1.0, float("inf")],
    bool: [True, False],
    str: ["x", "rbf", "tree", ""],
}
#: A tolerance that no solver reaches asks for all its passes, and a bootstrap of a thousand times
#: the rows is that large: long, and rightly so.
PATIENT = {"tol", "max_iterations", "size"}
CLASSIFIERS = dict(sorted(all_estimators(type_filter="classifier")))
#: Settings of scikit-learn's ensembles: thousands of parts, each a forest, would be long, too.
SMALL = {"n_estimators": 1, "max_iter": 3}
DATA = [
    {"use": "two_moons", "rows": 30},
    {"use": "ringnorm", "rows": 24, "scale": "none"},
    {"use": "iris", "scale": "robust"},
    {"path": "rare.csv", "target": "kind", "missing": "impute"},
    {"path": "rare.csv", "target": "kind", "missing": "mark", "encode": "codes"},
]
#: A class of one row, a constant column, a large value, a category, a missing one.
RARE = "a,b,same,colour,kind\n" + "".join(
    f"{i},{'' if i == 7 else i * i % 11},5,{('red', 'blue', '')[i % 3]},"
    f"{'rare' if i == 20 else 'xyz'[i % 3]}\n"
    for i in range(40)
).replace("\n9,", "\n1e12,")


def values(cls, name):
    """Values for one setting: allowed ones, and a few that are not."""
    field = settings_of(cls)[name]
    if field.metadata["kind"]:
        one = components(field.metadata["kind"])
        return st.lists(one, max_size=2) if name.endswith("s") else one
    found = []
    for option in options_of(type_hints(cls).get(name, typing.Any)):
        if typing.get_origin(option) is typing.Literal:
            found += typing.get_args(option)
        found += NUMBERS.get(option, [])
    fitting = [value for value in found if allows(cls, name, value)]
    odd = st.integers(0, 19).flatmap(lambda one: st.sampled_from(found if one == 0 else fitting))
    return odd if fitting else st.just([])


def allows(cls, name, value):
    try:
        check_value(cls, name, value)
    except SettingError:
        return False
    return True


@st.composite
def components(draw, kind, depth=0):
    """A component's table: settings drawn one by one; a learner may be a pipeline."""
    if kind == "learner" and depth < 2 and draw(st.integers(0, 5)) == 0:
        kinds = ("decomposer", "learner", "combiner")
        return {each: draw(components(each, depth + 1)) for each in kinds}
    offer = draw(st.sampled_from(default_registry().of_kind(kind)))
    table = {"use": offer.name}
    if offer.name == "sklearn":
        name = draw(st.sampled_from(list(CLASSIFIERS)))
        known = inspect.signature(CLASSIFIERS[name]).parameters
        small = {key: value for key, value in SMALL.items() if key in known}
        return {**table, "classifier": name, "settings": small}
    for name, field in settings_of(offer.what).items():
        wanted = field.metadata["kind"] or draw(st.integers(0, 2)) == 0
        if wanted and name not in PATIENT:
            table[name] = draw(values(offer.what, name))
    return table


RECIPES = st.fixed_dictionaries(
    {kind: components(kind) for kind in ("decomposer", "learner", "combiner")}
    | {"data": st.sampled_from(DATA)}
)


@pytest.mark.slow
@fuzzed(100)
@given(recipe=RECIPES, seed=st.integers(0, 3))
def test_any_pipeline_is_trained_or_refused(tmp_path_factory, recipe, seed):
    folder = tmp_path_factory.getbasetemp()
    (folder / "rare.csv").write_text(RARE)
    with warnings.catch_warnings(), in_time():
        warnings.simplefilter("ignore")  # what scikit-learn has to say of odd values
        try:
            checked = parse(to_toml(recipe), "fuzzed.toml", Path(folder), default_registry())
            result = run_recipe(checked, seed=seed)
        except ContractError:
            raise  # a bug of a component, however well it is told
        except DcsvmError:
            return
    assert 0.0 <= result.metrics()["test_accuracy"] <= 1.0
    assert len(result.trained[0].answers) == result.n_test
    assert np.isin(result.trained[0].answers, result.model.classes_).all()
