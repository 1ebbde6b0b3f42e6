"""Explanation of one prediction: its route, the queried members and the largest contributions."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from dcsvm.base.errors import DataError
from dcsvm.base.member import Member
from dcsvm.base.models import KernelExpansion
from dcsvm.drive.committee.committee import Committee
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.drive.masked_scores import floor_masked
from dcsvm.inspection.explanation import Decision, Explanation, Question, Weight
from dcsvm.inspection.feature_names import Names
from dcsvm.numeric import FloatArray, IntArray, Matrix
from dcsvm.toolbox.unwrap import find_preparation, unwrap

__all__ = ["Decision", "Explanation", "Question", "Weight", "explain"]


def explain(classifier: Any, x: Any, heaviest: int = 3) -> Explanation:
    """Explain the prediction of a fitted classifier for one row x, (d,) or (1, d).

    The classifier may be that of a search or the last step of a Pipeline; the explanation undoes a
    TablePreparation, but no other steps. Of each member, the `heaviest` support vectors are
    listed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_pairs", "kernel_svm", "dag").fit(X, y)
    >>> explanation = explain(clf, X[0])
    >>> explanation.answer, [question.losers for question in explanation.questions]
    (0, [(2,), (1,)])
    """
    if not hasattr(x, "toarray") and np.ndim(x) == 1:
        x = x.to_frame().T if hasattr(x, "iloc") else np.asarray(x)[None]
    preparation = find_preparation(classifier)
    classifier, x = unwrap(classifier, x, "explain")
    x = classifier.check_rows(x)
    if x.shape[0] != 1:
        raise DataError(f"explain takes one row at a time, got {x.shape[0]}")
    names = Names.of(classifier, preparation)
    return _explain_model(classifier.model_, x, names, lambda rows: rows, heaviest)


def _explain_model(
    model: FittedStrategy,
    x: Matrix,
    names: Names,
    training_rows: Callable[[IntArray], IntArray],
    heaviest: int,
) -> Explanation:
    committee = model.committee.with_counter(1)
    scores = floor_masked(model.combination.combine(committee, x))[0]
    assert committee.cost_counter is not None
    questions = [
        _question(model.committee.members[number], number, x, names, training_rows, heaviest)
        for number in dict.fromkeys(committee.cost_counter.members_of(0))
    ]
    # With two classes the sign of the difference decides, as in `predict`.
    winner = int(scores[1] > scores[0]) if len(scores) == 2 else int(scores.argmax())
    reasons = model.combination.trace(model.committee, x)
    picture = model.combination.picture(model.committee, x, names.classes)
    return Explanation(
        names.classes[winner],
        dict(zip(names.classes, scores.tolist(), strict=True)),
        tuple(map(names.name_features, _routes(model.committee, x))),
        tuple(map(names.name_classes, reasons)),
        tuple(questions),
        picture,
    )


def _routes(committee: Committee, x: Matrix) -> Iterator[str]:
    """Yield the trace of each group's router, with a heading if there are several groups."""
    count = len(committee.groups)
    for number, group in enumerate(committee.groups, 1):
        trace = [] if group.router is None else group.router.trace(x)
        if trace and count > 1:
            yield f"group {number} of {count}:"
        yield from (sentence if count == 1 else f"  {sentence}" for sentence in trace)


def _question(
    member: Member,
    number: int,
    x: Matrix,
    names: Names,
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
    decision, inside, votes = None, None, False
    seen = x if member.view is None else member.view.apply(x)
    if isinstance(member.model, KernelExpansion):
        coefficients, bias = _pair(member.model, best, second)
        kernel = member.model.kernel(seen, member.model.points.rows())[0]
        rows, labels = training_rows(member.support), _labels(member, names)
        weights = _heaviest(rows, sign * coefficients, kernel, heaviest, labels)
        decision = _decision(weights, sign * coefficients, kernel, sign * bias)
        votes = labels is not None
    elif isinstance(member.model, FittedStrategy):
        kept, outside = member.model.support, training_rows(member.support)
        inside = _explain_model(
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
        *(margin, weights, inside, decision, votes),
    )


def _sides(values: FloatArray) -> tuple[int, int]:
    """Return the best and the second best column; the same one twice if there is one."""
    order = np.argsort(-values, kind="stable")
    return int(order[0]), int(order[min(1, len(order) - 1)])


def _pair(model: KernelExpansion, best: int, second: int) -> tuple[FloatArray, float]:
    """Return the coefficients and the bias for the best column against the second."""
    if model.class_sizes is None:
        if best == second:
            return model.coefficients[:, best], float(model.biases[best])
        difference = model.coefficients[:, best] - model.coefficients[:, second]
        return difference, float(model.biases[best] - model.biases[second])
    k = len(model.class_sizes)
    own = np.repeat(np.arange(k), model.class_sizes)
    result = np.zeros(len(own))
    first, last = min(best, second), max(best, second)
    result[own == first] = model.coefficients[own == first, last - 1]
    result[own == last] = model.coefficients[own == last, first]
    bias = float(model.biases[list(combinations(range(k), 2)).index((first, last))])
    return (result, bias) if best < second else (-result, -bias)


def _labels(member: Member, names: Names) -> list[Any] | None:
    """Return the classes of a model's points, if they are sorted by class."""
    if not isinstance(member.model, KernelExpansion) or member.model.class_sizes is None:
        return None
    sizes = member.model.class_sizes
    called = [names.classes[label] for label in member.code.argmax(axis=1)]
    return [label for label, size in zip(called, sizes, strict=True) for _ in range(size)]


def _heaviest(
    rows: IntArray,
    coefficients: FloatArray,
    kernel: FloatArray,
    count: int,
    labels: list[Any] | None,
) -> tuple[Weight, ...]:
    contributions = coefficients * kernel
    order = np.argsort(-np.abs(contributions), kind="stable")[:count]
    return tuple(
        Weight(
            *(int(rows[i]), float(contributions[i]), float(coefficients[i]), float(kernel[i])),
            None if labels is None else labels[i],
        )
        for i in order
        if coefficients[i]
    )


def _decision(
    weights: tuple[Weight, ...], coefficients: FloatArray, kernel: FloatArray, bias: float
) -> Decision:
    total = float(coefficients @ kernel)
    named = sum(weight.contribution for weight in weights)
    n_others = int(np.count_nonzero(coefficients)) - len(weights)
    return Decision(total + bias, total - named, n_others, bias)
