"""The model file that a path names: itself, or the one in the folder of a run."""

from pathlib import Path

from dcsvm.base.errors import ModelFileError, UsageError
from dcsvm.experiments.run.run_status import STATUS, find_status
from dcsvm.persistence.model_file import MODEL


def find_model_file(path: Path) -> Path:
    """The model file itself, or the one in a run's folder; a UsageError where a run has none."""
    if not path.exists():
        raise ModelFileError(f"{str(path)!r} does not exist: name a model file or a run's folder")
    if not path.is_dir() or (path / MODEL).is_file():
        return path / MODEL if path.is_dir() else path
    found = find_status(path)
    if found.state == "partial":
        raise UsageError(f"the run in {str(path)!r} kept no model; its {STATUS} says why")
    raise UsageError(found.sentence)
