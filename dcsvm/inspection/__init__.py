"""What a fitted model is made of, and why it answers as it does."""

from dcsvm.inspection.compiled_tree import CompiledTree, compile_tree
from dcsvm.inspection.explainer import explain
from dcsvm.inspection.explanation import Decision, Explanation, Question, Weight

__all__ = [
    "CompiledTree",
    "Decision",
    "Explanation",
    "Question",
    "Weight",
    "compile_tree",
    "explain",
]
