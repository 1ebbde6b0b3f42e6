"""Random samples, added one by one as long as the vote improves."""

import numpy as np

from dcsvm import (
    Committee,
    DataError,
    Decomposer,
    Division,
    Member,
    Problem,
    component,
    part,
    setting,
)
from dcsvm.numeric import FloatArray, IntArray
from dcsvm.toolbox import Stages


@component
class GrowingBags(Decomposer):
    """Bagging that stops by itself: add samples until one more vote gains too little.

    Some rows are held out. After each new member, all members so far vote on them, and the first
    member that gains less than `min_gain` is the last; it is dropped if the accuracy fell.
    Training is sequential, unless `abreast` members are trained at a time. Every member sees every
    new row, so prediction costs one model per member.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier, build
    >>> X, y = load_iris(return_X_y=True)
    >>> bags = build("decomposer", "growing_bags", size=40)
    >>> clf = DivideAndConquerClassifier(bags, "kernel_svm", "vote", random_state=0).fit(X, y)
    >>> 1 <= len(clf.model_.committee.members) <= 50
    True

    References
    ----------
    Breiman: Bagging predictors (1996); stopped as in
    Chang, Guo, Lin, Lu: Tree decomposition for large-scale SVM problems (2010), section 3.
    """

    name = "growing_bags"
    yields = frozenset({"subsets"})
    covers = False
    rows_held = 0.0

    size: int = setting(1500, at_least=1, help="rows per sample, drawn without replacement")
    min_gain: float = setting(
        0.005, at_least=0, help="accuracy on the held-out rows that one more member must gain"
    )
    most: int = setting(50, at_least=1, help="maximum number of samples")
    held_back: float | tuple[int, ...] = setting(
        0.2, above=0, below=1, help="held-out rows: a share of all rows, or their row numbers"
    )

    abreast: int = setting(
        1, at_least=1, help="samples trained at the same time; surplus ones are dropped"
    )

    def divide(self, problem: Problem) -> Stages:
        generator = problem.seed.generator()
        judged = self._hold_out(problem, generator)
        learned = np.setdiff1d(np.arange(problem.n_rows), judged)
        poll = _Poll(problem.subset(judged))
        members: list[Member] = []
        score, goes_on = -np.inf, True
        while goes_on and len(members) < self.most:
            abreast = min(self.abreast, self.most - len(members))
            samples = [generator.permutation(learned)[: self.size] for _ in range(abreast)]
            for member in (yield [part(np.sort(sample)) for sample in samples]):
                before, score = score, poll.score_with(member)
                if score >= before:
                    members.append(member)
                goes_on = score - before >= self.min_gain
                if not goes_on:
                    break
        return Division(members=members, held_back=judged)

    def _hold_out(self, problem: Problem, generator: np.random.Generator) -> IntArray:
        if isinstance(self.held_back, tuple | list):
            numbers = np.unique(np.asarray(self.held_back, dtype=np.intp))
            if not 0 < len(numbers) < problem.n_rows or not (
                numbers[0] >= 0 and numbers[-1] < problem.n_rows
            ):
                raise DataError(
                    "growing_bags: held_back must name some but not all of the rows 0 to "
                    f"{problem.n_rows - 1}"
                )
            return numbers
        size = min(max(1, round(self.held_back * problem.n_rows)), problem.n_rows - 1)
        return np.sort(generator.permutation(problem.n_rows)[:size])


class _Poll:
    """The votes of all members so far on held-out rows; ties go to the larger sum of scores."""

    def __init__(self, rows: Problem) -> None:
        self.rows = rows
        self.votes = np.zeros((rows.n_rows, rows.n_classes))
        self.sums: FloatArray = np.zeros_like(self.votes)

    def score_with(self, member: Member) -> float:
        """Add a member and return the weighted accuracy of the vote."""
        committee = Committee.of(Division(members=[member]), self.rows.n_classes)
        for answers in committee.answers(self.rows.X):
            self.votes[answers.rows] += answers.votes()
            self.sums[answers.rows] += answers.sums()
        winner = (self.votes + self.sums / (3.0 * (np.abs(self.sums) + 1.0))).argmax(axis=1)
        return float(np.average(winner == self.rows.y, weights=self.rows.weights))
