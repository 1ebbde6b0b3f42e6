"""The figure of when each worker trained which parts."""

from collections.abc import Mapping, Sequence
from typing import Any

from dcsvm_report.svg_theme import ACCENT, INK, Drawing, render_svg

#: The maximum number of workers and of bars that are drawn.
MOST_LANES, MOST_BARS = 64, 4000
#: The maximum number of stages that are told one by one.
MOST_STAGES = 20
#: Seconds below which the parts of a run on this machine are not drawn.
SHORT = 1.0
#: Bytes in an account, and how a sentence calls them.
BYTES = (("bytes_read", "read"), ("bytes_sent", "sent"), ("bytes_returned", "returned"))


def draw_workers(parts: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Draw the time of each part on the lane of its worker, if it is known.

    Threads and processes of this machine have no names: each part goes to the first lane that is
    free.
    """
    known = [part for part in parts if (part.get("account") or {}).get("began")]
    if len(known) < 2:
        return None
    known.sort(key=lambda part: float(part["account"]["began"]))
    first = float(known[0]["account"]["began"])
    lanes = _assign_lanes(known)
    spans = [(float(part["account"]["began"]) - first, float(part["seconds"])) for part in known]
    whole = max(began + seconds for began, seconds in spans)
    if whole < SHORT and not any("worker" in part["account"] for part in known):
        return None
    busy = sum(seconds for _, seconds in spans)
    names = list(dict.fromkeys(lanes))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        step = -(-len(spans) // MOST_BARS)
        for lane, name in enumerate(names[:MOST_LANES]):
            mine = [span for span, other in zip(spans, lanes, strict=True) if other == name]
            colours = [ACCENT, INK] * len(mine)
            axes.broken_barh(mine[::step], (lane - 0.4, 0.8), facecolors=colours[: len(mine)])
        axes.set_yticks(range(len(names[:MOST_LANES])), names[:MOST_LANES])
        axes.invert_yaxis()
        axes.set_xlim(0, whole)
        axes.set_xlabel("seconds since the first part began")

    words = (
        f"{len(known):,} parts on {len(names)} workers, busy {busy / (whole * len(names)):.0%} of "
        f"{whole:.3g} s{_describe_traffic(known)}.{_describe_stages(known)}"
    )
    title = "Parts by worker"
    height = 1.2 + 0.25 * min(len(names), MOST_LANES)
    return Drawing(title, words, render_svg("workers", f"{title}: {words}", draw, height))


def _assign_lanes(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The worker of each part, or the first lane that is free when it begins."""
    free: list[float] = []
    lanes = []
    for part in parts:
        account = part["account"]
        if "worker" in account:
            lanes.append(str(account["worker"]))
            continue
        began = float(account["began"])
        lane = next((place for place, end in enumerate(free) if end <= began + 1e-3), len(free))
        free[lane : lane + 1] = [began + float(part["seconds"])]
        lanes.append(str(lane + 1))
    return lanes


def _describe_stages(parts: Sequence[Mapping[str, Any]]) -> str:
    """What each stage moved and waited for, as sentences, if there are several stages."""
    stages: dict[int, list[Mapping[str, Any]]] = {}
    for part in parts:
        stages.setdefault(part.get("path", (0,))[0], []).append(part)
    if not 1 < len(stages) <= MOST_STAGES:
        return ""
    moved = {stage: _describe_traffic(stages[stage]) for stage in sorted(stages)}
    return "".join(
        f" Stage {stage + 1}: {len(stages[stage]):,} of the parts{words}."
        for stage, words in moved.items()
        if words
    )


def _describe_traffic(parts: Sequence[Mapping[str, Any]]) -> str:
    """What was moved and waited for, as clauses."""
    found = []
    for key, word in BYTES:
        total = sum(part["account"].get(key, 0) for part in parts)
        if total:
            found.append(f"{total / 1e6:,.1f} MB {word}")
    waited = sum(part["account"].get("waited", 0.0) for part in parts)
    if waited:
        found.append(f"{waited:,.1f} s waited on the way and in line")
    return "; " + ", ".join(found) if found else ""
