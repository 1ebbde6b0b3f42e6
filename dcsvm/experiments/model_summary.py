"""Summary of a model file as plain data: structure, parts, size and cost."""

from pathlib import Path
from typing import Any

import numpy as np

from dcsvm.classifier import DivideAndConquerClassifier
from dcsvm.drive.fitted_strategy import FittedStrategy
from dcsvm.experiments.recipe import to_toml
from dcsvm.experiments.recipe.toml_writer import serialize_classifier
from dcsvm.experiments.run.run_messages import describe_decision
from dcsvm.inspection.parameter_count import size_of
from dcsvm.persistence.model_file import load
from dcsvm.persistence.model_file_format import open_archive
from dcsvm.toolbox.unwrap import find_classifier, find_preparation


def summarize_model(path: Path) -> dict[str, Any]:
    """Look into a model file; parts are counted by depth of nesting and kind of model."""
    loaded = load(path)
    model: DivideAndConquerClassifier = find_classifier(loaded)
    prepare = find_preparation(loaded)
    data = {} if prepare is None else {"data": prepare.get_params()}
    data.get("data", {}).pop("schema", None)
    with open_archive(str(path), None) as archive:
        manifest = archive.manifest
    size = size_of(model)
    kinds: dict[tuple[int, str], list[tuple[int, int]]] = {}
    _collect_parts(model.model_, 0, kinds)
    routers = sum(group.router is not None for group in model.model_.committee.groups)
    return {
        "file": str(path),
        "dcsvm": manifest["dcsvm_version"],
        "scikit-learn": manifest["sklearn_version"],
        "plugins": manifest["plugins"],
        "strategy": to_toml({**data, **serialize_classifier(model)}).splitlines(),
        "decision": describe_decision(model),
        "classes": [str(label) for label in model.classes_.tolist()],
        "features": int(loaded.n_features_in_),
        "groups": len(model.model_.committee.groups),
        "routers": routers,
        "parts": [
            {
                "depth": depth,
                "kind": kind,
                "parts": len(members),
                "rows": sum(rows for rows, _ in members),
                "smallest": min(rows for rows, _ in members),
                "largest": max(rows for rows, _ in members),
                "support vectors": sum(kept for _, kept in members),
            }
            for (depth, kind), members in sorted(kinds.items())
        ],
        "size": {
            "bytes": path.stat().st_size,
            "different support vectors": _number_or_none(size.support_vectors),
            "parameters": _number_or_none(size.parameters),
            "kernel evaluations if all were asked": _number_or_none(
                _count_evaluations(model.model_)
            ),
        },
    }


def _collect_parts(
    model: FittedStrategy, depth: int, kinds: dict[tuple[int, str], list[tuple[int, int]]]
) -> None:
    for member in model.committee.members:
        title = (
            "strategy" if isinstance(member.model, FittedStrategy) else type(member.model).__name__
        )
        kinds.setdefault((depth, title), []).append((member.n_rows, len(member.support)))
        if isinstance(member.model, FittedStrategy):
            _collect_parts(member.model, depth + 1, kinds)


def _count_evaluations(model: FittedStrategy) -> float:
    return float(
        sum(
            _count_evaluations(member.model)
            if isinstance(member.model, FittedStrategy)
            else np.max(member.model.cost.kernel_evaluations)
            for member in model.committee.members
        )
    )


def _number_or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
