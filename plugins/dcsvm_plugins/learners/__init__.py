"""The built-in learners, one file each."""

from dcsvm import LocalLearner, hookimpl
from dcsvm_plugins.learners.fastfood import Fastfood
from dcsvm_plugins.learners.kernel_svm import KernelSVM
from dcsvm_plugins.learners.krr import KRR
from dcsvm_plugins.learners.lasvm import LaSVM
from dcsvm_plugins.learners.linear_svm import LinearSVM
from dcsvm_plugins.learners.logistic import Logistic
from dcsvm_plugins.learners.majority import Majority
from dcsvm_plugins.learners.pegasos import Pegasos
from dcsvm_plugins.learners.rbf_network import RBFNetwork
from dcsvm_plugins.learners.sklearn import Sklearn
from dcsvm_plugins.learners.spsvm import SpSVM
from dcsvm_plugins.learners.trbf_krr import TRBFKRR


@hookimpl
def dcsvm_learners() -> list[type[LocalLearner]]:
    return [
        KernelSVM,
        KRR,
        LinearSVM,
        Majority,
        Pegasos,
        RBFNetwork,
        Sklearn,
        TRBFKRR,
        Logistic,
        Fastfood,
        LaSVM,
        SpSVM,
    ]
