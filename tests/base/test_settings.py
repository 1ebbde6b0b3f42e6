"""Settings: declared once, checked in sentences."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.base import clone

from dcsvm import SettingError, component, setting
from dcsvm.base.component import Component, check_names, describe_allowed


@component
class Example(Component):
    name = "example"

    size: int = setting(5, at_least=2, help="how many")
    share: float = setting(0.5, above=0, at_most=1)
    mode: Literal["fast", "slow"] = setting("fast")
    width: Literal["scale"] | float = setting("scale", above=0)
    loud: bool = setting(False)
    kernel: Literal["rbf"] | Callable[..., Any] = setting("rbf")
    extra: dict[str, Any] | None = setting(None)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"size": "many"}, "example: size must be a whole number of at least 2, got 'many'"),
        ({"size": 1}, "example: size must be a whole number of at least 2, got 1"),
        ({"size": True}, "example: size must be a whole number of at least 2, got True"),
        ({"size": 2.5}, "example: size must be a whole number of at least 2, got 2.5"),
        ({"share": 0}, "example: share must be a number above 0 and at most 1, got 0"),
        (
            {"share": float("nan")},
            "example: share must be a number above 0 and at most 1, got nan",
        ),
        (
            {"width": float("inf")},
            "example: width must be 'scale' or a number above 0, got inf",
        ),
        (
            {"width": 10**400},
            f"example: width must be 'scale' or a number above 0, got 1{400 * '0'}",
        ),
        (
            {"size": 10**30},
            f"example: size must be a whole number of at least 2, got 1{30 * '0'}",
        ),
        ({"mode": "quick"}, "example: mode must be 'fast' or 'slow', got 'quick'"),
        ({"width": "wide"}, "example: width must be 'scale' or a number above 0, got 'wide'"),
        ({"loud": 1}, "example: loud must be true or false, got 1"),
        ({"kernel": "cubic"}, "example: kernel must be 'rbf' or a function, got 'cubic'"),
        ({"extra": [1]}, "example: extra must be a table or none, got [1]"),
    ],
)
def test_a_wrong_value_is_refused_in_a_sentence(settings, sentence):
    with pytest.raises(SettingError) as error:
        Example(**settings)
    assert str(error.value) == sentence


def test_setting_a_parameter_later_is_checked_too():
    with pytest.raises(SettingError):
        Example().set_params(size=0)


def test_numbers_of_numpy_are_numbers():
    assert Example(size=np.int64(3), share=np.float32(0.5), width=2).size == 3


def test_components_clone_and_show_only_what_was_changed():
    assert repr(clone(Example(size=9))) == "Example(size=9)"
    assert clone(Example(share=0.25)).get_params()["share"] == 0.25


def test_components_are_hashable_and_never_equal_to_others():
    first, second = Example(), Example()
    assert len({first, second}) == 2


def test_an_unknown_setting_is_refused_with_the_nearest_name():
    sentence = "example has no setting 'sise'; did you mean 'size'\\? available: extra, kernel, "
    with pytest.raises(SettingError, match=sentence):
        check_names(Example, ["sise"])


def test_what_a_setting_allows_is_said_in_words():
    assert describe_allowed(Example, "width") == "'scale' or a number above 0"
