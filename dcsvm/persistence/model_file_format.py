"""The model file format: a zip of uncompressed entries with version and checksums."""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeAlias

import attrs

from dcsvm.numeric.spilled_rows import release_spills
from dcsvm.persistence.atomic_write import explain_full_disk, open_atomically

FORMAT = "dcsvm model"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
CHECKSUM = "manifest.sha256"

#: The bytes of one entry in pieces, so that arrays are written without a copy.
Pieces: TypeAlias = Sequence[bytes | memoryview]


class FormatError(Exception):
    """A flaw of a model file, worded to follow the file name. Never leaves the package."""


class MissingPluginError(FormatError):
    """A model file needs a plugin that is not loaded."""


@attrs.frozen
class ModelArchive:
    """An open model file with a verified manifest that lists all its entries."""

    manifest: dict[str, Any]
    zipped: zipfile.ZipFile

    def read(self, name: str) -> bytes:
        """Read one entry and verify its checksum."""
        listed = self.manifest["entries"].get(name)
        if listed is None:
            raise FormatError(f"is damaged: it has no entry {name!r}")
        content = _read_entry(self.zipped, name)
        if hashlib.sha256(content).hexdigest() != listed["sha256"]:
            raise FormatError(
                f"is damaged or was altered: the checksum of {name!r} does not match"
            )
        return content

    def read_json(self, name: str) -> dict[str, Any]:
        """Read an entry that holds a JSON object."""
        return _parse_json(self.read(name), name)


def write_archive(path: str, manifest: Mapping[str, Any], entries: Mapping[str, Pieces]) -> None:
    """Write a model file atomically. The same content always gives the same bytes."""
    listed = {
        name: {"bytes": sum(map(len, pieces)), "sha256": _hash(pieces)}
        for name, pieces in entries.items()
    }
    head = {"format": FORMAT, "format_version": FORMAT_VERSION, **manifest, "entries": listed}
    text = json.dumps(head, indent=1, allow_nan=False).encode()
    checksum = f"{_hash([text])}  {MANIFEST}\n".encode()
    content = {MANIFEST: [text], CHECKSUM: [checksum], **entries}
    n_bytes = sum(len(piece) for pieces in content.values() for piece in pieces)
    with (
        explain_full_disk(path, n_bytes),
        open_atomically(path) as handle,
        zipfile.ZipFile(handle, "w") as zipped,
    ):
        for name, pieces in content.items():
            _add_entry(zipped, name, pieces)


@contextmanager
def open_archive(path: str, max_bytes: int | None) -> Iterator[ModelArchive]:
    """Open a model file; raise FormatError if it is not a valid one.

    Entries are never compressed, so nothing that is read is larger than the file itself.
    """
    with _open_file(path) as handle:
        size = os.fstat(handle.fileno()).st_size
        if size == 0:
            raise FormatError("is empty")
        if max_bytes is not None and size > max_bytes:
            raise FormatError(f"has {size} bytes, more than max_bytes={max_bytes}")
        with _open_zip(handle) as zipped:
            manifest = _read_manifest(zipped, size)
            _check_entries(zipped, manifest)
            yield ModelArchive(manifest, zipped)


def zip_entries(entries: Mapping[str, bytes]) -> bytes:
    """Return a zip of the entries, written in the same way as a model file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for name, content in entries.items():
            _add_entry(zipped, name, [content])
    return buffer.getvalue()


def check_uncompressed(zipped: zipfile.ZipFile, size: int) -> None:
    """Raise if an entry is compressed, encrypted or duplicated, or if sizes exceed the file."""
    infos = zipped.infolist()
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise FormatError(f"has a compressed entry {info.filename!r}, which is not allowed")
    if sum(info.file_size for info in infos) > size:
        raise FormatError("is damaged: its entries claim to be larger than the file")
    if len({info.filename for info in infos}) < len(infos):
        raise FormatError("is damaged: two entries have the same name")


def _open_file(path: str) -> BinaryIO:
    if os.path.isdir(path):
        raise FormatError("is a folder without a saved model; pass the path of a model file")
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise FormatError("does not exist") from None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}") from error


def _open_zip(handle: BinaryIO) -> zipfile.ZipFile:
    start = handle.read(30 + len(MANIFEST))
    try:
        return zipfile.ZipFile(handle)
    except zipfile.BadZipFile as error:
        if start.startswith(b"PK\x03\x04") and start.endswith(MANIFEST.encode()):
            raise FormatError("is damaged: its end is missing or was altered") from error
        raise FormatError("is not a dcsvm model file") from error


def _read_manifest(zipped: zipfile.ZipFile, size: int) -> dict[str, Any]:
    if MANIFEST not in zipped.namelist():
        raise FormatError("is not a dcsvm model file: it is a zip file without a manifest")
    check_uncompressed(zipped, size)
    text = _read_entry(zipped, MANIFEST)
    manifest = _parse_json(text, MANIFEST)
    if manifest.get("format") != FORMAT:
        raise FormatError("is not a dcsvm model file: its manifest has another format")
    # A newer format may use another checksum, so the version is checked first.
    version = manifest.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise FormatError(
            f"has format version {version} (written by dcsvm {manifest.get('dcsvm_version')}), "
            f"but this dcsvm reads versions up to {FORMAT_VERSION}; install a newer dcsvm"
        )
    if CHECKSUM not in zipped.namelist():
        raise FormatError(f"is damaged: it has no entry {CHECKSUM!r}")
    if not _read_entry(zipped, CHECKSUM).startswith(_hash([text]).encode()):
        raise FormatError("is damaged or was altered: the checksum of its manifest does not match")
    if type(version) is not int or version != FORMAT_VERSION:
        raise FormatError(f"has the unknown format version {version!r}")
    return manifest


def _check_entries(zipped: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    listed = manifest["entries"]
    present = {info.filename: info.file_size for info in zipped.infolist()}
    del present[MANIFEST], present[CHECKSUM]
    for name in sorted(listed.keys() ^ present.keys()):
        if name in listed:
            raise FormatError(f"is damaged: its entry {name!r} is missing")
        raise FormatError(f"is damaged or was altered: its manifest does not list {name!r}")
    for name, size in present.items():
        if listed[name]["bytes"] != size:
            raise FormatError(f"is damaged or was altered: its entry {name!r} has another size")


def _read_entry(zipped: zipfile.ZipFile, name: str) -> bytes:
    try:
        return zipped.read(name)
    except (zipfile.BadZipFile, EOFError) as error:
        raise FormatError(f"is damaged: its entry {name!r} cannot be read") from error


def _parse_json(text: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise FormatError(f"is damaged: its entry {name!r} is not JSON") from error
    if not isinstance(value, dict):
        raise FormatError(f"is damaged: its entry {name!r} is not a JSON object")
    return value


def _add_entry(zipped: zipfile.ZipFile, name: str, pieces: Pieces) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3  # the same bytes on every system
    info.external_attr = 0o644 << 16
    info.file_size = sum(map(len, pieces))
    with zipped.open(info, "w") as entry:
        for piece in pieces:
            entry.write(piece)
    release_spills()


def _hash(pieces: Pieces) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    release_spills()
    return digest.hexdigest()
