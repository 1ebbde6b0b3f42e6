"""Fields and numbers of text tables: two implementations, and Python's own as judge."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcsvm.numeric import native
from dcsvm.numeric.text_fields import (
    AFTER_QUOTE,
    NOTHING,
    NUMBER,
    OPEN_QUOTE,
    OTHER,
    WRONG_COUNT,
    Fault,
    split_rows,
)

compiled = pytest.mark.skipif(
    native.implementation() != "native", reason="the compiled library is not built"
)


def rows_of(text, columns, last=True, delimiter=b","):
    cells, consumed, lines, fault = split_rows(
        text, last=last, delimiter=delimiter, columns=columns
    )
    rows = list(zip(*(cells.texts(j) for j in range(columns)), strict=True))
    return rows, cells.lines.tolist(), consumed, lines, fault


def column(texts):
    return split_rows(
        "".join(f"{text},\n" for text in texts).encode(), last=True, delimiter=b",", columns=2
    )[0]


@pytest.fixture(params=["native", "numpy"])
def either(request):
    if request.param == "native":
        if native.implementation() != "native":
            pytest.skip("the compiled library is not built")
        yield
    else:
        with native.numpy_only():
            yield


def test_fields_are_found_whatever_ends_a_line(either):
    for end in (b"\n", b"\r\n", b"\r"):
        text = end.join([b"a,b", b" 1 ,2", b"", b'"x, ""y""",', b""])
        rows, lines, consumed, n_lines, fault = rows_of(text, 2)
        assert rows == [("a", "b"), ("1", "2"), ('x, "y"', "")]
        assert lines == [0, 1, 3]
        assert (consumed, n_lines, fault) == (len(text), 4, None)


def test_a_quoted_field_may_hold_line_ends_and_later_lines_are_counted_right(either):
    rows, lines, *_ = rows_of(b'"a\nb\r\nc",1\nd,2\n', 2)
    assert rows == [("a\nb\r\nc", "1"), ("d", "2")]
    assert lines == [0, 3]


def test_an_unfinished_row_is_left_for_later(either):
    for text in (b"a,b\n1,", b"a,b\n1,2", b'a,b\n"1\n', b'a,b\n1,"2"', b"a,b\n1,2\r"):
        rows, _, consumed, n_lines, fault = rows_of(text, 2, last=False)
        assert (rows, consumed, n_lines, fault) == ([("a", "b")], 4, 1, None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"a,b\n\n1,2,3\n", Fault(WRONG_COUNT, 2, 3)),
        (b"a,b\n1\n", Fault(WRONG_COUNT, 1, 1)),
        (b'a,b\n1,"2"x\n', Fault(AFTER_QUOTE, 1, 0)),
        (b'a,b\n1,2\n1,"2\n\n', Fault(OPEN_QUOTE, 2, 0)),
    ],
)
def test_what_is_wrong_with_a_row(either, text, fault):
    assert rows_of(text, 2)[-1] == fault


def test_a_field_is_a_number_nothing_or_for_others_to_judge(either):
    texts = [
        "1",
        "-2.5e3",
        "",
        "x",
        "inf",
        "nan",
        "1e999",
        ".5",
        "5.",
        "1_0",
        "+7",
        ".",
        "1e",
        "-",
    ]
    values, kinds = column(texts).numbers(0)
    known = {0: 1.0, 1: -2500.0, 7: 0.5, 8: 5.0, 10: 7.0}
    assert kinds.tolist() == [
        NUMBER if place in known else NOTHING if text == "" else OTHER
        for place, text in enumerate(texts)
    ]
    assert {place: values[place] for place in known} == known
    assert np.isnan(np.delete(values, list(known))).all()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_numbers_are_rounded_as_python_rounds_them(numbers):
    forms = [repr(number) for number in numbers] + [f"{number:.19e}" for number in numbers]
    values, kinds = column(forms).numbers(0)
    assert (kinds == NUMBER).all()
    assert values.tolist() == [float(form) for form in forms]


@pytest.mark.slow
@given(st.lists(st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{1,25})?(e-?[0-9]{1,2})?", fullmatch=True)))
def test_any_digits_are_rounded_as_python_rounds_them(forms):
    values, kinds = column(forms).numbers(0)
    assert (kinds == NUMBER).all()
    assert values.tolist() == [float(form) for form in forms]


def test_different_texts_are_numbered_in_the_order_of_their_appearance(either):
    codes, firsts = column(["b", "a", "b", "", "a", "c"]).distinct(0)
    assert codes.tolist() == [0, 1, 0, 2, 1, 3]
    assert firsts == [0, 1, 3, 5]


fields = st.text(alphabet=' ab1.,"\n\r\t-é', max_size=4)


@compiled
@given(st.text(alphabet='ab1.5e-, "\n\r\té', max_size=60), st.integers(1, 3), st.booleans())
def test_both_implementations_agree_on_any_text(text, columns, last):
    compiled = rows_of(text.encode(), columns, last)
    with native.numpy_only():
        assert rows_of(text.encode(), columns, last) == compiled


@given(st.lists(st.lists(fields, min_size=2, max_size=2), min_size=1, max_size=6))
def test_what_the_csv_module_writes_is_read_again(table):
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(table)
    rows, _, _, _, fault = rows_of(written.getvalue().encode(), 2)
    assert fault is None
    assert rows == [
        tuple(re.sub(r"^[ \t]+|[ \t]+\Z", "", field) for field in row) for row in table
    ]
