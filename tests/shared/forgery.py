"""Edits of model files: arrays and numbers are changed, and checksums are written anew."""

import hashlib
import io
import json
import zipfile

import numpy as np
from scipy import sparse

from dcsvm.persistence.array_codec import ArrayPacker, unpack_arrays
from dcsvm.persistence.model_file_format import zip_entries

#: Entries that `sign` writes anew.
SIGNED = ("manifest.json", "manifest.sha256")
INTEGERS = [-(2**63), -(2**31), -1000, -2, -1, 0, 1, 2, 3, 7, 100, 16385, 2**31 - 1, 10**9, 2**62]
REALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, 1e-320, 1e38, -1e300, 1e308, 3.7]
DTYPES = ["<f4", "<f8", ">f8", "<i4", "<i8", "<u8", "|i1", "|b1", "<c16", "<U3", "|S2"]
WORDS = ["", "rbf", "linear", "precomputed", "float32", "labels", "minmax", "x" * 300, "\0"]


def edit(content, generator):
    """Return the bytes of a model file with one to three edits, and what they were."""
    entries = read_entries(content)
    told = [_edit_once(entries, generator) for _ in range(generator.choice([1, 1, 1, 2, 3]))]
    return sign(entries), "; ".join(told)


def read_entries(content):
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def sign(entries):
    """Put a model file together, with checksums that match its entries."""
    manifest = json.loads(entries["manifest.json"])
    others = {name: each for name, each in entries.items() if name not in SIGNED}
    manifest["entries"] = {
        name: {"bytes": len(each), "sha256": hashlib.sha256(each).hexdigest()}
        for name, each in others.items()
    }
    text = json.dumps(manifest).encode()
    checksum = hashlib.sha256(text).hexdigest().encode() + b"  manifest.json\n"
    return zip_entries({"manifest.json": text, "manifest.sha256": checksum, **others})


def _edit_once(entries, generator):
    estimators = [name for name in entries if name.endswith(".skops")]
    ways = [_edit_arrays] * 5 + [_edit_json] * 4 + [_edit_estimator] * (6 * bool(estimators))
    return generator.choice(np.array(ways, dtype=object))(entries, generator)


def _edit_arrays(entries, generator):
    objects = json.loads(entries["objects.json"])
    try:
        arrays = unpack_arrays(objects["arrays"], entries.__getitem__)
    except Exception:  # an edit before this one
        arrays = []
    if not arrays:
        return "no arrays"
    number = int(generator.integers(len(arrays)))
    arrays[number], told = edit_array(arrays[number], generator, arrays)
    packer = ArrayPacker()
    for array in arrays:
        packer.add(array)
    for name in [name for name in entries if name.startswith("arrays/")]:
        del entries[name]
    entries |= {name: b"".join(pieces) for name, pieces in packer.entries().items()}
    entries["objects.json"] = json.dumps(objects | {"arrays": packer.places}).encode()
    return f"array {number}: {told}"


def edit_array(array, generator, others=()):
    """Return an edited copy of an array, and what was done."""
    ways = [_set_values, _set_values, _rearrange, _reshape, _reshape, _convert]
    way = generator.choice(np.array(ways, dtype=object))
    if len(others) and generator.random() < 0.1:
        number = int(generator.integers(len(others)))
        return others[number], f"replaced by array {number}"
    with np.errstate(all="ignore"):
        return way(array, generator)


def _set_values(array, generator):
    changed = array.copy()
    if changed.dtype.names:
        name = str(generator.choice(changed.dtype.names))
        changed[name], told = _set_values(changed[name].copy(), generator)
        return changed, f"{name} {told}"
    value = _draw_value(array.dtype, generator)
    if not array.size:
        return changed, "empty"
    if generator.random() < 0.2:
        changed[...] = value
        return changed, f"filled with {value!r}"
    places = generator.integers(array.size, size=generator.integers(1, 4))
    changed.reshape(-1)[places] = value
    if changed.flags.c_contiguous is False:
        changed = np.array(array)
        changed.ravel()[places] = value
    return changed, f"{value!r} at {places.tolist()}"


def _draw_value(dtype, generator):
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        value = INTEGERS[generator.integers(len(INTEGERS))] + int(generator.integers(-1, 2))
        return dtype.type(min(max(value, limits.min), limits.max))
    if dtype.kind in "fc":
        return dtype.type(REALS[generator.integers(len(REALS))])
    if dtype.kind == "b":
        return bool(generator.integers(2))
    return dtype.type(WORDS[generator.integers(len(WORDS))].encode()[: dtype.itemsize])


def _rearrange(array, generator):
    way = generator.integers(5)
    if way == 0 and array.ndim:
        return np.ascontiguousarray(array[::-1]), "reversed"
    if way == 1 and array.ndim:
        return generator.permutation(array), "shuffled"
    if way == 2 and array.dtype.kind in "iufb":
        numbers = np.arange(array.size).reshape(array.shape)
        return numbers.astype(array.dtype), "numbered"
    if way == 3 and array.dtype.kind in "iuf":
        return (array * 2 + 1).astype(array.dtype), "doubled"
    return np.roll(array, 1), "rolled"


