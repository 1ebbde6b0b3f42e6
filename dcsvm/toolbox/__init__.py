"""Tools for plugin authors: regions, hyperplane routers, pruning, subspaces, feature views."""

from dcsvm.base.answers import Answers, mean_or_nan, rank_classes
from dcsvm.base.combiner import Combination
from dcsvm.base.component import ModelFact
from dcsvm.base.decomposer import Repeat, Sum
from dcsvm.base.errors import CompositionError, UsageError, did_you_mean
from dcsvm.base.feature_views import (
    Chain,
    Columns,
    LinearMap,
    LocalScaling,
    Scaling,
    View,
    local_view,
)
from dcsvm.base.models import (
    Constant,
    Cost,
    Hyperplanes,
    KernelExpansion,
    MappedHyperplanes,
    Wrapped,
)
from dcsvm.base.problem import GAMMA_HELP, Gamma, Joined, parts_by
from dcsvm.base.reporting import FinishedRun, Report, RunRecord
from dcsvm.base.routing import Level
from dcsvm.base.row_splitting import deal_rows
from dcsvm.base.stages import Stages, duals_of
from dcsvm.toolbox.hyperplane_router import (
    NormalizedWeights,
    PlaneRouter,
    all_nodes,
    find_hyperplane_tree,
    leaf_masses,
    require_hyperplanes,
)
from dcsvm.toolbox.model_facts import Bound, check_training_rows, collect_facts, squared_norms
from dcsvm.toolbox.pruning import Branches, hold_out, prune
from dcsvm.toolbox.regions import Regions, find_regions
from dcsvm.toolbox.significance import Interval, McNemar, mcnemar, paired_interval
from dcsvm.toolbox.subspaces import BlockSum, Subspaces
from dcsvm.toolbox.table_preparation import PreparedFeature, TablePreparation
from dcsvm.toolbox.table_schema import Column, TableSchema
from dcsvm.toolbox.unwrap import find_best, find_classifier, find_preparation, unwrap

__all__ = [
    "GAMMA_HELP",
    "Answers",
    "BlockSum",
    "Bound",
    "Branches",
    "Chain",
    "Column",
    "Columns",
    "Combination",
    "CompositionError",
    "Constant",
    "Cost",
    "FinishedRun",
    "Gamma",
    "Hyperplanes",
    "Interval",
    "Joined",
    "KernelExpansion",
    "Level",
    "LinearMap",
    "LocalScaling",
    "MappedHyperplanes",
    "McNemar",
    "ModelFact",
    "NormalizedWeights",
    "PlaneRouter",
    "PreparedFeature",
    "Regions",
    "Repeat",
    "Report",
    "RunRecord",
    "Scaling",
    "Stages",
    "Subspaces",
    "Sum",
    "TablePreparation",
    "TableSchema",
    "UsageError",
    "View",
    "Wrapped",
    "all_nodes",
    "check_training_rows",
    "collect_facts",
    "deal_rows",
    "did_you_mean",
    "duals_of",
    "find_best",
    "find_classifier",
    "find_hyperplane_tree",
    "find_preparation",
    "find_regions",
    "hold_out",
    "leaf_masses",
    "local_view",
    "mcnemar",
    "mean_or_nan",
    "paired_interval",
    "parts_by",
    "prune",
    "rank_classes",
    "require_hyperplanes",
    "squared_norms",
    "unwrap",
]
