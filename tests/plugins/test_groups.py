"""A column says the part; rare and unseen values go to a model of all rows."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from dcsvm import DivideAndConquerClassifier, SettingError, build
from dcsvm.cli import app

X, y = load_iris(return_X_y=True)
SHOP = np.where(np.arange(150) < 5, 7.0, np.arange(150) % 2)
WITH_SHOP = np.column_stack([SHOP, X])


def fitted(data=WITH_SHOP, **settings):
    groups = build("decomposer", "groups", **settings)
    return DivideAndConquerClassifier(groups, "krr", "route", keep_rows=True).fit(data, y)


def test_each_large_value_has_a_model_of_its_own():
    clf = fitted(column=0, smallest=20)
    even, odd, rest = clf.model_.committee.members
    assert (SHOP[even.rows] == 0).all()
    assert (SHOP[odd.rows] == 1).all()
    assert len(rest.rows) == 150
    alone = DivideAndConquerClassifier("whole", "krr", "route").fit(X[SHOP == 0], y[SHOP == 0])
    np.testing.assert_allclose(
        clf.decision_function(WITH_SHOP[SHOP == 0]), alone.decision_function(X[SHOP == 0])
    )


@pytest.mark.parametrize("value", [7.0, 0.5, -3.0, 99.0])
def test_rare_and_unseen_values_go_to_the_fallback(value):
    router = fitted(column=0, smallest=20).model_.committee.groups[0].router
    assert router.route(np.array([[value, 0, 0, 0, 0]])).member.tolist() == [2]


def test_a_column_may_be_named():
    frame = pd.DataFrame(WITH_SHOP, columns=["shop", "a", "b", "c", "d"])
    assert len(fitted(frame, column="shop").model_.committee.members) == 3
    for column in ("shp", 9):
        with pytest.raises(SettingError, match=r"no column .*; columns: 0 to 4, shop, a"):
            fitted(frame, column=column)


def test_the_column_may_be_kept_as_a_feature():
    assert fitted(column=0, hide=False).model_.committee.members[0].view is None


@pytest.mark.parametrize("sparse", [False, True])
def test_a_text_column_is_named_by_its_name_after_it_became_indicators(sparse):
    table = np.column_stack([X, *(value == SHOP for value in (0, 1, 7))]).astype(float)
    names = ["a", "b", "c", "d", "shop=north", "shop=south", "shop=east"]
    frame = pd.DataFrame(table, columns=names)
    clf = fitted(frame, column="shop", smallest=20)
    north, south, rest = clf.model_.committee.members
    assert (SHOP[north.rows] == 0).all()
    assert (SHOP[south.rows] == 1).all()
    assert len(rest.rows) == 150
    assert north.view.count_features(7) == 4
    router = clf.model_.committee.groups[0].router
    rows = np.array(
        [[0, 0, 0, 0, *marks] for marks in ((0, 1, 0), (1, 0, 0), (0, 0, 1), (0, 0, 0))]
    )
    rows = csr_array(rows.astype(float)) if sparse else rows
    assert router.route(rows).member.tolist() == [1, 0, 2, 2]
    assert router.trace(rows[[0]]) == ["feature 5 has a group of its own: member 1"]


def test_a_text_column_divides_in_a_recipe(tmp_path):
    lines = ["price,size,shop,good"]
    generator = np.random.default_rng(0)
    for price, size, shop in zip(
        *generator.normal(size=(2, 300)), generator.integers(3, size=300), strict=True
    ):
        good = (price > 0, size > 0, price < 0)[shop]
        lines.append(
            f"{price},{size},{('north', 'south', 'east')[shop]},{['no', 'yes'][int(good)]}"
        )
    (tmp_path / "shops.csv").write_text("\n".join(lines))
    recipe = {
        "data": {"path": str(tmp_path / "shops.csv"), "target": "good"},
        "decomposer": {"use": "groups", "column": "shop"},
        "learner": "linear_svm",
        "combiner": "route",
    }
    (tmp_path / "shops.toml").write_text(
        "".join(f"{key} = {inline(value)}\n" for key, value in recipe.items())
    )
    said = CliRunner().invoke(
        app, ["run", str(tmp_path / "shops.toml"), "--out", str(tmp_path / "run")]
    )
    assert said.exit_code == 0, said.output
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["n_parts"] == 4
    assert metrics["test_accuracy"] > 0.9


def inline(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)
