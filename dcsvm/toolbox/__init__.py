"""Help for authors of plugins: regions, hyperplane routers, pruning, subspaces, feature views."""

from dcsvm.base.answers import Answers, mean_or_nan, rank_classes
from dcsvm.base.combiner import Combination
from dcsvm.base.decomposer import Repeat, Sum
from dcsvm.base.errors import UsageError, did_you_mean
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
from dcsvm.base.report import FinishedRun, Report, RunRecord
from dcsvm.base.routing import Level
from dcsvm.base.row_splitting import deal_rows
from dcsvm.base.stages import Stages, duals_of
from dcsvm.toolbox.hyperplane_router import PlaneRouter, all_nodes, leaf_masses
from dcsvm.toolbox.pruning import Branches, hold_out, prune
from dcsvm.toolbox.regions import Regions, find_regions
from dcsvm.toolbox.splitters import NormalizedWeights, require_hyperplanes
from dcsvm.toolbox.subspaces import BlockSum, Subspaces
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.table_schema import Column, TableSchema

__all__ = [
    "GAMMA_HELP",
    "Answers",
    "BlockSum",
    "Branches",
    "Chain",
    "Column",
    "Columns",
    "Combination",
    "Constant",
    "Cost",
    "FinishedRun",
    "Gamma",
    "Hyperplanes",
    "Joined",
    "KernelExpansion",
    "Level",
    "LinearMap",
    "LocalScaling",
    "MappedHyperplanes",
    "NormalizedWeights",
    "PlaneRouter",
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
    "deal_rows",
    "did_you_mean",
    "duals_of",
    "find_regions",
    "hold_out",
    "leaf_masses",
    "local_view",
    "mean_or_nan",
    "parts_by",
    "prune",
    "rank_classes",
    "require_hyperplanes",
]
