"""The figure of parts by worker: lanes, and the sentence on what was moved."""

import pytest

pytest.importorskip("matplotlib")

from dcsvm_report.gantt_chart import _assign_lanes, draw_workers


def part(began, seconds, **account):
    return {"seconds": seconds, "account": {"began": 1e9 + began, **account}}


def test_parts_are_drawn_by_worker_with_what_they_moved():
    parts = [
        part(place, 1.0, worker=f"tcp://{place % 2}", waited=0.5, bytes_sent=2e6)
        for place in range(4)
    ]
    drawing = draw_workers(parts)
    assert drawing.words == (
        "4 parts on 2 workers, busy 50% of 4 s; 8.0 MB sent, 2.0 s waited on the way and in line."
    )
    assert "tcp://1" in drawing.svg


def test_what_was_moved_is_summed_by_stage():
    parts = [
        {**part(place, 1.0, worker="0", waited=0.5, bytes_read=1e6), "path": (place // 2, place)}
        for place in range(3)
    ]
    assert draw_workers(parts).words.endswith(
        "3.0 MB read, 1.5 s waited on the way and in line. "
        "Stage 1: 2 of the parts; 2.0 MB read, 1.0 s waited on the way and in line. "
        "Stage 2: 1 of the parts; 1.0 MB read, 0.5 s waited on the way and in line."
    )


def test_parts_without_a_worker_go_to_the_first_free_lane():
    parts = [part(0.0, 2.0), part(0.5, 1.0), part(1.6, 1.0), part(2.1, 1.0)]
    assert _assign_lanes(parts) == ["1", "2", "2", "1"]


def test_without_times_there_is_no_figure():
    assert draw_workers([{"seconds": 1.0}, {"seconds": 1.0, "account": {}}]) is None
