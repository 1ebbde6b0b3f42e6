"""Copies of finished parts in a folder that outlives this machine, such as in an object store."""

import time
import uuid
import warnings
from collections.abc import Iterator
from typing import Any

from dcsvm.base.errors import ClusterError, UsageError

#: Seconds between two objects; a run that was cut off lacks the parts of so many seconds.
WRITE_SECONDS = 2.0
ENDING = ".parts"


class CheckpointMirror:
    """A folder of any file system of fsspec, such as s3://bucket/run, to which parts are copied.

    Object stores cannot append, so some finished parts at a time become an object, which never
    changes. A path is that of a folder that several machines see.
    """

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise UsageError(
                "a folder of checkpoints needs fsspec, which is not installed: pip install "
                "'dcsvm[dask]'"
            ) from error
        try:
            self.files, self.folder = url_to_fs(url)
            self.files.makedirs(self.folder, exist_ok=True)
        except Exception as error:  # each file system has errors of its own
            raise UsageError(f"checkpoints cannot be kept in {url!r}: {error}") from error
        self.url = url
        self._waiting: list[bytes] = []
        self._written = time.monotonic()
        self._fails = False

    def read(self) -> Iterator[bytes]:
        """Yield the content of each object."""
        try:
            for name in self._list():
                yield self.files.cat_file(name)
        except Exception as error:
            raise ClusterError(f"checkpoints in {self.url!r} cannot be read: {error}") from error

    def add(self, record: bytes) -> None:
        """Write a record, or keep it until several can be written."""
        self._waiting.append(record)
        if time.monotonic() - self._written > WRITE_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits; warn once if that fails, as the run can go on without."""
        if not self._waiting:
            return
        content = b"".join(self._waiting)
        self._waiting.clear()
        try:
            self.files.pipe_file(f"{self.folder}/{uuid.uuid4().hex}{ENDING}", content)
        except Exception as error:
            if not self._fails:
                self._fails = True
                message = f"finished parts cannot be copied to {self.url!r}: {error}"
                warnings.warn(message, stacklevel=2)
        self._written = time.monotonic()

    def clear(self) -> None:
        """Remove all objects."""
        self._waiting.clear()
        for name in self._list():
            self.files.rm_file(name)

    def _list(self) -> list[Any]:
        return [each for each in sorted(self.files.find(self.folder)) if each.endswith(ENDING)]
