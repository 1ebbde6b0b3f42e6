"""The hot loops: kernels and solvers that any plugin may use."""
