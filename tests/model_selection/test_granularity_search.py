"""The granularity search: which level and cell it takes, what it trains on, when it stops."""

import re
import threading

import attrs
import numpy as np
import pytest
from fakes import Average, Centroids, Deal, Everything, StripRouter, Strips, blobs
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, jaccard_score, matthews_corrcoef, recall_score

from dcsvm import (
    Combiner,
    DataError,
    DcsvmError,
    DivideAndConquerClassifier,
    GranularitySearch,
    LocalLearner,
    LocalModel,
    SettingError,
    build,
    component,
    part,
    setting,
)
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.errors import CompositionError
from dcsvm.drive.engine import Engine
from dcsvm.drive.registry import default_registry
from dcsvm.model_selection.levels import LevelScores, Step
from dcsvm.numeric.probability_scores import LOSSES, PROBABILITY_SCORES
from dcsvm.toolbox import Level, Repeat, parts_by

WITH_LEVELS = (
    ", ".join(
        offer.name
        for offer in default_registry().of_kind("decomposer")
        if offer.what.levels is not Decomposer.levels
    )
    or "none"
)


@component
class NestedStrips(Strips):
    """Strips with as many rows each, joined four at a time."""

    name = "nested_strips"

    def divide(self, problem):
        level = next(self.levels(problem))
        yield level.parts
        return level.router

    def levels(self, problem, factor=4):
        strips = self.strips
        while True:
            shares = np.linspace(0, 1, strips + 1)[1:-1]
            router = StripRouter(np.quantile(problem.X[:, self.feature], shares), self.feature)
            parts = parts_by(router.find_strip(problem.X), strips)
            yield Level({"strips": strips}, parts, router)
            if strips == 1:
                return
            strips = max(1, strips // factor)


@component
class NestedDeal(Deal):
    """Rows dealt at random; every member answers every row."""

    name = "nested_deal"

    def divide(self, problem):
        yield next(self.levels(problem)).parts

    def levels(self, problem, factor=4):
        order = problem.seed.generator().permutation(problem.n_rows)
        for parts in (self.parts, 1):
            yield Level({"parts": parts}, [part(rows) for rows in np.array_split(order, parts)])


@attrs.frozen(eq=False)
class Oracle(LocalModel):
    """Right where column 2 is below `share`; column 1 holds the truth."""

    share: float

    def scores(self, X):
        right = np.where(X[:, 2] < self.share, 1.0, -1.0)
        return (right * np.where(X[:, 1] > 0, 1.0, -1.0))[:, None]


@component
class Foreseen(LocalLearner):
    """Answers a share of rows right that is known before: by quality, part's size and place."""

    name = "foreseen"
    seen = []
    lock = threading.Lock()

    quality: float = setting(0.5, help="the share of right answers on small parts")
    bonus: float = setting(0.0, help="what is added for every factor of four in the part's rows")
    left: bool = setting(True, help="whether the left half is where the quality counts in full")
    per_half: bool = setting(False, help="whether it matters in which half the part is")

    def fit(self, problem):
        with self.lock:
            self.seen.append((problem.n_rows, self.quality, problem.X[:, 3].astype(int)))
        share = self.quality + self.bonus * np.log(problem.n_rows / 8) / np.log(4)
        if self.per_half and (problem.X[:, 0].mean() < 0.5) != self.left:
            share -= 0.3
        return Oracle(share)


def rows(n=160):
    """Columns: place in [0, 1], the class, an even spread over [0, 1], the row's number."""
    number = np.arange(n)
    y = number // 2 % 2
    spread = ((number * 37) % n + 0.5) / n
    return np.column_stack([(number + 0.5) / n, y, spread, number]), y


def foreseen(strips=16, **settings):
    learner = Foreseen(**settings)
    return DivideAndConquerClassifier(NestedStrips(strips), learner, Average(), random_state=0)


def searched(grid, classifier=None, data=None, **settings):
    Foreseen.seen.clear()
    X, y = rows() if data is None else data
    settings = {"validation": np.arange(0, len(y), 5), "random_state": 0, **settings}
    return GranularitySearch(classifier or foreseen(), grid, **settings).fit(X, y)


QUALITIES = {"learner__quality": [0.4, 0.7, 0.5, 0.6]}


def test_the_best_cell_is_found():
    search = searched(QUALITIES)
    assert search.best_params_ == {"decomposer__strips": 16, "learner__quality": 0.7}
    assert search.best_score_ == pytest.approx(0.7, abs=0.05)
    assert search.best_estimator_.learner.quality == 0.7
    assert search.best_estimator_.decomposer.strips == 16


def test_a_coarser_level_is_taken_while_it_gains_enough():
    search = searched(QUALITIES, foreseen(bonus=0.1))
    assert search.best_params_ == {"decomposer__strips": 1, "learner__quality": 0.7}
    assert search.results_["parts"].tolist() == [16] * 4 + [4] * 4 + [1] * 4
    assert search.stopped_ == "one part is left"


def test_the_search_ends_where_a_coarser_level_gains_too_little():
    search = searched(QUALITIES, foreseen(bonus=0.1), min_gain=0.2)
    assert search.best_params_["decomposer__strips"] == 16
    assert set(search.results_["level"]) == {0, 1}
    assert re.fullmatch(r"a coarser level gains \d+\.\d\d%, less than 20\.00%", search.stopped_)


def test_no_more_levels_are_tried_than_asked_for():
    search = searched(QUALITIES, foreseen(bonus=0.1), levels=2)
    assert search.results_["parts"].tolist() == [16] * 4 + [4] * 4
    assert search.best_params_["decomposer__strips"] == 4
    assert search.stopped_ == "2 levels were tried, no more were asked for"


def test_one_level_is_the_grid_on_the_division_as_it_is():
    search = searched(QUALITIES, foreseen(strips=1, bonus=0.1), levels=1)
    assert search.results_["parts"].tolist() == [1] * 4
    assert search.best_params_ == {"decomposer__strips": 1, "learner__quality": 0.7}
    assert search.stopped_ == "all 4 combinations were tried"


def test_a_gain_below_half_a_percent_is_too_little_by_default():
    data = rows(4000)
    small, enough = (
        searched(QUALITIES, foreseen(bonus=bonus), data) for bonus in (0.0025, 0.0075)
    )
    assert small.best_params_["decomposer__strips"] == 16
    assert enough.best_params_["decomposer__strips"] == 1


def test_all_cells_are_tried_at_the_finest_level_and_the_best_few_at_others():
    search = searched(QUALITIES, foreseen(bonus=0.1), top=2, refit=False)
    tried = [(size, quality) for size, quality, _ in Foreseen.seen]
    assert len(tried) == 16 * 4 + 4 * 2 + 1 * 2
    assert {quality for size, quality in tried if size > 20} == {0.7, 0.6}
    assert search.results_["level"].tolist() == [0] * 4 + [1] * 2 + [2] * 2
    assert search.results_["rank_test_score"][search.results_["mean_test_score"].argmax()] == 1


def test_a_level_that_joins_no_parts_is_passed_over():
    @component
    class Stammering(NestedStrips):
        name = "stammering"

        def levels(self, problem, factor=4):
            for level in super().levels(problem, factor):
                yield level
                yield level

    classifier = foreseen(bonus=0.1).set_params(decomposer=Stammering(16))
    assert (
        searched(QUALITIES, classifier).results_["parts"].tolist() == [16] * 4 + [4] * 4 + [1] * 4
    )


def test_the_factor_between_levels_is_the_searchs():
    search = searched(QUALITIES, foreseen(bonus=0.1), factor=16)
    assert sorted(set(search.results_["parts"])) == [1, 16]


def test_held_out_rows_are_not_learned_before_the_best_is_known():
    held_out = np.arange(3, 160, 4)
    searched(QUALITIES, foreseen(bonus=0.1), validation=held_out, refit=False)
    learned = np.concatenate([numbers for _, _, numbers in Foreseen.seen])
    assert set(learned) == set(range(160)) - set(held_out)


@pytest.mark.parametrize(("refit", "size"), [(True, 160), ("training", 128)])
def test_refitting_learns_all_rows_or_those_of_the_search(refit, size):
    searched(QUALITIES, foreseen(bonus=0.1), refit=refit)
    assert Foreseen.seen[-1][0] == size


def test_without_refitting_there_is_nothing_to_predict_with():
    X, _ = rows()
    with pytest.raises(AttributeError, match=r"^refit is False, so no model was fitted with"):
        searched(QUALITIES, refit=False).predict(X)
    with pytest.raises(NotFittedError):
        GranularitySearch(foreseen(), QUALITIES).predict(X)


def test_a_share_of_every_class_is_held_out():
    X, y = rows()
    X[:, 1] = y = (np.arange(160) % 4 == 0).astype(int)
    searched({"learner__quality": [0.5]}, data=(X, y), validation=0.25, refit=False)
    learned = np.concatenate([numbers for _, _, numbers in Foreseen.seen])
    held_out = y[np.setdiff1d(np.arange(160), learned)]
    assert np.bincount(held_out).tolist() == [30, 10]


def test_held_out_rows_of_ones_own_are_used_and_not_learned():
    X, y = rows()
    Foreseen.seen.clear()
    search = GranularitySearch(foreseen(), QUALITIES)
    search.fit(X[:120], y[:120], X_val=X[120:], y_val=y[120:])
    learned = np.concatenate([numbers for _, _, numbers in Foreseen.seen])
    assert set(learned) <= set(range(120))
    assert search.best_score_ == search.score(X[120:], y[120:])


def test_a_class_that_only_held_out_rows_have_is_never_right():
    X, y = rows()
    search = GranularitySearch(foreseen(), {"learner__quality": [1.0]})
    y_val = np.where(np.arange(40) < 10, 7, y[120:])
    told = "^10 of the 40 validation rows have a class without training rows, such as 7:"
    with pytest.warns(UserWarning, match=told):
        search.fit(X[:120], y[:120], X_val=X[120:], y_val=y_val)
    assert search.best_score_ == 0.75


@pytest.mark.parametrize("labels", [[7, 8], ["a", "b"], np.array([0.5, 7.5])])
def test_held_out_labels_that_no_row_to_learn_from_has_are_refused(labels):
    X, y = rows()
    search = GranularitySearch(foreseen(), {"learner__quality": [1.0]})
    with pytest.raises(DataError, match=r"^y_val and y have no label in common: .*, y has 0, 1"):
        search.fit(X[:120], y[:120], X_val=X[120:122], y_val=labels)


def test_held_out_rows_count_by_their_weights():
    X, y = rows()
    weights = np.where(X[:, 2] < 0.5, 3.0, 1.0)
    search = GranularitySearch(foreseen(), {"learner__quality": [0.5]}, validation=np.arange(40))
    right = weights[:40][X[:40, 2] < 0.5].sum() / weights[:40].sum()
    assert search.fit(X, y, weights).best_score_ == pytest.approx(right)


@pytest.mark.parametrize("weighed", [False, True])
def test_balanced_held_out_rows_count_alike_in_every_class(weighed):
    X, y = rows()
    validation = np.flatnonzero((np.arange(160) < 60) & ((y == 0) | (np.arange(160) < 12)))
    weights = np.where(np.arange(160) % 3, 1.0, 2.0) if weighed else np.ones(160)
    search = GranularitySearch(
        foreseen(),
        {"learner__quality": [0.5]},
        validation=validation,
        scoring="balanced_accuracy",
    ).fit(X, y, weights)
    right, w, labels = X[validation, 2] < 0.5, weights[validation], y[validation]
    shares = [w[right & (labels == k)].sum() / w[labels == k].sum() for k in (0, 1)]
    assert search.best_score_ == pytest.approx(np.mean(shares))
    assert abs(search.best_score_ - w[right].sum() / w.sum()) > 0.01, "the test tells them apart"


def test_each_part_can_take_its_own_cell():
    grid = {"learner__left": [True, False]}
    classifier = foreseen(4, quality=0.8, per_half=True)
    common = searched(grid, classifier, min_gain=1.0)
    own = searched(grid, classifier, min_gain=1.0, per_part=True)
    assert own.best_score_ > common.best_score_ + 0.1
    assert own.part_params_ == [{"learner__left": left} for left in (True, True, False, False)]
    learned = [record.parameters["left"] for record in own.best_estimator_.ledger_]
    assert learned == [True, True, False, False]


def test_of_equal_cells_the_one_with_fewer_kernel_evaluations_comes_first():
    scores, evaluations = np.array([0.8, 0.9, 0.9]), np.array([1.0, 30.0, 20.0])
    right = np.array([[0.4, 0.4, 0.4], [0.1, 0.3, 0.2]])
    step = Step(Level({}), [{}] * 3, LevelScores(scores, right, evaluations, np.zeros(3)))
    assert step.rank_cells().tolist() == [2, 1, 0]
    assert step.find_best_by_part().tolist() == [2, 1]


@pytest.mark.parametrize(
    "decomposer",
    [NestedStrips(4), Repeat(NestedStrips(4), 2), NestedDeal(4), Repeat(NestedDeal(3), 2)],
    ids=["routed", "routed in groups", "asked together", "asked together in groups"],
)
def test_a_cell_is_worth_what_the_classifier_made_of_it_is(decomposer):
    X, y = blobs(300)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    classifier = DivideAndConquerClassifier(decomposer, Centroids(), Average(), random_state=3)
    search = GranularitySearch(
        classifier, {"learner__jitter": [0.2, 0.3]}, min_gain=-1.0, refit="training", top=1
    ).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert search.best_score_ == search.score(X[200:], y[200:])
    for place, params in enumerate(search.results_["params"]):
        again = clone(classifier).set_params(**params).fit(X[:200], y[:200])
        if search.results_["level"][place] == 0:
            score = again.score(X[200:], y[200:])
            assert search.results_["mean_test_score"][place] == pytest.approx(score)


@pytest.mark.parametrize(
    ("decomposer", "combiner"),
    [("class_pairs", "dag"), ("class_pairs", "vote"), ("class_rest", "argmax")],
)
def test_kernels_over_class_tasks_are_searched_through_one_path_for_each_part(
    decomposer, combiner, monkeypatch
):
    pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16, y[:400] % 5
    classifier = DivideAndConquerClassifier(decomposer, "kernel_svm", combiner, random_state=0)
    grid = [
        {"learner__C": [1.0, 10.0], "learner__gamma": [0.01, 0.1]},
        {
            "learner__kernel": ["poly"],
            "learner__gamma": ["auto"],
            "learner__degree": list(range(1, 7)),
            "learner__coef0": [0.0, 1.0],
        },
    ]
    kernel_svm = type(build("learner", "kernel_svm"))
    asked, fit_path = [], kernel_svm.fit_path
    monkeypatch.setattr(
        kernel_svm,
        "fit_path",
        lambda self, problem, cells: asked.append(len(cells)) or fit_path(self, problem, cells),
    )
    search = GranularitySearch(classifier, grid, validation=0.3, refit=False, random_state=0)
    search.fit(X, y)
    assert asked == [16] * (10 if decomposer == "class_pairs" else 5)
    assert search.stopped_ == "all 16 combinations were tried"
    held = GranularitySearch(classifier, grid[0], refit="training", random_state=0)
    held.fit(X[:280], y[:280], X_val=X[280:], y_val=y[280:])
    for params, score in zip(
        held.results_["params"], held.results_["mean_test_score"], strict=True
    ):
        again = clone(classifier).set_params(**params).fit(X[:280], y[:280])
        assert score == pytest.approx(again.score(X[280:], y[280:]))


@pytest.mark.parametrize("decomposer", [NestedStrips(4), NestedDeal(4)], ids=["routed", "asked"])
def test_the_number_of_jobs_changes_nothing(decomposer):
    X, y = blobs(300)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    classifier = DivideAndConquerClassifier(decomposer, Centroids(sleep=0.005), Average())
    one, two = (
        GranularitySearch(
            classifier, {"learner__jitter": [0.1, 0.3]}, n_jobs=n_jobs, random_state=1
        ).fit(X, y)
        for n_jobs in (1, 2)
    )
    for name in ("level", "parts", "mean_test_score", "nsv"):
        assert np.array_equal(one.results_[name], two.results_[name], equal_nan=True)
    assert one.best_params_ == two.best_params_
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_a_part_is_handed_to_the_learner_once_with_all_its_cells():
    paths = []

    @component
    class Sharing(Centroids):
        name = "sharing"

        def fit_path(self, problem, grid):
            grid = list(grid)
            paths.append(len(grid))
            for cell in reversed(grid):  # in an order of its own
                yield dict(cell), clone(self).set_params(**cell).fit(problem)

    grid = {"learner__jitter": [0.0, 100.0, 200.0]}
    classifier = DivideAndConquerClassifier(NestedStrips(4), Sharing(), Average())
    search = searched(grid, classifier, min_gain=1.0, top=2)
    assert paths == [3] * 4 + [2]
    assert search.best_params_["learner__jitter"] == 0.0


def test_a_part_that_no_held_out_row_asks_is_not_searched():
    searched({"learner__quality": [0.5]}, validation=np.arange(0, 40), min_gain=1.0, refit=False)
    assert max(numbers.min() for size, _, numbers in Foreseen.seen if size < 20) < 60


def test_progress_is_told_level_by_level():
    told = []

    class Listener:
        def on_round_begin(self, n_jobs):
            told.append(n_jobs)

        def on_part_done(self, job, outcome):
            told.append(outcome.n_rows)

        def on_round_end(self):
            told.append("end")

    X, y = rows()
    search = GranularitySearch(foreseen(4, bonus=0.1), QUALITIES, refit=False, validation=0.2)
    search.fit_with(Engine(1, (Listener(),)), X, y)
    assert told[0] == 4
    assert told[5:7] == ["end", 1]
    assert sum(told[1:5]) == told[7] == 128


def test_names_and_a_search_without_grid_are_resolved_when_fitting():
    search = GranularitySearch(foreseen())
    with pytest.raises(SettingError, match=r"the grid's 'learner__C' is no setting of learner"):
        search.fit(*rows())


@component
class Learning(Combiner):
    name = "learning"
    wants_answers = True

    def combine(self, committee, X):
        return committee.mean_scores(X)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"estimator": "tree"},
            SettingError,
            "granularity_search: estimator must be a DivideAndConquerClassifier, got 'tree'",
        ),
        (
            {"param_grid": {"quality": [1.0]}},
            SettingError,
            "granularity_search: the grid's 'quality' is no setting of learner 'foreseen';"
            " did you mean 'learner__quality'? available: learner__bonus, learner__left, "
            "learner__per_half, learner__quality",
        ),
        (
            {"param_grid": {"learner__qualty": [1.0]}},
            SettingError,
            "granularity_search: the grid's 'learner__qualty' is no setting of learner 'foreseen';"
            " did you mean 'learner__quality'? available: learner__bonus, learner__left, "
            "learner__per_half, learner__quality",
        ),
        (
            {"param_grid": {"decomposer__strips": [1, 2]}, "factor": 3},
            SettingError,
            "granularity_search: the grid lists settings of the learner, not "
            "'decomposer__strips': levels begin with what the decomposer is set to, and each is "
            "3 times as coarse as the one before (factor); try its other settings with "
            "GridSearchCV, or with one search each",
        ),
        (
            {"param_grid": {"learner__quality": ["high"]}},
            SettingError,
            "foreseen: quality must be a number, got 'high'",
        ),
        (
            {"estimator": DivideAndConquerClassifier(Everything(), Foreseen(), Average())},
            CompositionError,
            "decomposer 'everything' has no levels to search through; decomposers that have: "
            f"{WITH_LEVELS}; for any other there is GridSearchCV",
        ),
        (
            {"estimator": DivideAndConquerClassifier(3 * Everything(), Foreseen(), Average())},
            CompositionError,
            "decomposer 'everything' has no levels to search through; decomposers that have: "
            f"{WITH_LEVELS}; for any other there is GridSearchCV",
        ),
        (
            {"estimator": DivideAndConquerClassifier(NestedStrips(), Foreseen(), Learning())},
            CompositionError,
            "combiner 'learning' is trained on the predictions of its members, so a search cannot "
            "score parts without it; search with another combiner, then set this one",
        ),
        (
            {"top": 0},
            SettingError,
            "granularity_search: top must be a whole number of at least 1, got 0",
        ),
        (
            {"refit": "all"},
            SettingError,
            "granularity_search: refit must be true or false or 'training', got 'all'",
        ),
        (
            {"validation": 2},
            SettingError,
            "granularity_search: validation must be a share between 0 and 1, or the numbers of "
            "some of the 160 rows, got 2",
        ),
        (
            {"validation": 0.001},
            DataError,
            "n_samples=160 is too few to hold out a share of 0.001: give more rows, a larger "
            "share, or X_val and y_val",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(settings, error, message):
    settings = {"estimator": foreseen(), "param_grid": QUALITIES, **settings}
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        GranularitySearch(**settings).fit(*rows())


def test_held_out_rows_need_labels():
    X, y = rows()
    with pytest.raises(DcsvmError, match=r"^X_val was given without y_val$"):
        GranularitySearch(foreseen(), QUALITIES).fit(X, y, X_val=X)
    with pytest.raises(DcsvmError, match=r"^y_val was given without X_val$"):
        GranularitySearch(foreseen(), QUALITIES).fit(X, y, y_val=y)


def with_first(values, value):
    changed = values.astype(float)
    changed.flat[0] = value
    return changed


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda X, y: (X[:, :1], y), "X_val has 1 features, but"),
        (lambda X, y: (with_first(X, np.nan), y), "X_val contains NaN, a missing value:"),
        (lambda X, y: (with_first(X, np.inf), y), "Input X_val contains infinity"),
        (lambda X, y: (X[:0], y[:0]), "X_val: Found array with 0 sample(s)"),
        (lambda X, y: (X, y[:30]), "X_val has 40 rows, but y_val has 30 labels"),
        (lambda X, y: (X, with_first(y, np.nan)), "Input y_val contains NaN"),
        (lambda X, y: (X, X), "y_val should be a 1d array"),
    ],
)
def test_mistakes_in_rows_to_judge_by_are_told_of_those(spoil, sentence):
    X, y = rows()
    judged, labels = spoil(X[120:], y[120:])
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}"):
        GranularitySearch(foreseen(), QUALITIES).fit(X[:120], y[:120], X_val=judged, y_val=labels)


