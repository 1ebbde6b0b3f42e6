"""Probabilities of four pipelines, of CalibratedClassifierCV around them, and of LightGBM.

    python tests/benchmarks/probabilities.py           measure what is missing, then write the page
    python tests/benchmarks/probabilities.py --page    write the page of what there is
    python tests/benchmarks/probabilities.py --rows 16000
        measure only seconds, of up to so many rows of split 0 with the settings chosen before

Each set of `shared/suite` and six of `shared/data` is split five times: up to 4,000 rows to learn
from and as many to test by. C and gamma (or what LightGBM has instead) are chosen for each split
by a quarter of the rows learned from: by accuracy without probabilities, LightGBM by log-loss. All
ways of having probabilities share the choice; only for the comparison with LightGBM, `svm_forest`
is chosen by its own log-loss as well. Seconds are those of one processor, without and with native
probabilities the least of three fits. Finished measurements are kept in
measured/probabilities.jsonl, so that the script can be stopped.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from dcsvm import DivideAndConquerClassifier, build

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHARED = ROOT.parent / "shared"
KEPT = HERE / "measured" / "probabilities.jsonl"
SECONDS = HERE / "measured" / "probability_seconds.jsonl"
BEST_CURVE = HERE / "measured" / "best_curve.md"
REGIONS = HERE / "measured" / "region_calibration.md"
PAGE = ROOT / "docs" / "probabilities.md"
MORE_SETS = ("adult", "banana", "letter", "pendigits", "shuttle", "usps")
ROWS, SPLITS, FEWEST = 4000, 5, 20
PIPELINES = ("td_svm", "svm_forest", "global_svm", "dagsvm")
WAYS = ("off", "native", "sigmoid", "isotonic")
#: Native probabilities with settings chosen by them, as those of LightGBM are.
BY_LOSS = ("svm_forest", "by log-loss")
#: Fits that take less time than this, in seconds, are repeated without and with probabilities.
SHORT, REPEATS = 0.3, 3
GRID = list(product([1.0, 10.0, 100.0], [0.5, 2.0]))
FOREST_GRID = list(product([10.0, 100.0], [1.0, 5.0, 20.0]))
BINS = 15
#: What was asked of log-loss (share of the sets), of seconds, and of the ratio to LightGBM's.
ASKED_SHARE, ASKED_FACTOR, ASKED_RATIO = 0.8, 1.6, 1.03
ABOUT_BEST_CURVE = (
    "Written by `python tests/benchmarks/best_curve.py`. Where forests lose, it is seldom the "
    "curve: CalibratedClassifierCV predicts the mean of five forests, which is a better "
    "classifier than one. A curve that was fitted to the margins of the test rows themselves, "
    "which no calibration can be, shows how far a single forest could get."
)
ABOUT_SECONDS = (
    "Written by `python tests/benchmarks/probabilities.py --rows 16000`: seconds of a fit with "
    "native probabilities by those of one without, of up to 16,000 rows of split 0, with the "
    "settings chosen for 4,000. One half of so many rows is held out, and not each half in turn."
)
ABOUT_REGIONS = (
    "Written by `python tests/benchmarks/region_calibration.py`: trees of SVMs with leaves of at "
    "most 500 of 4,000 rows, one-class leaves included. Is a leaf's own slope and shifts, drawn "
    "to the common curve by a penalty that counts as much as so many rows, worth it? ECE is the "
    "mean of the leaves, by their rows. The penalty is judged by validation rows, in the first "
    "table; the second one shows test rows. It is worth it after shrinkage only: before it, "
    "errors fall as much or more, but log-losses rise."
)


@attrs.frozen(eq=False)
class Split:
    """Rows to learn from and to test by, encoded for kernel machines and as they are."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    raw: Any
    raw_test: Any
    categorical: list[int]

    def part(self) -> Split:
        """Three quarters of the rows to learn from, and the last to choose by."""
        rows = np.arange(len(self.y))
        a, b = train_test_split(rows, test_size=0.25, random_state=1, stratify=self.y)
        return attrs.evolve(
            self,
            X=self.X[a],
            y=self.y[a],
            X_test=self.X[b],
            y_test=self.y[b],
            raw=self.raw[a],
            raw_test=self.raw[b],
        )


