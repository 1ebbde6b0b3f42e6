"""Table 1 of the DAGSVM paper."""

from __future__ import annotations

#: By data set and method: sigma, C, error in percent, kernel evaluations, training seconds,
#: thousands of parameters.
PAPER: dict[tuple[str, str], tuple[float, ...]] = {
    ("usps", "one_v_rest"): (3.58, 100, 4.7, 2936, 3532, 760),
    ("usps", "max_wins"): (5.06, 100, 4.5, 1877, 307, 487),
    ("usps", "dagsvm"): (5.06, 100, 4.4, 819, 307, 487),
    ("letter", "one_v_rest"): (0.447, 100, 2.2, 8183, 1764, 148),
    ("letter", "max_wins"): (0.632, 100, 2.4, 7357, 441, 160),
    ("letter", "dagsvm"): (0.447, 10, 2.2, 3834, 792, 223),
    ("covertype", "one_v_rest"): (1, 10, 30.2, 7366, 4210, 105),
    ("covertype", "max_wins"): (1, 10, 29.0, 7238, 1305, 107),
    ("covertype", "dagsvm"): (1, 10, 29.2, 4390, 1305, 107),
}
