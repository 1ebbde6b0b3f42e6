"""Rows, features and classes divided in three orders: any strategy is a learner of another.

Run it: python examples/04_three_orders.py
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dcsvm import DivideAndConquerClassifier, build

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, random_state=0)

svm = build("learner", "kernel_svm", C=10.0, gamma=0.1)
rows = build("decomposer", "chunks", parts=2)
features = build("decomposer", "rd_subspaces", subspaces=3)
classes = build("decomposer", "class_pairs")
#: How the answers of each division are combined.
combiners = {rows: "mean", features: "fusion", classes: "vote"}


def nested(*decomposers):
    """One division inside another, the first outermost."""
    learner = svm
    for decomposer in reversed(decomposers):
        learner = DivideAndConquerClassifier(
            decomposer, learner, combiners[decomposer], random_state=0
        )
    return learner


orders = {
    "classes, then features, then rows": (classes, features, rows),
    "features, then rows, then classes": (features, rows, classes),
    "rows, then classes, then features": (rows, classes, features),
}
for title, order in orders.items():
    clf = nested(*order).fit(X_train, y_train)
    machines = sum(len(record.path) == 6 for record in clf.ledger_)
    print(f"{title}: {machines} machines, accuracy {clf.score(X_test, y_test):.3f}")
