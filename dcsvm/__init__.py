"""Divide-and-conquer kernel classifiers, native to scikit-learn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcsvm.answers import Answers as Answers
    from dcsvm.answers import mean_or_nan as mean_or_nan
    from dcsvm.classifier import DivideAndConquerClassifier as DivideAndConquerClassifier
    from dcsvm.committee import Committee as Committee
    from dcsvm.compiled import CompiledTree as CompiledTree
    from dcsvm.compiled import compile_tree as compile_tree
    from dcsvm.division import Division as Division
    from dcsvm.division import Level as Level
    from dcsvm.division import Router as Router
    from dcsvm.division import Routing as Routing
    from dcsvm.drawing import Node as Node
    from dcsvm.drawing import Scene as Scene
    from dcsvm.drawing import Sketch as Sketch
    from dcsvm.drawing import StageCounts as StageCounts
    from dcsvm.drawing import class_colour as class_colour
    from dcsvm.drawing import draw_graph as draw_graph
    from dcsvm.drawing import draw_pairs as draw_pairs
    from dcsvm.drawing import draw_stages as draw_stages
    from dcsvm.drawing import draw_tree as draw_tree
    from dcsvm.each import Each as Each
    from dcsvm.errors import DataError as DataError
    from dcsvm.errors import DcsvmError as DcsvmError
    from dcsvm.errors import SettingError as SettingError
    from dcsvm.errors import did_you_mean as did_you_mean
    from dcsvm.hookspecs import hookimpl as hookimpl
    from dcsvm.interfaces import Combiner as Combiner
    from dcsvm.interfaces import Decomposer as Decomposer
    from dcsvm.interfaces import LocalLearner as LocalLearner
    from dcsvm.interfaces import Repeat as Repeat
    from dcsvm.interfaces import Sum as Sum
    from dcsvm.layout import Column as Column
    from dcsvm.layout import Layout as Layout
    from dcsvm.member import Member as Member
    from dcsvm.models import Constant as Constant
    from dcsvm.models import Cost as Cost
    from dcsvm.models import Hyperplanes as Hyperplanes
    from dcsvm.models import KernelExpansion as KernelExpansion
    from dcsvm.models import LocalModel as LocalModel
    from dcsvm.models import MappedHyperplanes as MappedHyperplanes
    from dcsvm.models import Wrapped as Wrapped
    from dcsvm.planes import PlaneRouter as PlaneRouter
    from dcsvm.planes import all_nodes as all_nodes
    from dcsvm.planes import leaf_masses as leaf_masses
    from dcsvm.preparation import Prepared as Prepared
    from dcsvm.preparation import Scaled as Scaled
    from dcsvm.problem import Joined as Joined
    from dcsvm.problem import Part as Part
    from dcsvm.problem import Problem as Problem
    from dcsvm.problem import Task as Task
    from dcsvm.problem import part as part
    from dcsvm.problem import parts_by as parts_by
    from dcsvm.pruning import Branches as Branches
    from dcsvm.pruning import held_back as held_back
    from dcsvm.pruning import prune as prune
    from dcsvm.regions import Regions as Regions
    from dcsvm.regions import regions_around as regions_around
    from dcsvm.registry import build as build
    from dcsvm.registry import load_plugin as load_plugin
    from dcsvm.search import GranularitySearch as GranularitySearch
    from dcsvm.settings import component as component
    from dcsvm.settings import setting as setting
    from dcsvm.stages import Stages as Stages
    from dcsvm.stages import duals_of as duals_of
    from dcsvm.stages import support_of as support_of
    from dcsvm.stages import together as together
    from dcsvm.store import load as load
    from dcsvm.store import save as save
    from dcsvm.subspaces import BlockSum as BlockSum
    from dcsvm.subspaces import Subspaces as Subspaces
    from dcsvm.views import Chain as Chain
    from dcsvm.views import Columns as Columns
    from dcsvm.views import LinearMap as LinearMap
    from dcsvm.views import LocalScaling as LocalScaling
    from dcsvm.views import Scaling as Scaling
    from dcsvm.views import View as View
    from dcsvm.views import local_view as local_view

__version__ = "0.1.0"

# Importing scikit-learn takes a second, so every name is fetched when it is first asked for.
_WHERE = {
    "classifier": "DivideAndConquerClassifier",
    "answers": "Answers mean_or_nan",
    "committee": "Committee",
    "member": "Member",
    "drawing": "Node Scene Sketch StageCounts class_colour draw_graph draw_pairs draw_stages "
    "draw_tree",
    "each": "Each",
    "errors": "DataError DcsvmError SettingError did_you_mean",
    "hookspecs": "hookimpl",
    "division": "Division Level Router Routing",
    "interfaces": "Combiner Decomposer LocalLearner Repeat Sum",
    "stages": "Stages duals_of support_of together",
    "models": "Constant Cost Hyperplanes KernelExpansion LocalModel MappedHyperplanes Wrapped",
    "layout": "Column Layout",
    "preparation": "Prepared Scaled",
    "problem": "Joined Part Problem Task part parts_by",
    "regions": "Regions regions_around",
    "planes": "PlaneRouter all_nodes leaf_masses",
    "pruning": "Branches held_back prune",
    "compiled": "CompiledTree compile_tree",
    "registry": "build load_plugin",
    "search": "GranularitySearch",
    "settings": "component setting",
    "store": "load save",
    "subspaces": "BlockSum Subspaces",
    "views": "Chain Columns LinearMap LocalScaling Scaling View local_view",
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"dcsvm.{_MODULE_OF[name]}"), name)
    if name[:1].isupper():  # a class: of a component, perhaps, as its repr shows it
        import_module("dcsvm.registry").refuse_class(name)
    raise AttributeError(f"module 'dcsvm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
