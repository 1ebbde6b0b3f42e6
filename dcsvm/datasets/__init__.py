"""Data sets: files, columns, embedded sets."""
