"""Birth certificates of measurements: what code made a record, when, where and by which command.

    python examples/births.py

lists every file of measurements: how many records it has, when the oldest was made, and how many
were made by code that has changed since.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from dcsvm.numeric.native import instruction_set

ROOT = Path(__file__).resolve().parents[1]
#: What the records of each reproduction depend on, beside the solvers and kernels.
PLUGINS = ROOT / "plugins/dcsvm_plugins"
SUBSPACES = ("rd", "pca", "dca", "bcd", "abd")
MODULES: dict[str, tuple[str, ...]] = {
    "reproduce_hlsvm": (
        *("decomposers/oblique_tree", "decomposers/piecewise_tree.py", "decomposers/svm_tree.py"),
        *("decomposers/class_pairs.py", "combiners/dag"),
        *("learners/kernel_svm", "learners/linear_svm.py"),
    ),
    "reproduce_td": (
        *("decomposers/tree", "decomposers/growing_bags.py", "decomposers/concept_boundary.py"),
        *("learners/kernel_svm", "learners/krr", "learners/linear_svm.py"),
    ),
    "reproduce_cascade": (
        *("decomposers/cascade.py", "decomposers/graf_cascade.py", "decomposers/dc_svm.py"),
        "learners/kernel_svm",
    ),
    "reproduce_dag": (
        *("decomposers/class_pairs.py", "decomposers/class_rest.py", "combiners/dag"),
        "learners/kernel_svm",
    ),
    "reproduce_fsd": (
        *(f"decomposers/{name}_subspaces.py" for name in SUBSPACES),
        *("decomposers/dc_svm.py", "combiners/fusion.py", "learners/krr"),
        *("learners/kernel_svm", "learners/linear_svm.py", "learners/rbf_network.py"),
        *("learners/fastfood.py", "learners/lasvm.py", "learners/spsvm.py"),
    ),
}
#: What of the repository is code, not its outcome.
CODE = ("--", ".", ":!docs", ":!examples/*/measured")


def certify(example: str, seed: int = 0) -> dict[str, Any]:
    """The certificate of a record that is made now."""
    return {
        "seed": seed,
        "commit": _git("rev-parse", "--short=12", "HEAD")
        + ("+" if _git("diff", "HEAD", *CODE) else ""),
        "versions": {name: version(name) for name in ("dcsvm", "numpy", "scipy", "scikit-learn")}
        | {"python": platform.python_version()},
        "machine": {
            "cores": os.cpu_count(),
            "processor": _processor(),
            "blas": blas_architecture(),
            "dcsvm": instruction_set() or "numpy",
        },
        "date": datetime.now(UTC).date().isoformat(),
        "command": " ".join(["python", _relative(sys.argv[0]), *sys.argv[1:]]),
        "code": fingerprint(example),
    }


@cache
def fingerprint(example: str) -> str:
    """A number for the code that an example measures: numeric kernels and its components."""
    paths = [ROOT / "dcsvm/numeric", *(PLUGINS / name for name in MODULES[example])]
    files = sorted(file for path in paths for file in _sources(path))
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file.relative_to(ROOT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def blas_architecture() -> str:
    """The kind of processor whose kernels the BLAS has chosen: it decides on rounding."""
    found = {
        str(one.get("architecture")) for one in threadpool_info() if one["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "unknown"


def describe(example: str) -> str:
    """A section for a page: the certificates of its records, and which are older than the code."""
    folder = ROOT / "examples" / example / "measured"
    lines = [_count(example, path) for path in sorted(folder.glob("*.jsonl"))]
    return "\n\n".join([HEADING, EXPLANATION, HEAD + "\n" + "\n".join(lines)])


def without_births(page: str) -> str:
    """A page without that section, which is as old as the last change of the code."""
    before, found, after = page.partition(HEADING)
    rest = after.partition("\n## ")
    return before + (rest[1] + rest[2] if found else "")


HEADING = "## Birth certificates"
EXPLANATION = """\
The certificate of a record names the commit, versions, kind of machine (with the BLAS kernels and
the instruction set that were used), date, command and seed that made it, and a fingerprint of the
numeric kernels and components that it measured. The fingerprint says which code it was: commits
are rewritten when a branch lands, and then the one that is named is *not in this history*; a
commit with a + had changes on top. Records from before there were certificates are *dated by
history*: they were made at the first commit that holds them, or before
(`python examples/record_history.py`). *Older than the code*: kernels or components have changed
since, which need not change the figures. Rows that were measured again keep the times of their
first measurement, when the machine was idle. `python examples/remeasure.py` measures all cheap
rows again and compares: to the last digit where the BLAS has the same kernels, loosely elsewhere,
since rounding decides there how solvers get to their answers."""
HEAD = """\
| records | number | oldest | commit not in this history | dated by history | older than the code \
| up to date |
|---|---|---|---|---|---|---|"""


def _count(example: str, path: Path) -> str:
    """A line for one file of records; counted when the page was written."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    born = [record["born"] for record in records]
    oldest = min(born, key=lambda birth: str(birth["date"]))
    current = sum(birth.get("code") == fingerprint(example) for birth in born)
    lost = sum(not is_in_history(birth["commit"]) for birth in born)
    return (
        f"| {path.stem} | {len(born):,} | {oldest['date']}, commit {oldest['commit']} "
        f"| {lost:,} | {sum('known' in birth for birth in born):,} | {len(born) - current:,} "
        f"| {current:,} |"
    )


@cache
def is_in_history(commit: str) -> bool:
    """Whether this repository has a commit, with changes on top of it or not."""
    return bool(_git("rev-parse", "--verify", "--quiet", f"{commit.rstrip('+')}^{{commit}}"))


def _sources(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return [file for ending in ("*.py", "*.c", "*.h") for file in path.rglob(ending)]


def _relative(script: str) -> str:
    path = Path(script).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def _git(*arguments: str) -> str:
    """What git says; nothing outside of a repository."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def _processor() -> str:
    """The kind of processor, without the name of the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def main() -> None:
    for example in MODULES:
        print(f"\n{example}\n{HEAD}")
        for path in sorted((ROOT / "examples" / example / "measured").glob("*.jsonl")):
            print(_count(example, path))


if __name__ == "__main__":
    main()
