"""What terminal and report say alike."""

import pytest

from dcsvm.experiments.run.run_messages import compute_nsv_ratios, describe_columns


def model(parts, evaluations):
    return {"n_parts": parts, "kernel_evaluations_mean": evaluations}


@pytest.mark.parametrize(
    ("models", "ratios"),
    [
        ([model(20, 50.0), model(1, 200.0)], [4.0, 1.0]),
        ([model(20, 50.0), model(1, 100.0), model(1, 200.0)], [4.0, 2.0, 1.0]),
        ([model(20, 400.0), model(1, 200.0), model(3, None)], [0.5, 1.0, None]),
        ([model(20, 50.0), model(10, 200.0)], [None, None]),
        ([model(20, 0.0), model(1, 200.0)], [None, None]),
        ([model(1, 200.0)], [None]),
    ],
    ids=[
        "a tree and the undivided",
        "of two undivided ones the costlier",
        "one that costs more, one whose cost is unknown",
        "nothing undivided",
        "no kernel values but the undivided's",
        "one model alone",
    ],
)
def test_models_are_held_against_the_undivided_one(models, ratios):
    assert compute_nsv_ratios(models) == ratios


def test_dates_are_told_beside_the_numbers():
    columns = [
        {"column": "when", "kind": "date"},
        {"column": "size", "kind": "number"},
        {"column": "when year", "kind": "number"},
        {"column": "when month", "kind": "number"},
        {"column": "when day", "kind": "constant"},
    ]
    assert next(describe_columns(columns)) == "columns: 1 number, 1 date (when)"


def test_words_that_counted_as_missing_are_told_with_the_setting_for_those_in_doubt():
    columns = [
        {"column": "Plan", "kind": "category", "about": "2 different, 1,373 missing"},
        {
            "column": "Tarif",
            "kind": "category",
            "words": {"none": 1373, "?": 2},
            "doubtful": ("none",),
        },
        {"column": "Art", "kind": "category", "words": {"none": 5}, "doubtful": ("none",)},
    ]
    (told,) = [each for each in describe_columns(columns) if each.startswith("counted")]
    assert told == (
        "counted as missing: 'none' in Tarif (1,373), Art (5); '?' in Tarif (2); if 'none' is a "
        "level, list only what is missing in `missing_values` "
        '(--set \'data.missing_values=["?", "n/a", "na", "nan", "null"]\')'
    )
    for column in columns:
        column.pop("doubtful", None)
    (told,) = [each for each in describe_columns(columns) if each.startswith("counted")]
    assert told == "counted as missing: 'none' in Tarif (1,373), Art (5); '?' in Tarif (2)"
