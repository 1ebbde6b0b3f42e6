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
        "63 cells (7 values of C, 9 of gamma) on leaves of a tree, against a loop over SVC. "
        "Squared distances are computed once and a Gram matrix once per gamma. Each cell starts "
        "from the solution of its neighbour, and Newton steps on the free set replace most "
        "pairwise steps.",
    ),
    Section(
        "single_fit.py",
        "One fit of one part",
        "A single fit shares only the Gram matrix, stored in single precision as K - 1.",
    ),
    Section(
        "coarse.py",
        "A few cells on a larger part",
        "The coarser levels of a search. A large C is reached through smaller ones, each solved "
        "roughly, so that many rows reach their bound together.",
    ),
    Section(
        "global_fit.py",
        "One SVM for all rows",
        "Our solver with two threads against SVC, which has one, with a cache of 1 GB. Working "
        "sets of thousands of rows are solved completely, and kernel rows are computed by "
        "blocked products.",
    ),
    Section(
        "prediction.py",
        "Prediction",
        "Both predict with the same one-against-one model, one thread each, after a check that "
        "all labels are equal. "
        f"Timings of one row at a time are for {prediction.ONE_BY_ONE} calls of one row each.",
    ),
    Section(
        "routing.py",
        "Routing through a tree",
        "Finding the leaves of rows, against `apply` of a scikit-learn tree with as many "
        "leaves. The target is in seconds.",
    ),
    Section(
        "tree_growth.py",
        "Growing a tree",
        "28 continuous features, leaves of at most 1,500 rows, two threads. Growing by histograms "
        "is compared with the exact search of scikit-learn and with itself on fewer rows, the "
        "whole fit of `tree` and `kernel_svm` with the 100 rounds of LightGBM on the same rows.",
    ),
    Section(
        "tree_accuracy.py",
        "The accuracy of trees grown by histograms",
        "Test accuracy with the exact search and with histograms, with C and gamma chosen on "
        "validation rows: a tree of majority leaves, the pipeline of `td_svm` and that of "
        "`svm_forest`. The difference is in points, with its standard error over seeds.",
    ),
    Section(
        "single_rows.py",
        "Single rows",
        "The median time of `predict` for one row of Letter, for models of 6,000 rows, against "
        "SVC. A pipeline may take 100 microseconds more than its distinct kernel evaluations, at "
        "the speed of `whole + route`; five trees are asked to be five times faster than SVC. "
        "Labels are compared with those of a batch. With probabilities, the five trees have "
        '`probability="auto"`, as recipes have it.',
    ),
    Section(
        "forest_batches.py",
        "Batches through a forest",
        "Ten trees with an SVM in each leaf on covertype, two threads: microseconds for each row "
        "of a batch of 100,000, by the plan that C executes, against asking member by member, and "
        "LightGBM with the setting of the showcase. Labels of both ways are compared.",
    ),
    Section(
        "dag.py",
        "The decision graph",
        "Batches compare `predict` of `dag` with that of `vote`, which computes all pairs from "
        "one kernel matrix; the name gives the share of support vectors that the graph uses. "
        "Single rows and training are compared with SVC, which is also one against one. Timings "
        f"of one row at a time are for {dag.ONE_BY_ONE} calls of one row each.",
    ),
    Section(
        "ridge.py",
        "Kernel ridge regression",
        "81 cells. Ridges that a small subspace can solve share it. Every other ridge has a "
        "single-precision Cholesky factor, refined to double precision.",
    ),
    Section(
        "first_fit.py",
        "The first fit",
        "All compilation happens at installation, so the first fit in a new process waits for "
        "imports only.",
    ),
    Section(
        "overhead.py",
        "Overhead of the framework",
        "A strategy with one part against plain SVC, and 1,000 tiny parts against the learner "
        "alone.",
    ),
    Section(
        "compilers.py",
        "Compilers and instruction sets",
        "Libraries built by compilers of Debian 12 on 1,500 rows of three classes by pairs: their "
        "size, and how many times faster than numpy they fit and predict, in processor time. The "
        "rows of gcc-12 were measured twice, since other work disturbed the first time. Without "
        "AVX2, GCC 12 splits vectors badly: its `base` predicts at a third of the speed.",
    ),
    Section("startup.py", "Start-up", "Compared with a plain `import sklearn` in the same run."),
    Section(
        "limits.py",
        "How near the limit",
        "What the hot loops of fit and predict reach on one core, as a share of what bounds "
        "them: products of matrices by BLAS, or reading from memory or from a cache of 1 MB. Only "
        "the operations and bytes that the task needs count, and seconds are those of the "
        "processor. A share above 100 % means that data stay in a cache.",
    ),
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
        "Each table is the output of a script in `tests/benchmarks/`. Both sides run in turn, "
        "and the table shows medians of three or more: our seconds, their seconds, how many "
        "times faster ours is, and the target (*asked*). `python tests/benchmarks/page.py` "
        "repeats the measurements and writes this page; `docs/design.md` gives the background.",
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
