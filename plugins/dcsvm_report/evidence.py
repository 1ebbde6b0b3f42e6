"""Evidence for a report, gathered while the model and the test rows are in memory."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from dcsvm import Committee, DivideAndConquerClassifier, Member, build
from dcsvm.drawing import Scene, shorten
from dcsvm.numeric import BoolArray, IntArray, Matrix
from dcsvm.toolbox import (
    FeatureReport,
    ModelFact,
    PreparedFeature,
    collect_facts,
    find_classifier,
    find_preparation,
    measure_features,
    unwrap,
)
from dcsvm_report.decision_plane import Plane, sample_plane
from dcsvm_report.probability_curves import ProbabilityFacts, summarize_probabilities

#: Its file in the run folder.
EVIDENCE = "evidence.json"
#: The maximum number of rows if every member predicts every row.
ASKED_ROWS = 2000
#: The maximum number of members whose own errors are counted.
ASKED_MEMBERS = 2000
#: The maximum number of groups (trees of a forest) that are drawn.
DRAWN_GROUPS = 3
#: Larger SVGs are left out.
LARGEST_PICTURE = 400_000


@attrs.frozen
class PartErrors:
    """Errors of a part on the test rows that are routed to it, or that are of its classes.

    `asks` names the two sides of a binary part.
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
    """An SVG drawn by a component, with a description."""

    title: str
    words: str
    svg: str


@attrs.frozen
class Evidence:
    """Evidence about the parts of a fitted model; plain data that can be stored as JSON.

    `routed` is whether rows are routed to parts; otherwise every part predicts every row, and
    `parts` holds its own errors. `counted` explains how rows were counted, unless it is each test
    row once. `facts` are what components report. `has_learned` is whether the model has
    learned the test rows, as with folds.
    """

    routed: bool = False
    parts: tuple[PartErrors, ...] = ()
    pictures: tuple[Picture, ...] = ()
    plane: Plane | None = None
    counted: str = ""
    facts: tuple[ModelFact, ...] = ()
    probabilities: ProbabilityFacts | None = None
    features: FeatureReport | None = None
    has_learned: bool = False

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> Evidence:
        plane, probabilities = table.get("plane"), table.get("probabilities")
        features = table.get("features")
        return cls(
            bool(table.get("routed", False)),
            tuple(PartErrors(**each) for each in table.get("parts", ())),
            tuple(Picture(**each) for each in table.get("pictures", ())),
            None if plane is None else Plane(**plane),
            str(table.get("counted", "")),
            tuple(ModelFact(**each) for each in table.get("facts", ())),
            None if probabilities is None else ProbabilityFacts.from_dict(probabilities),
            None if features is None else FeatureReport.from_dict(features),
            bool(table.get("has_learned", False)),
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
    probabilities: Any = None,
) -> Evidence:
    """Gather what a report shows of the parts of a fitted classifier, or of a search or pipeline.

    Training rows serve facts and the purity of parts. `answers` (n,) and `probabilities` (n,
    classes) are predictions of the test rows, if they were made by other models, such as those of
    folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=60)).fit(X, y)
    >>> sum(part.tested for part in gather_evidence(clf, X, y).parts)
    150
    """
    model, classifier = classifier, find_classifier(classifier)
    if not isinstance(classifier, DivideAndConquerClassifier) or not hasattr(classifier, "model_"):
        return Evidence()
    if probabilities is None and answers is None and hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X_test)
    answers = np.asarray(model.predict(X_test) if answers is None else answers)
    committee, classes = classifier.model_.committee, classifier.classes_
    wrong = np.asarray(answers != y_test, dtype=bool)
    learned: tuple[Any, Any] | None = None
    facts: tuple[ModelFact, ...] = ()
    if X_train is not None and y_train is not None:
        own = np.isin(y_train, classes)
        if own.all() and len(own) == getattr(classifier, "n_rows_", -1):
            facts = collect_facts(model, X_train, y_train)
        rows = _prepare_rows(model, X_train)[own]
        learned = (rows, np.searchsorted(classes, np.asarray(y_train)[own]))
    scene = _scene(
        model, classifier, _prepare_rows(model, X_test), y_test, wrong, learned, features
    )
    routed = any(group.router is not None for group in committee.groups)
    if routed:
        parts = _count_by_route(committee, scene.X, wrong)
    else:
        known = np.isin(y_test, classes)
        parts = _own_errors(committee, scene.X[known], scene.y[known], scene.classes)
    return Evidence(
        routed,
        tuple(parts),
        tuple(_pictures(classifier, scene)),
        sample_plane(classifier, scene, y_test, answers),
        _describe_counting(committee, routed, len(wrong)),
        facts,
        summarize_probabilities(probabilities, y_test, classes.tolist()),
        *_measure_features(model, X_test, y_test, features, answers),
    )


def _measure_features(
    model: Any, X: Any, y: Any, features: Sequence[str], answers: Any
) -> tuple[FeatureReport | None, bool]:
    """Measure the importance of features, and whether the answers are another model's."""
    if hasattr(X, "columns") or len(y) == 0:
        return None, False
    prepare = find_preparation(model)
    columns = () if prepare is None else prepare.columns_
    names = list(features) or [each.name for each in columns]
    if len(names) != X.shape[1]:
        names = [f"feature {place}" for place in range(X.shape[1])]
    levels = [each.levels or () for each in columns]
    some = np.linspace(0, len(y) - 1, min(ASKED_ROWS, len(y))).astype(np.intp)
    by_others = bool((model.predict(X[some]) != answers[some]).any())
    return measure_features(model, X, y, names, levels), by_others


