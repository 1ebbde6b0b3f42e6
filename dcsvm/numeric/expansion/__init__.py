"""Fast evaluation of kernel expansions."""
