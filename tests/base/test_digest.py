"""Digests: equal for equal values, different for anything that matters."""

import attrs
import numpy as np
import pytest
from fakes import Centroids, Deal
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dcsvm import DivideAndConquerClassifier, Task
from dcsvm.base.digest import digest
from dcsvm.base.errors import ContractError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@given(values, values)
def test_digests_agree_exactly_when_values_do(first, second):
    same = repr(_ordered(first)) == repr(_ordered(second))
    assert (digest(first) == digest(second)) == same


def _ordered(value):
    if isinstance(value, dict):
        return [(key, _ordered(value[key])) for key in sorted(value)]
    return [_ordered(each) for each in value] if isinstance(value, list) else value


def test_arrays_count_by_their_values_type_and_shape():
    array = np.arange(6.0)
    assert digest(array) == digest(array[::-1][::-1])
    assert digest(array) == digest(np.asfortranarray(array))
    assert len({digest(a) for a in (array, array.reshape(2, 3), array.astype(int), -array)}) == 4


def test_sparse_matrices_and_tasks_count_by_their_contents():
    eye = sparse.csr_array(np.eye(3))
    assert digest(eye) == digest(eye.copy())
    assert digest(eye) != digest(sparse.csr_array(np.eye(4)))
    assert digest(Task((1,), (2,))) != digest(Task((2,), (1,)))


def test_components_count_by_their_settings_at_any_depth():
    def nested(parts):
        return DivideAndConquerClassifier(Deal(2), DivideAndConquerClassifier(Deal(parts)))

    assert digest(nested(3)) == digest(nested(3))
    assert digest(nested(3)) != digest(nested(4))
    assert digest(Centroids()) != digest(Deal())


def test_fields_that_are_not_stored_do_not_count():
    @attrs.frozen
    class Noted:
        value: int
        note: str = attrs.field(default="", metadata={"stored": False})

    assert digest(Noted(1, "a")) == digest(Noted(1, "b")) != digest(Noted(2, "a"))


def test_what_has_no_digest_says_so():
    with pytest.raises(ContractError, match="a set has no digest"):
        digest({1, 2})
