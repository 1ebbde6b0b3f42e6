"""Reports on fitted models: one page that needs nothing else, whatever the data is called."""

import importlib.util
import json
import re

import attrs
import numpy as np
import pytest
from fakes import (
    Average,
    Centroids,
    Everything,
    Machine,
    Pairs,
    Rest,
    StripRouter,
    Strips,
    blobs,
)
from html_page import Page
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from dcsvm import DivideAndConquerClassifier, TablePreparation, component
from dcsvm.base.errors import UsageError
from dcsvm.drawing import Sketch, draw_tree
from dcsvm_report import report
from dcsvm_report.evidence import Evidence, PartErrors, gather_evidence
from dcsvm_report.facts import Contender, Facts
from dcsvm_report.page import render_page
from dcsvm_report.probability_curves import ProbabilityFacts

HOSTILE = (
    "<script>alert(1)</script>",
    "</svg><img src=x onerror=alert(2)>",
    "$x^{$ \\frac",
    "a\"b'c&amp;",
    "漢字 🎉",
    '--><b onload="x">',
)


@attrs.frozen(eq=False)
class DrawnRouter(StripRouter):
    """Strips that draw themselves as a tree of one question after the other."""

    def overview(self, scene):
        n = len(self.borders)
        X, y = (scene.X, scene.y) if scene.learned is None else scene.learned
        counts = np.zeros((2 * n + 1, len(scene.classes)), dtype=int)
        leaf = np.array([*range(n + 1, 2 * n + 1), n])
        np.add.at(counts, (leaf[self.find_strip(X)], y), 1)
        tested = np.bincount(leaf[self.find_strip(scene.X)], minlength=2 * n + 1)
        wrong = np.bincount(leaf[self.find_strip(scene.X)][scene.wrong], minlength=2 * n + 1)
        children = [(n + 1 + i, i + 1) for i in range(n)] + [()] * (n + 1)
        questions = [scene.is_at_most(self.feature, border) for border in self.borders]
        return draw_tree(
            Sketch(children, [*questions] + [""] * (n + 1), counts, tested, wrong), scene.classes
        )


@component
class DrawnStrips(Strips):
    name = "drawn_strips"
    stored_types = (DrawnRouter,)

    def divide(self, problem):
        router = yield from super().divide(problem)
        return DrawnRouter(router.borders, router.feature)


def pipeline(decomposer, learner=None, combiner=None, **others):
    return DivideAndConquerClassifier(
        decomposer, learner or Centroids(), combiner or Average(), random_state=0, **others
    )


@pytest.fixture(scope="module")
def rows():
    X, y = blobs(300)
    names = np.array(["north", "east", "west"])[y]
    return X[::2], X[1::2], names[::2], names[1::2]


@pytest.fixture(scope="module")
def strips(rows):
    return make_pipeline(TablePreparation(), pipeline(DrawnStrips(4))).fit(rows[0], rows[2])


def told(classifier, rows, **others) -> str:
    X, X_test, y, y_test = rows
    return report(classifier, X_test, y_test, X_train=X, y_train=y, **others)


@pytest.fixture(scope="module")
def text(strips, rows) -> str:
    return told(strips, rows)


def test_a_report_says_what_was_asked_and_what_came_out(strips, rows) -> None:
    whole = pipeline(Everything(), Machine(C=10.0, kernel="rbf")).fit(rows[0], rows[2])
    page = Page(told(strips, rows, against={"undivided": whole}, title="strips"))
    right = int(np.sum(strips.predict(rows[1]) == rows[3]))
    assert f"{right} of 150 test rows were classified correctly, {right / 150:.2%}" in page.text
    assert " the undivided model." in page.text
    assert "drawn_strips (strips = 4)" in page.text
    assert "McNemar" in page.text
    for heading in ("Setup", "Classes", "The division", "Parts", "Run it again"):
        assert heading in page.text


