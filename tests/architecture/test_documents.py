"""README and docs do what they say: their code runs, their links lead somewhere, nothing lacks."""

import contextlib
import doctest
import functools
import importlib.util
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import SkipTest

import attrs
import pytest
from typer.testing import CliRunner
from warm import write_command

import dcsvm
from dcsvm import Committee, Part
from dcsvm.base.component import settings_of
from dcsvm.cli import app
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.experiments.recipe.json_schema import build_schema
from dcsvm.experiments.run import folder
from dcsvm.experiments.run.measures import Measures
from dcsvm.numeric import Stored
from dcsvm.testing import checks_of

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCS = ROOT / "docs"
FORGE = "https://github.com/dcsvm/dcsvm"
#: The languages of blocks that are run.
RUN = {"python", "pycon", "console"}
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block of a document: its language, the file it is meant to be, its text."""

    line: int
    language: str
    file: str
    text: str


def blocks(document: Path) -> Iterator[Block]:
    fence = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    text = document.read_text()
    for found in fence.finditer(text):
        line = text.count("\n", 0, found.start()) + 2
        yield Block(line, found[1], found[2] or "", found[3])


WITH_CODE = [
    document
    for document in DOCUMENTS
    if any(block.file or block.language in RUN for block in blocks(document))
]


@pytest.fixture(scope="module")
def scripts(warm: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What PATH begins with: a `dcsvm` that need not be imported anew for each command."""
    return f"{write_command(warm, tmp_path_factory.mktemp('warm'))}:{Path(sys.executable).parent}"


@pytest.mark.slow
def test_a_warm_command_is_like_any_other(
    scripts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = "dcsvm run nothing.toml; echo $?; dcsvm --version | tr a-z A-Z"
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    cold = output_of(command)
    monkeypatch.setenv("PATH", f"{scripts}:{os.environ['PATH']}")
    assert output_of(command) == cold
    assert "\n2\nDCSVM " in cold


@pytest.mark.slow
@pytest.mark.parametrize("document", WITH_CODE, ids=lambda path: path.name)
def test_the_code_of_a_document_runs(
    document: Path, tmp_path: Path, scripts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{scripts}:{os.environ['PATH']}")
    ran(document, blocks(document), tmp_path)


def ran(document: Path, some: Iterable[Block], folder: Path) -> dict[str, Any]:
    """Run blocks of a document in a folder; what its Python code has made by then."""
    space: dict[str, Any] = {"__name__": "__document__"}
    for block in some:
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text)
        elif block.language == "python":
            exec(compile(block.text, f"{document.name}:{block.line}", "exec"), space)
        elif block.language == "pycon":
            session(block, document, space)
        elif block.language == "console":
            for command, expected in commands(block.text):
                said = output_of(command)
                assert agrees(said, expected), f"{command}\n{said}"
    return space


@pytest.mark.slow
def test_the_components_of_the_plugins_page_keep_every_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / "plugins.md"
    space = ran(page, [block for block in blocks(page) if block.language == "python"], tmp_path)
    shown = {
        thing.__name__: thing
        for thing in space.values()
        if isinstance(thing, type)
        and issubclass(thing, tuple(KINDS.values()))
        and not thing.__module__.startswith("dcsvm")
    }
    assert set(shown) == {
        "Halves",
        "Sides",
        "DrawnSides",
        "MeasuredSides",
        "Centroids",
        "Loudest",
        "ByAccuracy",
    }
    del shown["Halves"]  # whose test the page itself shows and runs
    for thing in shown.values():
        assert count_held_laws(thing) > 20, thing.__name__


def count_held_laws(thing: type) -> int:
    """Run every law of a component; how many of them apply to it."""
    held = 0
    for check in checks_of(thing):
        with contextlib.suppress(SkipTest):
            check()
            held += 1
    return held


def session(block: Block, document: Path, space: dict[str, Any]) -> None:
    """Run an interpreter's session and compare what it prints."""
    test = doctest.DocTestParser().get_doctest(
        block.text, space, document.name, str(document), block.line
    )
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=LOOSELY)
    runner.run(test, out=said.write, clear_globs=False)
    space.update(test.globs)
    assert not runner.failures, said.getvalue()


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that the document shows."""
    for piece in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = piece.partition("\n")
        yield command, expected


def output_of(command: str) -> str:
    """What a command prints, errors included, but for the progress of slow machines."""
    run = subprocess.run(
        command,
        shell=True,
        env=os.environ | {"COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return re.sub(r"^\d+ s: .*\n", "", run.stdout, flags=re.MULTILINE)


def agrees(said: str, expected: str) -> bool:
    """Whether an output has the shape that is shown; `...` stands for whatever is left out."""
    lines = "".join(f"{line}\n" for line in shape(said))
    return re.fullmatch(_pattern(shape(expected)), lines) is not None


def _pattern(lines: list[str]) -> str:
    """A line of dots stands for any lines, dots inside a line for any words."""
    patterns = [
        r"(.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in lines
    ]
    return "".join(patterns)


def shape(text: str) -> list[str]:
    """Lines with every number made N, spaces and rules made one, and empty lines left out."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"\d{8}-\d{6}-[0-9a-f]+", "N", line)  # the folder of a run
        line = line.replace("one part at a time", "up to 1 parts at a time")
        line = re.sub(r"\d+([-:.,e+T_]\d+)*", "N", line)
        line = re.sub(r"[─━═—-]{3,}", "---", line)
        line = re.sub(r"passed in .*", "passed in N", line)  # minutes, too, where it took some
        lines.append(" ".join(line.split()))
    return [line for line in lines if line]


