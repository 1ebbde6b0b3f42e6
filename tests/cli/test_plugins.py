"""`dcsvm plugins`: what is listed and shown, and what is said of plugins that do not work."""

import json
import re
import subprocess
import sys

import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import dcsvm as package
from dcsvm.drive.registry import KINDS, default_registry
from dcsvm.numeric import describe_implementation


def test_every_component_has_one_aligned_line(dcsvm):
    lines = dcsvm("plugins").stdout.splitlines()
    assert lines[0].split() == ["kind", "name", "distribution", "version", "summary"]
    listed = {tuple(line.split()[:4]) for line in lines[1:]}
    expected = {
        (kind, name, "dcsvm", package.__version__) for kind, name in default_registry().offers
    }
    assert listed == expected
    column = lines[0].index("summary")
    assert all(line[column - 1] == " " and line[column] != " " for line in lines[1:])


def test_nothing_is_cut_off_when_piped(dcsvm):
    shown = dcsvm("plugins").stdout
    for offer in default_registry().offers.values():
        assert f"{offer.version}    {offer.summary}\n" in shown


def test_the_list_as_json(dcsvm):
    found = json.loads(dcsvm("plugins", "--json").stdout)
    assert found["broken"] == []
    tree = {"kind": "decomposer", "name": "tree", "distribution": "dcsvm"}
    (listed,) = (each for each in found["offers"] if tree.items() <= each.items())
    assert listed["summary"].startswith("A decision tree")


def test_the_numeric_implementation_is_told(dcsvm):
    numeric = describe_implementation()
    assert dcsvm("plugins").stderr == f"numeric implementation: {numeric}\n"
    assert json.loads(dcsvm("plugins", "--json").stdout)["numeric"] == numeric


def test_show_prints_settings_with_types_defaults_and_what_is_allowed(dcsvm):
    lines = dcsvm("plugins", "show", "chunks").stdout.splitlines()
    assert lines[0] == f"chunks: a decomposer of dcsvm {package.__version__}"
    assert "yields: subsets" in lines
    assert lines[-2].split() == ["setting", "default", "allowed", "help"]
    assert re.split(r" {2,}", lines[-1]) == [
        "parts",
        "10",
        "a whole number of at least 1",
        "number of parts",
    ]


def test_show_prints_what_a_combiner_accepts(dcsvm):
    shown = dcsvm("plugins", "show", "route").stdout
    assert "accepts: one part, regions\n" in shown
    assert shown.endswith("no settings\n")


def test_show_says_where_a_setting_is_required_or_depends(dcsvm):
    shown = dcsvm("plugins", "show", "repeat").stdout
    assert "yields: depends on its settings\n" in shown
    assert re.search(r"decomposer +required +a decomposer or the name of one", shown)


def test_everything_listed_can_be_shown(dcsvm):
    for kind, name in default_registry().offers:
        result = dcsvm("plugins", "show", name, "--kind", kind, "--json")
        (described,) = json.loads(result.stdout)
        assert (described["kind"], described["name"]) == (kind, name)
        assert described["about"]


def test_show_of_a_recipe_prints_its_text_and_nothing_else(dcsvm):
    shown = dcsvm("plugins", "show", "linear_svm", "--kind", "recipe").stdout
    assert shown == default_registry().offers["recipe", "linear_svm"].what


def test_a_name_of_two_kinds_shows_both(dcsvm):
    kinds = [
        each["kind"]
        for each in json.loads(dcsvm("plugins", "show", "linear_svm", "--json").stdout)
    ]
    assert kinds == ["learner", "recipe"]


def test_show_of_an_unknown_name_suggests_the_nearest(dcsvm):
    result = dcsvm("plugins", "show", "tre", "--kind", "decomposer")
    names = ", ".join(default_registry().names("decomposer"))
    assert result.stderr == (
        f"error: no decomposer is called 'tre'; did you mean 'tree'? available: {names}\n"
    )
    assert result.exit_code == 2
    assert dcsvm("plugins", "show", "kernel_svn").stderr.startswith(
        "error: no component or recipe is called 'kernel_svn'; did you mean 'kernel_svm'? "
    )


def test_a_single_file_is_a_plugin_for_every_command(
    dcsvm, recipe, tmp_path, iris_pipeline, plugin_text
):
    (tmp_path / "mine.py").write_text(plugin_text.replace("NAME", "halves"))
    listed = dcsvm("plugins", "--plugin", "mine.py").stdout
    assert re.search(r"decomposer +halves +mine\.py +Two random halves\.\n", listed)
    default_registry.cache_clear()
    assert dcsvm("plugins", "show", "halves", "--plugin", "mine.py").exit_code == 0
    default_registry.cache_clear()
    assert dcsvm("plugins", "--plugin", "mine.py", "show", "halves").exit_code == 0
    default_registry.cache_clear()
    text = iris_pipeline.replace("class_pairs", "halves")
    result = dcsvm("run", recipe(text), "--plugin", "mine.py", "--json")
    assert json.loads(result.stdout)["models"][0]["n_parts"] == 2