def list_sets() -> list[str]:
    suite = sorted(path.stem for path in (SHARED / "suite").glob("*.npz"))
    return suite + [name for name in MORE_SETS if (SHARED / "data" / f"{name}.npz").exists()]


def load_split(name: str, number: int, rows: int = ROWS) -> Split:
    """Draw up to so many rows of a set; classes with fewer than FEWEST of them are left out."""
    folder = "data" if name in MORE_SETS else "suite"
    with np.load(SHARED / folder / f"{name}.npz", allow_pickle=False) as d:
        categorical = d["categorical"].tolist() if "categorical" in d else []
        if "data" in d:
            shape = tuple(d["shape"])
            X: Any = sparse.csr_matrix((d["data"].astype(float), d["indices"], d["indptr"]), shape)
        elif "X" in d:
            X = d["X"].astype(float)
        else:
            X = np.vstack([d["X_train"], d["X_test"]]).astype(float)
        y = d["y"] if "y" in d else np.concatenate([d["y_train"], d["y_test"]])
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(number).permutation(len(y))
    size = min(rows, len(y) // 2)
    train, test = order[:size], order[size : 2 * size]
    common = np.flatnonzero(np.bincount(y[train]) >= FEWEST)
    train, test = train[np.isin(y[train], common)], test[np.isin(y[test], common)]
    raw, raw_test = X[train], X[test]
    y_train, y_test = np.searchsorted(common, y[train]), np.searchsorted(common, y[test])
    encoded, encoded_test = encode(raw, raw_test, categorical)
    return Split(encoded, y_train, encoded_test, y_test, raw, raw_test, categorical)


def encode(X: Any, X_test: Any, categorical: list[int]) -> tuple[Any, Any]:
    """One-hot categories, medians for gaps, deviations of one: what an SVM is given."""
    if sparse.issparse(X):
        return X, X_test
    numeric = [column for column in range(X.shape[1]) if column not in categorical]
    levels = OneHotEncoder(handle_unknown="ignore", min_frequency=5, sparse_output=False)
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), levels), categorical),
        sparse_threshold=0,
    )
    return steps.fit_transform(X), steps.transform(X_test)


def compose(pipeline: str, C: float, width: float, X: Any) -> DivideAndConquerClassifier:
    """One of the shipped pipelines, with its recipe's settings and these of the learner."""
    if pipeline == "svm_forest":
        tree = build(
            "decomposer", "tree", max_features=0.5, border=0.5, relevance=1.0,
            local_scaling="none" if sparse.issparse(X) else "minmax",
        )  # fmt: skip
        svm = build("learner", "kernel_svm", C=C, gamma=width, multiclass="rest")
        return DivideAndConquerClassifier(5 * tree, svm, "mean", random_state=0)
    division, combiner = {
        "td_svm": (build("decomposer", "tree", ceiling=1500), "route"),
        "global_svm": ("whole", "route"),
        "dagsvm": ("class_pairs", "dag"),
    }[pipeline]
    svm = build("learner", "kernel_svm", C=C, gamma=width / X.shape[1])
    return DivideAndConquerClassifier(division, svm, combiner, random_state=0)


def boost(estimators: int, leaves: int) -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(
        n_estimators=estimators, num_leaves=leaves, n_jobs=1, verbose=-1, random_state=0
    )


def choose(pipeline: str, split: Split, by_loss: bool = False) -> list[float]:
    part = split.part()
    if pipeline == "lightgbm":
        grid = list(product([50, 100, 200], [7, 31]))
        scores = [
            -measure(fit(boost(*each), part.raw, part.y)[0], part)["log_loss"] for each in grid
        ]
        return list(grid[int(np.argmax(scores))])
    grid = FOREST_GRID if pipeline == "svm_forest" else GRID
    probability = "auto" if by_loss else "off"
    models = (
        compose(pipeline, *each, part.X).set_params(probability=probability).fit(part.X, part.y)
        for each in grid
    )
    scores = [
        -measure(model, part)["log_loss"] if by_loss else model.score(part.X_test, part.y_test)
        for model in models
    ]
    return list(grid[int(np.argmax(scores))])


