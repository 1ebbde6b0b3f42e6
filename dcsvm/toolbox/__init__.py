"""Tools for plugin authors: regions, hyperplane routers, pruning, subspaces, feature views."""

from dcsvm.base.answers import Answers, are_pairs, couple_pairs, mean_or_nan, rank_classes
from dcsvm.base.combiner import Combination
from dcsvm.base.component import ModelFact
from dcsvm.base.cost import Cost
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
from dcsvm.base.mapped_hyperplanes import MappedHyperplanes
from dcsvm.base.models import (
    Constant,
    Hyperplanes,
    KernelExpansion,
)
from dcsvm.base.problem import GAMMA_HELP, Gamma, ProblemStack, RowIdUnion, parts_by
from dcsvm.base.reporting import FinishedRun, Report, RunRecord
from dcsvm.base.routing import Level
from dcsvm.base.row_splitting import deal_rows
from dcsvm.base.stages import Stages, together
from dcsvm.base.stored_fields import PlainState
from dcsvm.base.threads import for_each, limit_openmp
from dcsvm.base.warm_starts import duals_of
from dcsvm.base.wrapped_sklearn import Wrapped
from dcsvm.toolbox.boosted_trees import BoostedTrees
from dcsvm.toolbox.feature_effects import FeatureEffect, FeatureReport, measure_features
from dcsvm.toolbox.hyperplane_router import (
    NormalizedWeights,
    PlaneRouter,
    all_nodes,
    find_hyperplane_tree,
    leaf_masses,
    require_hyperplanes,
)
from dcsvm.toolbox.lazy_model import (
    LazyLearner,
    LazyModel,
    NeighbourModel,
    nearest_rows,
    train_part,
)
from dcsvm.toolbox.model_facts import Bound, check_training_rows, collect_facts, squared_norms
from dcsvm.toolbox.prepared_features import PreparedFeature
from dcsvm.toolbox.pruning import Branches, hold_out, prune
from dcsvm.toolbox.regions import Regions, find_regions
from dcsvm.toolbox.significance import Interval, McNemar, mcnemar, paired_interval
from dcsvm.toolbox.subspaces import BlockSum, Subspaces
from dcsvm.toolbox.table_preparation import TablePreparation
from dcsvm.toolbox.table_schema import Column, TableSchema
from dcsvm.toolbox.table_view import TableView
from dcsvm.toolbox.unwrap import find_best, find_classifier, find_preparation, unwrap

__all__ = [
    "GAMMA_HELP",
    "Answers",
    "BlockSum",
    "BoostedTrees",
    "Bound",
    "Branches",
    "Chain",
    "Column",
    "Columns",
    "Combination",
    "CompositionError",
    "Constant",
    "Cost",
    "FeatureEffect",
    "FeatureReport",
    "FinishedRun",
    "Gamma",
    "Hyperplanes",
    "Interval",
    "KernelExpansion",
    "LazyLearner",
    "LazyModel",
    "Level",
    "LinearMap",
    "LocalScaling",
    "MappedHyperplanes",
    "McNemar",
    "ModelFact",
    "NeighbourModel",
    "NormalizedWeights",
    "PlainState",
    "PlaneRouter",
    "PreparedFeature",
    "ProblemStack",
    "Regions",
    "Repeat",
    "Report",
    "RowIdUnion",
    "RunRecord",
    "Scaling",
    "Stages",
    "Subspaces",
    "Sum",
    "TablePreparation",
    "TableSchema",
    "TableView",
    "UsageError",
    "View",
    "Wrapped",
    "all_nodes",
    "are_pairs",
    "check_training_rows",
    "collect_facts",
    "couple_pairs",
    "deal_rows",
    "did_you_mean",
    "duals_of",
    "find_best",
    "find_classifier",
    "find_hyperplane_tree",
    "find_preparation",
    "find_regions",
    "for_each",
    "hold_out",
    "leaf_masses",
    "limit_openmp",
    "local_view",
    "mcnemar",
    "mean_or_nan",
    "measure_features",
    "nearest_rows",
    "paired_interval",
    "parts_by",
    "prune",
    "rank_classes",
    "require_hyperplanes",
    "squared_norms",
    "together",
    "train_part",
    "unwrap",
]
