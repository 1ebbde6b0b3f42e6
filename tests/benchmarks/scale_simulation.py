"""A simulated run of a billion rows on many workers: where each strategy stops scaling, and why.

    python tests/benchmarks/scale_simulation.py --rows 1000000000

A strategy is a list of stages, and a stage is a number of like parts. The client divides, sends
each part its rows (unless the workers read them from a shared disk), and joins the models, one
after the other; workers learn at the same time, some slower than others, and some die. All speeds
come from the records of this machine in `measured/` and `examples/`; see docs/scale.md.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "tests" / "benchmarks" / "measured"
FEATURES = 28
#: Bytes a second of a link of 10 Gbit/s, and of the disks that all workers share.
LINK, DISK = 1.25e9, 10e9
#: Not measured, assumed: multiplications a second of a pass over rows and of BLAS, and the passes
#: of a linear machine over half of the features.
STREAM, FLOPS, PASSES = 1e9, 1e10, 20
#: The spread of the logarithm of a worker's speed; a worker dies once in so many hours.
SPREAD, HOURS = 0.25, 200.0
#: Seconds until a part of a dead worker begins again.
NOTICED = 30.0


@attrs.frozen
class Speeds:
    """Seconds that a core takes, fitted to measurements."""

    divide_row: float  # to prepare rows and to grow a tree of histograms
    solve_leaf: float  # a leaf of LEAF rows
    oblique_row: float  # all levels of an oblique tree, by row
    join_part: float  # to receive and keep a model
    svm_seconds: float  # one kernel machine of svm_rows rows ...
    svm_rows: float
    svm_power: float  # ... which grows like this power
    support_share: float  # rows that are support vectors in a whole machine
    kept_share: float  # rows that a part of a cascade keeps
    warm_share: float  # of the seconds of a later stage, beside those from nothing
    model_bytes: float  # of a leaf


#: Rows of a leaf of the fixed benchmark, on average.
LEAF = 930


def read(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def fit_speeds() -> Speeds:
    """Fit the model to records of single machines."""
    disk = [each for each in read(MEASURED / "from_disk.jsonl") if each.get("solve_seconds")]
    tree = max((each for each in disk if "fixed" in each["what"]), key=lambda each: each["rows"])
    oblique = next(each for each in disk if each["what"] == "h_lsvm")
    moved = next(each for each in read(MEASURED / "cluster.jsonl") if each["what"] == "tree")
    whole = read(ROOT / "examples/reproduce_cascade/measured/svc_scaling.jsonl")
    rows, seconds = (np.array([each[key] for each in whole]) for key in ("rows", "cpu"))
    power = float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])
    steps = read(ROOT / "examples/reproduce_cascade/measured/large.jsonl")
    layers = next(each["steps"] for each in steps if each["method"] == "cascade")
    kept = sum(part["kept"] for part in layers[0]) / sum(part["rows"] for part in layers[0])
    last = layers[-1][0]
    n_train = 0.9 * tree["rows"]
    return Speeds(
        divide_row=tree["divide_seconds"] * tree["jobs"] / n_train,
        solve_leaf=tree["solve_seconds"] / tree["n_parts"] * LEAF / (n_train / tree["n_parts"]),
        oblique_row=oblique["fit_seconds"] * oblique["jobs"] / (0.9 * oblique["rows"]),
        join_part=tree["join_seconds"] / tree["n_parts"],
        svm_seconds=float(seconds[-1]),
        svm_rows=float(rows[-1]),
        svm_power=power,
        support_share=float(whole[-1]["support_vectors"] / rows[-1]),
        kept_share=kept,
        warm_share=float(last["cpu"] / (last["rows"] / rows[0]) ** power / seconds[0]),
        model_bytes=1e6 * moved["returned_megabytes"] / moved["parts"],
    )


@attrs.frozen
class Stage:
    """Parts of like size: seconds to divide and join at the client, and to learn each of them."""

    title: str
    parts: int
    part_rows: float
    solve: float
    divide: float = 0.0
    join: float = 0.0
    returned: float = 0.0
    reads: bool = True


def solve_svm(speeds: Speeds, rows: float) -> float:
    """Seconds of one kernel machine."""
    return speeds.svm_seconds * (rows / speeds.svm_rows) ** speeds.svm_power


def list_strategies(s: Speeds, n: float, workers: int) -> dict[str, list[Stage]]:
    """The stages of the five papers, for n rows."""
    leaves = round(n / LEAF)
    joins = leaves * s.join_part
    back = s.model_bytes
    tree = Stage("tree", leaves, LEAF, s.solve_leaf, n * s.divide_row, joins, back)
    grown = Stage("grow", workers, n / workers, n * s.divide_row / workers)
    leaf = Stage("leaves", leaves, LEAF, s.solve_leaf, 0.0, joins, back)
    spread = Stage("leaves", workers, n / workers, s.solve_leaf * leaves / workers, 0.0, 0.1)
    classes, subspaces = 100, 64
    pairs = classes * (classes - 1) // 2
    pair = Stage("pairs", pairs, 2 * n / classes, solve_svm(s, 2 * n / classes))
    sweep = PASSES * n * FEATURES / 2 / STREAM
    view = Stage("subspaces", subspaces, n / 2, sweep)
    table = Stage("table of answers", 1, n, n * subspaces**2 / FLOPS, 0.0, 0.0, reads=False)
    return {
        "TD: a tree grown by the client, as dcsvm does": [tree],
        "TD: a tree grown by all workers, leaves sent back": [grown, leaf],
        "TD: a tree grown by all workers, leaves kept there": [grown, spread],
        "H-LSVM: an oblique tree, the root in one piece": [
            Stage(f"level {level}", 2**level, n / 2**level, n / 2**level * s.oblique_row / 12)
            for level in range(12)
        ],
        "DAGSVM: 4,950 pairs of 100 classes": [pair],
        "Cascade: halves of support vectors": list(cascade(s, n, workers)),
        "Feature subspaces with fusion": [view, table],
    }


def cascade(s: Speeds, n: float, workers: int) -> Iterator[Stage]:
    """Layers of a cascade that begins with as many pieces as there are workers."""
    pieces = 2 ** int(np.log2(workers))
    rows, seconds = n / pieces, solve_svm(s, n / pieces)
    while True:
        kept = s.kept_share * rows
        title = f"{pieces:,} machine{'s' * (pieces > 1)}"
        yield Stage(title, pieces, rows, seconds, returned=8 * FEATURES * kept)
        if pieces == 1:
            return
        pieces, rows = pieces // 2, 2 * kept
        seconds = s.warm_share * solve_svm(s, rows)


def simulate(stages: list[Stage], workers: int, seed: int = 0) -> tuple[float, dict[str, float]]:
    """Seconds of all stages, and those of each with what the client alone took in them."""
    generator = np.random.default_rng(seed)
    slowness = np.exp(SPREAD * generator.normal(size=workers))
    deaths = generator.exponential(3600 * HOURS, size=workers)
    now, told = 0.0, {}
    for stage in stages:
        began, client = now, now + stage.divide
        free = [(client, worker) for worker in range(workers)]
        heapq.heapify(free)
        fetch = 8 * FEATURES * stage.part_rows
        load = fetch / LINK + (fetch * min(workers, stage.parts) / DISK if stage.reads else 0.0)
        lump = max(1, stage.parts // 50_000)  # like parts, one after the other on a worker
        ended = client
        for _ in range(-(-stage.parts // lump)):
            start, worker = heapq.heappop(free)
            seconds = lump * (load + stage.solve * slowness[worker])
            end = start + seconds
            if end > deaths[worker]:  # the part begins again, on a worker that is new
                lost = max(0.0, deaths[worker] - start)
                end = start + lost + NOTICED + seconds
                deaths[worker] = end + generator.exponential(3600 * HOURS)
            heapq.heappush(free, (end, worker))
            ended = max(ended, end)
        returns = stage.parts * stage.returned / LINK + stage.join
        now = max(ended, client + returns)
        told[f"{stage.title}: the client divides"] = client - began
        told[f"{stage.title}: workers read and learn"] = ended - client
        told[f"{stage.title}: the client joins"] = now - ended
    return now, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--workers", type=int, nargs="+", default=[8, 32, 128, 512, 1024])
    given = parser.parse_args()
    speeds = fit_speeds()
    print(json.dumps(attrs.asdict(speeds)))
    head = " | ".join(f"{workers:,}" for workers in given.workers)
    print(f"| hours for {given.rows:.0e} rows on so many workers | {head} | the wall |")
    print("|---" * (len(given.workers) + 2) + "|")
    for name in list_strategies(speeds, given.rows, 8):
        cells, wall = [], ""
        for workers in given.workers:
            seconds, told = simulate(list_strategies(speeds, given.rows, workers)[name], workers)
            hours = seconds / 3600
            cells.append(f"{hours:.2f}" if hours < 100 else f"{hours:,.0f}")
            longest = max(told, key=lambda title: told[title])
            wall = f"{longest}, {told[longest] / seconds:.0%}"
        print(f"| {name} | {' | '.join(cells)} | {wall} |")


if __name__ == "__main__":
    main()
