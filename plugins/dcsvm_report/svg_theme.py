"""Matplotlib figures as SVG with the colors of the page."""

import html
import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import attrs

from dcsvm.drawing import PALETTE, class_colour

# Colours that no one would draw with stand for roles; the page says what they look like.
INK, MUTED, GRID, ACCENT, WARN, PAPER = (f"#00000{place}" for place in range(1, 7))
ROLES = {
    INK: "currentColor",
    MUTED: "var(--muted, #777)",
    GRID: "var(--grid, #8884)",
    ACCENT: "var(--accent, #2f7ed8)",
    WARN: "var(--warn, #d2493a)",
    PAPER: "var(--paper, #fff)",
}
#: Inches across; at this width, text of 10 points can be read on a phone.
WIDTH = 4.7
STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    "path.simplify": True,
}


@attrs.frozen
class Drawing:
    """A figure of the report: title, description and SVG."""

    title: str
    words: str
    svg: str


def class_ink(label: int) -> str:
    """The colour that stands for a class."""
    return f"#0001{label % len(PALETTE):02x}"


def make_logarithmic(axis: Any, values: Any) -> None:
    """Make an axis logarithmic, with plain numbers as labels."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    close = max(values) < 30 * min(values)
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if close else (1,), numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plain_number(value)))
    axis.set_minor_formatter(NullFormatter())


def _plain_number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:,.6g} million"
    return f"{value:,.0f}" if value >= 1 else f"{value:.10f}".rstrip("0")


def render_svg(
    name: str, words: str, draw: Callable[[Any], None], height: float = 3.0, width: float = WIDTH
) -> str:
    """Return the figure that `draw` fills as SVG; the same calls give the same bytes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # A class or column may be called anything: no name may be taken for a formula, and a
    # sign that matplotlib's own font lacks is drawn by the browser's.
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return _adapt_to_page(written.getvalue(), name, words)


def _adapt_to_page(svg: str, name: str, words: str) -> str:
    """Remove metadata, make ids unique, and insert colors and description."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', svg))
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"font: [^;\"]*?([\d.]+px)[^;\"]*", r"font-size: \1", svg)
    svg = re.sub(r"#0001([0-9a-f]{2})\b", lambda m: class_colour(int(m[1], 16)), svg)
    for colour, role in ROLES.items():
        svg = svg.replace(colour, role)
    svg = re.sub(r"\n\s*", "\n", svg)
    return _add_header(svg, words)


def _add_header(svg: str, words: str) -> str:
    box = re.search(r'viewBox="([^"]*)"', svg)
    body = svg[svg.index(">") + 1 :]
    view = box[1] if box else "0 0 400 300"
    return (
        f'<svg role="img" aria-label="{html.escape(words)}" viewBox="{view}" '
        f'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{body}'
    )