def _reshape(array, generator):
    if array.ndim == 0:
        return array.reshape(1), "a list of one"
    axis = int(generator.integers(array.ndim))
    length = array.shape[axis]
    way = generator.integers(7)
    if way == 0:
        return np.take(array, range(max(length - 1, 0)), axis), f"shorter by one on axis {axis}"
    if way == 1:
        return np.concatenate([array, array], axis), f"twice on axis {axis}"
    if way == 2:
        return np.take(array, [], axis), f"empty on axis {axis}"
    if way == 3:
        return array.ravel(), "flattened"
    if way == 4:
        return array[None], "with one axis more"
    if way == 5:
        return np.ascontiguousarray(array.T), "transposed"
    if way == 6 and array.ndim == 2:
        return np.asfortranarray(array), "in Fortran order"
    return np.take(array, range(min(length, 1)), axis), f"one on axis {axis}"


def _convert(array, generator):
    dtype = DTYPES[generator.integers(len(DTYPES))]
    if array.dtype.names:
        return array, "unchanged"
    try:
        return array.astype(dtype), f"as {dtype}"
    except (ValueError, TypeError):
        return array, "unchanged"


def _edit_json(entries, generator):
    name = str(generator.choice(["objects.json", "objects.json", "manifest.json"]))
    tree = json.loads(entries[name])
    tree.pop("entries", None)
    places = [place for place in list_places(tree) if place[1] != "format"]
    container, key = places[generator.integers(len(places))]
    before = container[key]
    container[key] = _draw_json(before, places, generator)
    told = f"{name}: {key!r} was {str(before)[:40]}, is {str(container[key])[:40]}"
    entries[name] = json.dumps(tree).encode()
    return told


def list_places(tree):
    """List every (container, key) of a JSON tree."""
    found, waiting = [], [tree]
    while waiting:
        here = waiting.pop()
        items = here.items() if isinstance(here, dict) else enumerate(here)
        for key, value in items:
            found.append((here, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return found


def _draw_json(value, places, generator):
    if generator.random() < 0.25:  # anything else of the file
        container, key = places[generator.integers(len(places))]
        return json.loads(json.dumps(container[key]))
    if isinstance(value, bool) or value is None:
        return [True, False, None, 1][generator.integers(4)]
    if isinstance(value, int):
        near = [value + 1, value - 1, value + 0.5, str(value), 10**30]
        return [*INTEGERS, *near][generator.integers(len(INTEGERS) + 5)]
    if isinstance(value, float):
        number = REALS[generator.integers(len(REALS))]
        return number if np.isfinite(number) else {"float": repr(number)}
    if isinstance(value, str):
        return [*WORDS, value + "x", value[1:]][generator.integers(len(WORDS) + 2)]
    if isinstance(value, dict):
        return {} if generator.random() < 0.5 else {key: value[key] for key in list(value)[1:]}
    if not value:
        return [0]
    way, place = generator.integers(3), generator.integers(len(value))
    if way == 0:
        return value[:place] + value[place + 1 :]
    return [*value, value[place]] if way == 1 else value[::-1]


def _edit_estimator(entries, generator):
    names = [name for name in entries if name.endswith(".skops")]
    name = names[generator.integers(len(names))]
    inner = read_entries(entries[name])
    kinds = [each for each in inner if each != "schema.json"]
    if not kinds or generator.random() < 0.4:
        told = _edit_schema(inner, generator)
    else:
        entry = kinds[generator.integers(len(kinds))]
        inner[entry], told = _edit_stored_array(inner[entry], generator)
        told = f"{entry}: {told}"
    entries[name] = zip_entries(inner)
    return f"{name}: {told}"


def _edit_stored_array(content, generator):
    if content.startswith(b"PK"):
        parts = read_entries(content)
        name = sorted(parts)[generator.integers(len(parts))]
        parts[name], told = _edit_stored_array(parts[name], generator)
        return zip_entries(parts), f"{name}: {told}"
    array, told = edit_array(np.load(io.BytesIO(content), allow_pickle=False), generator)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue(), told


def _edit_schema(inner, generator):
    tree = json.loads(inner["schema.json"])
    places = [
        (container, key)
        for container, key in list_places(tree)
        if not isinstance(container[key], dict | list) and not str(key).startswith("__")
    ]
    if not places:
        return "nothing"
    container, key = places[generator.integers(len(places))]
    before = container[key]
    container[key] = _draw_schema_value(before, generator)
    inner["schema.json"] = json.dumps(tree).encode()
    return f"schema: {key!r} was {str(before)[:40]}, is {str(container[key])[:40]}"


def _draw_schema_value(value, generator):
    # Numbers and texts of skops are JSON in JSON.
    try:
        decoded = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return _draw_json(value, [([value], 0)], generator)
    changed = _draw_json(decoded, [([decoded], 0)], generator)
    return json.dumps(changed) if isinstance(value, str) else changed


def as_matrix(rows, is_sparse):
    """Return rows dense or as CSR."""
    return sparse.csr_array(rows) if is_sparse else rows