def test_the_runner_sees_blocks_commands_and_shapes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n```toml file=x.toml\nb = 1\n```\n```console\n$ echo 1\n1\n$ true\n```\n")
    first, second = blocks(page)
    assert first == Block(3, "toml", "x.toml", "b = 1\n")
    assert list(commands(second.text)) == [("echo 1", "1\n"), ("true", "")]
    assert shape("took 0.12 s\n\n   12:30  ----") == ["took N s", "N ---"]
    assert shape("took 0.12 s") != shape("was 0.12 s")
    assert shape("kept in runs/20260102-030405-0af3") == ["kept in runs/N"]


def test_dots_stand_for_what_is_left_out() -> None:
    said = "name  x\ntook 3 s\nthe end\n"
    assert agrees(said, "name x\n...\nthe end\n")
    assert agrees(said, "name ...\ntook 5 s\nthe end\n")
    assert agrees(said, "...\n")
    assert agrees("", "")
    assert not agrees(said, "name x\n...\nan end\n")
    assert not agrees(said, "name y\n...\n")
    assert not agrees(said, "name x\nthe end\n")


def links_of(document: Path) -> list[str]:
    return re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())


def test_the_links_of_the_documents_lead_somewhere() -> None:
    broken = {
        f"{document.relative_to(ROOT)}: {link}"
        for document in DOCUMENTS
        for link in links_of(document)
        if "://" not in link and not (document.parent / link).exists()
    }
    assert not broken


def test_the_links_of_the_readme_work_on_a_package_index() -> None:
    links = links_of(ROOT / "README.md")
    assert len(links) > 10
    assert not [link for link in links if "://" not in link]
    inside = [re.split(rf"^{FORGE}/(?:blob|tree)/main/", link)[-1] for link in links]
    assert not [path for path in inside if "://" in path or not (ROOT / path).exists()]


def test_every_document_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text()
    pages = {str(path.relative_to(DOCS)) for path in DOCUMENTS[1:]} - {"index.md"}
    assert len(pages) > 20
    assert not {page for page in pages if f"({page})" not in index}


def rows_by_section(page: str) -> dict[str, set[str]]:
    """What stands in the first cells of the tables of a page, under each heading."""
    found: dict[str, set[str]] = {}
    heading = ""
    for line in (DOCS / "reference" / page).read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
            found[heading] = set()
        elif line.startswith("| `"):
            found[heading] |= set(re.findall(r"`([^`]+)`", line.split(" | ")[0]))
    return found


def test_the_reference_mentions_every_public_name() -> None:
    sections = rows_by_section("names.md")
    assert len(dcsvm.__all__) > 20
    assert len(sections) > 5
    for heading, mentioned in sections.items():
        module = importlib.import_module(re.findall(r"`(dcsvm[.\w]*)`", heading)[0])
        assert {name.partition("(")[0] for name in mentioned} == set(module.__all__)


def test_the_page_about_results_tells_every_file_column_and_measure() -> None:
    page = (DOCS / "howto" / "results.md").read_text()
    told = set(re.findall(r"`([\w.]+)`", page))
    assert set(re.findall(r"^\| `([\w.]+)` \|", folder.__doc__ or "", re.MULTILINE)) <= told
    assert {field.name for field in attrs.fields(Measures)} - {"model", "more", "by_fold"} <= told
    for header in re.findall(r"^\w+(?:,\w+){4,}", page, re.MULTILINE):
        assert set(header.split(",")) - {"moons", "undivided"} <= told


