"""Why a row got its answer: the way it went, whom it asked, and what weighed most."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from dcsvm.classifier import DivideAndConquerClassifier, checked_rows
from dcsvm.committee import Committee
from dcsvm.composite import Composite, floored
from dcsvm.errors import DataError
from dcsvm.layout import Column
from dcsvm.member import Member
from dcsvm.models import KernelExpansion
from dcsvm.numeric import FloatArray, IntArray, Matrix
from dcsvm.preparation import Preparation

#: Questions that are printed; all of them are in the data.
PRINTED = 12


@attrs.frozen
class Weight:
    """What one training row added to a member's answer, positive for the winning side.

    `row` is its place among the rows the classifier learned from, those of weight zero left out.
    """

    row: int
    contribution: float
    coefficient: float
    kernel: float


@attrs.frozen
class Question:
    """What one member was asked: which classes against which, who won, by how much.

    `inside` is the explanation of a member that is a pipeline itself.
    """

    member: int
    winners: tuple[Any, ...]
    losers: tuple[Any, ...]
    margin: float
    heaviest: tuple[Weight, ...] = ()
    inside: Explanation | None = None


@attrs.frozen
class Explanation:
    """Why a row got its answer; `print` it, or read its fields.

    Parameters
    ----------
    answer : label
    scores : mapping from label to score
    route : tuple of str
        What the routers say of the row's way, in features as they see them: where the model
        rescales its rows, values are rescaled ones.
    reasons : tuple of str
        What the combiner says of how it decided.
    questions : tuple of Question
        Every member that was asked, in that order.
    picture : str
        The row's way as SVG, where the combiner draws one, or that of the only member asked;
        notebooks show it.
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
        """The explanation line by line."""
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
            yield from (f"  {line}" for line in _told(question))


def explain(classifier: DivideAndConquerClassifier, x: Any, heaviest: int = 3) -> Explanation:
    """Say why a fitted classifier answers a row as it does.

    Parameters
    ----------
    classifier : fitted DivideAndConquerClassifier
    x : (d,) or (1, d)
        One row. Features go by their names, where the rows that were learned had some.
    heaviest : int
        How many support vectors to name for each member that was asked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag").fit(X, y)
    >>> explanation = explain(clf, X[0])
    >>> explanation.answer, [question.losers for question in explanation.questions]
    (0, [(2,), (1,)])
    """
    if not hasattr(x, "toarray") and np.ndim(x) == 1:
        x = x.to_frame().T if hasattr(x, "iloc") else np.asarray(x)[None]
    x = checked_rows(classifier, x)
    if x.shape[0] != 1:
        raise DataError(f"explain takes one row at a time, not {x.shape[0]}")
    names = _Names.of(classifier)
    return _explained(classifier.model_, x, names, lambda rows: rows, heaviest)


@attrs.frozen
class _Names:
    """What a committee's classes and features are called, where features have names.

    `columns` are those of the table that the rows come from: a preparation that was loaded from a
    file no longer knows them itself.
    """

    classes: list[Any]
    features: tuple[str, ...] | None
    columns: tuple[Column, ...] = ()

    @classmethod
    def of(cls, classifier: DivideAndConquerClassifier) -> _Names:
        layout = getattr(classifier.decomposer, "layout", None)
        columns = () if layout is None else layout.features
        features = getattr(classifier, "feature_names_in_", [each.name for each in columns])
        return cls(classifier.classes_.tolist(), tuple(map(str, features)) or None, columns)

    def inside(self, member: Member) -> _Names:
        """What they are called in a pipeline that is a member: labels, or tuples of them."""
        view = member.view
        if view is None:
            return _Names(self._classes(member), self.features, self.columns)
        if isinstance(view, Preparation) and self.columns:
            view = attrs.evolve(view, columns=self.columns)
        return _Names(self._classes(member), view.names(self.features))

    def _classes(self, member: Member) -> list[Any]:
        if len(member.code) > 1:
            return [self.classes[label] for label in np.flatnonzero(member.code.any(axis=0))]
        sides = [np.flatnonzero(member.code[0] == sign) for sign in (-1, 1)]
        called = [tuple(self.classes[label] for label in side) for side in sides]
        return [each[0] if len(each) == 1 else each for each in called]


