"""What the page on the feature space says about rivals: components, budgets, missing rows."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measured
from budget import GAIN, RIVALS, SIZES
from covertype import fastfood, llsvm, random_features, rbf_network, spsvm
from remeasure import read

PICTURE = Path(__file__).resolve().parents[2] / "docs/reproduction/feature_space_budget.svg"
CASCADE = Path(__file__).resolve().parents[1] / "reproduce_cascade/measured"
COMPONENTS = {
    "Nystroem": llsvm,
    "RBFSampler": random_features,
    "the RBF network": rbf_network,
    "fastfood": fastfood,
    "SpSVM": spsvm,
}
ALL = 464_810
#: Methods of the paper's table that were not run on all rows: the name here, that on the page of
#: the cascades, the paper's error, and the powers of the rows that the estimate supposes.
EXACT = {
    "LibSVM": ("kernel_svm (LibSVM)", "whole", 3.85, (2.0, 2.5)),
    "DC-SVM": ("", "dc_svm", 3.85, (2.0, 2.5)),
    "CascadeSVM": ("cascade (CascadeSVM)", "", 10.49, (2.0, 2.5)),
    "LaSVM": ("lasvm (LaSVM)", "", 5.61, (2.0, 2.5)),
}


def tell_components() -> str:
    """How many components every approximation of table 5 has by default."""
    sizes = [
        f"{name} {next(iter(inspect.signature(make).parameters.values())).default:,}"
        for name, make in COMPONENTS.items()
    ]
    return f"Components (basis functions, centres) of the approximations: {', '.join(sizes)}."


def write_missing() -> Iterator[str]:
    """Rows of table 5 that take too long, with the sizes that the estimate comes from."""
    yield from told(
        f"Not run at {ALL:,} rows, since each takes hours. The estimate extends the processor "
        "seconds of the largest size below by the square of the rows and by their power 2.5, "
        "which SVC follows on the page of the [cascades](cascades.md). That page has the exact "
        "solvers at 50,000 rows, at the same C and gamma, but on other test rows; LibSVM and the "
        "cascade are learned by our solver."
    )
    yield "| method | paper's error % | rows: CPU s, test error % | estimated hours |"
    yield "|---|---|---|---|"
    for title, (method, level, paper, powers) in EXACT.items():
        sizes = sorted(_sizes(method, level))
        if sizes:
            shown = "; ".join(f"{n:,}: {s:,.0f}, {error:.2f}" for n, s, error in sizes)
            hours = " to ".join(f"{extend(sizes[-1], power):.0f}" for power in powers)
            yield f"| {title} | {paper} | {shown} | {hours} |"
    yield ""
    sparse = {
        one["training_rows"]: one["training"]["cpu_seconds"]
        for one in measured.read("covertype", method="spsvm (SpSVM)")
    }
    if sparse and ALL not in sparse:
        times = " and ".join(f"{seconds:.0f} s for {n:,}" for n, seconds in sorted(sparse.items()))
        yield from told(
            f"SpSVM takes {times} rows, so all of them would take minutes; not run yet: "
            "`python examples/reproduce_fsd/covertype.py --rows all --only spsvm`."
        )
    yield from told(
        "Fastfood was not run on all rows for its memory: 2,000 features of them hold 7.4 GB."
    )


def _sizes(method: str, level: str) -> Iterator[tuple[int, float, float]]:
    """Rows, processor seconds and errors of a method below all rows."""
    for one in measured.read("covertype", method=method):
        if one["training_rows"] < ALL:
            yield one["training_rows"], one["training"]["cpu_seconds"], one["error"]
    for one in read(CASCADE / "levels.jsonl"):
        if one["method"] == level:
            yield one["rows"], one["cpu"], 100.0 - one["test"]


def extend(size: tuple[int, float, float], power: float) -> float:
    """Hours for all rows, from the seconds of one size and a power of the rows."""
    rows, seconds, _ = size
    return float(seconds * (ALL / rows) ** power / 3600)


def write_budget() -> Iterator[str]:
    """Approximations with growing numbers of components."""
    records = measured.read("budget")
    if not records:
        return
    yield "## Approximations at equal budget: covertype, 50,000 rows"
    yield ""
    (ours,) = measured.read("covertype", method="DC-DCSVM-TRBF2KRR", training_rows=50_000)
    yield from told(
        f"Components are doubled from {SIZES[0]} to {SIZES[-1]:,} at most, as long as that gains "
        f"{GAIN} points of validation error and takes less than half of the "
        f"{ours['training']['cpu_seconds']:.0f} processor seconds of DC-DCSVM-TRBF2KRR, whose "
        f"error is {ours['error']:.2f}. Growth ends at {SIZES[-1]:,} components (memory), which "
        "need more than it does. Seconds are of a machine with other work."
    )
    yield "| method | components | validation error % | test error % | train s (CPU) | ended by |"
    yield "|---|---|---|---|---|---|"
    for method in RIVALS:
        found = [one for one in records if one["method"] == method]
        for one in found:
            reason = _reason(found, ours["training"]["cpu_seconds"]) if one is found[-1] else ""
            yield (
                f"| {method} | {one['components']:,} | {one['validation']:.2f} "
                f"| {one['error']:.2f} | {one['training']['cpu_seconds']:.1f} | {reason} |"
            )
    yield ""
    yield "![error against seconds](feature_space_budget.svg)"
    yield ""


def _reason(found: list[dict[str, Any]], limit: float) -> str:
    if found[-1]["training"]["cpu_seconds"] > limit / 2:
        return "time"
    errors = [100.0, *(one["validation"] for one in found)]
    if errors[-2] - errors[-1] < GAIN:
        return "gain"
    return "memory" if found[-1]["components"] == SIZES[-1] else "not measured further"


def draw_budget() -> None:
    """Test error against processor seconds, a line for each approximation."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "feature space"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for method in RIVALS:
        line = measured.read("budget", method=method)
        axes.plot(
            [one["training"]["cpu_seconds"] for one in line],
            [one["error"] for one in line],
            marker="o",
            label=method,
        )
    for method in ("DC-DCSVM-TRBF2KRR", "DC-SVM early"):
        (one,) = measured.read("covertype", method=method, training_rows=50_000)
        axes.plot(one["training"]["cpu_seconds"], one["error"], "s", label=method)
    axes.set_xscale("log")
    axes.set_xlabel("training, processor seconds")
    axes.set_ylabel("test error, %")
    axes.legend(fontsize="small")
    figure.savefig(PICTURE, metadata={"Date": None})


def told(text: str) -> Iterator[str]:
    """A paragraph, wrapped, and an empty line."""
    yield from textwrap.wrap(text, 99, break_on_hyphens=False)
    yield ""