def test_the_same_file_twice_is_one_plugin(dcsvm, tmp_path, plugin_text):
    (tmp_path / "mine.py").write_text(plugin_text.replace("NAME", "halves"))
    result = dcsvm("plugins", "--plugin", "mine.py", "--plugin", "./mine.py")
    assert result.exit_code == 0
    assert result.stdout.count("halves ") == 1


def test_a_plugin_file_that_is_not_there(dcsvm):
    result = dcsvm("plugins", "--plugin", "mine.py")
    assert result.stderr == "error: plugin file 'mine.py' does not exist\n"
    assert result.exit_code == 3


def test_a_plugin_file_that_fails_on_import(dcsvm, tmp_path):
    (tmp_path / "mine.py").write_text("import sys\nsys.exit('no')\n")
    result = dcsvm("plugins", "--plugin", "mine.py")
    assert result.stderr == "error: plugin file 'mine.py' cannot be loaded: SystemExit: no\n"
    assert result.exit_code == 3


def test_two_plugins_with_one_name(dcsvm, install, plugin_text):
    install("first_halves", plugin_text.replace("NAME", "halves"))
    install("second_halves", plugin_text.replace("NAME", "halves"))
    result = dcsvm("plugins")
    assert result.stderr == (
        "error: two plugins offer a decomposer called 'halves': first_halves and second_halves; "
        "uninstall one, or name those to load in DCSVM_LOAD_PLUGINS\n"
    )
    assert result.exit_code == 3


def test_a_file_that_claims_a_taken_name(dcsvm, tmp_path, plugin_text):
    (tmp_path / "mine.py").write_text(plugin_text.replace("NAME", "tree"))
    result = dcsvm("plugins", "--plugin", "mine.py")
    assert result.stderr == (
        "error: two plugins offer a decomposer called 'tree': dcsvm and mine.py; "
        "uninstall one, or name those to load in DCSVM_LOAD_PLUGINS\n"
    )
    assert result.exit_code == 3


def test_a_broken_plugin_is_reported_and_skipped(dcsvm, install):
    install("sad", "import a_module_that_is_not_there\n")
    result = dcsvm("plugins")
    assert result.stderr == (
        "warning: plugin 'sad_entry' of sad is broken and was skipped: "
        "ModuleNotFoundError: No module named 'a_module_that_is_not_there'\n"
        f"numeric implementation: {describe_implementation()}\n"
    )
    assert result.exit_code == 0
    assert json.loads(dcsvm("plugins", "--json").stdout)["broken"][0]["distribution"] == "sad"


def test_only_a_recipe_that_needs_the_broken_plugin_fails(dcsvm, install, recipe, iris_pipeline):
    install("sad", "1 / 0\n")
    assert dcsvm("run", recipe(iris_pipeline)).exit_code == 0
    result = dcsvm("run", recipe(iris_pipeline.replace("class_pairs", "halves")))
    names = ", ".join(default_registry().names("decomposer"))
    assert result.stderr == (
        "warning: plugin 'sad_entry' of sad is broken and was skipped: "
        "ZeroDivisionError: division by zero\n"
        f"error: recipe.toml:6: no decomposer is called 'halves'; available: {names} "
        "(plugins that failed to load: sad_entry of sad)\n"
    )
    assert result.exit_code == 3


def test_load_plugins_restricts_what_is_loaded(dcsvm, install, monkeypatch, plugin_text):
    install("halving", plugin_text.replace("NAME", "halves"))
    monkeypatch.setenv("DCSVM_LOAD_PLUGINS", "halving, builtin_combiners")
    kinds = {line.split()[0] for line in dcsvm("plugins").stdout.splitlines()[1:]}
    assert kinds == {"decomposer", "combiner"}
    assert default_registry().names("decomposer") == ["halves"]


def test_load_plugins_refuses_a_name_that_nobody_has(dcsvm, monkeypatch):
    monkeypatch.setenv("DCSVM_LOAD_PLUGINS", "builtin_learner")
    result = dcsvm("plugins")
    assert result.stderr.startswith(
        "error: DCSVM_LOAD_PLUGINS names 'builtin_learner', but no plugin and no distribution of "
        "plugins is called that; did you mean 'builtin_learners'? available: "
    )
    assert result.exit_code == 3