def test_the_reference_lists_every_component_with_its_settings() -> None:
    sections = rows_by_section("components.md")
    ours = [
        offer
        for offer in default_registry().offers.values()
        if offer.kind in KINDS and offer.distribution == "dcsvm"
    ]
    assert len(ours) > 10
    for offer in ours:
        assert sections[f"{offer.kind} `{offer.name}`"] == set(settings_of(offer.what)), offer.name


def test_the_reference_lists_every_key_of_a_recipe() -> None:
    sections = rows_by_section("recipe_keys.md")
    keys = build_schema(default_registry())["properties"]
    assert sections["The recipe itself"] == set(keys)
    tables = {key for key in keys if "properties" in keys[key]}
    assert tables >= {"data", "split", "search", "measure"}
    for key in tables:
        assert sections[f"`[{key}]`"] == set(keys[key]["properties"]), key
    rival = keys["compare"]["additionalProperties"]["properties"]
    assert sections["`[compare.NAME]`"] == set(rival)


def every_help(*path: str) -> Iterator[tuple[str, str]]:
    """Every command with what its --help prints, as a terminal without width would show it."""
    said = CliRunner(env={"COLUMNS": "1000"}).invoke(app, [*path, "--help"]).stdout
    yield " ".join(["dcsvm", *path]), said
    _, _, listed = said.partition("Commands:\n")
    for line in listed.splitlines():
        yield from every_help(*path, line.split()[0])


def test_the_reference_lists_every_command_with_its_options() -> None:
    sections = rows_by_section("commands.md")
    found = dict(every_help())
    assert {"dcsvm run", "dcsvm plugins init", "dcsvm recipes copy"} <= set(found)
    of_every_command = {"--help", "--install-completion", "--show-completion"}
    for command, said in found.items():
        options = {
            word
            for line in re.findall(r"^  (-.*?)(?:  |$)", said, re.MULTILINE)
            for word in re.findall(r"--[\w-]+", line)
        } - of_every_command
        argument = r"^  [\[{]?([A-Z][A-Z .]*?)[\]}]?(?: <\S+>)?(?:  |$)"
        arguments = set(re.findall(argument, said, re.MULTILINE))
        assert options | arguments == sections.get(f"`{command}`", set()), command


