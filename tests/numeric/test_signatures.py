"""The ctypes declarations say what the C sources say."""

import ctypes
import re
from pathlib import Path

import pytest

from dcsvm.numeric import native

HERE = Path(native.__file__).parent
STRUCTURES = {
    "gram": native.GramStructure,
    "expansion_f32": native.ExpansionStructure,
    "expansion_f64": native.ExpansionStructure,
    "doubt": native.ErrorBoundStructure,
    "rows": native.RowsStructure,
    "pegasos_settings": native.PegasosStructure,
    "dual_settings": native.DualStructure,
    "growth_settings": native.GrowthStructure,
    "oblique_tree": native.ObliqueStructure,
    "tree_growth": native.TreeGrowthStructure,
}
PLAIN = {"int64_t": ctypes.c_int64, "double": ctypes.c_double}


def c_text() -> str:
    """All sources without comments, with each template written out for float and for double."""
    parts = []
    for path in sorted(HERE.glob("*.[ch]")):
        text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)
        if "OF(" in text and path.suffix == ".h":
            for real, suffix in (("float", "f32"), ("double", "f64")):
                written = re.sub(r"\bOF\((\w+)\)", rf"\1_{suffix}", text)
                parts.append(re.sub(r"\bREAL\b", real, written))
        else:
            parts.append(text)
    return "\n".join(parts)


TEXT = c_text() if list(HERE.glob("*.c")) else ""
pytestmark = pytest.mark.skipif(not TEXT, reason="installed without the C sources")


def exported() -> dict[str, tuple[str, list[str]]]:
    """Result and arguments of every exported function."""
    pattern = r"EXPORT\s+(\w+)\s+dcsvm_(\w+)\s*\(([^)]*)\)\s*\{"
    return {
        name: (result, [] if arguments.strip() == "void" else arguments.split(","))
        for result, name, arguments in re.findall(pattern, TEXT)
    }


def test_every_exported_function_is_declared_and_no_other():
    assert set(exported()) - {"level", "sources"} == set(native.SIGNATURES)


@pytest.mark.parametrize("name", native.SIGNATURES)
def test_a_function_takes_what_its_declaration_says(name):
    result, arguments = exported()[name]
    declared = [native.TYPES[letter] for letter in native.SIGNATURES[name]]
    assert len(arguments) == len(declared)
    for argument, type_ in zip(arguments, declared, strict=True):
        kind = re.sub(r"\b(const|restrict|struct)\b", "", argument).split("*")[0].split()[0]
        if "*" not in argument:
            assert type_ is PLAIN[kind], argument
        elif kind in STRUCTURES:
            assert type_._type_ is STRUCTURES[kind], argument
        else:
            assert type_ is ctypes.c_void_p or type_._type_ is PLAIN[kind], argument
    assert (result == "int64_t") == (name in native.INTEGER_RESULTS), result


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_structure_has_the_fields_of_its_declaration(name):
    (body,) = re.findall(rf"typedef struct(?: \w+)? \{{([^}}]*)\}}\s*{name};", TEXT)
    fields = []
    for line in filter(str.strip, body.split(";")):
        kind, rest = re.sub(r"\bconst\b", "", line).split(None, 1)
        for field in rest.split(","):
            plain = PLAIN.get(kind) or STRUCTURES.get(kind)
            fields.append((field.strip("* \n"), ctypes.c_void_p if "*" in field else plain))
    assert fields == STRUCTURES[name]._fields_
