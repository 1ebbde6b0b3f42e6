"""The ctypes declarations say what the C sources say."""

import ctypes
import re
from pathlib import Path

import pytest

from dcsvm.numeric import native, plan_runner, plan_steps

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
    "step": native.StepStructure,
    "plan": native.PlanStructure,
    "routing": native.RoutingStructure,
}
PLAIN = {"int64_t": ctypes.c_int64, "double": ctypes.c_double}
CALLBACKS = {"asker": plan_runner.ASKER, "router_asker": plan_runner.ROUTER_ASKER}
#: Kinds of steps whose name is not that of the enum in lower case.
RENAMED = {"means": "mean", "votes": "vote", "largest": "argmax", "gains": "decode"}
RENAMED |= {"totals": "total", "paths": "path", "products": "product", "couples": "couple"}


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


def test_every_structure_is_compared():
    declared = {
        each
        for each in vars(native).values()
        if isinstance(each, type) and issubclass(each, ctypes.Structure)
    }
    assert declared == set(STRUCTURES.values())


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_structure_has_the_fields_of_its_declaration(name):
    (body,) = re.findall(rf"typedef struct(?: \w+)? \{{([^}}]*)\}}\s*{name};", TEXT)
    fields = []
    for line in filter(str.strip, body.split(";")):
        kind, rest = re.sub(r"\bconst\b", "", line).split(None, 1)
        fields += [field_of(kind, each) for each in rest.split(",")]
    assert fields == [(field, layout(type_)) for field, type_ in STRUCTURES[name]._fields_]


def field_of(kind, declarator):
    """Name and layout of one field, such as `*arrays[9]`."""
    star, field, count = re.fullmatch(r"\s*(\**)\s*(\w+)(?:\[(\d+)\])?\s*", declarator).groups()
    pointer = star or kind in CALLBACKS
    plain = ctypes.c_void_p if pointer else PLAIN.get(kind) or STRUCTURES[kind]
    return field, (plain, int(count or 1))


def layout(type_):
    """The type of the numbers that a ctypes type holds, and how many there are."""
    return (type_._type_, type_._length_) if hasattr(type_, "_length_") else (type_, 1)


def test_the_kinds_of_steps_are_in_the_order_of_the_enum():
    (body,) = re.findall(r"enum\s*\{\s*(COLUMNS\b[^}]*)\}", TEXT)
    names = [RENAMED.get(kind, kind) for kind in plan_steps.KINDS]
    assert [each.strip().lower() for each in body.split(",")] == names


@pytest.mark.parametrize("name", CALLBACKS)
def test_functions_that_ask_python_take_what_their_typedefs_say(name):
    pattern = rf"typedef\s+(\w+)\s+\(\*{name}\)\s*\(([^)]*)\)"
    ((result, arguments),) = re.findall(pattern, TEXT)
    declared = CALLBACKS[name]
    assert declared._restype_ is PLAIN[result]
    expected = []
    for argument in arguments.split(","):
        kind, rest = re.sub(r"\bconst\b", "", argument).split(None, 1)
        if "*" not in rest:
            expected.append(PLAIN[kind])
        else:
            known = STRUCTURES.get(kind)
            expected.append(ctypes.POINTER(known) if known else ctypes.c_void_p)
    assert list(declared._argtypes_) == expected