@pytest.mark.slow
def test_the_reference_is_what_its_generator_writes() -> None:
    run = subprocess.run(
        [sys.executable, str(DOCS / "generate_reference.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@functools.cache
def generator() -> Any:
    """The module that writes the reference."""
    spec = importlib.util.spec_from_file_location("reference", DOCS / "generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("cls", generator().CONTRACT, ids=lambda cls: cls.__name__)
def test_every_method_of_the_contract_says_who_calls_it_and_its_shapes(cls: type) -> None:
    functions = {
        name: generator().function_of(value)
        for name, value in vars(cls).items()
        if not name.startswith("_")
    }
    functions = {name: each for name, each in functions.items() if each is not None}
    assert functions or cls in (Stored, Part)
    lacking = [name for name, function in functions.items() if lacks_caller_or_shape(function)]
    assert not lacking


def test_the_reference_sees_methods_of_every_kind() -> None:
    written = {name.partition("(")[0] for name, _ in generator().own_attributes(Committee)}
    assert {"merge", "support", "code", "ask"} <= written  # of the class, properties, plain


def lacks_caller_or_shape(function: Any) -> bool:
    """Whether a docstring does not say who calls a method, or what shape its rows have."""
    text = function.__doc__ or ""
    rows = {"X", "x"} & inspect.signature(function).parameters.keys()
    shaped = all(re.search(rf"\b{name} \([^)]+\)", text) for name in rows)
    return not (shaped and re.search(r"[Cc]all(s|ed)\b", text))


def test_a_method_without_caller_or_shape_is_found() -> None:
    def silent(self: Any, X: Any) -> None:
        """Score rows X (n, d)."""

    def shapeless(self: Any, X: Any) -> None:
        """Called by the core with rows X."""

    def complete(self: Any, X: Any) -> None:
        """Called by the core with rows X (n, d)."""

    assert [lacks_caller_or_shape(each) for each in (silent, shapeless, complete)] == [1, 1, 0]


@pytest.mark.slow
def test_a_page_that_is_not_fresh_is_named(tmp_path: Path) -> None:
    for name in ("generate_reference.py", "laws_page.py", "reference.md"):
        shutil.copy(DOCS / name, tmp_path)
    shutil.copytree(DOCS / "reference", tmp_path / "reference")
    (tmp_path / "reference" / "names.md").write_text("old")
    generate = [sys.executable, str(tmp_path / "generate_reference.py")]
    run = subprocess.run([*generate, "--check"], capture_output=True, text=True)
    assert run.stderr == (
        "docs/reference/names.md out of date; write anew with: python docs/generate_reference.py\n"
    )


def modules() -> Iterator[tuple[str, str]]:
    """The name and text of every module, but for those that do something when imported."""
    homes = {"dcsvm": ROOT, "dcsvm_plugins": ROOT / "plugins", "dcsvm_report": ROOT / "plugins"}
    for package, home in homes.items():
        for path in sorted((home / package).rglob("*.py")):
            name = ".".join(path.relative_to(home).with_suffix("").parts)
            if not name.endswith(".__main__"):
                yield name.removesuffix(".__init__"), path.read_text()


def test_every_module_can_be_imported() -> None:
    names = [name for name, _ in modules()]
    assert len(names) > 150
    for name in names:
        importlib.import_module(name)


@pytest.mark.parametrize("name", [name for name, text in modules() if ">>> " in text])
def test_the_examples_of_a_module_run(name: str) -> None:
    module = importlib.import_module(name)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        result = doctest.testmod(module, optionflags=LOOSELY)
    assert not result.failed, said.getvalue()


def test_every_built_in_shows_an_example() -> None:
    silent = [
        offer.name
        for offer in default_registry().offers.values()
        if offer.kind in KINDS
        and offer.what.__module__.startswith("dcsvm_plugins.")
        and ">>>" not in (offer.what.__doc__ or "")
    ]
    assert not silent


def test_the_readme_gives_two_commands_of_one_line_each() -> None:
    text = "".join(block.text for block in blocks(ROOT / "README.md") if block.language == "sh")
    assert text.splitlines() == [
        "python3 -m venv .venv && .venv/bin/pip install -q '.[report]' && .venv/bin/dcsvm run",
        "python3 -m venv .venv-test && .venv-test/bin/pip install -q -e '.[test]'"
        " && .venv-test/bin/python -m pytest -n auto --dist worksteal",
    ]


def test_continuous_integration_runs_the_command_of_the_readme_and_every_step(
    tmp_path: Path,
) -> None:
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "run"
    script.write_bytes((ROOT / ".ci" / "run").read_bytes())
    python = tmp_path / "there" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "python $*"\ncase "$*" in *"$FAILS"*) exit 1; esac\n')
    python.chmod(0o755)
    readme = tmp_path / "README.md"
    readme.write_text("python3 -m venv --help > said && there/bin/python -m pytest -n auto\n")
    steps = {
        "tests": "pytest -n auto",
        "lint": "ruff check",
        "format": "ruff format --check",
        "types": "mypy",
        "imports": "lint_imports_command",
        "sanitize": "test_sanitizers.py",
        "docs": "test_site.py",
        "wheel": "test_packaging.py",
    }
    for fails in ("nothing", *steps.values()):
        run = subprocess.run(
            ["bash", script], capture_output=True, text=True, env=os.environ | {"FAILS": fails}
        )
        assert run.returncode == (fails != "nothing")
        said = re.findall(r"^python .*$", run.stdout, re.MULTILINE)
        assert [step for step, words in zip(said, steps.values(), strict=True) if words in step]
        lasted = r"^(\w+) +(passed|failed) in \d+ min \d+ s$"
        assert re.findall(lasted, run.stdout, re.MULTILINE) == [
            (name, "failed" if words == fails else "passed") for name, words in steps.items()
        ]
        assert re.search(r"\ntook \d+ min \d+ s\n$", run.stdout)
    assert "usage: venv" in (tmp_path / "said").read_text()
    readme.write_text(2 * "python3 -m venv x && y -m pytest -q\n")
    run = subprocess.run(["bash", script], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (1, "README.md should give exactly one test command\n")


def test_the_readme_names_every_component_and_recipe() -> None:
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`(\w+)`", text[text.index("| what | names |") :]))
    offers = default_registry().offers.items()
    ours = {name for (_, name), offer in offers if offer.distribution == "dcsvm"}
    assert sorted(ours - named) == []


@pytest.mark.slow
def test_every_decomposer_of_the_reference_says_what_it_yields() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "components.md").read_text()
    sections = text.split("\n### decomposer ")[1:]
    assert len(sections) > 10
    assert not [each.splitlines()[0] for each in sections if "\nYields: " not in each]
