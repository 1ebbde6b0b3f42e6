"""The house stays small and easy to walk: few files at the door, and every name once."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from source_code import parse_source

import dcsvm

ROOT = Path(__file__).resolve().parents[2]
MOST_FLAT_FILES = 12
MOST_PUBLIC_NAMES = 30
SHORT = 60
#: Short modules with a single importer that a reader would look for by their names.
ROOMS = {
    "dcsvm.drive.out_of_fold": "scores of rows that a member was not trained on",
    "dcsvm.numeric.column_ranks": "what a preparation computes stands with the other numbers",
    "dcsvm.numeric.native.fingerprint": "the build reads it without importing numpy",
    "dcsvm_plugins.learners.kernel_svm.tolerance": "when solvers stop is looked for by this name",
    "dcsvm_plugins.learners.kernel_svm.libsvm_reference": "another solver, imported if it is set",
    "dcsvm.numeric.kernels.truncated_rbf": "the kernel and the feature map of the FSD paper",
    "dcsvm.numeric.log_loss": "the optimization of logistic, tested against scikit-learn",
    "dcsvm.numeric.overlapping_split": "the splits of spill_forest",
    "dcsvm.numeric.squared_hinge": "the optimization of spsvm, tested against BFGS",
}


def list_modules() -> dict[str, Path]:
    """The modules of the product by their dotted names."""
    modules = {}
    for home in (ROOT, ROOT / "plugins"):
        for package in sorted(home.glob("dcsvm*")):
            for path in sorted(package.rglob("*.py")):
                parts = path.relative_to(home).with_suffix("").parts
                modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


MODULES = list_modules()


def is_component(module: str) -> bool:
    """Whether a module is the file of a component, such as `dcsvm_plugins.learners.krr`."""
    return module.startswith("dcsvm_plugins.") and module.count(".") == 2


def find_imports(path: Path) -> set[str]:
    """The modules of the product that a file imports."""
    imported = set()
    for node in parse_source(path.read_text()).imports:
        if isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            imported |= {each.name for each in node.names}
    return imported & MODULES.keys()


def find_repeated(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names that occur in several modules."""
    homes = defaultdict(list)
    for name, module in pairs:
        homes[name].append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_few_files_lie_flat_in_the_core() -> None:
    flat = sorted(path.name for path in (ROOT / "dcsvm").iterdir() if path.is_file())
    assert len(flat) <= MOST_FLAT_FILES, flat


def test_the_core_exports_few_names() -> None:
    assert len(dcsvm.__all__) <= MOST_PUBLIC_NAMES, sorted(dcsvm.__all__)


def test_no_two_modules_have_the_same_file_name() -> None:
    kinds = {"dcsvm.cli"}  # a command is called what it does
    pairs = [
        (path.name, module)
        for module, path in MODULES.items()
        if path.name not in ("__init__.py", "__main__.py")
        and module.rpartition(".")[0] not in kinds
    ]
    assert len(pairs) > 100
    assert find_repeated(pairs) == {}


def test_no_two_classes_have_the_same_name() -> None:
    pairs = [
        (name, module)
        for module, path in MODULES.items()
        for name in parse_source(path.read_text()).classes
    ]
    assert len(pairs) > 100
    assert find_repeated(pairs) == {}


def test_short_modules_have_several_importers_or_are_rooms_of_their_own() -> None:
    importers = defaultdict(set)
    for module, path in MODULES.items():
        for imported in find_imports(path):
            importers[imported].add(module)
    lonely = {
        module
        for module, path in MODULES.items()
        if path.name != "__init__.py"
        and not is_component(module)
        and len(importers[module]) == 1
        and len(path.read_text().splitlines()) < SHORT
    }
    assert lonely == ROOMS.keys()
