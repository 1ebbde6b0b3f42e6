"""Texts that do nothing in a terminal or a spreadsheet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcsvm.base.sanitized_text import escape_controls, quote_formula, unquote_formula, write_raw


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31mred", "\\x9b31mred"),
        ("over\rwritten", "over\\rwritten"),
        ("cod\u202egnp.exe", "cod\\u202egnp.exe"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("Zürich, 東京, 😀", "Zürich, 東京, 😀"),
    ],
)
def test_controls_are_spelled_out(text, shown):
    assert escape_controls(text) == shown


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|'/C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1"]
)
def test_formulas_are_quoted(text):
    assert quote_formula(text) == "'" + text


@pytest.mark.parametrize(
    "text", ["-1", "+1.5", "-.5", "-1e-05", "-inf", "-", "--", "", "a=1", "'quoted'", "12", "-1."]
)
def test_numbers_and_other_texts_stay(text):
    assert quote_formula(text) == text


@given(st.text("'=+-@\t\r\na1.", max_size=6))
def test_a_quoted_text_is_found_again(text):
    assert unquote_formula(quote_formula(text)) == text


def test_raw_texts_stay():
    with write_raw(True):
        assert escape_controls("\x1b") == "\x1b"
        assert quote_formula("=1") == "=1"
    assert escape_controls("\x1b") == "\\x1b"