def test_a_report_is_one_whole_page_that_loads_nothing(text) -> None:
    page = Page(text)
    assert page.mistakes == []
    assert page.open == []
    assert page.count("script") == 0
    assert page.count("img") == 0
    without_names_of_formats = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert "http" not in without_names_of_formats.replace("http-equiv", "")
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert len(text) < 500_000


def test_a_report_can_be_heard(text) -> None:
    page = Page(text)
    assert page.attributes("html") == [{"lang": "en"}]
    assert page.count("h1") == 1
    assert page.count("table") == page.count("caption") > 4
    figures = [svg for svg in page.attributes("svg") if "role" in svg]
    assert len(figures) == 6
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in figures)
    assert all(cell.get("scope") in ("row", "col") for cell in page.attributes("th"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [link["href"] for link in page.attributes("a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_colours_come_from_the_page_so_that_they_suit_light_and_dark(text) -> None:
    figures = re.findall(r'<svg role="img".*?</svg>', text, re.DOTALL)
    colours = {
        found for svg in figures for found in re.findall(r"(?:fill|stroke): ?([^;\"]+)", svg)
    }
    assert {"currentColor", "none"} <= colours
    plain = {each for each in colours if not each.startswith(("var(", "currentColor", "none"))}
    assert not plain
    assert "prefers-color-scheme: dark" in text


def test_the_same_model_gives_the_same_bytes(text, strips, rows) -> None:
    assert told(strips, rows) == text


def test_names_of_the_data_are_text_and_nothing_else(rows) -> None:
    X = rows[0]
    y = np.array(HOSTILE)[np.arange(len(X)) % len(HOSTILE)]
    clf = make_pipeline(TablePreparation(), pipeline(DrawnStrips(3))).fit(X, y)
    text = told(
        clf,
        (X, X, y, y),
        title=HOSTILE[0],
        about=HOSTILE[1],
        features=HOSTILE[:2],
        against={HOSTILE[1]: pipeline(Everything(), Machine(C=1.0)).fit(X, y)},
    )
    page = Page(text)
    assert page.mistakes == []
    assert not {"script", "img", "b"} & {tag for tag, _ in page.elements if tag != "b"}
    assert not [
        tag for tag, given in page.elements if any(name.startswith("on") for name in given)
    ]
    for name in HOSTILE:
        assert " ".join(name.split()) in page.text, name
    assert "alert(1)</script>" not in text


def test_errors_are_counted_where_rows_are_routed(strips, rows) -> None:
    seen = gather_evidence(strips, rows[1], rows[3])
    assert seen.routed
    assert [part.part for part in seen.parts] == [0, 1, 2, 3]
    assert sum(part.tested for part in seen.parts) == 150
    wrong = strips.predict(rows[1]) != rows[3]
    assert sum(part.wrong for part in seen.parts) == wrong.sum()


def test_parts_that_are_asked_everything_answer_for_their_own_mistakes(rows) -> None:
    pairs = pipeline(Pairs()).fit(rows[0], rows[2])
    seen = gather_evidence(pairs, rows[1], rows[3])
    assert not seen.routed
    for part, member in zip(seen.parts, pairs.model_.committee.members, strict=True):
        truth = np.searchsorted(pairs.classes_, rows[3])
        mine = member.code[0, truth] != 0
        said = np.where(member.answer(rows[1])[0][:, 0] > 0, 1, -1)
        assert part.tested == mine.sum()
        assert part.wrong == np.sum(said[mine] != member.code[0, truth[mine]])


def test_parts_that_ask_two_classes_are_called_by_them(rows) -> None:
    pairs = gather_evidence(pipeline(Pairs()).fit(rows[0], rows[2]), rows[1], rows[3])
    assert [part.title for part in pairs.parts] == ["east v north", "east v west", "north v west"]
    rest = gather_evidence(pipeline(Rest()).fit(rows[0], rows[2]), rows[1], rows[3])
    assert [part.title for part in rest.parts] == ["east v rest", "north v rest", "west v rest"]


@pytest.mark.slow
def test_a_report_of_very_many_parts_and_classes_stays_small() -> None:
    n, k = 50_000, 300
    generator = np.random.default_rng(0)
    truth = np.arange(6000) % k
    answers = np.where(generator.random(6000) < 0.8, truth, generator.integers(0, k, 6000))
    facts = Facts(
        title="large",
        contenders=(Contender("own", {"test_accuracy": 0.8, "n_parts": n}, answers),),
        classes=tuple(f"class {label}" for label in range(k)),
        truth=truth,
        ledger=tuple(
            {
                "path": (0, place),
                "rows": 1 + place % 997,
                "classes": 2,
                "support_vectors": 3,
                "seconds": 1e-4 * (1 + place % 991),
                "model": "KernelExpansion",
            }
            for place in range(n)
        ),
        evidence=Evidence(True, tuple(PartErrors(i, 9, 3, i % 2) for i in range(n))),
    )
    text = render_page(facts)
    assert len(text) < 400_000
    told = Page(text)
    assert told.mistakes == []
    assert "The slowest 10 of 50,000 parts" in told.text
    assert "The 120 worst of 300 classes" in told.text


def test_a_report_says_so_where_rows_are_not_counted_once(rows, monkeypatch) -> None:
    forest = pipeline(3 * Strips(2)).fit(rows[0], rows[2])
    seen = gather_evidence(forest, rows[1], rows[3])
    assert sum(part.tested for part in seen.parts) == 3 * 150
    assert (
        seen.counted
        == "Each row is routed to 3 parts, one per division, and counts in all of them."
    )
    monkeypatch.setattr("dcsvm_report.evidence.ASKED_ROWS", 60)
    pairs = pipeline(Pairs()).fit(rows[0], rows[2])
    assert max(part.tested for part in gather_evidence(pairs, rows[1], rows[3]).parts) <= 60
    sentence = "Errors were counted on 60 of the 150 test rows, evenly spread."
    assert sentence in Page(told(pairs, rows)).text
    assert (
        gather_evidence(pipeline(Strips(2)).fit(rows[0], rows[2]), rows[1], rows[3]).counted == ""
    )
    monkeypatch.setattr("dcsvm_report.evidence.ASKED_MEMBERS", 2)
    assert gather_evidence(pairs, rows[1], rows[3]).parts == ()
    sentence = "the errors of single parts are counted for at most 2 parts"
    assert sentence in Page(told(pairs, rows)).text


def test_answers_of_other_models_can_be_judged_instead(strips, rows) -> None:
    seen = gather_evidence(strips, rows[1], rows[3], answers=np.full(150, "north"))
    assert sum(part.wrong for part in seen.parts) == np.sum(rows[3] != "north")


def test_questions_are_asked_in_the_units_of_the_data(strips, rows) -> None:
    (picture,) = gather_evidence(strips, rows[1], rows[3], features=["left", "up"]).pictures
    border = np.quantile(rows[0][:, 0], 0.25)
    assert f"left ≤ {border:.4g}" in picture.svg


def test_evidence_survives_json_unchanged(strips, rows) -> None:
    import json

    seen = gather_evidence(strips, rows[1], rows[3])
    again = Evidence.from_dict(json.loads(json.dumps(seen.as_dict())))
    assert json.dumps(again.as_dict()) == json.dumps(seen.as_dict())
    assert again.plane is not None


def test_two_features_get_a_map_and_three_do_not(text, rows) -> None:
    assert "Map of the predictions" in text
    X = np.column_stack([rows[0], rows[0][:, 0]])
    wide = pipeline(Strips(2)).fit(X, rows[2])
    assert "Map of the predictions" not in report(wide, X, rows[2])


def test_the_map_holds_answers_and_parts(strips, rows) -> None:
    plane = gather_evidence(strips, rows[1], rows[3]).plane
    assert plane is not None
    answers, parts = plane.grid(plane.answers), plane.grid(plane.parts)
    assert set(np.unique(parts)) == {0, 1, 2, 3}
    corner = np.searchsorted(strips.classes_, strips.predict([plane.low]))
    assert answers[0, 0] == corner[0]
    assert (np.diff(parts, axis=0) == 0).all()


def test_a_search_is_shown_with_its_curves(rows) -> None:
    grid = {"learner__C": [0.1, 10.0], "learner__kernel": ["linear", "rbf"]}
    search = GridSearchCV(pipeline(Strips(2), Machine(C=1.0)), grid, cv=2).fit(rows[0], rows[2])
    page = Page(told(search, rows))
    assert "The best of 4 trials" in page.text
    assert f"the best scored {search.best_score_:.4f}" in page.text


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_drawn_and_their_curves_are_those_of_the_rows(n_classes) -> None:
    X, y = blobs(300, n_classes)
    X += np.random.default_rng(1).normal(scale=2.0, size=X.shape)
    model = pipeline(Strips(3), probability="auto").fit(X, y)
    text = report(model, X, y)
    for title in (
        "Reliability",
        "Probabilities",
        "ROC curves",
        "Precision and recall by threshold",
    ):
        assert f"<h3>{title}</h3>" in text
    found = gather_evidence(model, X, y).probabilities
    assert found == ProbabilityFacts.from_dict(json.loads(json.dumps(attrs.asdict(found))))
    shares = model.predict_proba(X)
    assert sum(found.inside) + sum(found.outside) == len(y)
    assert len(found.curves) == (1 if n_classes == 2 else 3)
    for each in found.curves:
        place = [str(label) for label in model.classes_].index(each.name)
        assert each.roc_area == roc_auc_score(y == model.classes_[place], shares[:, place])
        assert each.roc[0] == [0.0, 0.0]
        assert each.roc[-1] == [1.0, 1.0]
    of_class = y == int(found.about) if found.about else model.predict(X) == y
    assert sum(found.inside) == of_class.sum()
    assert (found.about == "") == (n_classes > 2)


def test_features_are_drawn_with_what_they_are_worth_and_do(strips, rows) -> None:
    page = Page(told(strips, rows, features=["east", "north"]))
    assert "What the answers depend on" in page.text
    assert "among 150 test rows; lines are the deviation over five shuffles" in page.text
    assert "Effects of the features" in page.text


def test_without_probabilities_none_are_drawn(text) -> None:
    assert "Reliability" not in text


def test_the_lowest_recall_is_among_the_first_numbers() -> None:
    truth = np.array([0] * 98 + [1, 1])
    answers = np.zeros(100, dtype=int)
    own = Contender("mine", {"test_accuracy": 0.98}, answers)
    page = Page(render_page(Facts("rare", (own,), ("fine", "fraud"), truth)))
    assert "0.00% recall of fraud, the lowest fine 100.00%" in page.text


@pytest.mark.slow
def test_many_classes_get_a_picture_of_the_confusion(rows) -> None:
    y = np.arange(len(rows[0])) % 20
    clf = pipeline(Strips(2)).fit(rows[0], y)
    text = report(clf, rows[0], y)
    assert 'aria-label="Confusion: 20 classes' in text
    assert 'class="confusion"' not in text


def test_any_classifier_can_be_compared_with(rows) -> None:
    from sklearn.dummy import DummyClassifier

    dummy = DummyClassifier().fit(rows[0], rows[2])
    page = Page(report(dummy, rows[1], rows[3]))
    assert "50 of 150 test rows" in page.text
    assert "never answered" in page.text
    assert "kernel evaluations" not in page.text


def test_a_class_that_only_the_test_rows_have_counts_as_missed(strips, rows) -> None:
    y = rows[3].astype("<U10")
    y[:5] = "never seen"
    page = Page(report(strips, rows[1], y))
    assert "never seen" in page.text
    assert page.mistakes == []


def test_a_missing_library_is_named_with_the_way_to_get_it(strips, rows, monkeypatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jinja2" else real(name)
    )
    with pytest.raises(
        UsageError, match=r"needs jinja2, not installed here: pip install 'dcsvm\["
    ):
        told(strips, rows)
