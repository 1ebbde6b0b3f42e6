"""Divide-and-conquer kernel classifiers, native to scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcsvm.base.combiner import Combiner as Combiner
    from dcsvm.base.component import component as component
    from dcsvm.base.component import setting as setting
    from dcsvm.base.decomposer import Decomposer as Decomposer
    from dcsvm.base.errors import DataError as DataError
    from dcsvm.base.errors import DcsvmError as DcsvmError
    from dcsvm.base.errors import SettingError as SettingError
    from dcsvm.base.learner import LocalLearner as LocalLearner
    from dcsvm.base.member import Member as Member
    from dcsvm.base.models import LocalModel as LocalModel
    from dcsvm.base.problem import Part as Part
    from dcsvm.base.problem import Problem as Problem
    from dcsvm.base.problem import Task as Task
    from dcsvm.base.problem import part as part
    from dcsvm.base.routing import Division as Division
    from dcsvm.base.routing import Router as Router
    from dcsvm.base.routing import Routing as Routing
    from dcsvm.base.warm_starts import support_of as support_of
    from dcsvm.classifier import DivideAndConquerClassifier as DivideAndConquerClassifier
    from dcsvm.drive.committee.committee import Committee as Committee
    from dcsvm.drive.executor import cluster as cluster
    from dcsvm.drive.fitted_strategy import FittedStrategy as FittedStrategy
    from dcsvm.drive.hookspecs import hookimpl as hookimpl
    from dcsvm.drive.registry import build as build
    from dcsvm.drive.registry import load_plugin as load_plugin
    from dcsvm.experiments.portfolio.auto_classifier import AutoClassifier as AutoClassifier
    from dcsvm.model_selection.granularity_search import GranularitySearch as GranularitySearch
    from dcsvm.persistence.model_file import load as load
    from dcsvm.persistence.model_file import save as save
    from dcsvm.toolbox.table_preparation import TablePreparation as TablePreparation

__version__ = "0.1.0"

# Importing scikit-learn takes a second, so every name is imported when it is first used.
_MODULES = {
    "base.combiner": "Combiner",
    "base.decomposer": "Decomposer",
    "base.errors": "DataError DcsvmError SettingError",
    "base.learner": "LocalLearner",
    "base.member": "Member",
    "base.models": "LocalModel",
    "base.problem": "Part Problem Task part",
    "base.routing": "Division Router Routing",
    "base.component": "component setting",
    "base.warm_starts": "support_of",
    "classifier": "DivideAndConquerClassifier",
    "drive.committee.committee": "Committee",
    "drive.executor": "cluster",
    "drive.fitted_strategy": "FittedStrategy",
    "drive.hookspecs": "hookimpl",
    "drive.registry": "build load_plugin",
    "experiments.portfolio.auto_classifier": "AutoClassifier",
    "model_selection.granularity_search": "GranularitySearch",
    "persistence.model_file": "load save",
    "toolbox.table_preparation": "TablePreparation",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
_PACKAGES = ("datasets", "drawing", "inspection", "model_selection", "numeric", "toolbox")

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"dcsvm.{_MODULE_OF[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"dcsvm.{name}")
    if name[:1].isupper():  # perhaps the class of a component, as its repr shows it
        import_module("dcsvm.drive.registry").refuse_class(name)
    raise AttributeError(f"module 'dcsvm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
