"""What a report asks of a fitted model while the test rows are at hand."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import attrs
import numpy as np
from sklearn.utils.validation import validate_data

from dcsvm.base.decomposer import Decomposer
from dcsvm.base.feature_views import View
from dcsvm.base.member import Member
from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drawing import Scene, shorten
from dcsvm.drive.committee.committee import Committee, Group
from dcsvm.drive.fitted import FittedStrategy
from dcsvm.drive.registry import default_registry
from dcsvm.numeric.array_types import BoolArray, IntArray, Matrix
from dcsvm_report.bound_terms import Term, terms_of
from dcsvm_report.column_names import Column, columns_through
from dcsvm_report.decision_plane import Plane, plane_of

#: The file of a run folder that keeps it.
EVIDENCE = "evidence.json"
#: Rows looked at where every member is asked about every row.
ASKED_ROWS = 2000
#: Members that are asked one by one.
ASKED_MEMBERS = 2000
#: Groups (the trees of a forest, say) that are drawn.
DRAWN_GROUPS = 3
#: An SVG larger than this is left out: it would be the whole report.
LARGEST_PICTURE = 400_000


@attrs.frozen
class PartErrors:
    """How a part did on held-out rows: those routed to it, or those it can speak for.

    `asks` names the sides of a part that asks one against the other.
    """

    part: int
    rows: int
    tested: int
    wrong: int
    asks: str = ""

    @property
    def title(self) -> str:
        return self.asks or f"part {self.part}"


@attrs.frozen
class Picture:
    """An SVG that a component drew of its division, and what it shows in words."""

    title: str
    words: str
    svg: str


@attrs.frozen
class Evidence:
    """What a fitted model says about its parts; plain data, so that it can be kept as JSON.

    `routed` says whether each row asks its own parts; otherwise all parts are asked, and `parts`
    holds their own mistakes. `counted` says in a sentence how rows were counted, where that is not
    each test row once. `terms` are those of the bound for regions, where there is one.
    """

    routed: bool = False
    parts: tuple[PartErrors, ...] = ()
    pictures: tuple[Picture, ...] = ()
    plane: Plane | None = None
    counted: str = ""
    terms: tuple[Term, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> Evidence:
        plane = table.get("plane")
        return cls(
            bool(table.get("routed", False)),
            tuple(PartErrors(**each) for each in table.get("parts", ())),
            tuple(Picture(**each) for each in table.get("pictures", ())),
            None if plane is None else Plane(**plane),
            str(table.get("counted", "")),
            tuple(Term(**each) for each in table.get("terms", ())),
        )


def gather_evidence(
    classifier: Any,
    X_test: Any,
    y_test: Any,
    X_train: Any = None,
    y_train: Any = None,
    *,
    features: Sequence[str] = (),
    answers: Any = None,
) -> Evidence:
    """Ask a fitted classifier what a report shows of its parts.

    Parameters
    ----------
    classifier : fitted DivideAndConquerClassifier
        Of anything else there is no evidence.
    X_test, y_test : (n, d) and (n,)
        Rows that were held out.
    X_train, y_train : optional
        The rows that were learned: pictures then show the purity of parts.
    features : sequence of str, optional
        What the columns are called.
    answers : (n,), optional
        What was answered to the test rows, where that is not what the classifier says: by the
        models of folds, say.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=60)).fit(X, y)
    >>> sum(part.tested for part in gather_evidence(clf, X, y).parts)
    150
    """
    if not isinstance(classifier, DivideAndConquerClassifier) or not hasattr(classifier, "model_"):
        return Evidence()
    X_test = _checked(classifier, X_test)
    answers = np.asarray(classifier.predict(X_test) if answers is None else answers)
    stand = _stand(classifier, X_test.shape[1], features)
    learned = None
    if X_train is not None and y_train is not None:
        own = np.isin(y_train, classifier.classes_)
        rows = stand.see(_checked(classifier, X_train)[own])
        learned = (rows, np.searchsorted(classifier.classes_, np.asarray(y_train)[own]))
    wrong = np.asarray(answers != y_test, dtype=bool)
    scene = stand.scene(classifier.classes_, X_test, y_test, wrong, learned)
    routed = any(group.router is not None for group in stand.committee.groups)
    if routed:
        parts = _routed_errors(stand.committee, scene.X, wrong)
    else:
        known = np.isin(y_test, classifier.classes_)
        parts = _own_errors(stand.committee, scene.X[known], scene.y[known], scene.classes)
    return Evidence(
        routed,
        tuple(parts),
        tuple(_pictures(stand, scene)),
        plane_of(classifier, X_test, y_test, stand.parts_of, scene.features, answers),
        _counted(stand.committee, routed, len(wrong)),
        () if X_train is None or y_train is None else terms_of(classifier, X_train, y_train),
    )


def _counted(committee: Committee, routed: bool, n_rows: int) -> str:
    """How rows were counted by part, where that is not each test row once."""
    routers = sum(group.router is not None for group in committee.groups)
    if routed and routers > 1:
        return f"A row asks a part in each of {routers} divisions, and counts in all of them."
    if routed:
        return ""
    if len(committee.members) > ASKED_MEMBERS:
        return (
            f"There are {len(committee.members):,} parts, and every row asks all of them: more "
            f"than {ASKED_MEMBERS:,} are not asked one by one about their own mistakes."
        )
    if n_rows > ASKED_ROWS:
        return f"Parts were asked about {ASKED_ROWS:,} of the {n_rows:,} test rows, evenly spread."
    return ""


def _checked(classifier: DivideAndConquerClassifier, X: Any) -> Matrix:
    return validate_data(
        classifier,
        X,
        accept_sparse="csr",
        dtype=np.float64,
        reset=False,
        ensure_all_finite="allow-nan",
        skip_check_array=False,
    )


@attrs.frozen(eq=False)
class _Stand:
    """Where a model divides for the first time, below wrappers of a single part."""

    model: FittedStrategy
    decomposer: Any
    views: tuple[View, ...]
    columns: tuple[Column, ...]

    @property
    def committee(self) -> Committee:
        return self.model.committee

    def see(self, X: Matrix) -> Matrix:
        for view in self.views:
            X = view.apply(X)
        return X

    def scene(
        self,
        classes: Any,
        X: Matrix,
        y: Any,
        wrong: BoolArray,
        learned: tuple[Matrix, IntArray] | None,
    ) -> Scene:
        """The stage for pictures; a class that was never learned stands for the nearest one."""
        return Scene(
            self.committee,
            self.committee.members,
            tuple(str(each) for each in classes.tolist()),
            tuple(column.name for column in self.columns),
            self.see(X),
            np.minimum(np.searchsorted(classes, y), len(classes) - 1),
            wrong,
            learned,
            np.array([column.offset for column in self.columns]),
            np.array([column.factor for column in self.columns]),
            frozenset(place for place, column in enumerate(self.columns) if column.indicator),
        )

    def parts_of(self, X: Matrix) -> IntArray | None:
        """The part that each row asks in the first group with a router; None without one."""
        for group in self.committee.groups:
            if group.router is not None:
                routing = group.router.route(self.see(X))
                found = np.full(X.shape[0], -1)
                # Of several parts the one with the largest weight: it is written last.
                order = slice(None) if routing.weight is None else np.argsort(routing.weight)
                found[routing.row[order]] = routing.member[order]
                return found
        return None


def _stand(
    classifier: DivideAndConquerClassifier, n_features: int, features: Sequence[str]
) -> _Stand:
    names = list(features) or list(getattr(classifier, "feature_names_in_", ()))
    if len(names) != n_features:
        names = [f"feature {place}" for place in range(n_features)]
    columns = tuple(Column(str(name)) for name in names)
    model, pipeline = classifier.model_, cast(Any, classifier)
    views: tuple[View, ...] = ()
    while len(model.committee.members) == 1:
        (member,) = model.committee.members
        whole = len(member.code) == model.committee.n_classes or model.committee.n_classes == 2
        if not isinstance(member.model, FittedStrategy) or not whole:
            break
        if member.view is not None:
            columns = columns_through(member.view, columns, pipeline.decomposer)
            views = (*views, member.view)
        model = member.model
        pipeline = getattr(pipeline, "learner", pipeline)
    decomposer = getattr(pipeline, "decomposer", None)
    if isinstance(decomposer, str):
        decomposer = default_registry().build("decomposer", decomposer)
    return _Stand(model, decomposer, views, columns)


def _routed_errors(committee: Committee, X: Matrix, wrong: BoolArray) -> Iterator[PartErrors]:
    """Errors by part; a row that asks several (of a forest, say) counts in each of them."""
    for group in committee.groups:
        members = committee.members[group.first : group.last]
        if group.router is None:
            continue
        routing = group.router.route(X)
        tested = np.bincount(routing.member, minlength=len(members))
        missed = np.bincount(routing.member[wrong[routing.row]], minlength=len(members))
        for place, member in enumerate(members):
            yield PartErrors(
                group.first + place, member.n_rows, int(tested[place]), int(missed[place])
            )


def _own_errors(
    committee: Committee, X: Matrix, truth: IntArray, classes: Sequence[str]
) -> Iterator[PartErrors]:
    """What each member alone gets wrong, of the rows whose class it can speak for."""
    if len(committee.members) > ASKED_MEMBERS:
        return
    if X.shape[0] > ASKED_ROWS:
        some = np.linspace(0, X.shape[0] - 1, ASKED_ROWS).astype(np.intp)
        X, truth = X[some], truth[some]
    for place, member in enumerate(committee.members):
        spoken_for = np.flatnonzero(member.code.any(axis=0))
        rows = np.flatnonzero(np.isin(truth, spoken_for))
        missed = _missed(member, X[rows], truth[rows]) if len(rows) else 0
        asks = _sides(member, classes)
        yield PartErrors(place, member.n_rows, len(rows), missed, asks)


def _sides(member: Member, classes: Sequence[str]) -> str:
    """What a two-sided part asks, if a few names say it."""
    if len(member.code) != 1 or len(classes) == 2:
        return ""
    plus, minus = (np.flatnonzero(member.code[0] == sign).tolist() for sign in (1, -1))
    if len(plus) + len(minus) == len(classes) and len(plus) == 1:
        return f"{shorten(classes[plus[0]], 12)} v rest"
    if len(plus) != 1 or len(minus) != 1:
        return ""
    return f"{shorten(classes[plus[0]], 12)} v {shorten(classes[minus[0]], 12)}"


def _missed(member: Member, X: Matrix, truth: IntArray) -> int:
    values, _ = member.answer(X)
    if len(member.code) == 1:
        said = np.where(values[:, 0] > 0, 1, -1)
        return int(np.count_nonzero(said != member.code[0, truth]))
    return int(np.count_nonzero(member.code[values.argmax(axis=1), truth] <= 0))


def _pictures(stand: _Stand, scene: Scene) -> Iterator[Picture]:
    committee = stand.committee
    drawn = [group for group in committee.groups if group.router is not None]
    sources: list[tuple[str, str, Any, Scene]] = []
    if isinstance(stand.decomposer, Decomposer):
        sources.append(("how the problem was divided", "", stand.decomposer, scene))
    rows = "test rows" if scene.learned is None else "rows that were learned"
    words = f"Bars are {rows}, coloured by class; wrong answers are to test rows."
    for number, group in enumerate(drawn[:DRAWN_GROUPS], 1):
        title = "how rows find their part"
        if len(drawn) > 1:
            title += f": division {number} of {len(drawn)}"
        if len(drawn) > DRAWN_GROUPS:
            title += f", {DRAWN_GROUPS} of which are drawn"
        sources.append((title, words, group.router, _seen_by(group, scene)))
    sources.append(("how answers are combined", "", stand.model.combination, scene))
    for title, words, source, view in sources:
        draw = getattr(source, "overview", None)
        svg = draw(view) if draw is not None else ""
        if svg and len(svg) <= LARGEST_PICTURE:
            described = re.search(r"<desc>(.*?)</desc>", svg, re.DOTALL)
            yield Picture(title, html.unescape(described[1]) if described else words, svg)


def _seen_by(group: Group, scene: Scene) -> Scene:
    return attrs.evolve(scene, members=scene.committee.members[group.first : group.last])
