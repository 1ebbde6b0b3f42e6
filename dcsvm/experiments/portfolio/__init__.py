"""The search of `auto`: the recipes of a portfolio on growing samples, within a time budget."""
