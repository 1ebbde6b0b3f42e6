"""Pictures of trees as outlines."""

import re

import numpy as np
from html_page import Page

from dcsvm.drawing import Sketch, class_colour, draw_tree


def chain(n_leaves: int) -> Sketch:
    """A tree that cuts off one leaf after the other; leaf i holds i + 1 rows of class i % 2."""
    inner = n_leaves - 1
    children = [(inner + i, i + 1) for i in range(inner - 1)] + [(2 * inner - 1, 2 * inner)]
    children += [()] * n_leaves
    counts = np.zeros((inner + n_leaves, 2), dtype=int)
    for leaf in range(n_leaves):
        counts[inner + leaf, leaf % 2] = leaf + 1
    wrong = np.zeros(len(counts), dtype=int)
    wrong[-1] = 1
    questions = [f"x < {i} & more" for i in range(inner)] + [""] * n_leaves
    return Sketch(children, questions, counts, counts.sum(axis=1), wrong)


def lines(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def test_every_node_of_a_small_tree_has_a_line() -> None:
    said = lines(draw_tree(chain(3), ["even", "odd"]))
    assert said == [
        "x &lt; 0 &amp; more",
        "yes: 1 row, all even",
        "no: x &lt; 1 &amp; more",
        "yes: 2 rows, all odd",
        "no: 3 rows, all even; 1 of 3 wrong",
    ]


def test_a_large_tree_is_folded_to_what_can_be_taken_in() -> None:
    svg = draw_tree(chain(200), ["even", "odd"])
    said = lines(svg)
    assert len(said) == 2 * 60 - 1
    folded = [line for line in said if "leaves" in line]
    assert len(folded) == 1
    shown = sum(int(n.replace(",", "")) for n in re.findall(r"([\d,]+) rows?\b", " ".join(said)))
    assert shown == 200 * 201 // 2
    assert len(svg) < 60_000


def test_a_tree_of_one_leaf_is_a_line() -> None:
    sketch = Sketch([()], [""], np.array([[3, 1]]), np.array([0]), np.array([0]))
    assert lines(draw_tree(sketch, ["a", "b"])) == ["4 rows, 75% a"]


def test_a_leaf_without_rows_is_drawn_too() -> None:
    sketch = Sketch([()], [""], np.array([[0, 0]]), np.array([0]), np.array([0]))
    assert lines(draw_tree(sketch, ["a", "b"])) == ["0 rows"]


def test_nearly_all_is_not_all() -> None:
    sketch = Sketch([()], [""], np.array([[9999, 1]]), np.array([0]), np.array([0]))
    assert lines(draw_tree(sketch, ["a", "b"])) == ["10,000 rows, 99% a"]


def test_more_than_two_branches_are_numbered() -> None:
    counts = np.array([[0], [1], [2], [3]])
    none = np.zeros(4, dtype=int)
    sketch = Sketch([(1, 2, 3), (), (), ()], ["nearest centre", "", "", ""], counts, none, none)
    assert [line.partition(":")[0] for line in lines(draw_tree(sketch, ["a"]))] == [
        *("nearest centre", "1", "2", "3"),
    ]


def test_the_picture_is_whole_and_its_colours_can_be_changed() -> None:
    page = Page(draw_tree(chain(5), ["<b>", "$"]))
    assert page.mistakes == []
    assert "<b>" in page.text
    assert {"svg", "path", "rect", "text"} == {tag for tag, _ in page.elements}
    styles = {rect["style"] for rect in page.attributes("rect")}
    assert styles == {f"fill: {class_colour(0)}", f"fill: {class_colour(1)}"}
    assert class_colour(10) == class_colour(0)
