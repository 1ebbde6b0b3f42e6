"""Whether two classifiers differ: McNemar's test and a paired interval."""

import numpy as np
import pytest
from scipy import stats

from dcsvm.base.errors import DataError
from dcsvm.model_selection import mcnemar, paired_interval


def answers(both, only_first, only_second, neither):
    """Truth and two lists of answers with these counts."""
    first = np.repeat([1, 1, 0, 0], [both, only_first, only_second, neither])
    second = np.repeat([1, 0, 1, 0], [both, only_first, only_second, neither])
    return np.ones_like(first), first, second


@pytest.mark.parametrize("counts", [(50, 3, 9, 2), (10, 0, 5, 0), (5, 12, 12, 1), (0, 24, 0, 0)])
def test_few_differing_rows_get_the_exact_test(counts) -> None:
    result = mcnemar(*answers(*counts))
    _, b, c, _ = counts
    assert (result.both_right, result.only_first, result.only_second, result.neither) == counts
    assert result.method == "exact binomial"
    assert result.p_value == pytest.approx(stats.binomtest(b, b + c, 0.5).pvalue)


@pytest.mark.parametrize("counts", [(500, 30, 60, 20), (10, 13, 12, 0), (0, 100, 100, 0)])
def test_many_differing_rows_get_the_corrected_chi_square(counts) -> None:
    result = mcnemar(*answers(*counts))
    _, b, c, _ = counts
    statistic = max(abs(b - c) - 1, 0) ** 2 / (b + c)
    assert result.method == "chi-square with continuity correction"
    assert result.p_value == pytest.approx(1 - stats.chi2(1).cdf(statistic))


def test_classifiers_that_never_differ_are_not_told_apart() -> None:
    assert mcnemar(*answers(10, 0, 0, 3)).p_value == 1.0


def test_text_labels_are_compared_too() -> None:
    result = mcnemar(["a", "b", "c"], ["a", "b", "b"], ["a", "c", "c"])
    assert (result.both_right, result.only_first, result.only_second) == (1, 1, 1)


def test_the_sentence_says_who_is_better_and_why() -> None:
    assert mcnemar(*answers(100, 2, 14, 0)).statement == (
        "the second is better: 2 rows are right only with the first, 14 only with the second "
        "(McNemar, exact binomial, p = 0.00418, level 0.05)"
    )
    assert mcnemar(*answers(100, 20, 14, 0)).statement == (
        "no significant difference: 20 rows are right only with the first, 14 only with the "
        "second (McNemar, chi-square with continuity correction, p = 0.391, level 0.05)"
    )
    assert mcnemar(*answers(100, 2, 14, 0), level=0.001).significant is False


def test_the_interval_is_the_adjusted_one_of_matched_pairs() -> None:
    interval = paired_interval(*answers(80, 12, 5, 3), confidence=0.9)
    table = np.array([80, 12, 5, 3]) + 0.5
    n = table.sum()
    difference = (table[1] - table[2]) / n
    variance = ((table[1] + table[2]) / n - difference**2) / n
    low, high = stats.norm.interval(0.9, difference, np.sqrt(variance))
    assert interval.difference == pytest.approx(0.07)
    assert (interval.low, interval.high) == (pytest.approx(low), pytest.approx(high))


def test_the_interval_covers_the_true_difference_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    shares, hits = np.array([0.8, 0.1, 0.05, 0.05]), 0
    for _ in range(400):
        interval = paired_interval(*answers(*generator.multinomial(60, shares)))
        hits += interval.low <= 0.05 <= interval.high
    assert 0.92 <= hits / 400 <= 0.98


def test_the_interval_is_told_in_points() -> None:
    assert paired_interval(*answers(90, 6, 2, 2)).statement == (
        "accuracy of the first minus that of the second: +4.00 points "
        "(95% interval -1.79 to +9.64)"
    )


def test_answers_to_different_rows_are_refused() -> None:
    with pytest.raises(DataError) as caught:
        mcnemar([1, 2], [1, 2], [1])
    assert str(caught.value) == (
        "two classifiers are compared on the same rows, one or more: there are (2,) true labels "
        "and (2,) and (1,) answers"
    )
