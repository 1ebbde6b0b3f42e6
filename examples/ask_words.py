"""What docs/reproduction.md says around its table."""

HEAD = """\
# Reproduced papers

This page is written by `python examples/asks.py` from the tables of the pages below, which their
scripts write from records in the repository. An *ask* is what a table or a claim of one of the
five papers wants, or a little more. *Published* is the algorithm to the letter of its paper, with
settings chosen on training or validation rows; a *later one* is a method that the paper does not
have, a setting that it does not mention, or a second choice. An ask that is reached by the
published algorithm is not counted again.
"""
TABLE_HEAD = (
    "| paper | row | asked | published | later | reached by | remark |",
    "|---|---|---|---|---|---|---|",
)
PAGES = """\
*Learned again*: training and validation rows together, after the choice. TD is judged by the mean
of all splits, or else by that.

| page | contents |
|---|---|
| [Tree decomposition](reproduction/tree_decomposition.md) | TD, bagging, CBD and the global SVM: tables 2 to 17 of the TD paper |
| [Cascades](reproduction/cascades.md) | tables of the cascade and DC-SVM papers |
| [Hierarchical linear SVM](reproduction/hierarchical_linear_svm.md) | oblique trees of linear SVMs: errors, hyperplanes and times of the H-LSVM paper |
| [Feature space](reproduction/feature_space.md) | RD, PCA, DCA, BCD, ABD and fusion: tables 1, 4 and 5 of the feature-space paper |
| [DAGSVM](reproduction/dagsvm.md) | one against the rest, Max Wins and the decision graph: table 1 of the DAGSVM paper |
| [SVM forest](reproduction/svm_forest.md) | forests of SVM trees compared with boosted trees |
"""  # noqa: E501
