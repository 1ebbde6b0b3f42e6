"""The house stays small: few files and few names at its door."""

from pathlib import Path

import dcsvm

ROOT = Path(__file__).resolve().parents[2]
MOST_FLAT_FILES = 12
MOST_PUBLIC_NAMES = 30


def test_few_files_lie_flat_in_the_core() -> None:
    flat = sorted(path.name for path in (ROOT / "dcsvm").iterdir() if path.is_file())
    assert len(flat) <= MOST_FLAT_FILES, flat


def test_the_core_exports_few_names() -> None:
    assert len(dcsvm.__all__) <= MOST_PUBLIC_NAMES, sorted(dcsvm.__all__)
