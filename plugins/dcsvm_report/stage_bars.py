"""Drawing of stages: how many rows each was given, and how many it kept."""

import html
from collections.abc import Sequence

import attrs

WIDTH, ROW, BAR, TEXT = 340, 58, 16, 12


@attrs.frozen
class StageCounts:
    """One stage: its parts, the rows they hold in all, and how many of these were kept.

    Rows that several parts hold count in each of them.
    """

    title: str
    parts: int
    rows: int
    kept: int


def draw_stages(stages: Sequence[StageCounts]) -> str:
    """Draw stages from first to last: a bar of all rows, filled in proportion to those kept.

    Rows that a stage did not keep are dropped only where the next one has no more than it kept.

    Examples
    --------
    >>> stages = [StageCounts("crossed", 4, 900, 200), StageCounts("last", 1, 180, 150)]
    >>> "180 rows in 1 part, 150 kept" in draw_stages(stages)
    True
    """
    most = max(1, *(stage.rows for stage in stages))
    shapes = []
    following = [stage.rows for stage in stages[1:]]
    for place, stage in enumerate(stages):
        down = ROW * place + 14
        parts = "1 part" if stage.parts == 1 else f"{stage.parts:,} parts"
        label = f"{stage.rows:,} rows in {parts}, {stage.kept:,} kept"
        if place < len(following) and following[place] <= stage.kept < stage.rows:
            label += f", {stage.rows - stage.kept:,} dropped"
        title = html.escape(f"{place + 1}. {stage.title}" if stage.title else f"{place + 1}.")
        whole, kept = (max(2.0, WIDTH * n / most) for n in (stage.rows, stage.kept))
        shapes += [
            f'<text x="0" y="{down}" font-weight="bold">{title}</text>',
            f'<rect x="0" y="{down + 6}" width="{whole:.1f}" height="{BAR}" rx="2" '
            'fill="currentColor" fill-opacity=".14"/>',
            f'<rect x="0" y="{down + 6}" width="{kept:.1f}" height="{BAR}" rx="2" '
            'style="fill: var(--accent, #2f7ed8)"/>',
            f'<text x="0" y="{down + BAR + 18}" fill-opacity=".8">{label}</text>',
        ]
    height = ROW * len(stages)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="{TEXT}" '
        f'fill="currentColor">{"".join(shapes)}</svg>'
    )
