"""The container of a model file: a zip of plain entries with a manifest of their checksums."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, TypeAlias

import attrs

FORMAT = "dcsvm model"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
CHECKSUM = "manifest.sha256"

#: The bytes of one entry, in pieces, so that arrays need not be copied to be written.
Pieces: TypeAlias = Sequence[bytes | memoryview]


class Flaw(Exception):  # noqa: N818 - it never leaves the package
    """What is wrong with a model file: the end of a sentence that begins with the file's name."""


class NeedsPlugin(Flaw):
    """What a model file lacks is a plugin."""


@attrs.frozen
class Archive:
    """An open model file whose manifest was checked and whose entries are those it lists."""

    manifest: dict[str, Any]
    zipped: zipfile.ZipFile

    def read(self, name: str) -> bytes:
        """The bytes of one entry, if they are the ones that were written."""
        listed = self.manifest["entries"].get(name)
        if listed is None:
            raise Flaw(f"is damaged: it has no entry {name!r}")
        content = _bytes_of(self.zipped, name)
        if hashlib.sha256(content).hexdigest() != listed["sha256"]:
            raise Flaw(f"is damaged or was altered: the checksum of {name!r} does not match")
        return content

    def read_json(self, name: str) -> dict[str, Any]:
        """An entry that holds a JSON object."""
        return _json(self.read(name), name)


def write(path: str, manifest: Mapping[str, Any], entries: Mapping[str, Pieces]) -> None:
    """Write a model file: aside first, then under its final name, or not at all.

    The same manifest and entries give the same bytes.
    """
    listed = {
        name: {"bytes": sum(map(len, pieces)), "sha256": _sha256(pieces)}
        for name, pieces in entries.items()
    }
    head = {"format": FORMAT, "format_version": FORMAT_VERSION, **manifest, "entries": listed}
    text = json.dumps(head, indent=1, allow_nan=False).encode()
    stamp = f"{hashlib.sha256(text).hexdigest()}  {MANIFEST}\n".encode()
    with _atomically(path) as handle, zipfile.ZipFile(handle, "w") as zipped:
        for name, pieces in {MANIFEST: [text], CHECKSUM: [stamp], **entries}.items():
            _add(zipped, name, pieces)


@contextmanager
def opened(path: str, max_bytes: int | None) -> Iterator[Archive]:
    """Open a model file; raise Flaw if it is none, or not as it was written.

    Entries are never compressed, so nothing that is read can be larger than the file itself.
    """
    with _handle(path) as handle:
        size = os.fstat(handle.fileno()).st_size
        if size == 0:
            raise Flaw("is empty")
        if max_bytes is not None and size > max_bytes:
            raise Flaw(f"holds {size} bytes, more than the {max_bytes} allowed by max_bytes")
        with _zip(handle) as zipped:
            manifest = _manifest(zipped, size)
            _check_entries(zipped, manifest)
            yield Archive(manifest, zipped)


def zipped_bytes(entries: Mapping[str, bytes]) -> bytes:
    """A zip of its own as bytes, written the same way: what an entry may hold in turn."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for name, content in entries.items():
            _add(zipped, name, [content])
    return buffer.getvalue()


def check_plain(zipped: zipfile.ZipFile, size: int) -> None:
    """Refuse a zip with anything compressed, encrypted, named twice, or said to be larger."""
    infos = zipped.infolist()
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise Flaw(f"holds a compressed entry {info.filename!r}, as no model file does")
    if sum(info.file_size for info in infos) > size:
        raise Flaw("is damaged: its entries claim to be larger than the file")
    if len({info.filename for info in infos}) < len(infos):
        raise Flaw("is damaged: two entries have the same name")


def _handle(path: str) -> BinaryIO:
    if os.path.isdir(path):
        raise Flaw("is a folder, and not one of a run that kept its model: name the file itself")
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise Flaw("does not exist") from None
    except OSError as error:
        raise Flaw(f"cannot be read: {error.strerror}") from error


def _zip(handle: BinaryIO) -> zipfile.ZipFile:
    start = handle.read(30 + len(MANIFEST))
    try:
        return zipfile.ZipFile(handle)
    except zipfile.BadZipFile as error:
        if start.startswith(b"PK\x03\x04") and start.endswith(MANIFEST.encode()):
            raise Flaw("is damaged: its end is missing or was altered") from error
        raise Flaw("is not a dcsvm model file") from error


def _manifest(zipped: zipfile.ZipFile, size: int) -> dict[str, Any]:
    if MANIFEST not in zipped.namelist():
        raise Flaw("is not a dcsvm model file: it is a zip file without a manifest")
    check_plain(zipped, size)
    text = _bytes_of(zipped, MANIFEST)
    manifest = _json(text, MANIFEST)
    if manifest.get("format") != FORMAT:
        raise Flaw("is not a dcsvm model file: its manifest is that of something else")
    # A newer format may check itself in other ways: its version is read before the checksum.
    version = manifest.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise Flaw(
            f"has format version {version} (written by dcsvm {manifest.get('dcsvm_version')}), "
            f"but this dcsvm reads versions up to {FORMAT_VERSION}; install a newer dcsvm"
        )
    if CHECKSUM not in zipped.namelist():
        raise Flaw(f"is damaged: it has no entry {CHECKSUM!r}")
    if not _bytes_of(zipped, CHECKSUM).startswith(hashlib.sha256(text).hexdigest().encode()):
        raise Flaw("is damaged or was altered: the checksum of its manifest does not match")
    if type(version) is not int or version != FORMAT_VERSION:
        raise Flaw(f"has the unknown format version {version!r}")
    return manifest


def _check_entries(zipped: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    listed = manifest["entries"]
    present = {info.filename: info.file_size for info in zipped.infolist()}
    for name in (MANIFEST, CHECKSUM):
        del present[name]
    for name in sorted(listed.keys() ^ present.keys()):
        if name in listed:
            raise Flaw(f"is damaged: its entry {name!r} is missing")
        raise Flaw(f"is damaged or was altered: its manifest does not list its entry {name!r}")
    for name, size in present.items():
        if listed[name]["bytes"] != size:
            raise Flaw(f"is damaged or was altered: its entry {name!r} has another size")


def _bytes_of(zipped: zipfile.ZipFile, name: str) -> bytes:
    try:
        return zipped.read(name)
    except (zipfile.BadZipFile, EOFError) as error:
        raise Flaw(f"is damaged: its entry {name!r} cannot be read") from error


def _json(text: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Flaw(f"is damaged: its entry {name!r} is not JSON") from error
    if not isinstance(value, dict):
        raise Flaw(f"is damaged: its entry {name!r} is not a JSON object")
    return value


@contextmanager
def _atomically(path: str) -> Iterator[BinaryIO]:
    final = os.path.realpath(path)
    folder = os.path.dirname(final)
    aside = os.path.join(folder, f".{secrets.token_hex(8)}.part")
    try:
        with open(aside, "xb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(aside, final)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make the new name itself last; systems that cannot do that to a folder do without."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _add(zipped: zipfile.ZipFile, name: str, pieces: Pieces) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3  # the same bytes on every system
    info.external_attr = 0o644 << 16
    info.file_size = sum(map(len, pieces))
    with zipped.open(info, "w") as entry:
        for piece in pieces:
            entry.write(piece)


def _sha256(pieces: Pieces) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
