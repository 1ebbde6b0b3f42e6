"""Recipes and their runs."""
