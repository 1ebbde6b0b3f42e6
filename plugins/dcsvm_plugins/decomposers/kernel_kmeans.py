"""Regions around the centres of kernel k-means."""

from typing import Literal

from dcsvm import Decomposer, Problem, component, setting
from dcsvm.toolbox import GAMMA_HELP, Gamma, Stages, find_regions


@component
class KernelKMeans(Decomposer):
    """Clusters of kernel k-means as regions: a row asks the member of the closest centre.

    The clusters of a sample are found by kernel k-means, and every other row joins the closest
    centre. Rows of different clusters have small kernel values, so little is lost if SVMs with
    that kernel are trained on each cluster alone.

    Finding the closest centre takes one kernel evaluation per row of the sample, for every row.
    `balance` and `border` work as in `kmeans`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> clusters = build("decomposer", "kernel_kmeans", clusters=3, gamma=0.1)
    >>> machine = build("learner", "kernel_svm", C=10.0)
    >>> clf = DivideAndConquerClassifier(clusters, machine, "route", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Chitta, Jin, Havens, Jain: Approximate kernel k-means (2011).
    Hsieh, Si, Dhillon: A divide-and-conquer solver for kernel support vector machines (2014).
    """

    name = "kernel_kmeans"
    yields = frozenset({"regions"})
    rows_held = 0.0

    clusters: int = setting(8, at_least=1, help="number of clusters")
    kernel: Literal["rbf", "laplacian", "poly", "linear"] = setting(
        "rbf", help="kernel of the clustering"
    )
    gamma: Gamma = setting("scale", above=0, help=GAMMA_HELP)
    degree: int = setting(3, at_least=1, help="degree of the polynomial kernel")
    coef0: float = setting(0.0, help="constant of the polynomial kernel")
    sample: int = setting(1000, at_least=1, help="rows that the clusters are found on")
    balance: float = setting(
        2.0, at_least=1, help="largest size of a cluster, as a multiple of the mean size"
    )
    starts: int = setting(
        1, at_least=1, help="number of random starts; the tightest clusters are kept"
    )
    border: float = setting(
        0.0,
        at_least=0,
        help="closest rows from outside that a cluster also trains on, as a share of its size",
    )

    def divide(self, problem: Problem) -> Stages:
        kernel = problem.kernel(self.kernel, self.gamma, self.degree, self.coef0)
        regions = find_regions(
            problem,
            kernel,
            self.clusters,
            sample=self.sample,
            balance=self.balance,
            starts=self.starts,
        )
        yield regions.parts(problem, self.border)
        return regions
