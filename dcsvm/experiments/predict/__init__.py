"""Answers to the rows of a file."""
