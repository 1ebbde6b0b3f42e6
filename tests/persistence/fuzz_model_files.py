"""Load and ask model files whose arrays and numbers were edited: refused, or answered.

    python tests/persistence/fuzz_model_files.py --cases 20000

Every case takes a valid model file, edits its content and signs it again. Then `load` must refuse
it with a ModelFileError, or the model must predict. It must not end by a signal, take ten seconds,
or take more memory than the valid file and 20 times its size. `--case NAME:NUMBER` repeats a case.
"""

import argparse
import collections
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "shared"), str(TESTS.parent / "plugins"), str(TESTS.parent)]

import forgery  # noqa: E402
import model_zoo  # noqa: E402
import numpy as np  # noqa: E402

import dcsvm  # noqa: E402
from dcsvm.base.errors import ModelFileError  # noqa: E402

SECONDS = 10
TIMES_FILE = 20
#: Memory that the allocator may take at any time.
NOISE = 24 << 20
#: Address space beyond the current one: more raises MemoryError, which counts as a failure.
SPACE = 1 << 30
BATCH = 25


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="names of models that contain this")
    parser.add_argument("--case", help="NAME:NUMBER, to repeat one case")
    parser.add_argument("--keep", type=Path, help="folder for the files of failing cases")
    given = parser.parse_args()
    if given.case:
        name, _, number = given.case.rpartition(":")
        return repeat(name, int(number), given.keep)
    models = model_zoo.write_models()
    if missing := model_zoo.find_missing_types(models):
        print("no model holds", *missing)
        return 1
    models = {name: each for name, each in models.items() if given.only in name}
    started = time.perf_counter()
    found = run(models, range(given.first, given.first + given.cases), given.jobs)
    return report(found, len(models), time.perf_counter() - started)


def run(models, numbers, jobs):
    """Run cases, dealt over all models; return what happened by (model, number)."""
    names = sorted(models)
    dealt = sorted((names[number % len(names)], number) for number in numbers)
    waiting = [dealt[start : start + BATCH] for start in range(0, len(dealt), BATCH)]
    done, active = {}, {}
    while waiting or active:
        while waiting and len(active) < jobs:
            child = Child(models, waiting.pop())
            active[child.reading] = child
        limit = min(child.limit for child in active.values())
        ready, _, _ = select.select(list(active), [], [], max(0.0, limit - time.monotonic()))
        for child in list(active.values()):
            if child.reading in ready and child.receive():
                continue
            if child.reading in ready or child.limit <= time.monotonic():
                del active[child.reading]
                rest = child.end(done)
                waiting += [rest] if rest else []
    return done


class Child:
    """A forked process that runs some cases; one that ends badly ends its process only."""

    def __init__(self, models, cases):
        self.cases, self.results, self.text = cases, [], b""
        self.limit = time.monotonic() + SECONDS + 5
        self.reading, writing = os.pipe()
        self.process = os.fork()
        if not self.process:
            _serve(models, cases, writing)
            os._exit(0)
        os.close(writing)

    def receive(self):
        """Read results; return whether there was something to read."""
        chunk = os.read(self.reading, 65536)
        *lines, self.text = (self.text + chunk).split(b"\n")
        for line in lines:
            self.results.append(tuple(json.loads(line)))
            self.limit = time.monotonic() + SECONDS
        return bool(chunk)

    def end(self, done):
        """Add the results to `done`; return the cases that are left."""
        if self.limit <= time.monotonic():
            os.kill(self.process, signal.SIGKILL)
            why = f"took more than {SECONDS} s"
        os.close(self.reading)
        status = os.waitpid(self.process, 0)[1]
        if self.limit > time.monotonic():
            why = f"ended with status {status}"
        n = len(self.results)
        done.update(zip(self.cases, self.results, strict=False))
        if n < len(self.cases):
            done[self.cases[n]] = ("failed", why, "")
        return self.cases[n + 1 :]


def _serve(models, cases, writing):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    os.fsync = lambda descriptor: None
    with open(os.devnull, "wb") as nowhere:
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):
            os.dup2(nowhere.fileno(), 2)
            now = _status("VmSize")
            resource.setrlimit(resource.RLIMIT_AS, (now + SPACE, now + SPACE))
    name, baseline = "", 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as at:
        path = os.path.join(at, "model.dcsvm")
        for name_, number in cases:
            if name_ != name:
                name, baseline = name_, _measure(models[name_], models[name_].content, path)[1]
            try_case(models[name], number, path, baseline, writing)


def try_case(model, number, path, baseline, writing):
    try:
        content, told = forgery.edit(model.content, np.random.default_rng([number, 7]))
    except Exception as error:
        os.write(writing, json.dumps(["failed", f"edit: {error!r}", ""]).encode() + b"\n")
        return
    result, peak = _measure(model, content, path)
    most = baseline + TIMES_FILE * len(content) + NOISE
    if result[0] != "failed" and peak > most:
        result = ("failed", f"took {peak >> 20} MB for a file of {len(content) >> 10} kB")
    os.write(writing, json.dumps([*result[:2], told]).encode() + b"\n")


def _measure(model, content, path):
    """Load and ask; return what happened, and the bytes that it took at most."""
    Path(path).write_bytes(content)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    return ask(model, path), _status("VmHWM") - before


def ask(model, path):
    """Return ("refused", why), ("answered", "") or ("failed", what)."""
    try:
        loaded = dcsvm.load(path)
    except ModelFileError as error:
        text = str(error).removeprefix(f"model file {path!r} ")
        return ("failed", f"load: {text}") if "MemoryError" in text else ("refused", text)
    except BaseException as error:
        return "failed", f"load: {type(error).__name__}: {error}"
    try:
        model.ask(loaded)
    except BaseException as error:
        return "failed", f"predict: {type(error).__name__}: {error}"
    return "answered", ""


def _status(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) << 10
    raise KeyError(key)


def report(found, n_models, seconds):
    """Print the counts and the failures, one line for each kind; return the exit code."""
    counts = collections.Counter(result[0] for result in found.values())
    told = ", ".join(f"{counts[kind]} {kind}" for kind in ("refused", "answered", "failed"))
    print(f"{len(found)} cases of {n_models} models in {seconds:.0f} s: {told}")
    kinds = collections.defaultdict(list)
    for (name, number), result in found.items():
        if result[0] == "failed":
            kinds["".join(c for c in result[1] if not c.isdigit())[:90]].append(
                (f"{name}:{number}", *result[1:])
            )
    for each in sorted(kinds.values(), key=len, reverse=True):
        print(len(each), *each[0], sep=" | ")
    return bool(kinds)


def repeat(name, number, keep):
    """Run one case in this process."""
    model = model_zoo.write_models(name)[name]
    content, told = forgery.edit(model.content, np.random.default_rng([number, 7]))
    print(told)
    path = str((keep or Path(tempfile.mkdtemp())) / "model.dcsvm")
    Path(path).write_bytes(content)
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    try:
        loaded = dcsvm.load(path)
    except ModelFileError as error:
        return print("refused:", error)
    return print("answered", model.ask(loaded))


if __name__ == "__main__":
    sys.exit(main())
