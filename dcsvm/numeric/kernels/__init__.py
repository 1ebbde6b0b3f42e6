"""Kernels, distances and Gram matrices."""