@pytest.mark.parametrize("scoring", PROBABILITY_SCORES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cells_are_scored_by_probabilities(scoring, n_classes):
    pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")
    X, y = make_classification(
        400, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    tree = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=300), random_state=0)
    grid = {"learner__C": [1.0], "learner__gamma": [1e-4, 0.1, 1e3]}
    search = GranularitySearch(tree, grid, scoring=scoring, levels=1, random_state=0).fit(X, y)
    scores = search.results_["mean_test_score"]
    assert search.best_params_["learner__gamma"] == 0.1 or scoring == "calibration_error"
    assert search.best_score_ == scores.max()
    if scoring in LOSSES:
        assert (scores < 0.0).all()
    else:
        assert scores.max() > 0.7


@pytest.mark.parametrize(
    ("scoring", "n_classes"),
    [("f1", 2), ("jaccard", 2), ("f1_macro", 3), ("mcc", 3), ("recall_weighted", 3)],
)
def test_cells_are_scored_by_any_scorer_of_labels(scoring, n_classes):
    """The best score is that of the model with the best settings for the rows to judge by."""
    pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")
    X, y = make_classification(
        400, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    names = np.array(["ash", "elm", "fir"])[y]
    tree = DivideAndConquerClassifier(build("decomposer", "tree", ceiling=100), random_state=0)
    grid = {"learner__C": [0.1, 10.0], "learner__gamma": [0.1]}
    search = GranularitySearch(tree, grid, scoring=scoring, refit="training", random_state=0)
    search.fit(X[:300], names[:300], X_val=X[300:], y_val=names[300:])
    judged, answers = names[300:], search.predict(X[300:])
    rarer = min("ash", "elm", key=judged.tolist().count)
    expected = {
        "f1": lambda: f1_score(judged == rarer, answers == rarer),
        "jaccard": lambda: jaccard_score(judged == rarer, answers == rarer),
        "f1_macro": lambda: f1_score(judged, answers, average="macro"),
        "mcc": lambda: matthews_corrcoef(judged, answers),
        "recall_weighted": lambda: recall_score(judged, answers, average="weighted"),
    }
    assert search.best_score_ == pytest.approx(expected[scoring]())


def test_scorers_of_probabilities_are_those_of_dcsvm():
    pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")
    X, y = load_iris(return_X_y=True)
    scores = [
        GranularitySearch(
            DivideAndConquerClassifier("tree"), {"learner__C": [1.0]}, scoring=each, random_state=0
        )
        .fit(X, y)
        .best_score_
        for each in ("log_loss", "neg_log_loss")
    ]
    assert scores[0] == pytest.approx(scores[1])


def test_an_unknown_score_is_refused_and_parts_are_compared_by_accuracy_only():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SettingError, match="no score is called 'f1_makro'"):
        GranularitySearch(DivideAndConquerClassifier(), scoring="f1_makro").fit(X, y)
    with pytest.raises(SettingError, match="compares the parts by accuracy, not by 'f1_macro'"):
        GranularitySearch(DivideAndConquerClassifier(), scoring="f1_macro", per_part=True).fit(
            X, y
        )


def test_parts_are_not_compared_by_probabilities():
    search = GranularitySearch(DivideAndConquerClassifier(), scoring="log_loss", per_part=True)
    with pytest.raises(SettingError, match="compares the parts by accuracy, not by 'log_loss'"):
        search.fit(*load_iris(return_X_y=True))


def test_a_search_has_the_probabilities_of_its_best_estimator():
    pytest.importorskip("dcsvm_plugins", reason="these pipelines are made of built-in plugins")
    X, y = load_iris(return_X_y=True)
    tree = DivideAndConquerClassifier("tree", probability="auto", random_state=0)
    search = GranularitySearch(tree, {"learner__C": [1.0, 10.0]}, random_state=0).fit(X, y)
    assert (search.predict_proba(X) == search.best_estimator_.predict_proba(X)).all()
    assert (search.predict(X) == search.predict_proba(X).argmax(axis=1)).all()
    assert not hasattr(GranularitySearch(DivideAndConquerClassifier("tree")), "predict_proba")
