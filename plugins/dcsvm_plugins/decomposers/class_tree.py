"""Nested dichotomies: a tree over the classes with a binary task at each inner node."""

from typing import Any, Literal

import attrs
import numpy as np

from dcsvm import Decomposer, Division, Part, Problem, SettingError, Task, component, setting
from dcsvm.numeric import IntArray, Stored, axes, means, squared_distances
from dcsvm.toolbox import Stages


@attrs.frozen(eq=False)
class ClassHierarchy(Stored):
    """The inner nodes of a tree over the classes.

    `codes` (members, classes) has -1 for the classes on one side of a node, +1 for those on the
    other and 0 for those that are not below it.
    """

    codes: IntArray = attrs.field(
        metadata=axes("members", "classes", dtype=np.integer, at_least=-1, at_most=1)
    )


@component
class ClassTree(Decomposer):
    """Nested dichotomies: each inner node of a tree over the classes separates two sets.

    K classes take K - 1 binary parts, of which each row is in those on the path to its class:
    about log2 K for balanced trees. Similar classes are told apart far down with `similarity`,
    random trees are for ensembles (`10 * class_tree`), and `hierarchy` is a tree of your own:
    nested lists of two sides with class numbers, such as `[0, [1, 2]]`. Combine with
    `class_path`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dcsvm import DivideAndConquerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DivideAndConquerClassifier("class_tree", "kernel_svm", "class_path").fit(X, y)
    >>> clf.model_.committee.structure.codes.tolist()
    [[1, -1, -1], [0, 1, -1]]

    References
    ----------
    Frank, Kramer: Ensembles of nested dichotomies for multi-class problems (2004).
    Dong, Frank, Kramer: Ensembles of balanced nested dichotomies (2005).
    Lorena, Carvalho: Building binary-tree-based multiclass classifiers using separability (2010).
    """

    name = "class_tree"
    yields = frozenset({"class tree"})
    declares = {"class tree": "binary tasks at the inner nodes of a tree over the classes"}
    rows_held = 0.0
    stored_types = (ClassHierarchy,)

    split: Literal["similarity", "random"] = setting(
        "similarity", help="split classes around the two farthest means, or at random in halves"
    )
    hierarchy: list[Any] | None = setting(None, help="a tree of class numbers, as nested lists")

    def divide(self, problem: Problem) -> Stages:
        present = np.unique(problem.y).tolist()
        hierarchy = self._grow(problem, present) if self.hierarchy is None else self.hierarchy
        tree = _select(hierarchy, present)
        if sorted(_leaves(tree)) != present:
            raise SettingError(
                f"class_tree: hierarchy must name each of the classes {present} once, "
                f"got {hierarchy}"
            )
        tasks = _tasks(tree)
        codes = np.array([task.code(problem.n_classes) for task in tasks])
        rows = [np.flatnonzero(code[problem.y]) for code in codes]
        yield [Part(each, task=task) for each, task in zip(rows, tasks, strict=True)]
        return Division(structure=ClassHierarchy(codes))

    def _grow(self, problem: Problem, classes: list[int]) -> Any:
        """Nested pairs of class numbers."""
        centres = means(problem.X, problem.weights, problem.y, problem.n_classes)
        apart, generator = squared_distances(centres), problem.seed.generator()

        def grow(some: IntArray) -> Any:
            if len(some) == 1:
                return int(some[0])
            if self.split == "random":
                some = generator.permutation(some)
                first = np.arange(len(some)) < len(some) // 2
            else:
                among = apart[np.ix_(some, some)]
                one, other = np.unravel_index(among.argmax(), among.shape)
                first = among[one] < among[other]
                first[other], first[one] = False, True  # the same class if all means are equal
            return [grow(some[first]), grow(some[~first])]

        return grow(np.array(classes))


def _leaves(tree: Any) -> list[int]:
    return [leaf for side in tree for leaf in _leaves(side)] if isinstance(tree, list) else [tree]


def _select(tree: Any, present: list[int]) -> Any:
    """The tree without the classes that have no rows; None if nothing is left."""
    if not isinstance(tree, list):
        return tree if tree in present else None
    sides = [side for side in (_select(each, present) for each in tree) if side is not None]
    if len(sides) > 2:
        raise SettingError(f"class_tree: a node of hierarchy has two sides, got {tree}")
    return sides if len(sides) == 2 else sides[0] if sides else None


def _tasks(tree: Any) -> list[Task]:
    if not isinstance(tree, list):
        return []
    plus, minus = (tuple(_leaves(side)) for side in tree)
    return [Task(plus, minus), *(task for side in tree for task in _tasks(side))]
