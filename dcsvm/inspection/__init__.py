"""Inspection of fitted models: explanations, parameter counts, compiled trees."""

from dcsvm.inspection.compiled_tree import CompiledTree, compile_tree
from dcsvm.inspection.explainer import explain
from dcsvm.inspection.explanation import Decision, Explanation, Question, Weight
from dcsvm.toolbox.model_facts import collect_facts

__all__ = [
    "CompiledTree",
    "Decision",
    "Explanation",
    "Question",
    "Weight",
    "collect_facts",
    "compile_tree",
    "explain",
]
