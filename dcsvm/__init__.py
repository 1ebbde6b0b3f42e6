"""Divide-and-conquer kernel classifiers, native to scikit-learn."""
