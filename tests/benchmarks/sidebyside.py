"""Times two ways of doing the same in turns, and prints them as an aligned table or as JSON."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from data import MissingDataError
from threadpoolctl import threadpool_limits

Work = Callable[[], object]
Case = tuple[str, float, Work, Work]
"""A row's name, the ratio asked of it, our way and theirs."""


def main(doc: str, cases: Callable[[argparse.Namespace], Iterator[Case]], **defaults: int) -> None:
    """Run all cases of one script, one thread per BLAS call."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--json", action="store_true", help="one object of row name to ratio")
    parser.add_argument(
        "--cpu", action="store_true", help="processor time, for a machine shared with others"
    )
    parser.add_argument("--only", default="", help="run rows whose name holds this text")
    parser.add_argument("--repeat", type=int, default=defaults.pop("repeat", 3))
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    ratios = {}
    say(options, f"{'row':44} {'ours s':>10} {'theirs s':>10} {'ratio':>7} {'asked':>6}")
    with threadpool_limits(1):
        try:
            for name, asked, ours, theirs in cases(options):
                if options.only not in name:
                    continue
                a, b = in_turns(ours, theirs, options.repeat, options.cpu)
                ratios[name] = round(b / a, 2)
                say(options, f"{name:44} {a:10.5f} {b:10.5f} {b / a:7.1f} {asked:6.1f}")
        except MissingDataError as missing:
            print(f"the rest is skipped: {missing}", file=sys.stderr)
    if options.json:
        print(json.dumps(ratios))


def in_turns(ours: Work, theirs: Work, repeat: int, cpu: bool) -> tuple[float, float]:
    """Medians of both, run one after the other `repeat` times."""
    clock = time.process_time if cpu else time.perf_counter
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat):
        for work, kept in zip((ours, theirs), times, strict=True):
            begin = clock()
            work()
            kept.append(clock() - begin)
    return statistics.median(times[0]), statistics.median(times[1])


def say(options: argparse.Namespace, line: str) -> None:
    """A line of the table, unless JSON is wanted."""
    if not options.json:
        print(line, flush=True)
