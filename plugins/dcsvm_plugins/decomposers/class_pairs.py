"""One part for each pair of classes."""

import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from dcsvm import Decomposer, Part, Problem, Task, component
from dcsvm.drawing import Scene, class_colour, shorten
from dcsvm.toolbox import Level, RowIdUnion, Stages

FIELD, TEXT = 30, 11
#: Classes up to which the triangle can be taken in.
MOST_CLASSES = 30
DESCRIBED = (
    "A field for each pair of classes: the test rows of the two that its part takes for the other "
    "one, the darker the larger their share."
)


@component
class ClassPairs(Decomposer):
    """One against one: a part for each pair of classes, with the rows of these two classes.

    The first class of a pair is the positive side. K classes give K (K - 1) / 2 parts, but each
    row is in only K - 1 of them, and the parts are small: training is often faster than one
    against the rest. `vote` asks all members about a row, `dag` only K - 1 of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> len(DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote").fit(X, y).ledger_)
    3

    References
    ----------
    Platt, Cristianini, Shawe-Taylor: Large margin DAGs for multiclass classification (2000).
    """

    name = "class_pairs"
    yields = frozenset({"class pairs"})
    rows_held = 0.0

    def levels(self, problem: Problem, factor: int = 4) -> Iterator[Level]:
        yield Level({}, next(self.divide(problem)))

    def divide(self, problem: Problem) -> Stages:
        rows = [problem.rows_of(label) for label in range(problem.n_classes)]
        present = [label for label in range(problem.n_classes) if len(rows[label])]
        alone = [(label,) for label in range(problem.n_classes)]
        yield [
            Part(RowIdUnion((rows[i], rows[j])), None, Task(alone[i], alone[j]))
            for i, j in combinations(present, 2)
        ]
        return None

    def overview(self, scene: Scene) -> str:
        wrong = {}
        for member in scene.members:
            sides = member.code[0]
            if np.count_nonzero(sides) != 2:
                continue
            rows = np.flatnonzero(sides[scene.y])
            predicted = member.scores(scene.X[rows])[:, 0] > 0 if len(rows) else np.zeros(0, bool)
            first, second = np.flatnonzero(sides).tolist()
            missed = int(np.count_nonzero(predicted != (sides[scene.y[rows]] > 0)))
            wrong[first, second] = (missed, len(rows))
        return draw_pairs(scene.classes, wrong)


def draw_pairs(classes: Sequence[str], wrong: Mapping[tuple[int, int], tuple[int, int]]) -> str:
    """Draw pairs of classes (first below second) with how many rows each got wrong, of how many.

    A field holds the number of mistakes; the more of its rows were wrong, the darker. Nothing is
    drawn for very many classes.

    Examples
    --------
    >>> "3 of 40 wrong" in draw_pairs(["a", "b", "c"], {(0, 1): (3, 40), (0, 2): (0, 40)})
    True
    """
    k = len(classes)
    if k > MOST_CLASSES or not wrong:
        return ""
    names = [shorten(name, 14) for name in classes]
    left = 14 + 7 * max(map(len, names))
    shapes = []
    for place, name in enumerate(names):
        down = FIELD * place + FIELD / 2
        shapes.append(
            f'<rect x="{left + FIELD * place + 8}" y="{down - 7}" width="14" height="14" rx="3" '
            f'style="fill: {class_colour(place)}"/>'
        )
        shapes.append(
            f'<text x="{left - 6}" y="{down + 4}" text-anchor="end">{html.escape(name)}</text>'
        )
    for (first, second), (missed, rows) in sorted(wrong.items()):
        column, line = sorted((first, second))
        across, down = left + FIELD * column, FIELD * line
        share = missed / rows if rows else 0.0
        words = f"{classes[column]} v {classes[line]}: {missed} of {rows} wrong"
        shapes.append(
            f'<g><title>{html.escape(words)}</title><rect x="{across + 1}" y="{down + 1}" '
            f'width="{FIELD - 2}" height="{FIELD - 2}" rx="3" style="fill: var(--warn, #d2493a)" '
            f'fill-opacity="{min(0.9, 0.06 + 4 * share):.2f}"/>'
        )
        if missed:
            x, y = across + FIELD / 2, down + FIELD / 2 + 4
            shapes.append(f'<text x="{x}" y="{y}" text-anchor="middle">{missed}</text>')
        shapes.append("</g>")
    width, height = left + FIELD * k, FIELD * k
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="{TEXT}" fill="currentColor">'
        f"<desc>{DESCRIBED}</desc>{''.join(shapes)}</svg>"
    )
