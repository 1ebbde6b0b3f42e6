"""Model files for the tests that damage them: a good one, taken apart and put together again."""

import io
import json
import zipfile

import numpy as np
from fakes import Deal, Strips
from scipy import sparse
from store_fakes import Keeps, fitted

import dcsvm
from dcsvm.persistence import model_file_format


def written(path):
    """The bytes of a good file: two classes, sparse matrices, texts, groups."""
    things = {"matrix": sparse.csr_array(np.eye(3)), "texts": np.array(["a"], dtype=object)}
    model, _ = fitted(Strips(2) + Deal(2), Keeps((things, [1.5, np.int8(1)])), k=2, random_state=0)
    dcsvm.save(model, path)
    return path.read_bytes()


def entries_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def rezipped(entries, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as zipped:
        for name, content in entries.items():
            zipped.writestr(name, content)
    return buffer.getvalue()


def forged(content, path, manifest=None, **changed):
    """The same file with other content and checksums that match it."""
    entries = entries_of(content)
    head = manifest or json.loads(entries["manifest.json"])
    del entries["manifest.json"], entries["manifest.sha256"]
    head.pop("entries", None)
    entries |= changed
    model_file_format.write_archive(
        str(path), head, {name: [value] for name, value in entries.items()}
    )
    return path.read_bytes()


def objects_in(content):
    return json.loads(entries_of(content)["objects.json"])
