"""Local models of neighbourhoods that cover the training rows."""

import attrs
import numpy as np

from dcsvm import Decomposer, Part, Problem, Router, Routing, component, setting
from dcsvm.numeric import IntArray, Matrix, axes, check_matrix
from dcsvm.toolbox import Stages, nearest_rows


@attrs.frozen(eq=False)
class BallRouter(Router):
    """Sends a row to the ball of the nearest training row."""

    points: Matrix
    ball: IntArray = attrs.field(metadata=axes("points", dtype=np.integer, at_least=0))

    def check_stored(self, **sizes: int) -> dict[str, int]:
        here = {"points": self.points.shape[0]} | sizes
        check_matrix("BallRouter.points", self.points, sizes.get("features", "features"))
        if len(self.ball) and self.ball.max() >= sizes.get("members", np.inf):
            raise ValueError(f"BallRouter.ball must be below {sizes['members']}")
        return super().check_stored(**here)

    def route(self, X: Matrix) -> Routing:
        nearest = nearest_rows(X, self.points, 1)[:, 0]
        return Routing.to_one(self.ball[nearest], np.full(X.shape[0], float(len(self.ball))))

    def trace(self, x: Matrix) -> list[str]:
        (near,) = nearest_rows(x, self.points, 1)[0]
        return [f"training row {near} is nearest, which belongs to ball {self.ball[near]}"]


@component
class Balls(Decomposer):
    """FaLK-SVM: local models of the nearest rows of centres, trained in advance.

    Centres are chosen among the rows until each row is among the `cover` nearest rows of one. Each
    centre is a part with its `neighbours` nearest rows. A new row asks the centre that covers its
    nearest training row. Parts are small and overlap, so training takes time nearly linear in the
    rows after the search for neighbours, which is exact. A prediction costs one distance to every
    training row. `neighbours` trains for each new row instead: slower, and a little more local.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> balls = build("decomposer", "balls", neighbours=40, cover=10)
    >>> clf = DivideAndConquerClassifier(balls, "kernel_svm", "route", random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True

    References
    ----------
    Segata, Blanzieri: Fast and scalable local kernel machines (2010).
    """

    name = "balls"
    yields = frozenset({"regions"})
    sibling = "landmark_voronoi"
    stored_types = (BallRouter,)

    neighbours: int = setting(250, at_least=1, help="rows of a part: the nearest of its centre")
    cover: int = setting(50, at_least=1, help="rows that a centre answers for, at most neighbours")

    def divide(self, problem: Problem) -> Stages:
        n, X = problem.n_rows, problem.X
        ball = np.full(n, -1)
        near: list[IntArray] = []
        count, cover = min(self.neighbours, n), min(self.cover, self.neighbours, n)
        for centre in problem.seed.generator().permutation(n):
            if ball[centre] < 0:
                rows = nearest_rows(X[[centre]], X, count)[0]
                covered = np.append(rows[:cover], centre)
                ball[covered[ball[covered] < 0]] = len(near)
                near.append(rows)
        # Of equal rows the first is the nearest: all of them belong to its ball.
        nearest_ball = ball[nearest_rows(X, X, 1)[:, 0]]
        used, nearest_ball = np.unique(nearest_ball, return_inverse=True)
        yield [
            Part(np.union1d(near[old], np.flatnonzero(nearest_ball == new)))
            for new, old in enumerate(used.tolist())
        ]
        return BallRouter(X, np.searchsorted(used, ball).clip(max=len(used) - 1))
