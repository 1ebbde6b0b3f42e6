"""Finished parts kept on disk, so that a run that was cut short need not train them again."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import attrs

from dcsvm.base.errors import DcsvmError, UsageError
from dcsvm.drive.registry import Registry, default_registry
from dcsvm.drive.subproblem import FitResult
from dcsvm.persistence.archive import Archive, Flaw
from dcsvm.persistence.decoder import Decoder
from dcsvm.persistence.encoder import OBJECTS, Encoder
from dcsvm.persistence.stored_types import Catalogue

try:
    import fcntl
except ImportError:  # Windows: nobody is kept from resuming a run twice at the same time
    fcntl = None  # type: ignore[assignment]

MAGIC = b"dcsvmpt1"
#: A record's head: the magic word, the length of its content, the content's digest, its key.
HEAD = struct.Struct("<8sQ16s32s")
#: Seconds after which what was written is forced to the disk.
SYNC_SECONDS = 2.0


class CheckpointLog:
    """An append-only file of outcomes by key, each with a checksum; an engine's `checkpoints`.

    A killed process loses nothing that was written: the system keeps it. A machine that loses its
    power may lose the last SYNC_SECONDS, since forcing every part to the disk would take longer
    than training it. A record that is cut off or damaged is left out, and its part is trained
    again. One file instead of one per part: thousands of small parts cost one open, and a folder
    that people look at stays small.

    Parameters
    ----------
    path : path
        Made if it is not there. A second process that opens it is refused.
    registry : Registry, optional
        Whose types outcomes may hold.
    kinds : sequence of attrs classes
        The kinds of outcomes that are kept; any other is left out.
    """

    def __init__(
        self, path: Path, registry: Registry | None = None, kinds: Sequence[type] = (FitResult,)
    ) -> None:
        self.path = path
        self.kinds = {kind.__name__: kind for kind in kinds}
        self.catalogue = Catalogue(registry or default_registry())
        self._lock = threading.Lock()
        self._synced = time.monotonic()
        self._refused = False
        self._file = open(path, "a+b")  # noqa: SIM115 - open for as long as the run
        _claim(self._file, path)
        self._places = _places(self._file)

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> Any:
        """The outcome kept under that key, exactly as it was put; None if there is none."""
        place = self._places.get(key)
        if place is None:
            return None
        start, size, checksum = place
        with self._lock:
            self._file.seek(start)
            content = self._file.read(size)
        if _checksum(content) != checksum:
            return None
        try:
            return _decoded(content, self.catalogue, self.kinds)
        except Exception:  # whatever it is that a damaged file holds: the part is trained again
            return None

    def put(self, key: str, outcome: Any) -> None:
        """Keep an outcome; one that no file can hold is left out, with a warning."""
        if type(outcome) not in self.kinds.values():
            return
        try:
            content = _encoded(outcome, self.catalogue)
        except DcsvmError as error:
            if not self._refused:
                self._refused = True
                warnings.warn(f"finished parts are not kept: {error}", stacklevel=2)
            return
        checksum = _checksum(content)
        head = HEAD.pack(MAGIC, len(content), checksum, key.encode())
        with self._lock:
            self._file.seek(0, os.SEEK_END)
            start = self._file.tell() + HEAD.size
            self._file.write(head + content)
            self._file.flush()
            self._places[key] = (start, len(content), checksum)
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def discard(self) -> None:
        """Remove the file: the run is done."""
        self.close()
        self.path.unlink(missing_ok=True)


def _claim(file: Any, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError(
            f"the run in {str(path.parent)!r} is going on in another process"
        ) from None


def _places(file: Any) -> dict[str, tuple[int, int, bytes]]:
    """Where each record's content is; the file is cut off where its last whole record ends."""
    file.seek(0, os.SEEK_END)
    end, at = file.tell(), 0
    places: dict[str, tuple[int, int, bytes]] = {}
    while at + HEAD.size <= end:
        file.seek(at)
        magic, size, checksum, key = HEAD.unpack(file.read(HEAD.size))
        if magic != MAGIC or at + HEAD.size + size > end:
            break
        places[key.decode("ascii", "replace")] = (at + HEAD.size, size, checksum)
        at += HEAD.size + size
    if at < end:
        file.truncate(at)
    return places


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _encoded(outcome: Any, catalogue: Catalogue) -> bytes:
    encoder = Encoder(catalogue)
    fields = {
        field.name: encoder.value(getattr(outcome, field.name), ("a part", field.name))
        for field in attrs.fields(type(outcome))
    }
    entries = {name: b"".join(pieces) for name, pieces in encoder.entries().items()}
    sizes = {name: len(content) for name, content in entries.items()}
    kind = type(outcome).__name__
    head = json.dumps({"kind": kind, "fields": fields, "entries": sizes}).encode()
    return b"".join([struct.pack("<Q", len(head)), head, *entries.values()])


def _decoded(content: bytes, catalogue: Catalogue, kinds: Mapping[str, Any]) -> Any:
    record = _Record(content)
    decoder = Decoder(cast(Archive, record), catalogue)
    kind = kinds[record.kind]
    return kind(**{name: decoder.value(each) for name, each in record.fields.items()})


class _Record:
    """The content of one record, as the decoder of model files wants to see it."""

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
            raise Flaw(f"is damaged: it has no entry {name!r}")
        return self._entries[name]

    def read_json(self, name: str) -> Any:
        assert name == OBJECTS
        return json.loads(self.read(name))
