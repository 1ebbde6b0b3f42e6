"""A tree of hyperplanes that compares the linear functions of two sides."""

from typing import Any

import attrs
import numpy as np
import scipy

from dcsvm import (
    Decomposer,
    Division,
    LocalLearner,
    LocalModel,
    Part,
    Problem,
    Task,
    component,
    setting,
)
from dcsvm.numeric import (
    Float32Rows,
    FloatArray,
    IntArray,
    Matrix,
    PlaneTree,
    axes,
    means,
    squared_distances,
)
from dcsvm.toolbox import Cost, PlaneRouter, Stages, parts_by

#: Maximum number of steps of k-means, which only finds the start.
STEPS = 20


@attrs.frozen(eq=False)
class PiecewiseLinearModel(LocalModel):
    """The linear functions of two sides as a tree, and the winning side at each leaf: 1 or -1."""

    tree: PlaneTree
    wins: FloatArray = attrs.field(metadata=axes("leaves"))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        return super().check_stored(**sizes | self.tree.check_stored(**sizes))

    def scores(self, X: Matrix) -> FloatArray:
        return self.wins[self.tree.route(X)[0]][:, None]

    def answer(self, X: Matrix) -> tuple[FloatArray, Cost]:
        leaf, passed = self.tree.route(X)
        return self.wins[leaf][:, None], Cost(hyperplanes=passed.astype(float))


@component
class PiecewiseTree(Decomposer):
    """A tree of hyperplanes with a piecewise linear boundary; its leaves are the parts.

    Each side has `functions` linear functions of the features, and the side with the largest value
    wins. All functions are trained together, as one SVM with squared hinge loss on the difference
    of the two maxima, starting from linear SVMs of the clusters of each side. The problem is not
    convex, so the result depends on the start.

    In the tree, two functions at a time are compared by one hyperplane, and the side that is
    behind sends its next function until it has none left. With k functions per side, a row passes
    between k and 2 k - 1 hyperplanes.

    With more than two classes, two groups of classes compete first, then the classes of each group
    in the same way.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> tree = build("decomposer", "piecewise_tree", functions=3, C=10.0)
    >>> clf = DivideAndConquerClassifier(tree, "majority", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.99
    True
    >>> int(clf.cost(X).hyperplanes.max()) <= 5
    True

    References
    ----------
    Bagirov: Max-min separability (2005).
    Aiolli, Sperduti: Multiclass classification with multi-prototype support vector machines
    (2005).
    """

    name = "piecewise_tree"
    yields = frozenset({"regions"})
    rows_held = 1.5
    sibling = "oblique_tree"
    separates_classes = True
    stored_types = (PlaneRouter, PlaneTree, PiecewiseLinearModel)

    functions: int = setting(
        3, at_least=1, at_most=8, help="maximum number of linear functions per side"
    )
    C: float = setting(1.0, at_least=1e-12, at_most=1e12, help="cost of margin violations")
    iterations: int = setting(50, at_least=1, help="maximum number of L-BFGS steps")

    def divide(self, problem: Problem) -> Stages:
        tree = PlaneTree.leaf(problem.n_features)
        at = [tuple(np.unique(problem.y).tolist())]
        while any(len(classes) > 1 for classes in at):
            tasks = [_split_classes(problem, group) for group in sorted(set(at)) if len(group) > 1]
            learner = PiecewiseLinearLearner(self.functions, self.C, self.iterations)
            members = yield [
                Part(
                    np.flatnonzero(np.isin(problem.y, task.plus + task.minus)),
                    *(None, task, None, learner),
                )
                for task in tasks
            ]
            fitted: dict[tuple[int, ...], tuple[Task, PiecewiseLinearModel]] = {}
            for task, member in zip(tasks, members, strict=True):
                assert isinstance(member.model, PiecewiseLinearModel)
                fitted[tuple(sorted(task.plus + task.minus))] = task, member.model
            tree, _ = tree.graft(
                {leaf: fitted[group][1].tree for leaf, group in enumerate(at) if len(group) > 1}
            )
            at = [
                side
                for group in at
                for side in ([group] if len(group) == 1 else _list_winners(*fitted[group]))
            ]
        parts, router = _build_parts(problem, tree, np.array([label for (label,) in at]))
        yield parts
        return Division(router)


@component
class PiecewiseLinearLearner(LocalLearner):
    """Learns the functions of two sides and builds their tree."""

    name = "piecewise_contest"

    functions: Any = setting(help="maximum number of linear functions per side")
    C: Any = setting(help="cost of margin violations")
    iterations: Any = setting(help="maximum number of L-BFGS steps")

    def fit(self, problem: Problem) -> LocalModel:
        signs = np.where(problem.y == 1, 1.0, -1.0)
        costs = np.full(problem.n_rows, self.C)
        if problem.weights is not None:
            costs *= problem.weights / problem.weights.mean()
        generator = problem.seed.generator()
        sides = [self._initialize(problem, signs, costs, side, generator) for side in (1, -1)]
        n_plus = len(sides[0])
        functions = _minimize(
            *(problem.X, signs, costs, np.concatenate(sides), n_plus, self.iterations)
        )
        values = _evaluate(problem.X, functions)
        order = []
        for side, own in ((1, slice(n_plus)), (-1, slice(n_plus, None))):
            mine = signs == side
            largest = values[mine, own].argmax(axis=1)
            masses = np.bincount(largest, costs[mine], minlength=values[:, own].shape[1])
            order.append(functions[own][np.argsort(-masses, kind="stable")])
        return PiecewiseLinearModel(*_build_tree(*order))

    def _initialize(
        self,
        problem: Problem,
        signs: FloatArray,
        costs: FloatArray,
        side: int,
        generator: np.random.Generator,
    ) -> FloatArray:
        """Train a linear SVM for each cluster of a side against the other side."""
        mine, others = np.flatnonzero(signs == side), np.flatnonzero(signs != side)
        cluster_of = _cluster(problem.X[mine], costs[mine], self.functions, generator)
        found = []
        for cluster in np.unique(cluster_of):
            rows = np.concatenate([mine[cluster_of == cluster], others])
            ours = np.where(signs[rows] == side, 1.0, -1.0)
            nothing = np.zeros((2, problem.n_features + 1))
            pair = _minimize(problem.X[rows], ours, costs[rows], nothing, 1, self.iterations)
            found.append(pair[0])
        return np.stack(found)


