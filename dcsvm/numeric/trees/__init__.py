"""Axis-parallel and oblique trees."""
