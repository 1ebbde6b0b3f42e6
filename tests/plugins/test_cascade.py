"""The crossed cascade: who is learned with whom, what is handed on, and what it comes to."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.svm import SVC

from dcsvm import DivideAndConquerClassifier, Problem, SettingError, build

from .recorded import alpha_of, kept, overlapping, recorded


def cascade(**settings):
    return build("decomposer", "cascade", **settings)


def first_stage(y, **settings):
    problem = Problem(np.zeros((len(y), 1)), y, int(y.max()) + 1)
    return [set(part.rows.tolist()) for part in next(cascade(**settings).divide(problem))]


def test_two_pieces_of_each_class_are_crossed_as_in_the_paper():
    y = np.repeat([0, 1], [7, 12])
    one, two, three, four = first_stage(y, ratio=0.5)
    negative, positive = set(range(7)), set(range(7, 19))
    assert one | two == three | four == negative | positive
    assert not one & two
    assert not three & four
    assert one & negative == three & negative
    assert one & positive == four & positive
    assert two & positive == three & positive
    assert (len(one & negative), len(one & positive)) == (4, 6)


def test_the_first_piece_has_its_share_rounded_up():
    for ratio, sizes in ((0.1, (2, 5)), (0.5, (6, 21)), (0.3, (4, 13))):
        (one, *_) = first_stage(np.repeat([0, 1], [12, 42]), ratio=ratio)
        assert len(one & set(range(12))) == sizes[0]
        assert len(one & set(range(12, 54))) == sizes[1]


@pytest.mark.parametrize("pieces", [2, 3, 4, 5])
def test_k_pieces_make_k_groups_that_hold_every_row_once_and_cross_every_pair(pieces):
    y = np.arange(60) % 2
    parts = first_stage(y, pieces=pieces)
    assert len(parts) == pieces**2
    together = np.zeros((60, 60), dtype=int)
    for group in range(pieces):
        rows = [row for part in parts[group * pieces : (group + 1) * pieces] for row in part]
        assert sorted(rows) == list(range(60))
    for part in parts:
        rows = sorted(part)
        together[np.ix_(rows, rows)] += 1
    across = together[np.ix_(y == 0, y == 1)]
    assert (across == 1).all()


def check_merges(steps, in_a_group):
    """Every merged part holds exactly what the members before it kept, with their duals."""
    for (_, before), (parts, _) in pairwise(steps):
        assert len(parts) == len(before) // in_a_group
        for place, part in enumerate(parts):
            members = before[place * in_a_group : (place + 1) * in_a_group]
            assert part.rows.tolist() == kept(*members)
            check_start(part, members)


def check_start(part, members):
    for row, value in zip(part.rows.tolist(), part.start.tolist(), strict=True):
        held = [member for member in members if row in set(member.part.rows.tolist())]
        duals = [alpha_of(member).get(row, 0.0) for member in held]
        assert value == pytest.approx(sum(duals) / len(duals))


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_merged_sets_and_the_last_problem_hold_exactly_what_was_kept(ties, seed):
    X, y = overlapping(seed=seed, ties=ties)
    if ties:
        assert len(np.unique(X, axis=0)) < 0.7 * len(X)
    steps, classifier = recorded(cascade(), X, y, seed=seed)
    assert [len(parts) for parts, _ in steps] == [4, 2, 1]
    check_merges(steps, 2)
    assert [record.rows for record in classifier.ledger_[-3:]] == [
        len(part.rows) for parts, _ in steps[1:] for part in parts
    ]
    ((last,), _) = steps[-1]
    (member,) = classifier.model_.committee.members
    assert set(member.support) <= set(last.rows)
    assert member.n_rows == last.n_rows


def test_three_pieces_hand_on_what_was_kept():
    X, y = overlapping()
    steps, _ = recorded(cascade(pieces=3), X, y)
    assert [len(parts) for parts, _ in steps] == [9, 3, 1]
    check_merges(steps, 3)


@pytest.mark.parametrize("ties", [True, False])
def test_parts_above_the_ceiling_are_cascades_whose_parts_run_side_by_side(ties):
    X, y = overlapping(rows=240, ties=ties)
    steps, classifier = recorded(cascade(ceiling=60), X, y)
    assert [len(parts) for parts, _ in steps] == [16, 8, 4, 2, 1]
    assert max(len(part.rows) for part in steps[0][0]) <= 60
    check_merges(steps, 2)
    words = [(record.about["step"], record.about["depth"]) for record in classifier.ledger_]
    assert words == (
        [("crossed", 1)] * 16
        + [("group", 1)] * 8
        + [("last", 1)] * 4
        + [("group", 0)] * 2
        + [("last", 0)]
    )


def test_only_parts_that_are_too_large_are_cascades():
    y = np.repeat([0, 1], [100, 100])
    X = np.random.default_rng(0).normal(size=(200, 2)) + y[:, None]
    steps, _ = recorded(cascade(ratio=0.1, ceiling=120), X, y)
    sizes = sorted(len(part.rows) for part in steps[0][0])
    assert max(sizes) <= 120
    assert sizes.count(100) == 2
    assert sizes.count(20) == 1


@pytest.mark.parametrize("ties", [True, False])
def test_groups_in_turn_start_from_the_group_before(ties):
    X, y = overlapping(ties=ties)
    steps, _ = recorded(cascade(in_turn=True), X, y)
    assert [len(parts) for parts, _ in steps] == [2, 2, 1, 1, 1]
    (one, two, three, four, five) = steps
    for part in two[0]:
        check_start(part, one[1])
    assert three[0][0].rows.tolist() == kept(*one[1])
    assert four[0][0].rows.tolist() == kept(*two[1])
    assert five[0][0].rows.tolist() == kept(*three[1], *four[1])
    alpha = alpha_of(three[1][0])
    assert four[0][0].start.tolist() == [alpha.get(row, 0.0) for row in four[0][0].rows.tolist()]


def test_in_turn_or_not_the_last_machine_is_alike():
    X, y = overlapping(rows=400, ties=False)
    _, one = recorded(cascade(), X, y, tol=1e-6)
    _, other = recorded(cascade(in_turn=True), X, y, tol=1e-6)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=0.05)


def test_a_cold_cascade_starts_from_nothing_and_comes_to_the_same():
    X, y = overlapping(rows=300, ties=False)
    steps, cold = recorded(cascade(warm=False), X, y, tol=1e-7)
    assert all(part.start is None for parts, _ in steps for part in parts)
    _, warm = recorded(cascade(), X, y, tol=1e-7)
    np.testing.assert_allclose(cold.decision_function(X), warm.decision_function(X), atol=1e-4)
    iterations = [
        sum(record.about["iterations"] for record in each.ledger_[4:]) for each in (cold, warm)
    ]
    assert iterations[1] < iterations[0]


def test_parts_of_one_class_keep_all_their_rows():
    X, y = overlapping(rows=60)
    y = np.arange(60) < 1
    steps, classifier = recorded(cascade(), X, y.astype(int))
    constants = [record for record in classifier.ledger_[:4] if record.model == "Constant"]
    assert len(constants) == 2
    assert [record.kept for record in constants] == [record.rows for record in constants]
    check_rows = [part.rows.tolist() for part in steps[1][0]]
    assert check_rows == [kept(*steps[0][1][:2]), kept(*steps[0][1][2:])]


def test_it_answers_nearly_as_the_machine_of_all_rows_with_no_more_support_vectors():
    X, y = overlapping(rows=1200, ties=False)
    _, clf = recorded(cascade(), X[:800], y[:800])
    whole = SVC(C=10.0, gamma=0.5).fit(X[:800], y[:800])
    assert abs(clf.score(X[800:], y[800:]) - whole.score(X[800:], y[800:])) <= 0.01
    assert clf.ledger_[-1].support_vectors <= len(whole.support_)


def test_class_pairs_are_learned_by_cascades_inside_them():
    generator = np.random.default_rng(0)
    y = np.arange(180) % 3
    X = generator.normal(size=(180, 2)) + 2.0 * np.eye(3)[y][:, :2]
    inner = DivideAndConquerClassifier(cascade(), "kernel_svm", "route")
    clf = DivideAndConquerClassifier("class_pairs", inner, "vote", random_state=0).fit(X, y)
    nested = [record for record in clf.ledger_ if len(record.path) == 4]
    assert len(nested) == 3 * 7
    assert all(record.classes == 2 for record in nested)
    assert clf.score(X, y) > 0.75


def test_several_classes_are_learned_directly_too():
    generator = np.random.default_rng(0)
    y = np.arange(400) % 4
    X = generator.normal(scale=0.5, size=(400, 2)) + np.column_stack([y % 2, y // 2]) * 2.0
    steps, clf = recorded(cascade(), X[:200], y[:200])
    whole = SVC(C=10.0, gamma=0.5).fit(X[:200], y[:200])
    assert [part.rows.tolist() for part in steps[1][0]] == [
        kept(*steps[0][1][:2]),
        kept(*steps[0][1][2:]),
    ]
    assert abs(clf.score(X[200:], y[200:]) - whole.score(X[200:], y[200:])) <= 0.02


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"ratio": 0.6},
            "cascade: ratio must be a number above 0 and at most 0.5 or none, got 0.6",
        ),
        (
            {"ceiling": 1},
            "cascade: ceiling must be a whole number of at least 2 or none, got 1",
        ),
        ({"pieces": 1}, "cascade: pieces must be a whole number of at least 2, got 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, sentence):
    with pytest.raises(SettingError) as refused:
        cascade(**settings)
    assert str(refused.value) == sentence


def test_a_learner_without_support_vectors_is_refused():
    from dcsvm.base.errors import CompositionError

    X, y = overlapping()
    clf = DivideAndConquerClassifier(cascade(), "linear_svm", "route")
    with pytest.raises(CompositionError, match="'linear_svm' does not fit decomposer 'cascade'"):
        clf.fit(X, y)


def test_a_cascade_that_would_not_end_is_refused():
    y = np.arange(112) % 2
    with pytest.raises(SettingError) as refused:
        first_stage(y, ratio=0.01, ceiling=3)
    assert str(refused.value) == (
        "cascade: ceiling = 3 splits 112 rows into more than 100000 parts; set ceiling to 13 or "
        "more, or raise the ratio"
    )
    cascade(ratio=0.01, ceiling=13)._check_part_count(112)
    parts = len(first_stage(y, ceiling=3))
    assert 1 / 3 < cascade(ceiling=3)._forecast_parts(112 / 3) / parts < 3


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"ceiling": 2},
            "cascade: ceiling = 2 splits 2000 rows into more than 100000 parts; set ceiling to 7 "
            "or more",
        ),
        (
            {"pieces": 1000},
            "cascade: pieces = 1000 splits 2000 rows into more than 100000 parts; set pieces to "
            "316 or less",
        ),
    ],
)
def test_far_too_many_parts_are_refused_with_what_is_allowed(settings, sentence):
    y = np.arange(2000) % 2
    with pytest.raises(SettingError) as refused:
        first_stage(y, **settings)
    assert str(refused.value) == sentence


def test_the_pieces_that_are_told_to_be_allowed_are_allowed():
    y = np.arange(100) % 2
    with pytest.raises(SettingError, match=r"set pieces to 1000 or less$"):
        first_stage(y, pieces=1001)
    cascade(pieces=1000)._check_part_count(100)
    cascade(ceiling=7)._check_part_count(2000)
