"""Measures stored rows anew and compares them with what is stored.

    python examples/remeasure.py                # every cheap row behind every page
    python examples/remeasure.py --sample 3     # three cheap rows of each page
    python examples/remeasure.py --stale --keep # those without a certificate, or of older code
    python examples/reproduce_dag/run.py --again tests data_set=usps method=dagsvm
    python examples/reproduce_dag/run.py --again tests data_set=usps --keep

A row is cheap if it took less than `--seconds` of the processor. Times and memory are not
compared; with `--loose`, counts may differ by a sixth and errors by half a point, as on another
processor. Rows whose certificate names another BLAS architecture than this machine's, or none, are
always compared loosely: rounding decides there how solvers get to their answers. `--keep` stores
the new row, with its birth certificate, in place of the old one, whose times and memory it keeps
unless `--times` is given: a machine with other work to do would spoil them. The exit code is 1 if
a row differs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from births import blas_architecture, certify, fingerprint

Record: TypeAlias = dict[str, Any]
#: Measures a stored record anew: returns what it found, or appends it to its file.
Measure: TypeAlias = Callable[[Record], Record | None]
ROOT = Path(__file__).resolve().parent
EXAMPLES = ("reproduce_td", "reproduce_cascade", "reproduce_dag", "reproduce_hlsvm")
EXAMPLES += ("reproduce_fsd",)
#: What differs from run to run: times, memory and the load of the machine.
TIMES = re.compile(r"second|^cpu|wall|load$|ideal|peak|_cpu$|^training$|^answering$")
VARIES = re.compile(rf"{TIMES.pattern}|^born$|^stopped$")
SPENT = ("fit_seconds", "training_seconds", "answering_seconds", "seconds", "cpu", "cpu_seconds")
TOLERANCE = 1e-6
#: What loose comparisons leave out, and what they compare by points.
COUNTS = re.compile(r"iterations|steps|nodes|leaves|complexity|parts|chosen|params|bounds|reason")
RATES = re.compile(r"error|accuracy|test$|train$|f1$|share|homogeneous")
#: A row may take this many times the processor time that it took, and a minute.
PATIENCE = 10


class NotAloneError(Exception):
    """A row cannot be measured without others; the message says which."""


def run_again(measured: ModuleType, measures: Mapping[str, Measure], words: list[str]) -> None:
    """Measure the rows that the words of a command line ask for; exit with 1 if one differs."""
    given = read_words(words)
    names = [given.row[0]] if given.row else list(measures)
    if unknown := [name for name in names if name not in measures]:
        sys.exit(f"no rows of {unknown[0]!r} can be measured anew; available: {sorted(measures)}")
    wanted = dict(word.split("=", 1) for word in given.row[1:])
    example = Path(measured.__file__).parent.name
    found = [
        (name, number)
        for name in names
        for number, record in enumerate(read(measured.FOLDER / f"{name}.jsonl"))
        if fits(record, wanted)
        and (given.row or spent(record) < given.seconds)
        and not (given.stale and is_current(record, example))
    ]
    if given.sample:
        random.Random(given.seed).shuffle(found)
    done = (measure_row(measured, measures[name], name, at, given) for name, at in found)
    same = list(itertools.islice((each for each in done if each is not None), given.sample))
    print(f"{example}: {sum(same)} of {len(same)} rows are as stored", flush=True)
    sys.exit(not all(same))


def read_words(words: list[str]) -> argparse.Namespace:
    reader = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    reader.add_argument("--again", nargs="*", dest="row", default=[], help="FILE KEY=VALUE ...")
    reader.add_argument("--keep", action="store_true", help="store the new rows")
    reader.add_argument("--times", action="store_true", help="with --keep: the new times as well")
    reader.add_argument("--stale", action="store_true", help="rows of older code or of unknown")
    reader.add_argument("--loose", action="store_true", help="compare loosely")
    reader.add_argument("--seconds", type=float, default=5.0, help="what a cheap row took at most")
    reader.add_argument("--sample", type=int, help="measure so many of the rows, at random")
    reader.add_argument("--seed", default="0", help="of the sample")
    return reader.parse_args(words)


def is_current(record: Record, example: str) -> bool:
    """Whether a record was made by the code as it is."""
    return record.get("born", {}).get("code") == fingerprint(example)


def knows_rounding(record: Record) -> bool:
    """Whether a record was made with the BLAS kernels of this machine."""
    machine = record.get("born", {}).get("machine", {})
    return bool(machine.get("blas") == blas_architecture())


def fits(record: Record, wanted: Mapping[str, str]) -> bool:
    return all(str(record.get(key)) == value for key, value in wanted.items())


def spent(record: Record) -> float:
    """Seconds of the processor that a record took; endless where it does not say."""
    parts = [float(record[word]) for word in SPENT if isinstance(record.get(word), int | float)]
    parts += [
        float(record[word]["cpu_seconds"])
        for word in ("training", "answering")
        if "cpu_seconds" in record.get(word, {})
    ]
    return sum(parts) if parts else math.inf


def measure_row(
    measured: ModuleType, measure: Measure, name: str, number: int, given: argparse.Namespace
) -> bool | None:
    """Measure one row where the others are stored and it is not; say how it differs.

    Nothing is returned for a row that cannot be measured alone.
    """
    path = measured.FOLDER / f"{name}.jsonl"
    old = read(path)[number]
    title = ", ".join(f"{key} {value}" for key, value in list(old.items())[:5])
    try:
        new = measure_without(measured, measure, name, number)
    except TimeoutError:
        print(f"{name}: {title}: takes longer than {limit(old)} s", flush=True)
        return False
    except NotAloneError as reason:
        print(f"{name}: {title}: left out, {reason}", flush=True)
        return None
    strict = not given.loose and knows_rounding(old)
    differences = list(differ(old, new, equal if strict else loosely))
    same = "same" if strict else "the same, loosely"
    print(f"{name}: {title}: {'; '.join(differences) or same}", flush=True)
    if given.keep:
        # Read again: other rows may have been added while this one was measured.
        records = read(path)
        born = certify(path.parents[1].name, new.get("seed", 0))
        kept = new if given.times else keep_times(old, new)
        if not given.times:
            born["times"] = old.get("born", {}).get("date", "of unknown date")
        records[number] = {**kept, "born": born}
        write(path, records)
    return not differences


def measure_without(measured: ModuleType, measure: Measure, name: str, number: int) -> Record:
    kept = measured.FOLDER
    old = read(kept / f"{name}.jsonl")[number]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(kept, Path(place) / "measured"))
        path = folder / f"{name}.jsonl"
        others = [record for at, record in enumerate(read(path)) if at != number]
        write(path, others)
        measured.FOLDER = folder
        signal.signal(signal.SIGPROF, give_up)
        signal.setitimer(signal.ITIMER_PROF, limit(old))
        try:
            found = measure(old)
        finally:
            measured.FOLDER = kept
            signal.setitimer(signal.ITIMER_PROF, 0)
        if found is None:
            added = read(path)[len(others) :]
            found = added[-1] if added else {}
    told = {key: value for key, value in old.items() if key != "born"}
    # By way of JSON, so that tuples are lists as in the file.
    return dict(json.loads(json.dumps({**told, **found} if found else {})))


def keep_times(old: Any, new: Any) -> Any:
    """The new record with the times and the memory of the old one."""
    if isinstance(old, dict) and isinstance(new, dict):
        return new | {
            key: old[key] if TIMES.search(key) else keep_times(old[key], new.get(key))
            for key in old
            if key != "born"
        }
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [keep_times(one, other) for one, other in zip(old, new, strict=True)]
    return new


def limit(record: Record) -> int:
    took = spent(record)
    return 60 + int(PATIENCE * took) if math.isfinite(took) else 600


def give_up(*_: object) -> None:
    raise TimeoutError


def differ(old: Any, new: Any, compare: Callable[..., bool], at: str = "") -> Iterable[str]:
    """Where two records differ, times and memory apart."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if not VARIES.search(key):
                yield from differ(old[key], new.get(key), compare, f"{at}.{key}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differ(one, other, compare, f"{at}.{number}")
    elif not compare(old, new, at):
        yield f"{at} is {new}, stored {old}"


def equal(old: Any, new: Any, at: str = "") -> bool:
    if isinstance(old, int | float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE**2)
    return bool(old == new)


def loosely(old: Any, new: Any, at: str = "") -> bool:
    """Equal but for rounding, which decides how solvers and trees get to their answers."""
    if COUNTS.search(at):
        return True
    if not isinstance(old, float) or not isinstance(new, int | float):
        return equal(old, new) or (isinstance(old, int) and abs(new - old) <= 1 + old / 6)
    if RATES.search(at):
        return abs(new - old) <= (0.5 if max(old, new) > 1 else 0.005)
    return abs(new - old) <= abs(old) / 6


def read(path: Path) -> list[Record]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def write(path: Path, records: Iterable[Record]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, add_help=True)
    reader.add_argument("--page", choices=EXAMPLES, action="append", help="all unless given")
    given, words = reader.parse_known_args()
    read_words(words)
    done = [
        subprocess.run([sys.executable, str(ROOT / example / "run.py"), "--again", *words])
        for example in given.page or EXAMPLES
    ]
    sys.exit(any(each.returncode for each in done))


if __name__ == "__main__":
    main()