def _describe_counting(committee: Committee, routed: bool, n_rows: int) -> str:
    """Explain how rows were counted by part, unless it is each test row once."""
    routers = sum(group.router is not None for group in committee.groups)
    if routed and routers > 1:
        return (
            f"Each row is routed to {routers} parts, one per division, and counts in all of them."
        )
    if routed:
        return ""
    if len(committee.members) > ASKED_MEMBERS:
        return (
            f"There are {len(committee.members):,} parts that predict every row; the errors of "
            f"single parts are counted for at most {ASKED_MEMBERS:,} parts."
        )
    if n_rows > ASKED_ROWS:
        return f"Errors were counted on {ASKED_ROWS:,} of the {n_rows:,} test rows, evenly spread."
    return ""


def _prepare_rows(model: Any, X: Any) -> Matrix:
    """Rows X (n, d) as the classifier of a pipeline sees them."""
    classifier, rows = unwrap(model, X, "report")
    return classifier.check_rows(rows)


def _scene(
    model: Any,
    classifier: DivideAndConquerClassifier,
    X: Matrix,
    y: Any,
    wrong: BoolArray,
    learned: tuple[Matrix, IntArray] | None,
    features: Sequence[str],
) -> Scene:
    """Return the scene for pictures; an unknown class is replaced by a neighboring one."""
    committee, classes = classifier.model_.committee, classifier.classes_
    prepare = find_preparation(model)
    n_columns = int((classifier if prepare is None else prepare).n_features_in_)
    names = list(features) or list(getattr(classifier, "feature_names_in_", ()))
    if len(names) != n_columns:
        names = [f"feature {place}" for place in range(n_columns)]
    if prepare is None:
        made = tuple(PreparedFeature(str(name), place) for place, name in enumerate(names))
    else:
        made = prepare.features(names if prepare.names is None else None)
    return Scene(
        committee,
        committee.members,
        tuple(str(each) for each in classes.tolist()),
        tuple(f"rank of {each.name}" if each.kind == "rank" else str(each.name) for each in made),
        X,
        np.minimum(np.searchsorted(classes, y), len(classes) - 1),
        wrong,
        learned,
        np.array([each.offset for each in made]),
        np.array([each.factor for each in made]),
        frozenset(place for place, each in enumerate(made) if each.kind == "indicator"),
    )


def _count_by_route(committee: Committee, X: Matrix, wrong: BoolArray) -> Iterator[PartErrors]:
    """Errors by part; a row that is routed to several parts counts in each."""
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
    """Errors of each member alone, on the rows of its classes."""
    if len(committee.members) > ASKED_MEMBERS:
        return
    if X.shape[0] > ASKED_ROWS:
        some = np.linspace(0, X.shape[0] - 1, ASKED_ROWS).astype(np.intp)
        X, truth = X[some], truth[some]
    for place, member in enumerate(committee.members):
        spoken_for = np.flatnonzero(member.code.any(axis=0))
        rows = np.flatnonzero(np.isin(truth, spoken_for))
        missed = _count_missed(member, X[rows], truth[rows]) if len(rows) else 0
        asks = _sides(member, classes)
        yield PartErrors(place, member.n_rows, len(rows), missed, asks)


def _sides(member: Member, classes: Sequence[str]) -> str:
    """The two sides of a binary part, if they are short."""
    if len(member.code) != 1 or len(classes) == 2:
        return ""
    plus, minus = (np.flatnonzero(member.code[0] == sign).tolist() for sign in (1, -1))
    if len(plus) + len(minus) == len(classes) and len(plus) == 1:
        return f"{shorten(classes[plus[0]], 12)} v rest"
    if len(plus) != 1 or len(minus) != 1:
        return ""
    return f"{shorten(classes[plus[0]], 12)} v {shorten(classes[minus[0]], 12)}"


def _count_missed(member: Member, X: Matrix, truth: IntArray) -> int:
    values, _ = member.answer(X)
    if len(member.code) == 1:
        predicted = np.where(values[:, 0] > 0, 1, -1)
        return int(np.count_nonzero(predicted != member.code[0, truth]))
    return int(np.count_nonzero(member.code[values.argmax(axis=1), truth] <= 0))


def _pictures(classifier: DivideAndConquerClassifier, scene: Scene) -> Iterator[Picture]:
    committee = classifier.model_.committee
    drawn = [group for group in committee.groups if group.router is not None]
    sources: list[tuple[str, str, Any, Scene]] = []
    decomposer = classifier.decomposer
    if isinstance(decomposer, str):
        decomposer = build("decomposer", decomposer)
    sources.append(("how the problem was divided", "", decomposer, scene))
    rows = "test rows" if scene.learned is None else "training rows"
    words = f"Bars are {rows}, coloured by class; errors are on test rows."
    for number, group in enumerate(drawn[:DRAWN_GROUPS], 1):
        title = "how rows are routed"
        if len(drawn) > 1:
            title += f": division {number} of {len(drawn)}"
        if len(drawn) > DRAWN_GROUPS:
            title += f", {DRAWN_GROUPS} of which are drawn"
        members = committee.members[group.first : group.last]
        sources.append((title, words, group.router, attrs.evolve(scene, members=members)))
    sources.append(("how scores are combined", "", classifier.model_.combination, scene))
    for title, words, source, view in sources:
        svg = source.overview(view)
        if svg and len(svg) <= LARGEST_PICTURE:
            described = re.search(r"<desc>(.*?)</desc>", svg, re.DOTALL)
            yield Picture(title, html.unescape(described[1]) if described else words, svg)
