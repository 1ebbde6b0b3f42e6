"""The plugin door: isolation, provenance, collisions, and every sentence it says."""

import importlib.metadata
import sys
import types

import fakes
import pytest

import dcsvm
from dcsvm.base.component import component, setting
from dcsvm.base.decomposer import Decomposer, Repeat, Sum
from dcsvm.base.errors import PluginError, SettingError, UnknownNameError
from dcsvm.drive.hookspecs import hookimpl
from dcsvm.drive.registry import Offer, Registry


def module_with(name, **hooks):
    """A plugin module whose hooks return the given things."""
    module = types.ModuleType(name)
    for hook, result in hooks.items():
        setattr(module, hook, hookimpl(_returning(result)))
    return module


def _returning(result):
    return lambda: result() if isinstance(result, types.FunctionType) else result


def point(name, module, monkeypatch):
    """A fake entry point that loads a module which exists in memory only."""
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return importlib.metadata.EntryPoint(f"{name}_entry", module.__name__, "dcsvm")


def broken(reason):
    def fail():
        raise reason

    return fail


def test_what_a_plugin_offers_is_known_with_where_it_comes_from():
    registry = Registry(())
    registry.add_module(module_with("strips", dcsvm_decomposers=[fakes.Strips]), "cuts", "2.1")
    assert registry.of_kind("decomposer") == [
        Offer("decomposer", "strips", fakes.Strips, "cuts", "2.1")
    ]
    assert registry.get("decomposer", "strips") is fakes.Strips
    assert registry.of_kind("decomposer")[0].summary == (
        "Equal strips along one feature, with a router."
    )


def test_a_recipe_is_summed_up_by_what_it_says_about_itself():
    registry = Registry(())
    recipes = {"good": 'about = "a sentence"', "bad": "not toml", "mute": ""}
    registry.add_module(module_with("texts", dcsvm_recipes=recipes), "texts")
    assert [offer.summary for offer in registry.of_kind("recipe")] == ["", "a sentence", ""]


@pytest.mark.parametrize("error", [ImportError("no numpy"), SystemExit("bye")])
def test_a_broken_plugin_is_told_and_the_others_are_loaded(monkeypatch, error):
    sad = module_with("sad", dcsvm_decomposers=broken(error))
    good = module_with("good", dcsvm_decomposers=[fakes.Strips])
    registry = Registry([point("sad", sad, monkeypatch), point("good", good, monkeypatch)])
    assert registry.names("decomposer") == ["strips"]
    (report,) = registry.broken
    assert report.plugin == "sad_entry"
    assert report.distribution == "an unknown distribution"
    assert report.reason == f"{type(error).__name__}: {error}"


def test_a_plugin_that_fails_half_way_offers_nothing(monkeypatch):
    half = module_with("half", dcsvm_decomposers=[fakes.Strips], dcsvm_learners=[fakes.Strips])
    registry = Registry([point("half", half, monkeypatch)])
    assert registry.offers == {}
    assert registry.broken[0].reason == (
        "ContractError: an unknown distribution offers <class 'fakes.Strips'> as a learner, "
        "which is not one"
    )


def test_a_hook_with_a_wrong_name_is_an_error_of_that_plugin_only(monkeypatch):
    typo = module_with("typo", dcsvm_decomposer=[fakes.Strips])
    good = module_with("good", dcsvm_decomposers=[fakes.Strips])
    registry = Registry([point("typo", typo, monkeypatch), point("good", good, monkeypatch)])
    assert registry.names("decomposer") == ["strips"]
    assert registry.broken[0].reason.startswith(
        "ContractError: no hook is called 'dcsvm_decomposer'; did you mean 'dcsvm_decomposers'?"
    )


def test_components_that_break_the_contract_are_refused_in_words():
    class Bare(Decomposer):
        name = "bare"

    @component
    class Nameless(fakes.Strips):
        name = ""

    @component
    class Unfinished(Decomposer):
        name = "unfinished"

    for cls, sentence in {
        Bare: "Bare of cuts is not decorated with @component",
        Nameless: "Nameless of cuts has no name",
        Unfinished: "Unfinished of cuts does not define divide",
    }.items():
        with pytest.raises(TypeError) as caught:
            Registry(()).add_module(module_with("cuts", dcsvm_decomposers=[cls]), "cuts")
        assert str(caught.value) == sentence


def test_two_plugins_with_one_name_are_both_named(monkeypatch):
    @component
    class Strips(fakes.Strips):
        name = "strips"

    registry = Registry(())
    registry.add_module(module_with("first", dcsvm_decomposers=[fakes.Strips]), "one")
    with pytest.raises(PluginError) as caught:
        registry.add_module(module_with("second", dcsvm_decomposers=[Strips]), "two")
    assert str(caught.value) == (
        "two plugins offer a decomposer called 'strips': one and two; "
        "uninstall one, or name those to load in DCSVM_LOAD_PLUGINS"
    )
    assert registry.get("decomposer", "strips") is fakes.Strips
    with pytest.raises(PluginError) as caught:
        Registry(()).add_module(
            module_with("both", dcsvm_decomposers=[fakes.Strips, Strips]), "cuts"
        )
    assert str(caught.value) == "cuts offers two different decomposers called 'strips'; rename one"


