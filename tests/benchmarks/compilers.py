"""Builds the library with every compiler that is here, and compares each with numpy.

A row is a compiler and an instruction set: the size of the library, the processor seconds of
`fit` and `predict`, and how many times faster they are than with numpy. Each runs in a process of
its own, with one thread.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NATIVE = Path("dcsvm/numeric/native")
COMPILERS = [f"gcc-{n}" for n in range(9, 16)] + [f"clang-{n}" for n in range(14, 24)]
LEVELS = ("base", "avx2", "avx512")
ASK = """
import json, statistics, sys, time
import numpy as np
from dcsvm import DivideAndConquerClassifier
from dcsvm.numeric import native
X = np.random.default_rng(0).normal(size=(1500, 10))
y = (np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] > 1).astype(int) + (X[:, 3] > 1)
times = {"fit": [], "predict": []}
for _ in range(1 + int(sys.argv[1])):
    model = DivideAndConquerClassifier("class_pairs", "kernel_svm", "vote", random_state=0)
    begin = time.process_time(); model.fit(X, y)
    times["fit"].append(time.process_time() - begin)
    begin = time.process_time(); model.predict(X)
    times["predict"].append(time.process_time() - begin)
found = {name: statistics.median(each[1:]) for name, each in times.items()}
print(json.dumps(found | {"uses": native.instruction_set() or "numpy"}))
"""


def main() -> None:
    """Print one row for each library, numpy first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="compilers whose name contains this")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    print(f"commit {commit()}, {datetime.date.today()}, {processor()}")
    heads = f"{'fit s':>8} {'ratio':>6} {'predict s':>10} {'ratio':>6}"
    print(f"{'compiler':24} {'set':7} {'kB':>5} {heads}")
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_sources(Path(folder))
        numpy = measure(tree, given.repeat)
        assert numpy["uses"] == "numpy"
        show("numpy", "-", 0, numpy, numpy)
        for name in filter(shutil.which, COMPILERS):
            if given.only in name:
                compare(name, tree, numpy, given.repeat)


def commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()


def processor() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else "unknown processor"


def copy_sources(folder: Path) -> Path:
    for name in ("dcsvm", "plugins"):
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def compare(compiler: str, tree: Path, numpy: dict[str, float], repeat: int) -> None:
    """Build the libraries of one compiler and print a row for each that runs here."""
    version = subprocess.run(
        [compiler, "-dumpfullversion" if "gcc" in compiler else "-dumpversion"],
        stdout=subprocess.PIPE,
        text=True,
    )
    title = f"{compiler} ({version.stdout.strip()})" if version.stdout.strip() else compiler
    build, output = tree / compiler, tree / f"{compiler}-libraries"
    for command in (
        ["cmake", "-S", tree / NATIVE, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_C_COMPILER={compiler}", f"-DDCSVM_OUTPUT={output}"],
        ["cmake", "--build", build, "--parallel", str(os.cpu_count())],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{title:24} does not build: {done.stderr.strip().splitlines()[-1]}")
            return
    for level in LEVELS:
        for old in (tree / NATIVE).glob("*.so"):
            old.unlink()
        # The base library chooses among those beside it.
        for name in {"base", level}:
            shutil.copy(output / f"numeric_{name}.so", tree / NATIVE)
        size = (output / f"numeric_{level}.so").stat().st_size
        found = measure(tree, repeat)
        if found["uses"] == level:
            show(title, level, size, found, numpy)
        else:
            print(f"{title:24} {level:7} {size / 1000:5.0f} built, not run by this processor")


def measure(tree: Path, repeat: int) -> dict:
    environment = os.environ | {"PYTHONPATH": f"{tree}{os.pathsep}{tree / 'plugins'}"}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK, str(repeat)],
        cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def show(title: str, level: str, size: int, found: dict, numpy: dict) -> None:
    ratios = {name: numpy[name] / found[name] for name in ("fit", "predict")}
    print(
        f"{title:24} {level:7} {size / 1000:5.0f} {found['fit']:8.3f} {ratios['fit']:6.1f} "
        f"{found['predict']:10.4f} {ratios['predict']:6.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
