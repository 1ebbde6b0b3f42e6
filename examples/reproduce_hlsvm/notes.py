"""What the page on the H-LSVM says about its tables, with figures from the same records."""

from __future__ import annotations

import textwrap
from typing import Any

import measured
import numpy as np


def write_notes() -> str:
    """The notes, wrapped; a figure that was not measured is a question mark."""
    linear, tree = _find("usps", "linear"), _find("usps", "svm_tree")
    text = NOTES.format(
        linear=_percent(linear, "error"),
        linear_cell=_cell(linear),
        linear_training=_percent(linear, "training_error", 1),
        linear_folds=_folds(linear),
        grown=_percent(_find("usps", "h_lsvm_grown"), "error"),
        piecewise_folds=_folds(_find("usps", "h_lsvm")),
        svm_tree=_percent(tree, "error"),
        svm_tree_cell=_cell(tree),
        svm_tree_training=_percent(tree, "training_error", 0),
        svm_tree_planes=f"{tree.get('hyperplanes_mean', 0):g}",
        svm_tree_folds=_folds(tree),
        covertype=write_covertype(),
    )
    title, *points = text.split("\n- ")
    wrapped = [
        textwrap.fill(f"- {' '.join(point.split())}", 98, subsequent_indent="  ", **WRAP)
        for point in points
    ]
    return f"{title}\n" + "\n".join(wrapped)


WRAP: Any = {"break_on_hyphens": False, "break_long_words": False}


def write_covertype() -> str:
    """What stands for the RBF SVM on covertype, or how it came out."""
    exact = _find("covertype", "rbf")
    if not exact:
        return WITHOUT_EXACT
    return EXACT.format(
        vectors=f"{exact['support_vectors']:,.0f}",
        error=_percent(exact, "error"),
        hours=f"{exact['fit_seconds'] / 3600:.1f}",
        early=_percent(_find("covertype", "dc_svm_early"), "error"),
    )


def _find(name: str, method: str) -> dict[str, Any]:
    return next(iter(measured.find("tests", data_set=name, method=method, seed=0)), {})


def _percent(run: dict[str, Any], key: str, digits: int = 2) -> str:
    return f"{100 * run[key]:.{digits}f}" if run else "?"


def _folds(run: dict[str, Any]) -> str:
    """The mean error over the folds of the cell that was chosen."""
    key = {name: run.get(name) for name in ("data_set", "method", "cell")}
    errors = [fold["error"] for fold in measured.find("folds", **key)]
    return f"{100 * np.mean(errors):.1f}" if errors else "?"


def _cell(run: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in run.get("cell", {}).items())


WITHOUT_EXACT = """- An RBF SVM on all of covertype takes hours (that of the paper has
  245,687 support vectors); until it is learned, DC-SVM stopped early stands in its place, with C
  and gamma of the DC-SVM paper and clusters as on the page of the [cascades](cascades.md), which
  were chosen there on another random split, so some test rows of this one were used for that
  choice. RE and RC are left out on covertype."""
EXACT = """- The RBF SVM on covertype has the paper's C and gamma and is exact: {vectors} support
  vectors (the paper's: 245,687), learned in {hours} hours of the processor; its error is {error}
  (18.57).
  Features are in [0, 1] here; the paper does not say how it scaled them. The training error is
  that of 20,000 rows. DC-SVM stopped early ({early}) has another cell, that of the DC-SVM paper,
  and clusters as on the page of the [cascades](cascades.md), which were chosen there on another
  random split, so some test rows of this one were used for that choice."""
NOTES = """## Notes

- Test rows were used more than once: first by greedy trees (shuttle, banana and USPS with a first
  grid, some again with a larger one; the records of one test of banana were not kept), then by
  trees with rounds. Section 5.6 used the test rows of ijcnn1 and of the faces, and figure 5 those
  of covertype, with fixed settings and before a cell was chosen there. The RBF SVM of banana was
  first tested with a grid that was too narrow for rows in [0, 1]. No grid and no cell was chosen
  by a test error, but the search for a better method began after the first test errors were
  known.
- Why greedy trees missed the targets: weights of mean one regularize all nodes alike, and a tree
  that is grown to pure leaves and pruned with a fifth of the rows is unstable. Better converged
  hyperplanes alone gained little in trials on folds of training rows. Retraining all hyperplanes,
  each given the others, halved the errors on shuttle and needs far smaller trees.
- USPS: pairs of digits are almost separable by one hyperplane (training error of the linear pairs
  {linear_training}%), so a tree has few errors to learn from. Grown trees missed the target
  ({grown}, target 5.38), with rounds or without, bootstrapped, with rows between rows labelled by
  an RBF SVM, or with rows shifted by a pixel. Further trials used folds of the training rows
  only: soft votes of linear pairs (the mean of scores, clipped scores, sigmoids) made more errors
  than votes; trees that need a margin at every node gained little, and pairs of linear SVMs with
  a soft gate lost what they gained when the gate was made a hyperplane. Several linear functions
  per side, of which the largest wins (`piecewise_tree`), gained most. These trials are not among
  the measurements; the grid of `functions` and C that chose the cell is (the chosen one makes
  {piecewise_folds} percent of errors on the folds, the linear pairs {linear_folds}; it is at the
  edge of the grid). The decision graph was chosen before these trees were tested, since votes
  need five times as many hyperplanes. After the choice the test rows were used once more, and
  again with the same cell by votes. The paper's linear SVM, at 8.67, has one hyperplane in its
  table 5, where pairs have 45.
- SVM tree on USPS: {svm_tree} where 6.24 is published. The folds chose {svm_tree_cell}. There the
  training error is {svm_tree_training}: one hyperplane separates each pair, no node has a child,
  and every row visits exactly {svm_tree_planes} of them. So this is a linear SVM, one against
  one, with a large C; the published tree has 49 hyperplanes for 45 pairs, nearly the same. The
  folds took it because it makes {svm_tree_folds} percent of errors there; USPS's test rows are
  harder than its training rows for every method here. Its linear SVM has a smaller C and other
  features ({linear_cell}) and makes {linear} percent.
- Settings were chosen by two folds of some training rows on covertype and MNIST, by three on
  ijcnn1 and shuttle. The other methods had fewer: MNIST's RBF SVM is chosen by two folds of
  10,000 rows and its SVM tree by two of 5,000; on covertype the linear SVM (the paper's C), the
  SVM tree and DC-SVM have one cell. Where H-LSVM has ten random splits, the linear SVM on
  covertype has the first three, AdaBoost on both, the SVM tree and DC-SVM on covertype the first.
  On that one of the faces AdaBoost makes fewer errors than H-LSVM.
{covertype}
- Seconds are processor time on a machine that was busy with other work. Caches and memory were
  shared, so they are rather too large than too small."""
