"""The diary of the search for the published algorithm, for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import measured
import numpy as np
from grids import FIRST_FOLD


def write_diary(paper: Mapping[str, tuple[Any, ...]]) -> str:
    """The diary, and which errors of the paper the published algorithm did not reach."""
    single = [name for name in paper if (name, "h_lsvm_published") in FIRST_FOLD]
    return f"{DIARY.format(single=', '.join(single))}\n\n{write_missed(paper)}"


def write_missed(paper: Mapping[str, tuple[Any, ...]]) -> str:
    """One line for each data set: reached or not, with both errors."""
    lines = []
    for name, (_, _, theirs, *_) in paper.items():
        runs = measured.find("tests", data_set=name, method="h_lsvm_published")
        errors = [100 * run["error"] for run in runs]
        if theirs is None:
            rival = measured.find("tests", data_set=name, method="linear")
            theirs = np.mean([100 * run["error"] for run in rival]) if rival else np.inf
            wanted = f"the linear SVM's {theirs:.2f}"
        else:
            wanted = f"the paper's {theirs:g}"
        if not errors:
            lines.append(f"- {name}: not measured ({wanted}). {WHY.get(name, '')}".rstrip())
            continue
        word = "reached" if np.mean(errors) <= theirs else "**not reached**"
        why = WHY.get(name, "") if word != "reached" else ""
        lines.append(f"- {name}: {word}, {np.mean(errors):.2f} ({wanted}). {why}".rstrip())
    return "What the published algorithm came to:\n\n" + "\n".join(lines)


#: What was tried where the paper's error was not reached.
WHY = {
    "banana": "Four lambdas, three shares to prune by, 10^5 steps; 10^7 were not tried.",
    "ijcnn1": "Lambda 10^-3 to 10^-5 with the paper's 10^7 steps; the paper's lambda is the best.",
    "mnist": "One cell, the paper's, with 10^5 steps in place of 10^7.",
    "covertype": "Lambda 10^-5 to 10^-7, two scales, 2 x 10^4 and 2 x 10^5 steps, chosen on "
    "25,000 rows; at 10^-7, the paper's lambda, a node takes up to 10^7 steps: hours by tree.",
    "usps": "Three lambdas, no pruning, 10^5 steps; 10^7 were not tried.",
    "cbcl": "Other faces than the paper's; four lambdas, three shares to prune by, 10^5 steps.",
}

DIARY = """## Diary of the search for the published algorithm

1. Trees with weights of mean one, thresholds moved by impurity and a few thousand steps of
   Pegasos missed the paper's errors on banana, shuttle, USPS and ijcnn1: the greedy rows above.
   More passes, other tolerances and other impurities did not help.
2. Equation (7) makes the weights of a node add up to one, and equation (8) averages over the
   batch once more. Taken literally, lambda acts like lambda x n at a node of n rows. A trial with
   LIBLINEAR at the nodes gave errors near the paper's on ijcnn1 with literal weights, and far
   ones with weights of mean one.
3. Section 5.5 has batches of k = 50,000, or all rows of a node if those are fewer. Thus almost
   every step uses all rows, and Pegasos is a subgradient descent without randomness. With the
   paper's tolerance of 10^-4 the number of steps at a node is of the order 1 / (lambda n 10^-4),
   so that a node costs the same whatever its size, and a smaller lambda costs more. This agrees
   with table 6, where shuttle (9 features, lambda = 10^-7) trains sixteen times as long as ijcnn1
   (22 features, lambda = 10^-5).
4. Pegasos as published, with these weights and batches, tau = 0.01 and the SVM's own threshold,
   then came close to the paper's error and number of hyperplanes on ijcnn1 in the first trial,
   judged on a fifth of the training rows. Smaller lambdas did better there down to 10^-5, the
   paper's choice; 10^-3 and 10^-4 are among the records of folds.
5. As the bias is held back by tau, the scale of the features matters. On shuttle, in trials on
   training rows that are not among the records, validation errors were 22 percent with features
   in [0, 1] and lambda = 10^-5, 15 with [-1, 1] (LIBSVM's
   files are in [-1, 1]); 10^-7, the paper's choice, is best.

Not to the letter: on {single} one fold of five chooses instead of the mean of
five, or there is one cell only. Grids of lambda have one to four of the paper's 13 values, around
those of its table 3, since a tree takes up to minutes. RBF and linear SVMs have smaller grids than
the paper's, too. The maximum number of steps is the column's `iterations`; it is the paper's 10^7
on ijcnn1 only. Pruning rows are drawn by class. Banana and the faces were tested a second time,
after five folds had chosen other cells, and covertype after a larger grid had; the first tests are
in the table as well. Not tried with the published algorithm here: M3VOM8 and Vehicle, whose data
are not at hand; the paper's faces, for which CBCL's stand in."""
