"""The built-in decomposers, one file each."""

from dcsvm import Decomposer, hookimpl
from dcsvm.toolbox import Repeat, Sum
from dcsvm_plugins.decomposers.abd_subspaces import ABDSubspaces
from dcsvm_plugins.decomposers.balls import Balls
from dcsvm_plugins.decomposers.bayesian_committee import BayesianCommittee
from dcsvm_plugins.decomposers.bcd_subspaces import BCDSubspaces
from dcsvm_plugins.decomposers.blend import Blend
from dcsvm_plugins.decomposers.boosting import Boosting
from dcsvm_plugins.decomposers.bootstrap import Bootstrap
from dcsvm_plugins.decomposers.cascade import Cascade
from dcsvm_plugins.decomposers.cb_svm import CBSVM
from dcsvm_plugins.decomposers.chunks import Chunks
from dcsvm_plugins.decomposers.class_codes import ClassCodes
from dcsvm_plugins.decomposers.class_pairs import ClassPairs
from dcsvm_plugins.decomposers.class_rest import ClassRest
from dcsvm_plugins.decomposers.class_tree import ClassTree
from dcsvm_plugins.decomposers.concept_boundary import ConceptBoundary
from dcsvm_plugins.decomposers.dc_svm import DCSVM
from dcsvm_plugins.decomposers.dca_subspaces import DCASubspaces
from dcsvm_plugins.decomposers.graf_cascade import GrafCascade
from dcsvm_plugins.decomposers.groups import Groups
from dcsvm_plugins.decomposers.growing_bags import GrowingBags
from dcsvm_plugins.decomposers.kernel_kmeans import KernelKMeans
from dcsvm_plugins.decomposers.kmeans import KMeans
from dcsvm_plugins.decomposers.landmark_voronoi import LandmarkVoronoi
from dcsvm_plugins.decomposers.learned_metric import LearnedMetric
from dcsvm_plugins.decomposers.lsh import LSH
from dcsvm_plugins.decomposers.mixture import Mixture
from dcsvm_plugins.decomposers.neighbours import Neighbours
from dcsvm_plugins.decomposers.oblique_tree import ObliqueTree
from dcsvm_plugins.decomposers.ordinal import Ordinal
from dcsvm_plugins.decomposers.pca_subspaces import PCASubspaces
from dcsvm_plugins.decomposers.piecewise_tree import PiecewiseTree
from dcsvm_plugins.decomposers.rd_subspaces import RDSubspaces
from dcsvm_plugins.decomposers.spill_forest import SpillForest
from dcsvm_plugins.decomposers.svm_tree import SVMTree
from dcsvm_plugins.decomposers.tree import Tree
from dcsvm_plugins.decomposers.whole import Whole


@hookimpl
def dcsvm_decomposers() -> list[type[Decomposer]]:
    return [
        ABDSubspaces,
        BCDSubspaces,
        Bootstrap,
        Cascade,
        Chunks,
        ClassCodes,
        ClassPairs,
        ClassRest,
        ConceptBoundary,
        DCASubspaces,
        DCSVM,
        GrafCascade,
        GrowingBags,
        KernelKMeans,
        KMeans,
        LearnedMetric,
        ObliqueTree,
        PCASubspaces,
        PiecewiseTree,
        RDSubspaces,
        Repeat,
        Sum,
        SVMTree,
        Tree,
        Whole,
        Balls,
        Blend,
        Boosting,
        ClassTree,
        Groups,
        Mixture,
        Neighbours,
        Ordinal,
        SpillForest,
        LandmarkVoronoi,
        LSH,
        BayesianCommittee,
        CBSVM,
    ]
