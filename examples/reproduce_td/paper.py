"""What the TD paper's tables say, by kind of training, data set and method."""

from __future__ import annotations

SETS = ("pendigits", "letter", "shuttle", "adult", "poker", "kdd")
METHODS = ("td", "bagging", "cbd", "global")
Table = dict[str, dict[str, dict[str, float]]]


def _table(methods: tuple[str, ...], **rows: list[tuple[float, ...]]) -> Table:
    return {
        "1" + training: {
            name: dict(zip(methods, row, strict=True))
            for name, row in zip(SETS, rows[training], strict=True)
        }
        for training in rows
    }


#: Tables 2 and 7: seconds of the whole search.
SECONDS = _table(
    METHODS,
    A1=[
        (275, 2204, 697, 1192),
        (768, 7575, 2598, 4157),
        (23, 2100, 303, 5096),
        (5209, 6100, 215219, 315130),
        (5600, 13332, 992533, 1307667),
        (371, 17123, 57789, 1369600),
    ],
    AO=[
        (672, 12271, 5893, 19988),
        (3281, 105121, 87179, 151476),
        (36, 5359, 700, 36689),
        (5191, 6100, 215219, 315130),
        (10061, 91058, 2222084, 2923776),
        (435, 46879, 57706, 2512134),
    ],
)
#: Tables 3 and 8: how much faster than the global SVM.
SPEED_UP = _table(
    METHODS[:3],
    A1=[
        (4.33, 0.54, 1.71),
        (5.41, 0.55, 1.60),
        (221.57, 2.43, 16.82),
        (60.50, 51.66, 1.46),
        (233.51, 98.08, 1.32),
        (3691.64, 79.99, 23.70),
    ],
    AO=[
        (29.74, 1.63, 3.39),
        (46.17, 1.44, 1.74),
        (1019.14, 6.85, 52.41),
        (60.71, 51.66, 1.46),
        (290.60, 32.11, 1.32),
        (5775.02, 53.59, 43.53),
    ],
)
#: Tables 4 and 9: test accuracy in percent.
ACCURACY = _table(
    METHODS,
    A1=[
        (99.42, 99.52, 99.63, 99.63),
        (97.60, 93.09, 95.25, 97.54),
        (99.93, 99.66, 99.85, 99.92),
        (84.81, 83.75, 84.08, 84.25),
        (57.85, 56.37, 57.50, 58.29),
        (99.96, 99.68, 99.91, 99.95),
    ],
    AO=[
        (99.52, 99.47, 99.63, 99.63),
        (97.66, 93.80, 96.20, 97.66),
        (99.89, 99.67, 99.82, 99.91),
        (84.81, 83.75, 84.08, 84.25),
        (57.62, 57.30, 56.82, 58.02),
        (99.96, 99.68, 99.91, 99.96),
    ],
)
#: Tables 5 and 10: support vectors met by a test row.
NSV = _table(
    METHODS,
    A1=[
        (1140, 38376, 7785, 8073),
        (183450, 663315, 109376, 183450),
        (0.5, 2465, 1098, 1134),
        (300, 5381, 9560, 10451),
        (5284, 100018, 145522, 174942),
        (3.9, 1873, 2783, 2287),
    ],
    AO=[
        (248, 6771, 1164, 1210),
        (16200, 240394, 14690, 16201),
        (0.4, 1070, 611, 266),
        (300, 5381, 9560, 10451),
        (1801, 160779, 40965, 47951),
        (1.8, 756, 1576, 1566),
    ],
)
#: Tables 6 and 11: the global SVM's NSV divided by a method's.
NSV_RATIO = _table(
    METHODS[:3],
    A1=[
        (7.08, 0.21, 1.04),
        (1.00, 0.28, 1.68),
        (2432.70, 0.46, 1.03),
        (34.81, 1.94, 1.09),
        (33.11, 1.75, 1.20),
        (584.86, 1.22, 0.82),
    ],
    AO=[
        (4.87, 0.18, 1.04),
        (1.00, 0.07, 1.10),
        (597, 0.25, 0.44),
        (34.81, 1.94, 1.09),
        (26.63, 0.30, 1.17),
        (873.37, 2.07, 0.99),
    ],
)
#: Table 12: the ceiling chosen, and the percentage of training rows in leaves of one class.
CEILING = {
    "pendigits": (1500, 0.0),
    "letter": (24000, 0.0),
    "shuttle": (1500, 98.42),
    "adult": (1500, 5.55),
    "poker": (1500, 0.0),
    "kdd": (1500, 42.05),
}
#: Tables 13 and 14, Letter: by ceiling, the seconds spent and the test accuracy.
LETTER = {
    "1A1": {1500: (633, 95.35), 6000: (45, 96.61), 24000: (90, 97.60)},
    "1AO": {1500: (2730, 95.71), 6000: (178, 96.91), 24000: (373, 97.66)},
}
#: Table 15, Forest: seconds, NSV, test accuracy.
FOREST = {"1A1": (16927, 350, 94.61), "1AO": (26108, 289, 94.59)}
#: Table 16: T1 and T2.
TERMS = {
    "1A1": {
        "pendigits": (1699, 55),
        "shuttle": (1152495, 110),
        "adult": (101177, 481),
        "poker": (16403, 194),
        "kdd": (1297678, 287),
    },
    "1AO": {
        "pendigits": (5769, 55),
        "shuttle": (2756183, 110),
        "adult": (101177, 481),
        "poker": (62638, 194),
        "kdd": (57426, 287),
    },
}
#: Table 17: S, R and R / L.
SLACK = {
    "1A1": {
        "pendigits": (74, 133, 17),
        "shuttle": (114786, 75630, 5402),
        "adult": (8211, 6800, 128),
        "poker": (464, 1143, 48),
        "kdd": (100227, 70796, 2212),
    },
    "1AO": {
        "pendigits": (326, 450, 56),
        "shuttle": (593967, 180867, 12919),
        "adult": (8211, 6800, 128),
        "poker": (2899, 4366, 182),
        "kdd": (5089, 3133, 98),
    },
}