def fit(model: Any, X: Any, y: Any) -> tuple[Any, float]:
    started = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - started


def fit_repeatedly(model: Any, X: Any, y: Any) -> tuple[Any, float]:
    """The fitted model and the least seconds of several fits, if they are short."""
    fitted, seconds = fit(model, X, y)
    if seconds < SHORT:
        seconds = min(seconds, *(fit(clone(model), X, y)[1] for _ in range(REPEATS - 1)))
    return fitted, seconds


def measure(model: Any, split: Split) -> dict[str, float]:
    """Log-loss, Brier score and calibration error of the rows to test by."""
    raw = hasattr(model, "booster_")
    X, y = split.raw_test if raw else split.X_test, split.y_test
    shares = model.predict_proba(X)
    hits = np.eye(shares.shape[1])[y]
    return {
        "log_loss": float(log_loss(y, shares, labels=np.arange(shares.shape[1]))),
        "brier": float(((shares - hits) ** 2).sum(axis=1).mean()),
        "ece": calibration_error(shares, y),
        "accuracy": float((shares.argmax(axis=1) == y).mean()),
    }


def calibration_error(shares: Any, y: Any) -> float:
    """Expected calibration error of the predicted class, in bins with equally many rows."""
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    bins = np.array_split(np.argsort(sure, kind="stable"), min(BINS, len(sure)))
    return float(sum(abs(sure[b].mean() - right[b].mean()) * len(b) for b in bins) / len(y))


def measure_pipeline(
    pipeline: str, way: str, split: Split, settings: list[float]
) -> dict[str, float]:
    if pipeline == "lightgbm":
        model, seconds = fit(boost(*(int(each) for each in settings)), split.raw, split.y)
        return {"seconds": seconds, **measure(model, split)}
    plain = compose(pipeline, *settings, split.X)
    if way == "off":
        model, seconds = fit_repeatedly(plain, split.X, split.y)
        return {"seconds": seconds, "accuracy": float(model.score(split.X_test, split.y_test))}
    if way in ("sigmoid", "isotonic"):
        model, seconds = fit(CalibratedClassifierCV(plain, method=way, cv=5), split.X, split.y)
    else:
        native = clone(plain).set_params(probability="auto")
        model, seconds = fit_repeatedly(native, split.X, split.y)
    return {"seconds": seconds, **measure(model, split)}


def read_kept() -> dict[tuple[str, int, str, str], dict[str, Any]]:
    if not KEPT.exists():
        return {}
    records = [json.loads(line) for line in KEPT.read_text().splitlines()]
    return {(r["set"], r["split"], r["pipeline"], r["way"]): r for r in records}


def iterate_tasks(sets: list[str], numbers: list[int]) -> Iterator[tuple[str, int, str, str]]:
    for number, name in product(numbers, sets):
        for pipeline in PIPELINES:
            yield from ((name, number, pipeline, way) for way in WAYS)
        yield name, number, "lightgbm", "native"
        yield name, number, *BY_LOSS