def test_without_any_plugin_the_error_says_that_nothing_is_there(
    dcsvm, monkeypatch, recipe, iris_pipeline
):
    monkeypatch.setenv("DCSVM_LOAD_PLUGINS", "")
    assert dcsvm("plugins").stdout.split() == [
        "kind",
        "name",
        "distribution",
        "version",
        "summary",
    ]
    result = dcsvm("run", recipe(iris_pipeline))
    assert result.stderr.splitlines()[0] == (
        "error: recipe.toml:6: no decomposer is called 'class_pairs'; available: none"
    )
    assert len(result.stderr.splitlines()) == len(KINDS)
    assert result.exit_code == 3


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error():
    listing = subprocess.Popen(
        [sys.executable, "-m", "dcsvm", "plugins"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    listing.stdout.close()
    with listing.stderr:
        assert listing.stderr.read() == b""
    assert listing.wait(timeout=30) == 0


def test_the_file_of_an_installed_plugin_is_not_loaded_again(
    dcsvm, tmp_path, install, plugin_text
):
    install("strips", plugin_text.replace("NAME", "strips"))
    (installed,) = tmp_path.glob("site_strips/*.py")
    (tmp_path / installed.name).write_text(installed.read_text())
    for file in (installed, tmp_path / installed.name):
        result = dcsvm("plugins", "show", "strips", "--plugin", file)
        assert result.exit_code == 0
        assert "a decomposer of strips 1.2" in result.stdout
    (tmp_path / installed.name).write_text(installed.read_text() + "# changed\n")
    result = dcsvm("plugins", "--plugin", tmp_path / installed.name)
    assert "two plugins offer a decomposer called 'strips': strips and" in result.stderr


def test_a_misspelt_hook_is_told_with_what_was_meant(dcsvm, tmp_path, plugin_text):
    (tmp_path / "mine.py").write_text(plugin_text.replace("dcsvm_decomposers", "dcsvm_decomposer"))
    result = dcsvm("plugins", "--plugin", "mine.py")
    assert result.stderr == (
        "error: plugin file 'mine.py' cannot be loaded: ContractError: no hook is called "
        "'dcsvm_decomposer'; did you mean 'dcsvm_decomposers'? available: dcsvm_combiners, "
        "dcsvm_decomposers, dcsvm_learners, dcsvm_recipes, dcsvm_reports\n"
    )
    assert result.exit_code == 3


def test_a_hook_without_its_mark_is_told(dcsvm, tmp_path, plugin_text):
    (tmp_path / "mine.py").write_text(plugin_text.replace("@hookimpl", ""))
    assert "dcsvm_decomposers is not marked with @dcsvm.hookimpl" in (
        dcsvm("plugins", "--plugin", "mine.py").stderr
    )


def test_a_plugin_file_from_python_makes_models_that_can_be_saved(tmp_path, plugin_text):
    (tmp_path / "mine.py").write_text(plugin_text.replace("NAME", "halves"))
    package.load_plugin(tmp_path / "mine.py")
    X, y = load_iris(return_X_y=True)
    halves = package.build("decomposer", "halves")
    model = package.DivideAndConquerClassifier(halves, "kernel_svm", "vote").fit(X, y)
    package.save(model, tmp_path / "model.dcsvm")
    default_registry.cache_clear()
    with pytest.raises(package.DcsvmError, match=r"the decomposer 'halves'.*mine.py offered"):
        package.load(tmp_path / "model.dcsvm")
    package.load_plugin(tmp_path / "mine.py")
    assert (package.load(tmp_path / "model.dcsvm").predict(X) == model.predict(X)).all()


def test_a_classifier_of_scikit_learn_as_a_learner_is_told_how(iris_pipeline):
    X, y = load_iris(return_X_y=True)
    for given in (SVC(), SVC):
        with pytest.raises(package.SettingError) as caught:
            package.DivideAndConquerClassifier("whole", given).fit(X, y)
        assert str(caught.value).endswith(
            "wrap a scikit-learn classifier by its name: "
            'build("learner", "sklearn", classifier="SVC")'
        )


def test_groups_are_named_where_they_are_the_obstacle():
    X, y = load_iris(return_X_y=True)
    forest = 5 * package.build("decomposer", "tree")
    with pytest.raises(package.DcsvmError, match="regions in several groups: it works with"):
        package.DivideAndConquerClassifier(forest, "kernel_svm", "route").fit(X, y)


def test_decomposers_can_be_summed():
    first, second = package.build("decomposer", "tree"), package.build("decomposer", "chunks")
    assert sum([first, second]).summands == (first, second)
    assert sum([first]) is first
    with pytest.raises(TypeError):
        1 + first
