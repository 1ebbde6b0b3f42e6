"""Rows of a mixture with a known Bayes error, as a folder of Parquet files of any size.

    python tests/benchmarks/mixture_rows.py FOLDER --rows 10000000

Two classes, each a mixture of Gaussian clouds in 8 features: a hyperplane separates three quarters
of the clouds. 20 more features are sums of these with noise, which tell nothing new about the
class. So the probability of a class is known for each row, and the least possible error is the
mean of the smaller one over many rows. A file depends on the seed
and its number only: a larger folder begins with the files of a smaller one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FEATURES, INFORMATIVE, CLOUDS = 28, 8, 24
#: The deviation of a cloud, and of the noise of a derived feature.
SPREAD, NOISE = 0.24, 0.1
ROWS_PER_FILE = 250_000
TARGET = "kind"
#: Rows that the Bayes error is a mean over.
JUDGED = 1_000_000


class Mixture:
    """The mixture of a seed: centers (clouds, 8) with their classes, and derived features."""

    def __init__(self, seed: int = 0) -> None:
        generator = np.random.default_rng([seed, 0])
        self.seed = seed
        self.centers = generator.random((CLOUDS, INFORMATIVE))
        order = np.argsort(self.centers.sum(axis=1))
        self.kinds = np.zeros(CLOUDS, dtype=np.int64)
        self.kinds[order[CLOUDS // 2 :]] = 1
        self.kinds[order[::4]] ^= 1
        derived = generator.normal(size=(INFORMATIVE, FEATURES - INFORMATIVE))
        self.derived = derived / np.linalg.norm(derived, axis=0)

    def draw(self, n_rows: int, *place: int) -> tuple[Any, Any]:
        """Rows (n, 28) and their classes (n,), 0 or 1; each `place` has its own."""
        generator = np.random.default_rng([self.seed, 1, *place])
        cloud = generator.integers(CLOUDS, size=n_rows)
        known = self.centers[cloud] + SPREAD * generator.normal(size=(n_rows, INFORMATIVE))
        noise = NOISE * generator.normal(size=(n_rows, FEATURES - INFORMATIVE))
        return np.hstack([known, known @ self.derived + noise]), self.kinds[cloud]

    def probabilities(self, X: Any) -> Any:
        """The probability of class 1 for each row, (n,)."""
        known = X[:, :INFORMATIVE]
        squares = (
            (known**2).sum(axis=1)[:, None]
            - 2 * known @ self.centers.T
            + (self.centers**2).sum(axis=1)
        )
        shares = np.exp(-(squares - squares.min(axis=1, keepdims=True)) / (2 * SPREAD**2))
        return np.asarray(shares @ self.kinds / shares.sum(axis=1))

    def bayes_error(self, n_rows: int = JUDGED) -> tuple[float, float]:
        """The least error of any classifier, and the standard error of this figure."""
        blocks = [self.draw(100_000, 1, block)[0] for block in range(max(1, n_rows // 100_000))]
        sure = np.concatenate([self.probabilities(X) for X in blocks])
        wrong = np.minimum(sure, 1 - sure)
        return float(wrong.mean()), float(wrong.std() / np.sqrt(len(wrong)))


def write_files(
    folder: Path, n_rows: int, seed: int = 0, rows_per_file: int = ROWS_PER_FILE
) -> Iterator[Path]:
    """Write the rows file by file, and yield each path; files that are there are kept."""
    import pyarrow
    import pyarrow.parquet

    mixture = Mixture(seed)
    names = [f"f{number:02}" for number in range(FEATURES)]
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n_rows, rows_per_file)):
        path = folder / f"rows-{number:05}.parquet"
        if not path.exists():
            X, y = mixture.draw(min(rows_per_file, n_rows - start), 0, number)
            columns = [*X.T.astype(np.float32), np.where(y == 1, "odd", "even")]
            table = pyarrow.table(dict(zip([*names, TARGET], columns, strict=True)))
            aside = path.with_suffix(".part")
            pyarrow.parquet.write_table(table, aside, compression="none", use_dictionary=[TARGET])
            aside.replace(path)
        yield path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    files = list(write_files(given.folder, given.rows, given.seed))
    error, doubt = Mixture(given.seed).bayes_error()
    found = {"rows": given.rows, "features": FEATURES, "files": len(files)}
    found |= {"bytes": sum(path.stat().st_size for path in files)}
    print(json.dumps(found | {"bayes_error": round(error, 5), "standard_error": round(doubt, 6)}))


if __name__ == "__main__":
    main()
