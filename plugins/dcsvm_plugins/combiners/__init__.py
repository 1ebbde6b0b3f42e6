"""The built-in combiners, one file each."""

from dcsvm import Combiner, hookimpl
from dcsvm_plugins.combiners.argmax import Argmax
from dcsvm_plugins.combiners.class_path import ClassPath
from dcsvm_plugins.combiners.dag import Dag
from dcsvm_plugins.combiners.decode import Decode
from dcsvm_plugins.combiners.fusion import Fusion
from dcsvm_plugins.combiners.mean import Mean
from dcsvm_plugins.combiners.product import Product
from dcsvm_plugins.combiners.route import Route
from dcsvm_plugins.combiners.vote import Vote
from dcsvm_plugins.combiners.weighted_sum import WeightedSum


@hookimpl
def dcsvm_combiners() -> list[type[Combiner]]:
    return [Argmax, Dag, Decode, Fusion, Mean, Route, Vote, ClassPath, WeightedSum, Product]