def test_one_module_behind_two_entry_points_is_one_plugin(monkeypatch):
    module = module_with("strips", dcsvm_decomposers=[fakes.Strips])
    registry = Registry([point("a", module, monkeypatch), point("b", module, monkeypatch)])
    assert registry.names("decomposer") == ["strips"]
    assert registry.broken == []


def test_an_unknown_name_suggests_the_nearest():
    registry = Registry(())
    registry.add_module(module_with("strips", dcsvm_decomposers=[fakes.Strips]), "cuts")
    with pytest.raises(UnknownNameError) as caught:
        registry.get("decomposer", "strip")
    assert str(caught.value) == (
        "no decomposer is called 'strip'; did you mean 'strips'? available: strips"
    )


def test_with_nothing_installed_a_missing_name_is_a_missing_plugin():
    with pytest.raises(PluginError) as caught:
        Registry(()).get("learner", "kernel_svm")
    assert str(caught.value) == "no learner is called 'kernel_svm'; available: none"


def test_build_refuses_unknown_missing_and_wrong_settings():
    @component
    class Picky(fakes.Strips):
        name = "picky"
        size: int = setting(3, at_least=1)

    registry = Registry(())
    registry.add_module(module_with("picky", dcsvm_decomposers=[Picky, Repeat]), "cuts")
    for name, settings, sentence in [
        ("picky", {"sise": 1}, "picky has no setting 'sise'; did you mean 'size'? available: "),
        ("picky", {"size": "x"}, "picky: size must be a whole number of at least 1, got 'x'"),
        ("picky", {"size": True}, "picky: size must be a whole number of at least 1, got True"),
        ("picky", {"size": 0}, "picky: size must be a whole number of at least 1, got 0"),
        ("repeat", {}, "repeat needs the setting 'decomposer'"),
    ]:
        with pytest.raises(SettingError) as caught:
            registry.build("decomposer", name, **settings)
        assert str(caught.value).startswith(sentence)


def test_names_are_resolved_at_any_depth_and_components_are_left_alone():
    registry = Registry(())
    registry.add_module(module_with("cuts", dcsvm_decomposers=[fakes.Strips, Repeat]), "cuts")
    given = Repeat("strips", 2)
    resolved = registry.resolve("decomposer", given)
    assert type(resolved.decomposer) is fakes.Strips
    assert given.decomposer == "strips"
    assert registry.resolve("decomposer", resolved) is resolved
    with pytest.raises(SettingError) as caught:
        registry.resolve("decomposer", 3)
    assert str(caught.value) == "decomposer must be a Decomposer or the name of one, got 3"


def test_what_cannot_be_resolved_is_told_with_its_component_and_setting():
    registry = Registry(())
    for given, sentence in [
        (Repeat(4, 2), "repeat: decomposer must be a Decomposer or the name of one, got 4"),
        (
            Sum((fakes.Strips(), 3)),
            "sum: summands 1 must be a Decomposer or the name of one, got 3",
        ),
    ]:
        with pytest.raises(SettingError) as caught:
            registry.resolve("decomposer", given)
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("decomposers", "tree", 'got \'decomposers\'; did you mean build("decomposer", "tree")?'),
        ("tree", "decomposer", 'got \'tree\'; it comes first: build("decomposer", "tree")'),
        ("router", "tree", "got 'router'"),
    ],
)
def test_a_kind_that_there_is_not_is_refused_with_those_there_are(kind, name, sentence):
    with pytest.raises(UnknownNameError) as caught:
        Registry(()).build(kind, name)
    assert str(caught.value) == (
        f"build: the kind must be decomposer, learner or combiner, {sentence}"
    )


FILE = """
from dcsvm import hookimpl

@hookimpl
def dcsvm_recipes():
    return {"NAME": ""}
"""


def test_two_files_of_one_name_in_two_folders_are_two_plugins(tmp_path):
    registry = Registry(())
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(FILE.replace("NAME", folder))
        registry.add_file(tmp_path / folder / "mine.py")
    assert registry.names("recipe") == ["a", "b"]


def test_a_file_that_is_not_python(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(PluginError) as caught:
        Registry(()).add_file(tmp_path / "mine.txt")
    assert str(caught.value) == f"plugin file '{tmp_path / 'mine.txt'}' is not a Python file"


def test_a_file_that_failed_may_be_mended_and_loaded(tmp_path):
    registry = Registry(())
    path = tmp_path / "mine.py"
    path.write_text("1 / 0")
    with pytest.raises(PluginError) as caught:
        registry.add_file(path)
    assert str(caught.value) == (
        f"plugin file '{path}' cannot be loaded: ZeroDivisionError: division by zero"
    )
    path.write_text(FILE)
    registry.add_file(path)
    assert registry.names("recipe") == ["NAME"]


def test_only_the_name_of_a_class_is_looked_for_among_components(monkeypatch):
    asked = []
    monkeypatch.setattr("dcsvm.drive.registry.refuse_class", asked.append)
    for name in ("nothing", "Nothing", "__wrapped__"):
        with pytest.raises(AttributeError) as refusal:
            getattr(dcsvm, name)
        assert str(refusal.value) == f"module 'dcsvm' has no attribute '{name}'"
    assert asked == ["Nothing"]
