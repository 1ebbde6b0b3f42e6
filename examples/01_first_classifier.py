"""A tree of kernel SVMs as a scikit-learn classifier, next to one SVM for everything.

Run it: python examples/01_first_classifier.py
"""

from time import perf_counter

from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

from dcsvm import DivideAndConquerClassifier, build

X, y = make_moons(8000, noise=0.3, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# The same learner twice: once on the leaves of a tree, once on the whole problem.
svm = build("learner", "kernel_svm", C=10.0, gamma=1.0)
for decomposer in (build("decomposer", "tree", ceiling=500), build("decomposer", "whole")):
    classifier = DivideAndConquerClassifier(decomposer, svm, "route", random_state=0)
    started = perf_counter()
    classifier.fit(X_train, y_train)
    seconds = perf_counter() - started
    evaluations = classifier.cost(X_test).kernel_evaluations.mean()
    print(
        f"{decomposer.name:6} {len(classifier.ledger_):3} parts, fitted in {seconds:5.2f} s, "
        f"accuracy {classifier.score(X_test, y_test):.3f}, "
        f"{evaluations:6.1f} kernel evaluations per row"
    )