def _split_classes(problem: Problem, classes: tuple[int, ...]) -> Task:
    """Split classes into two groups at the widest gap of their means on the main axis."""
    rows = np.flatnonzero(np.isin(problem.y, classes))
    cluster_of = np.searchsorted(classes, problem.y[rows])
    weights = None if problem.weights is None else problem.weights[rows]
    centres = means(problem.X[rows], weights, cluster_of, len(classes))
    centres -= centres.mean(axis=0)
    axis = np.linalg.svd(centres, full_matrices=False)[2][0]
    along = centres @ axis
    order = np.argsort(along, kind="stable")
    cut = 1 + int(np.diff(along[order]).argmax())
    groups = [tuple(sorted(classes[one] for one in side)) for side in np.split(order, [cut])]
    first, second = sorted(groups)
    return Task(first, second)


def _list_winners(task: Task, model: PiecewiseLinearModel) -> list[tuple[int, ...]]:
    """The classes that are left at each leaf of a model."""
    return [task.plus if won > 0 else task.minus for won in model.wins]


def _cluster(
    X: Matrix, masses: FloatArray, n_clusters: int, generator: np.random.Generator
) -> IntArray:
    """Run k-means from random rows and return the cluster of each row."""
    n = X.shape[0]
    centres = X[generator.choice(n, min(n, n_clusters), replace=False)]
    cluster_of = np.full(n, -1, dtype=np.intp)
    for _ in range(STEPS):
        before, cluster_of = cluster_of, squared_distances(X, centres).argmin(axis=1)
        if (cluster_of == before).all():
            break
        used, cluster_of = np.unique(cluster_of, return_inverse=True)
        centres = means(X, masses, cluster_of, len(used))
    return cluster_of


def _evaluate(X: Matrix, functions: FloatArray) -> FloatArray:
    return np.asarray(X @ functions[:, :-1].T) + functions[:, -1]


def _minimize(
    X: Matrix,
    signs: FloatArray,
    costs: FloatArray,
    functions: FloatArray,
    n_plus: int,
    iterations: int,
) -> FloatArray:
    """Minimize |functions|^2 / 2 + the sum of costs x squared hinge losses."""
    rows = np.arange(len(signs))

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        now = flat.reshape(functions.shape)
        values = _evaluate(X, now)
        plus = values[:, :n_plus].argmax(axis=1)
        minus = n_plus + values[:, n_plus:].argmax(axis=1)
        short = np.maximum(0.0, 1.0 - signs * (values[rows, plus] - values[rows, minus]))
        pull = np.zeros_like(values)
        pull[rows, plus] = -2.0 * costs * short * signs
        pull[rows, minus] = 2.0 * costs * short * signs
        slope = now.copy()
        slope[:, :-1] += np.asarray(X.T @ pull).T
        slope[:, -1] += pull.sum(axis=0)
        return float(costs @ short**2 + 0.5 * flat @ flat), slope.ravel()

    found = scipy.optimize.minimize(
        *(objective, functions.ravel()),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations},
    )
    return np.asarray(found.x).reshape(functions.shape)


def _build_tree(plus: FloatArray, minus: FloatArray) -> tuple[PlaneTree, FloatArray]:
    """Build the tree of comparisons; leaves are numbered from left to right."""
    planes: list[FloatArray] = []
    children: list[list[int]] = []
    wins: list[float] = []

    def add_node(one: int, other: int, next_one: int, next_other: int) -> int:
        number = len(planes)
        planes.append(plus[one] - minus[other])
        children.append([0, 0])
        left = right = 0
        if next_one < len(plus):
            left = add_node(next_one, other, next_one + 1, next_other)
        else:
            left = ~len(wins)
            wins.append(-1.0)
        if next_other < len(minus):
            right = add_node(one, next_other, next_one, next_other + 1)
        else:
            right = ~len(wins)
            wins.append(1.0)
        children[number] = [left, right]
        return number

    add_node(0, 0, 1, 1)
    together = np.stack(planes)
    weights = Float32Rows.of(together[:, :-1]).dense
    assert weights is not None
    tree = PlaneTree(
        *(weights, -together[:, -1], np.array(children, dtype=np.int32)), plus.shape[1] - 1
    )
    return tree, np.array(wins)


def _build_parts(
    problem: Problem, tree: PlaneTree, winners: IntArray
) -> tuple[list[Part], PlaneRouter]:
    """Make a part for each class that wins a row; other leaves go to the largest class."""
    leaf = tree.route(problem.X)[0]
    rows = np.bincount(winners[leaf], minlength=problem.n_classes)
    winners = np.where(rows[winners] > 0, winners, rows.argmax())
    used, member = np.unique(winners, return_inverse=True)
    return parts_by(member[leaf], len(used)), PlaneRouter(tree, member)
