"""The built-in decomposers: one file each, listed here."""

from dcsvm import Decomposer, Repeat, Scaled, Sum, hookimpl
from dcsvm_plugins.decomposers.bootstrap import Bootstrap
from dcsvm_plugins.decomposers.chunks import Chunks
from dcsvm_plugins.decomposers.class_codes import ClassCodes
from dcsvm_plugins.decomposers.class_pairs import ClassPairs
from dcsvm_plugins.decomposers.class_rest import ClassRest
from dcsvm_plugins.decomposers.tree import Tree
from dcsvm_plugins.decomposers.whole import Whole


@hookimpl
def dcsvm_decomposers() -> list[type[Decomposer]]:
    return [Bootstrap, Chunks, ClassCodes, ClassPairs, ClassRest, Repeat, Scaled, Sum, Tree, Whole]
