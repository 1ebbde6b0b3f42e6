"""Runs every benchmark and keeps what it prints in docs/performance.md."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

import attrs
import dag
import numpy
import prediction
import scipy
import sklearn

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "performance.md"
MEASURED = HERE / "measured"


@attrs.frozen
class Section:
    """A script, its title, and what a reader should know about its table."""

    script: str
    title: str
    about: str


SECTIONS = [
    Section(
        "grid.py",
        "A grid on one part",
        "63 cells (7 values of C, 9 of gamma) on leaves of a tree, against a loop of SVC. "
        "Squared distances are computed once, a Gram matrix once per gamma, each cell starts from "
        "its neighbour's solution, and Newton steps on the free set replace most pairwise steps.",
    ),
    Section(
        "single_fit.py",
        "One fit of one part",
        "Nothing to share here but the Gram matrix, in single precision as K - 1.",
    ),
    Section(
        "coarse.py",
        "A few cells on a larger part",
        "What a search tries on its coarser levels. A large C is approached over smaller ones, "
        "each solved roughly: where many rows end at a bound, they get there together.",
    ),
    Section(
        "global_fit.py",
        "One machine for all rows",
        "Two threads of ours against SVC, which has one, with a cache of 1 GB. Working sets of "
        "thousands of rows are solved in full; kernel rows come from blocked products.",
    ),
    Section(
        "prediction.py",
        "Prediction",
        "The same one-against-one model asked by both, one thread each, after a check that all "
        "labels are equal. `walk` asks only the pairs that a decision DAG would. One timing "
        f"of one row at a time asks {prediction.ONE_BY_ONE} rows, each in a call of its own: "
        f"divide by {prediction.ONE_BY_ONE} for one row.",
    ),
    Section(
        "routing.py",
        "The way through a tree",
        "Rows to the leaves of one tree, against `apply` of scikit-learn's own tree of as many "
        "leaves. What is asked is in seconds.",
    ),
    Section(
        "dag.py",
        "The decision graph",
        "Batches are `predict` of `dag` against that of `vote`, which fuses all pairs over one "
        "kernel matrix; the name says which share of the support vectors the graph asks. Single "
        "rows and training are against SVC, whose own scheme is one against one. One timing "
        f"of one row at a time calls `predict` for {dag.ONE_BY_ONE} rows, one by one: divide by "
        f"{dag.ONE_BY_ONE} for one row.",
    ),
    Section(
        "ridge.py",
        "Kernel ridge regression",
        "81 cells. Ridges that a small subspace answers share it; each other ridge has a "
        "single-precision Cholesky factor, refined until it is as precise as a double one.",
    ),
    Section(
        "first_fit.py",
        "The first fit",
        "Everything that is compiled is compiled at installation, so the first fit in a fresh "
        "process waits for imports only.",
    ),
    Section(
        "overhead.py",
        "What the framework adds",
        "A pipeline with one part against bare SVC, 1,000 tiny parts against the learner alone.",
    ),
    Section("startup.py", "Start-up", "Beside a bare `import sklearn` in the same run."),
]


def main() -> None:
    """Measure what is named (or all), then write the page from everything measured so far."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scripts", nargs="*", help="such as grid.py; all if none is named")
    parser.add_argument("--options", default="", help="passed on to the scripts, as one text")
    options = parser.parse_args()
    MEASURED.mkdir(exist_ok=True)
    for section in SECTIONS:
        if not options.scripts or section.script in options.scripts:
            measure(section, options.options.split())
    PAGE.write_text(page())


def measure(section: Section, options: list[str]) -> None:
    """Keep one script's table, and the command that printed it."""
    command = [sys.executable, str(HERE / section.script), *options]
    table = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    shown = " ".join(["$ python", f"tests/benchmarks/{section.script}", *options])
    print(table, flush=True)
    (MEASURED / f"{Path(section.script).stem}.txt").write_text(f"{shown}\n{table}")


def page() -> str:
    """The page in Markdown."""
    text = [
        "# Performance",
        "",
        "Each table is what a script in `tests/benchmarks/` printed: both sides in turns in one "
        "run, the median of three or more, seconds of ours and of theirs, how many times faster "
        "ours is, and what was asked. `python tests/benchmarks/page.py` measures again and writes "
        "this page; `docs/design.md` has the reasons behind what is measured here.",
        "",
        f"Measured on {os.cpu_count()} cores ({platform.machine()}), Python "
        f"{platform.python_version()}, numpy {numpy.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}.",
    ]
    for section in SECTIONS:
        kept = MEASURED / f"{Path(section.script).stem}.txt"
        if kept.exists():
            text += ["", f"## {section.title}", "", section.about, ""]
            text += ["```text", kept.read_text().rstrip(), "```"]
    note = MEASURED / "remarks.md"
    if note.exists():
        text += ["", note.read_text().rstrip()]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    main()
