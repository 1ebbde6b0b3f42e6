"""A column says the part; rare and unseen values go to a model of all rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from dcsvm import DivideAndConquerClassifier, SettingError, build

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
