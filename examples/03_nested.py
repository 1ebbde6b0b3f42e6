"""A strategy as the learner of another: class pairs, and a small forest inside each pair.

Run it: python examples/03_nested.py
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from dcsvm import DivideAndConquerClassifier, build

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, random_state=0)

tree = build("decomposer", "tree", ceiling=150)
forest = DivideAndConquerClassifier(
    5 * tree, build("learner", "kernel_svm", C=10.0, gamma=0.1), "mean"
)
pairs = DivideAndConquerClassifier("class_pairs", forest, "vote", n_jobs=2, random_state=0)
pairs.fit(X_train, y_train)

depths = [len(record.path) // 2 for record in pairs.ledger_]
print(f"{depths.count(1)} class pairs, {depths.count(2)} leaves inside them")
print(f"accuracy {pairs.score(X_test, y_test):.3f}")
