"""Solvers for linear SVMs."""
