"""Data sets: readers of files, inference of column types, and embedded sets."""
