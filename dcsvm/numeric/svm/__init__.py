"""Dual solvers for support vector machines."""
