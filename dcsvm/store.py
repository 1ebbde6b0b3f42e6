"""Model files: arrays and a JSON manifest."""

from __future__ import annotations

from typing import Any


def save(model: Any, path: Any) -> None:
    raise NotImplementedError


def load(path: Any) -> Any:
    raise NotImplementedError
