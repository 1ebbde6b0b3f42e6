"""Regions around the centres of k-means."""

from dcsvm import Decomposer, Problem, component, setting
from dcsvm.numeric import Kernel
from dcsvm.toolbox import Stages, find_regions


@component
class KMeans(Decomposer):
    """Clusters of k-means as regions: a row asks the member of the closest centre.

    Centres are found on a sample, from a k-means++ start. A price on each centre keeps clusters
    from growing much above the mean size; new rows pay it too, so that they are routed like the
    training rows. Routing costs one distance per cluster. With `border=0.2` a cluster also trains
    on the rows closest to it from outside, a fifth as many as it has.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> clusters = build("decomposer", "kmeans", clusters=3)
    >>> clf = DivideAndConquerClassifier(clusters, "linear_svm", "route", random_state=0)
    >>> clf.fit(X, y).score(X, y) > 0.9
    True

    References
    ----------
    Gu, Han: Clustered support vector machines (2013).
    Arthur, Vassilvitskii: k-means++: the advantages of careful seeding (2007).
    """

    name = "kmeans"
    yields = frozenset({"regions"})
    rows_held = 0.0

    clusters: int = setting(8, at_least=1, help="number of clusters")
    sample: int = setting(2000, at_least=1, help="rows that the clusters are found on")
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
        regions = find_regions(
            problem,
            Kernel("linear"),
            self.clusters,
            sample=self.sample,
            balance=self.balance,
            starts=self.starts,
        )
        yield regions.parts(problem, self.border)
        return regions