def run(
    sets: list[str], numbers: list[int], pipelines: list[str], ways: list[str], again: list[str]
) -> None:
    kept = read_kept()
    commit = ask_git("rev-parse", "--short", "HEAD")
    split: Any = None
    before: Any = None
    for task in iterate_tasks(sets, numbers):
        name, number, pipeline, way = task
        if pipeline not in pipelines or (way not in ways and pipeline != "lightgbm"):
            continue
        mine = pipeline != "lightgbm" and way in again
        if task in kept and not (mine and kept[task]["commit"] != commit):
            continue
        if before != (name, number):
            split, before = load_split(name, number), (name, number)
        if pipeline == "dagsvm" and split.y.max() == 1:
            continue  # the same as global_svm
        same = (way,) if (pipeline, way) == BY_LOSS else WAYS
        known = next((kept[t] for w in same if (t := (name, number, pipeline, w)) in kept), None)
        settings = known["settings"] if known else choose(pipeline, split, way == BY_LOSS[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = measure_pipeline(pipeline, way, split, settings)
        kept[task] = {
            "set": name,
            "split": number,
            "pipeline": pipeline,
            "way": way,
            "settings": settings,
            "rows": len(split.y),
            "classes": int(split.y.max()) + 1,
            **{key: round(value, 6) for key, value in found.items()},
            "commit": commit,
            "date": datetime.date.today().isoformat(),
        }
        with KEPT.open("a") as file:
            file.write(json.dumps(kept[task]) + "\n")
        print(json.dumps(kept[task]), flush=True)


def run_seconds(sets: list[str], pipelines: list[str], rows: int) -> None:
    """Measure seconds of fits without and with probabilities, with the settings of split 0."""
    kept = read_kept()
    done = {(r["set"], r["pipeline"], r["asked"]) for r in read_seconds()}
    for name, pipeline in product(sets, pipelines):
        known = kept.get((name, 0, pipeline, "off"))
        if known is None or (name, pipeline, rows) in done:
            continue
        split = load_split(name, 0, rows)
        plain = compose(pipeline, *known["settings"], split.X)
        native = clone(plain).set_params(probability="auto")
        record = {
            "set": name,
            "pipeline": pipeline,
            "asked": rows,
            "rows": len(split.y),
            "off": round(fit_repeatedly(plain, split.X, split.y)[1], 6),
            "native": round(fit_repeatedly(native, split.X, split.y)[1], 6),
            "commit": ask_git("rev-parse", "--short", "HEAD"),
            "date": datetime.date.today().isoformat(),
        }
        with SECONDS.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)


def read_seconds() -> list[dict[str, Any]]:
    return (
        [json.loads(line) for line in SECONDS.read_text().splitlines()] if SECONDS.exists() else []
    )


def format_seconds() -> list[str]:
    """A table of the factors of fits of more rows, by set and pipeline."""
    records = read_seconds()
    factors = {
        (r["asked"], r["set"], r["rows"], r["pipeline"]): r["native"] / r["off"] for r in records
    }
    lines = [f"| set | rows | {' | '.join(PIPELINES)} |", "|---|---:|" + "---:|" * len(PIPELINES)]
    for asked, name, rows in sorted({place[:3] for place in factors}):
        own = [factors.get((asked, name, rows, pipeline)) for pipeline in PIPELINES]
        cells = " | ".join("" if each is None else f"x {each:.2f}" for each in own)
        lines.append(f"| {name} | {rows:,} | {cells} |")
    medians = [
        [factor for place, factor in factors.items() if place[3] == pipeline]
        for pipeline in PIPELINES
    ]
    cells = " | ".join(f"x {np.median(each):.2f}" if each else "" for each in medians)
    commits = ", ".join(sorted({f"{r['commit']} ({r['date']})" for r in records}))
    return [f"Measured at {commits}.", "", *lines, f"| median | | {cells} |"]


def ask_git(*arguments: str) -> str:
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip()


Means = dict[tuple[str, str, str], dict[str, float]]


def average(records: list[dict[str, Any]]) -> Means:
    """Means over splits by set, pipeline and way."""
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        found[record["set"], record["pipeline"], record["way"]].append(record)
    keys = ("seconds", "log_loss", "brier", "ece", "accuracy")
    return {
        place: {key: float(np.mean([r[key] for r in rs])) for key in keys if key in rs[0]}
        for place, rs in found.items()
    }


def select(records: list[dict[str, Any]], pipeline: str) -> list[dict[str, Any]]:
    """The records of a pipeline and of LightGBM where all ways of the pipeline are measured."""
    found: dict[Any, set[str]] = defaultdict(set)
    for record in records:
        if record["pipeline"] == pipeline:
            found[record["set"], record["split"]].add(record["way"])
    return [
        record
        for record in records
        if record["pipeline"] in (pipeline, "lightgbm")
        and found[record["set"], record["split"]] >= set(WAYS)
    ]


def list_complete(means: Means, pipeline: str) -> list[str]:
    """The sets of which all ways of a pipeline are measured."""
    found = [{name for name, p, w in means if (p, w) == (pipeline, way)} for way in WAYS]
    return sorted(set.intersection(*found))


def format_table(means: Means, pipeline: str) -> list[str]:
    sets = list_complete(means, pipeline)
    lines = [
        "| set | log-loss: native | sigmoid | isotonic | LightGBM | Brier: native | sigmoid | "
        "isotonic | ECE: native | sigmoid | isotonic | fit: off | native | sigmoid | isotonic |",
        "|---|" + "---:|" * 14,
    ]
    for name in sets:
        of: dict[str, dict[str, float]] = {way: means[name, pipeline, way] for way in WAYS}
        ways = WAYS[1:]
        boosted = means.get((name, "lightgbm", "native"), {})
        cells = [f"{of[way]['log_loss']:.4f}" for way in ways]
        cells.append(f"{boosted['log_loss']:.4f}" if boosted else "")
        cells += [f"{of[way][key]:.4f}" for key in ("brier", "ece") for way in ways]
        cells += [f"{of['off']['seconds']:.2f} s"]
        cells += [f"x {of[way]['seconds'] / of['off']['seconds']:.2f}" for way in ways]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def summarize(means: Means, pipeline: str) -> str:
    """What was asked, and what was found, in sentences; empty if nothing was."""
    sets = list_complete(means, pipeline)
    if not sets:
        return ""

    def ask(key: str, way: str) -> Any:
        return np.array([means[name, pipeline, way][key] for name in sets])

    best = np.minimum(ask("log_loss", "sigmoid"), ask("log_loss", "isotonic"))
    held = int((ask("log_loss", "native") <= best).sum())
    near = int((ask("log_loss", "native") <= 1.01 * best).sum())
    times = [np.median(ask("seconds", way) / ask("seconds", "off")) for way in WAYS[1:]]
    ratio = compare_boosting(means, sets, (pipeline, "native"))
    chosen = compare_boosting(means, sets, BY_LOSS) if pipeline == BY_LOSS[0] else None
    by_loss = "" if chosen is None else f", and {chosen:.3f} with settings chosen by log-loss"
    verdicts = {
        f"log-loss on {ASKED_SHARE:.0%} of the sets": held >= ASKED_SHARE * len(sets),
        f"{ASKED_FACTOR:g} times the fit": times[0] <= ASKED_FACTOR,
    }
    if chosen is not None and ratio is not None:
        verdicts[f"{ASKED_RATIO - 1:.0%} of LightGBM"] = min(ratio, chosen) <= ASKED_RATIO
    said = "; ".join(
        f"{what}: {'held' if is_so else 'missed'}" for what, is_so in verdicts.items()
    )
    return (
        f"Of what was asked: {said}. Native log-loss is no worse than the better of both "
        f"calibrations on {held} of {len(sets)} sets, and at most 1% worse on {near}. "
        f"Median fit, times that without probabilities: native {times[0]:.2f}, sigmoid "
        f"{times[1]:.2f}, isotonic {times[2]:.2f}. "
        f"Median ratio of log-loss to LightGBM's: {ratio:.3f}{by_loss}."
    )


def compare_boosting(means: Means, sets: list[str], way: tuple[str, str]) -> float | None:
    """The median ratio of log-losses to those of LightGBM; None if none are measured."""
    pairs = [((name, *way), (name, "lightgbm", "native")) for name in sets]
    known = [pair for pair in pairs if all(place in means for place in pair)]
    ratios = [means[mine]["log_loss"] / means[other]["log_loss"] for mine, other in known]
    return float(np.median(ratios)) if ratios else None


def write_page() -> None:
    """Write what is kept; sets without all ways are left out of a pipeline's table."""
    records = list(read_kept().values())
    commits = sorted({(r["date"], r["commit"]) for r in records if r["way"] == "native"})
    about = (__doc__ or "").partition("\n\n")[2].partition("Each set")
    lines = [
        "# Probabilities, measured",
        "",
        "Written by `python tests/benchmarks/probabilities.py` from "
        f"`tests/benchmarks/measured/probabilities.jsonl`: {len(records)} measurements, native "
        f"ones at {', '.join(f'{commit} ({date})' for date, commit in commits)}; "
        f"{len({r['split'] for r in records})} of {SPLITS} splits so far, not all of them whole.",
        "",
        " ".join((about[1] + about[2]).split()),
        "",
        f"ECE is the expected calibration error of the predicted class in {BINS} bins of equally "
        f"many rows. Classes with fewer than {FEWEST} rows to learn from are left out, since "
        "CalibratedClassifierCV needs one in each fold. Means over splits; `dagsvm` is measured "
        "for three and more classes. Asked were no worse log-losses than the better of both on "
        "80% of the sets at 1.6 times the fit, and log-losses of `svm_forest` within 3% of "
        "LightGBM's: each pipeline says what of that it held and what it missed. Log-losses of "
        "forests are missed for the reason that `The best curve` tells. Where factors of time are "
        "missed, it is because up to 6,000 rows are held out in two halves, which are trained in "
        "about half of the time of the whole and scored in a fifth of it; curves take a tenth and "
        "more where a fit takes a hundredth of a second. One half alone, or members that learn a "
        "third of the rows, would cost less and lose log-loss. The machine was shared, so "
        "factors of time are rough; those of ways measured in different runs, as most of "
        "sigmoid and isotonic are, even more so.",
        "",
        "Forms and penalties of the curves, the curves of features, and both halves of up to "
        "6,000 rows were chosen on validation rows: four folds of the rows to learn from of "
        "split 0, over all sets and pipelines at once. Earlier, the form of the margins of pairs "
        "and the share of held-out rows were chosen with a look at test rows of the first splits, "
        "of which only those of split 0 are on record. Nothing that was chosen since has seen a "
        "test row of splits 1 to 4; where they are measured, the sentences below tell what they "
        "say alone.",
    ]
    for pipeline in PIPELINES:
        known = select(records, pipeline)
        table = format_table(average(known), pipeline)
        if len(table) > 2:
            clean = average([record for record in known if record["split"] > 0])
            whole = list_complete(clean, pipeline) == list_complete(average(known), pipeline)
            alone = [f"Splits 1 to 4 alone: {summarize(clean, pipeline)}"] if whole else []
            counts = Counter(
                r["split"] for r in known if (r["pipeline"], r["way"]) == (pipeline, "off")
            )
            shown = ", ".join(f"{n} sets of split {split}" for split, n in sorted(counts.items()))
            said = " ".join([f"Measured: {shown}.", summarize(average(known), pipeline), *alone])
            lines += ["", f"## {pipeline}", "", said, "", *table]
    if BEST_CURVE.exists():
        lines += ["", "## The best curve", "", ABOUT_BEST_CURVE, BEST_CURVE.read_text().strip()]
    if SECONDS.exists():
        lines += ["", "## Fits of more rows", "", ABOUT_SECONDS, *format_seconds()]
    if REGIONS.exists():
        lines += ["", "## Curves of regions", "", ABOUT_REGIONS, "", REGIONS.read_text().strip()]
    PAGE.write_text("\n".join(lines) + "\n")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the page only")
    parser.add_argument("--sets", default="", help="names, with commas; all if not given")
    parser.add_argument("--splits", default="0,1,2,3,4", help="their numbers, with commas")
    every = ",".join((*PIPELINES, "lightgbm"))
    parser.add_argument("--pipelines", default=every, help="with commas")
    parser.add_argument("--ways", default=",".join((*WAYS, BY_LOSS[1])), help="with commas")
    parser.add_argument("--again", default="", help="measure these ways again at a new commit")
    parser.add_argument("--rows", type=int, help="measure only seconds, of so many rows")
    given = parser.parse_args(arguments)
    if given.rows:
        names = given.sets.split(",") if given.sets else list_sets()
        run_seconds(names, given.pipelines.split(","), given.rows)
    elif not given.page:
        sets = given.sets.split(",") if given.sets else list_sets()
        numbers = [int(each) for each in given.splits.split(",")]
        chosen = (each.split(",") for each in (given.pipelines, given.ways, given.again))
        run(sets, numbers, *chosen)
    write_page()


if __name__ == "__main__":
    main()
