"""Checkpoints: finished parts on disk, so that an interrupted run can be resumed."""

import hashlib
import io
import json
import os
import struct
import threading
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import attrs

from dcsvm.base.errors import DcsvmError, UsageError
from dcsvm.base.subproblem import FitResult
from dcsvm.drive.registry import Registry, default_registry
from dcsvm.persistence.atomic_write import explain_full_disk
from dcsvm.persistence.checkpoint_mirror import CheckpointMirror
from dcsvm.persistence.decoder import Decoder
from dcsvm.persistence.encoder import OBJECTS, Encoder
from dcsvm.persistence.model_file_format import FormatError, ModelArchive
from dcsvm.persistence.stored_types import Catalogue

try:
    import fcntl
except ImportError:  # Windows: no lock, a run can be resumed twice at the same time
    fcntl = None  # type: ignore[assignment]

MAGIC = b"dcsvmpt1"
#: Record header: magic bytes, length and checksum of the content, key.
HEAD = struct.Struct("<8sQ16s32s")
#: Seconds between two calls of fsync.
SYNC_SECONDS = 2.0


class CheckpointLog:
    """An append-only file of results by key, each with a checksum; an engine's `checkpoints`.

    A killed process loses nothing; a power failure may lose the last SYNC_SECONDS, since fsync
    after every part would take longer than training it. Truncated or damaged records are skipped
    and their parts are trained again. There is one file for all parts, as there may be thousands.
    Only one process can open it.

    The registry lists the types that results may hold; results of other kinds than `kinds` are
    ignored. Results are copied to the mirror, if there is one, and those that it holds are taken
    over.

    Attributes
    ----------
    n_before : int
        Results that the file held when it was opened.
    """

    def __init__(
        self,
        path: Path,
        registry: Registry | None = None,
        kinds: Sequence[type] = (FitResult,),
        mirror: CheckpointMirror | None = None,
    ) -> None:
        self.path, self.mirror = path, mirror
        self.kinds: dict[str, Any] = {kind.__name__: kind for kind in kinds}
        self.catalogue = Catalogue(registry or default_registry())
        self._lock = threading.Lock()
        self._synced = time.monotonic()
        self._refused = False
        self._file = open(path, "a+b")  # noqa: SIM115 - stays open during the run
        _lock_file(self._file, path)
        # Written without a buffer: what found no room must not be written again by `close`.
        self._out = open(path, "ab", buffering=0)  # noqa: SIM115
        self._index = _scan_records(self._file)
        try:
            self._take_over()
        except BaseException:
            self.close()
            raise
        self.n_before = len(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def _take_over(self) -> None:
        """Add the records of the mirror that are missing here."""
        for content in () if self.mirror is None else self.mirror.read():
            for key, (start, size, checksum) in _scan_records(io.BytesIO(content)).items():
                if key not in self._index:
                    at = self._append(content[start - HEAD.size : start + size]) + HEAD.size
                    self._index[key] = (at, size, checksum)

    def get(self, key: str) -> Any:
        """Return the result with this key, or None."""
        place = self._index.get(key)
        if place is None:
            return None
        start, size, checksum = place
        with self._lock:
            self._file.seek(start)
            content = self._file.read(size)
        if _checksum(content) != checksum:
            return None
        try:
            record = _Record(content)
            decoder = Decoder(cast(ModelArchive, record), self.catalogue)
            fields = {name: decoder.decode(each) for name, each in record.fields.items()}
            return self.kinds[record.kind](**fields)
        except Exception:  # a damaged record can raise anything; the part is trained again
            return None

    def put(self, key: str, outcome: Any) -> None:
        """Append a result; warn once if it cannot be stored."""
        if type(outcome) not in self.kinds.values():
            return
        try:
            content = _encode(outcome, self.catalogue)
        except DcsvmError as error:
            if not self._refused:
                self._refused = True
                warnings.warn(f"checkpoints are not written: {error}", stacklevel=2)
            return
        checksum = _checksum(content)
        head = HEAD.pack(MAGIC, len(content), checksum, key.encode())
        with self._lock, explain_full_disk(self.path, len(head) + len(content)):
            start = self._append(head + content) + HEAD.size
            self._index[key] = (start, len(content), checksum)
            if self.mirror is not None:
                self.mirror.add(head + content)
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._out.fileno())
                self._synced = time.monotonic()

    def _append(self, record: bytes) -> int:
        """Write a record at the end, whole or not at all; return where it starts."""
        start, left = os.fstat(self._out.fileno()).st_size, memoryview(record)
        try:
            while left:
                left = left[self._out.write(left) :]
        except OSError:
            self._out.truncate(start)
            raise
        return start

    def clear(self) -> None:
        """Drop all results."""
        with self._lock:
            self._out.truncate(0)
            self._index.clear()
            self.n_before = 0
            if self.mirror is not None:
                self.mirror.clear()

    def close(self) -> None:
        with self._lock:
            self._file.close()
            self._out.close()
            if self.mirror is not None:
                self.mirror.flush()

    def discard(self) -> None:
        """Close and delete the file, and its copies."""
        self.close()
        self.path.unlink(missing_ok=True)
        if self.mirror is not None:
            self.mirror.clear()


def _lock_file(file: Any, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError(f"the run in {str(path.parent)!r} is active in another process") from None


def _scan_records(file: Any) -> dict[str, tuple[int, int, bytes]]:
    """Find the content of each record; truncate the file after the last complete one."""
    file.seek(0, os.SEEK_END)
    end, at = file.tell(), 0
    index: dict[str, tuple[int, int, bytes]] = {}
    while at + HEAD.size <= end:
        file.seek(at)
        magic, size, checksum, key = HEAD.unpack(file.read(HEAD.size))
        if magic != MAGIC or at + HEAD.size + size > end:
            break
        index[key.decode("ascii", "replace")] = (at + HEAD.size, size, checksum)
        at += HEAD.size + size
    if at < end:
        file.truncate(at)
    return index


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _encode(outcome: Any, catalogue: Catalogue) -> bytes:
    encoder = Encoder(catalogue)
    fields = {
        field.name: encoder.encode(getattr(outcome, field.name), ("a part", field.name))
        for field in attrs.fields(type(outcome))
    }
    entries = {name: b"".join(pieces) for name, pieces in encoder.entries().items()}
    sizes = {name: len(content) for name, content in entries.items()}
    about = {"kind": type(outcome).__name__, "fields": fields, "entries": sizes}
    head = json.dumps(about).encode()
    return b"".join([struct.pack("<Q", len(head)), head, *entries.values()])


class _Record:
    """The content of one record, with the interface of a ModelArchive."""

    def __init__(self, content: bytes) -> None:
        (size,) = struct.unpack_from("<Q", content)
        head = json.loads(content[8 : 8 + size])
        self.kind = str(head["kind"])
        self.fields: dict[str, Any] = head["fields"]
        self.manifest: dict[str, Any] = {"plugins": []}
        self._entries: dict[str, bytes] = {}
        at = 8 + size
        for name, length in head["entries"].items():
            self._entries[name] = content[at : at + length]
            at += length

    def read(self, name: str) -> bytes:
        if name not in self._entries:
            raise FormatError(f"is damaged: it has no entry {name!r}")
        return self._entries[name]

    def read_json(self, name: str) -> Any:
        assert name == OBJECTS
        return json.loads(self.read(name))
