"""scikit-learn's own tools on a divided classifier: scaling, grid search, nested keys.

Run it: python examples/02_search.py
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dcsvm import DivideAndConquerClassifier, build

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

pairs = DivideAndConquerClassifier(
    build("decomposer", "class_pairs"), build("learner", "kernel_svm"), build("combiner", "vote")
)
search = GridSearchCV(
    make_pipeline(StandardScaler(), pairs),
    {
        "divideandconquerclassifier__learner__C": [0.1, 1.0, 10.0],
        "divideandconquerclassifier__learner__gamma": [0.01, 0.1],
    },
    cv=3,
).fit(X_train, y_train)
print("best:", {key.rpartition("__")[2]: value for key, value in search.best_params_.items()})
print(f"accuracy {search.score(X_test, y_test):.3f}")
