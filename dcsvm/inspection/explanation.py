"""Explanation of one prediction: the queried members and the largest contributions, as text."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import attrs

#: Number of questions that are printed.
PRINTED = 12


@attrs.frozen
class Weight:
    """The contribution of one training row to a member's answer, positive for the winning side.

    `row` is its index among the training rows of nonzero weight; `label` is its class, if the
    member is an SVM of several classes.
    """

    row: int
    contribution: float
    coefficient: float
    kernel: float
    label: Any = None


@attrs.frozen
class Decision:
    """The decision value for the winner against the loser, and its terms.

    `value` is the sum of the heaviest rows, the `n_others` other support vectors (`others`) and
    the `bias`. In votes of several classes it may be negative.
    """

    value: float
    others: float
    n_others: int
    bias: float


@attrs.frozen
class Question:
    """The answer of one member: the winning and the losing classes, and the margin.

    `margin` is the difference of their scores, which are shares of votes if the member has an SVM
    for each pair of classes (`votes`). `decision` is the decision value of an SVM for the two
    classes, `inside` the explanation of a member that is a strategy itself.
    """

    member: int
    winners: tuple[Any, ...]
    losers: tuple[Any, ...]
    margin: float
    heaviest: tuple[Weight, ...] = ()
    inside: Explanation | None = None
    decision: Decision | None = None
    votes: bool = False


@attrs.frozen
class Explanation:
    """Why a row got its label; `print` it, or read its fields.

    `answer` is the label, and `scores` are those of the labels. `route` is the trace of the
    routers, in the units of the data if features were scaled one by one, `reasons` that of the
    combiner, and `questions` are every member that was asked, in order. `picture` is an SVG of the
    combiner, if it draws one; notebooks show it.
    """

    answer: Any
    scores: dict[Any, float]
    route: tuple[str, ...]
    reasons: tuple[str, ...]
    questions: tuple[Question, ...]
    picture: str = attrs.field(default="", repr=False)

    def _repr_html_(self) -> str:
        return f"{self.picture}<pre>{html.escape(str(self))}</pre>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the explanation line by line."""
        best = sorted(self.scores, key=lambda label: -self.scores[label])[:3]
        listed = ", ".join(f"{label!r} {self.scores[label]:.4g}" for label in best)
        yield f"the answer is {self.answer!r} (best scores: {listed})"
        yield from (f"  {sentence}" for sentence in (*self.route, *self.reasons))
        shown = self.questions
        if len(shown) > PRINTED:
            about = [each for each in shown if self.answer in (*each.winners, *each.losers)]
            shown = tuple(sorted(about, key=lambda each: each.margin)[:PRINTED])
            yield f"  {len(self.questions)} members asked, the narrowest about {self.answer!r}:"
        for question in shown:
            yield from (f"  {line}" for line in _describe(question))


def _describe(question: Question) -> Iterator[str]:
    winners, losers = (
        " or ".join(map(repr, labels)) or "nothing"
        for labels in (question.winners, question.losers)
    )
    decision = question.decision
    by = f"{question.margin:.4g}"
    if question.votes and decision is not None:
        by += f" in votes, the decision between the two is {decision.value:+.4g}"
    yield f"member {question.member}: {winners} over {losers} by {by}"
    for weight in question.heaviest:
        label = "" if weight.label is None else f" ({weight.label!r})"
        yield (
            f"  training row {weight.row}{label}: {weight.contribution:+.4g} "
            f"(coefficient {weight.coefficient:.4g} x kernel {weight.kernel:.4g})"
        )
    if decision is not None:
        if decision.n_others:
            word = "other" if decision.n_others == 1 else "others"
            yield f"  and {decision.n_others} {word}: {decision.others:+.4g}"
        yield f"  bias: {decision.bias:+.4g}"
    if question.inside is not None:
        yield from (f"  {line}" for line in question.inside.lines())
