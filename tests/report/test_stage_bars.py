"""Pictures of stages."""

import re

from html_page import Page

from dcsvm_report.stage_bars import StageCounts, draw_stages


def lines(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def test_stages_are_bars_of_what_went_in_and_what_was_kept() -> None:
    svg = draw_stages([StageCounts("<crossed>", 4, 1000, 250), StageCounts("", 1, 240, 240)])
    assert Page(svg).mistakes == []
    assert lines(svg) == [
        "1. &lt;crossed&gt;",
        "1,000 rows in 4 parts, 250 kept, 750 dropped",
        "2.",
        "240 rows in 1 part, 240 kept",
    ]
    widths = [float(each) for each in re.findall(r'<rect[^>]* width="([\d.]+)"', svg)]
    assert widths[1] / widths[0] == 0.25
    assert widths[2] == widths[3]
