"""Solvers for linear machines."""