def _explained(
    model: Composite,
    x: Matrix,
    names: _Names,
    training_rows: Callable[[IntArray], IntArray],
    heaviest: int,
) -> Explanation:
    committee = model.committee.counted(1)
    scores = floored(model.combination.combine(committee, x))[0]
    assert committee.tally is not None
    questions = [
        _question(model.committee.members[number], number, x, names, training_rows, heaviest)
        for number in dict.fromkeys(committee.tally.members_of(0))
    ]
    # With two classes the sign of the difference decides, as it does in `predict`.
    winner = int(scores[1] > scores[0]) if len(scores) == 2 else int(scores.argmax())
    trace = getattr(model.combination, "trace", None)
    reasons = trace(model.committee, x) if trace is not None else []
    draw = getattr(model.combination, "picture", None)
    picture = draw(model.committee, x, names.classes) if draw is not None else ""
    if not picture and len(questions) == 1 and questions[0].inside is not None:
        picture = questions[0].inside.picture
    return Explanation(
        names.classes[winner],
        dict(zip(names.classes, scores.tolist(), strict=True)),
        tuple(_with_features(sentence, names) for sentence in _routes(model.committee, x)),
        tuple(_with_classes(sentence, names) for sentence in reasons),
        tuple(questions),
        picture,
    )


def _routes(committee: Committee, x: Matrix) -> Iterator[str]:
    for group in committee.groups:
        if group.router is not None:
            yield from group.router.trace(x)


def _with_features(sentence: str, names: _Names) -> str:
    """Give features their names: a router knows them as `feature 3`."""
    features = names.features
    if features is None:
        return sentence
    return re.sub(r"\bfeature (\d+)\b", lambda found: features[int(found[1])], sentence)


def _with_classes(sentence: str, names: _Names) -> str:
    """Give classes their names: a combiner knows them as `class 3`."""
    return re.sub(r"\bclass (\d+)\b", lambda found: repr(names.classes[int(found[1])]), sentence)


def _question(
    member: Member,
    number: int,
    x: Matrix,
    names: _Names,
    training_rows: Callable[[IntArray], IntArray],
    heaviest: int,
) -> Question:
    values = member.answer(x)[0][0]
    best, second = _sides(values)
    code = member.code
    if len(values) == 1:
        sign = 1 if values[0] > 0 else -1
        winners, losers = np.flatnonzero(code[0] == sign), np.flatnonzero(code[0] == -sign)
        margin = abs(float(values[0]))
    else:
        sign = 1
        winners, losers = np.flatnonzero(code[best] > 0), np.flatnonzero(code[second] > 0)
        margin = float(values[best] - values[second])
    weights: tuple[Weight, ...] = ()
    inside = None
    seen = x if member.view is None else member.view.apply(x)
    if isinstance(member.model, KernelExpansion):
        coefficients = sign * _coefficients(member.model, best, second)
        kernel = member.model.kernel(seen, member.model.points.rows())[0]
        rows = training_rows(member.support)
        weights = _heaviest(rows, coefficients, kernel, heaviest)
    elif isinstance(member.model, Composite):
        kept, outside = member.model.support, training_rows(member.support)
        inside = _explained(
            member.model,
            seen,
            names.inside(member),
            lambda rows: outside[np.searchsorted(kept, rows)],
            heaviest,
        )
    return Question(
        number,
        tuple(names.classes[label] for label in winners),
        tuple(names.classes[label] for label in losers),
        margin,
        weights,
        inside,
    )


def _sides(values: FloatArray) -> tuple[int, int]:
    """The best column and the second best; of a single one, itself and itself."""
    order = np.argsort(-values, kind="stable")
    return int(order[0]), int(order[min(1, len(order) - 1)])


def _coefficients(model: KernelExpansion, best: int, second: int) -> FloatArray:
    """What the kernel values are weighed with in favour of the best column over the second."""
    if model.class_sizes is None:
        if best == second:
            return model.coefficients[:, best]
        return np.asarray(model.coefficients[:, best] - model.coefficients[:, second])
    own = np.repeat(np.arange(len(model.class_sizes)), model.class_sizes)
    result = np.zeros(len(own))
    for mine, other in ((best, second), (second, best)):
        column = other - 1 if other > mine else other
        result[own == mine] = model.coefficients[own == mine, column]
    return result if best < second else -result


def _heaviest(
    rows: IntArray, coefficients: FloatArray, kernel: FloatArray, count: int
) -> tuple[Weight, ...]:
    contributions = coefficients * kernel
    order = np.argsort(-np.abs(contributions), kind="stable")[:count]
    return tuple(
        Weight(int(rows[i]), float(contributions[i]), float(coefficients[i]), float(kernel[i]))
        for i in order
    )


def _told(question: Question) -> Iterator[str]:
    winners, losers = (
        " or ".join(map(repr, labels)) or "nothing"
        for labels in (question.winners, question.losers)
    )
    yield f"member {question.member}: {winners} over {losers} by {question.margin:.4g}"
    for weight in question.heaviest:
        yield (
            f"  training row {weight.row}: {weight.contribution:+.4g} "
            f"(coefficient {weight.coefficient:.4g} x kernel {weight.kernel:.4g})"
        )
    if question.inside is not None:
        yield from (f"  {line}" for line in question.inside.lines())
