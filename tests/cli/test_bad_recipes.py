"""Bad recipes: one clear sentence for each mistake, with file, line and exit code."""

import textwrap

import pytest
from sklearn.utils import all_estimators

from dcsvm.base.component import settings_of
from dcsvm.base.decomposer import Decomposer
from dcsvm.base.errors import did_you_mean
from dcsvm.datasets.file_formats import READERS
from dcsvm.drive.registry import default_registry

DATA = '[data]\nuse = "iris"\n'
LEARNERS = "[{ use = 'kernel_svm', gamma = 0.1 }, 'krr']"


def pipeline(decomposer='"whole"', learner='"kernel_svm"', combiner='"route"'):
    return f"decomposer = {decomposer}\nlearner = {learner}\ncombiner = {combiner}\n" + DATA


CASES = {
    "an unknown component, with the nearest name": (
        pipeline(decomposer='"tre"'),
        "recipe.toml:1: no decomposer is called 'tre'; did you mean 'tree'? "
        "available: <decomposers>",
    ),
    "an unknown component that is near to nothing": (
        pipeline(combiner='{ use = "xyz" }'),
        "recipe.toml:3: no combiner is called 'xyz'; available: <combiners> "
        "(--plugin FILE.py loads a file that offers more)",
    ),
    "an unknown setting": (
        pipeline(decomposer='{ use = "tree", cieling = 10 }'),
        "recipe.toml:1: tree has no setting 'cieling'; did you mean 'ceiling'? "
        "available: <settings of tree>",
    ),
    "a setting of the wrong type": (
        pipeline(decomposer='{ use = "tree", ceiling = "many" }'),
        "recipe.toml:1: tree: ceiling must be a whole number of at least 1, got 'many'",
    ),
    "a setting out of range": (
        pipeline(learner='{ use = "kernel_svm", C = -1.0 }'),
        "recipe.toml:2: kernel_svm: C must be a number above 0, got -1.0",
    ),
    "a setting that is none of the allowed words": (
        pipeline(decomposer='{ use = "tree", criterion = "luck" }'),
        "recipe.toml:1: tree: criterion must be 'entropy' or 'gini', got 'luck'",
    ),
    "several components where one is meant": (
        pipeline(decomposer='{ use = "repeat", decomposer = ["chunks"] }', combiner='"mean"'),
        "recipe.toml:1: repeat: decomposer must be a decomposer or the name of one, "
        "got ['chunks']",
    ),
    "a required setting that is not there": (
        pipeline(decomposer='"repeat"', combiner='"mean"'),
        "recipe.toml:1: repeat needs the setting 'decomposer'",
    ),
    "a decomposer and a learner that do not fit": (
        pipeline(decomposer='"cascade"', learner='"linear_svm"'),
        "recipe.toml:2: learner 'linear_svm' does not fit decomposer 'cascade', which needs "
        "support vectors: its models have none; learners that "
        "fit: kernel_svm, krr, lasvm, rbf_network, spsvm",
    ),
    "settings of a decomposer that do not fit": (
        pipeline(decomposer='{ use = "dc_svm", depth = 2, early = 5 }'),
        "recipe.toml:1: dc_svm: early must be at most depth, the finest level (2), got 5",
    ),
    "a decomposer and a combiner that do not fit": (
        pipeline(decomposer='"chunks"'),
        "recipe.toml:3: combiner 'route' does not fit decomposer 'chunks', which yields subsets: "
        "it works with one part, regions; combiners that fit: <combiners of subsets>",
    ),
    "a recipe that is not TOML": (
        "[data\nuse = 1",
        "recipe.toml:1:6: not TOML: expected ']' at the end of a table declaration",
    ),
    "a recipe that ends too early": (
        '[data]\nuse = ["iris"',
        "recipe.toml:2: not TOML: unclosed array",
    ),
    "an unknown key": (
        'abuot = "x"\n' + pipeline(),
        "recipe.toml:1: a recipe has no key 'abuot'; did you mean 'about'? available: "
        "about, auto, class_weight, combiner, compare, costs, data, decomposer, extends, "
        "learner, measure, name, probability, search, split, suits, threshold",
    ),
    "a misspelt key of a table, at the top": (
        "seeed = 1\n" + pipeline(),
        "recipe.toml:1: a recipe has no key 'seeed'; did you mean 'split.seed'?",
    ),
    "a misspelt setting, at the top": (
        "gama = 1\n" + pipeline(),
        "recipe.toml:1: a recipe has no key 'gama'; did you mean 'learner.gamma'?",
    ),
    "an unknown key of a table": (
        pipeline() + 'scael = "minmax"\n',
        "recipe.toml:6: [data] has no key 'scael'; did you mean 'scale'? "
        "available: categorical, dates, day_first, decimal, drop, encode, encoding, header, "
        "min_frequency, missing, missing_target, missing_values, numeric, path, rows, scale, "
        "target, use",
    ),
    "a value that a table does not allow": (
        pipeline() + "[split]\ntest = 1.5\n",
        "recipe.toml:7: [split]: test must be a number of at least 0 and below 1 or none, got 1.5",
    ),
    "a table that is none": (
        "split = 3\n" + pipeline(),
        "recipe.toml:1: split must be a table, got 3",
    ),
    "a text that is none": (
        "name = 3\n" + pipeline(),
        "recipe.toml:1: name must be a text, got 3",
    ),
    "no data": (
        'decomposer = "whole"\nlearner = "krr"\ncombiner = "route"\n',
        "recipe.toml: [data] is missing: [data] needs one of the keys 'path' and 'use'",
    ),
    "two sources of data": (
        pipeline() + 'path = "a.csv"\n',
        "recipe.toml:4: [data] needs one of the keys 'path' and 'use'",
    ),
    "an unknown embedded set": (
        pipeline().replace("iris", "irsi"),
        "recipe.toml:5: no embedded data set is called 'irsi'; did you mean 'iris'? "
        "available: breast_cancer, checkerboard, digits, iris, ringnorm, shops, two_moons, "
        "wine",
    ),
    "rows of a set that is not generated": (
        pipeline() + "rows = 100\n",
        "recipe.toml:6: [data]: rows can be asked of a generated set only, not of 'iris'",
    ),
    "rows of a file": (
        pipeline().replace('use = "iris"', 'path = "a.npz"\nrows = 100'),
        "recipe.toml:6: [data]: rows can be asked of a generated set only, not of a file",
    ),
    "a file with an ending that no reader knows": (
        pipeline().replace('use = "iris"', 'path = "a.docx"'),
        "recipe.toml:5: [data]: no reader knows the ending '.docx'; available: <endings>",
    ),
    "a CSV file without a target": (
        pipeline().replace('use = "iris"', 'path = "a.csv"'),
        "recipe.toml:5: [data] needs the key 'target', or the command line --target: the column "
        "that holds the classes",
    ),
    "no learner": (
        'decomposer = "whole"\ncombiner = "route"\n' + DATA,
        "recipe.toml: [learner] is missing: name a learner",
    ),
    "a component without a name": (
        pipeline(learner="{ C = 1.0 }"),
        "recipe.toml:2: [learner] needs the key 'use': the name of a learner",
    ),
    "a component that is a number": (
        pipeline(learner="3"),
        "recipe.toml:2: a learner is a name, or a table with the key 'use', not 3",
    ),
    "a nested pipeline without a combiner": (
        pipeline(learner='{ decomposer = "whole", learner = "krr" }'),
        "recipe.toml:2: [learner.combiner] is missing: name a combiner",
    ),
    "a mistake deep inside": (
        pipeline(
            decomposer='{ use = "repeat", decomposer = { use = "bootstrap", siz = 1 } }',
            combiner='"mean"',
        ),
        "recipe.toml:1: bootstrap has no setting 'siz'; did you mean 'size'? "
        "available: samples, size",
    ),
    "a mistake in a list of components": (
        pipeline(
            decomposer='{ use = "sum", summands = ["chunks", { use = "chunks", parts = 0 }] }',
            combiner='"mean"',
        ),
        "recipe.toml:1: chunks: parts must be a whole number of at least 1, got 0",
    ),
    "a comparison that is no table": (
        "compare = 3\n" + pipeline(),
        "recipe.toml:1: compare must hold tables, one per rival",
    ),
    "a rival that is no table": (
        pipeline() + "[compare]\nrival = 3\n",
        "recipe.toml:7: [compare.rival] must be a table, got 3",
    ),
    "a rival that does not fit": (
        pipeline() + '[compare.rival]\ndecomposer = "chunks"\n',
        "recipe.toml:7: combiner 'route' does not fit decomposer 'chunks', which yields subsets: "
        "it works with one part, regions; combiners that fit: <combiners of subsets>",
    ),
    "an unknown key of a rival": (
        pipeline() + '[compare.rival]\ndata = "x"\n',
        "recipe.toml:7: [compare.rival] has no key 'data'; "
        "available: class_weight, combiner, costs, decomposer, learner, probability, search, "
        "threshold",
    ),
    "a test share with folds": (
        pipeline() + '[split]\nuse = "folds"\ntest = 0.2\n',
        "recipe.toml:8: [split]: test has no meaning with use = 'folds'",
    ),
    "folds without saying so": (
        pipeline() + "[split]\nfolds = 3\n",
        "recipe.toml:7: [split]: folds has no meaning with use = 'auto'",
    ),
    "an unknown way to split": (
        pipeline() + '[split]\nuse = "halves"\n',
        "recipe.toml:7: [split]: use must be 'auto' or 'published' or 'random' or 'folds', "
        "got 'halves'",
    ),
    "one fold": (
        pipeline() + '[split]\nuse = "folds"\nfolds = 1\n',
        "recipe.toml:8: [split]: folds must be a whole number of at least 2 or none, got 1",
    ),
    "an unknown way to search": (
        pipeline() + '[search]\nuse = "luck"\nlearner.C = [1, 2]\n',
        "recipe.toml:7: [search]: use must be 'grid' or 'random' or 'granularity' or "
        "'portfolio', got 'luck'",
    ),
    "an unknown key of a search": (
        pipeline() + "[search]\nlerner.C = [1, 2]\n",
        "recipe.toml:7: [search] has no key 'lerner'; did you mean 'learner'? available: "
        "class_weight, combiner, costs, data, decomposer, exclude, factor, folds, learner, "
        "levels, members, min_gain, probability, recipes, rows, score, seconds, threshold, top, "
        "tries, use",
    ),
    "a key of a search without its table": (
        pipeline() + "[search]\nC = [1, 2]\n",
        "recipe.toml:7: [search] has no key 'C'; did you mean 'learner.C'?",
    ),
    "a search for one value": (
        pipeline() + "[search]\nlearner.C = 10\n",
        "recipe.toml:7: [search]: learner.C must be a list of values to try, got 10",
    ),
    "a search for nothing": (
        pipeline() + "[search]\nlearner.C = []\n",
        "recipe.toml:7: [search]: learner.C must be a list of values to try, got []",
    ),
    "a search for a setting that is not there": (
        pipeline() + "[search]\nlearner.c = [1.0]\n",
        "recipe.toml:7: kernel_svm has no setting 'c'; did you mean 'C'? "
        "available: <settings of kernel_svm>",
    ),
    "a search for a value that is not allowed": (
        pipeline() + "[search]\nlearner.C = [\n  1.0,\n  -1.0,\n]\n",
        "recipe.toml:9: kernel_svm: C must be a number above 0, got -1.0",
    ),
    "a search for a key that is none": (
        pipeline() + "[search]\nlearner.learner.C = [1.0]\n",
        "recipe.toml:7: [search]: learner.learner.C is not a key: there is no 'learner'",
    ),
    "a search for other data": (
        pipeline() + '[search]\ndata.use = ["iris", "wine"]\n',
        "recipe.toml:7: [search]: data.use cannot be searched for; "
        "did you mean 'data.scale'? available: data.encode, data.min_frequency, data.missing, "
        "data.missing_target, data.scale",
    ),
    "a search for a scale that is not there": (
        pipeline() + '[search]\ndata.scale = ["minmax", "log"]\n',
        "recipe.toml:7: [data]: scale must be 'minmax' or 'standard' or 'robust' or 'quantile' or "
        "'none', got 'log'",
    ),
    "a time budget of nothing": (
        pipeline() + "[search]\nseconds = 0\nlearner.C = [1]\n",
        "recipe.toml:7: [search]: seconds must be a number above 0 or none, got 0",
    ),
    "a search for settings of a learner that no subspace asks": (
        pipeline(
            decomposer=f"{{ use = 'rd_subspaces', learners = {LEARNERS} }}", combiner="'mean'"
        )
        + "[search]\nlearner.C = [1.0, 2.0]\n",
        "recipe.toml:1: decomposer brings the learners of all its parts, so that learner.C in "
        "[search] changes nothing; search for their settings, or leave it out",
    ),
    "a search for settings of a nested learner that no subspace asks": (
        pipeline(
            learner=f"{{ decomposer = {{ use = 'rd_subspaces', learners = {LEARNERS} }}, "
            "learner = 'kernel_svm', combiner = 'mean' }"
        )
        + "[search]\nlearner.learner.C = [1.0, 2.0]\n",
        "recipe.toml:2: learner.decomposer brings the learners of all its parts, so that "
        "learner.learner.C in [search] changes nothing; search for their settings, or leave it "
        "out",
    ),
    "a granularity search without levels": (
        pipeline(decomposer='"kmeans"') + '[search]\nuse = "granularity"\nlearner.C = [1.0]\n',
        "recipe.toml:7: [search]: decomposer 'kmeans' has no levels to search through; "
        'decomposers that have: <decomposers with levels>; for any other there is use = "grid"',
    ),
    "a granularity search for what is not the learner's": (
        pipeline(decomposer='"tree"')
        + '[search]\nuse = "granularity"\ndecomposer.ceiling = [9]\n',
        "recipe.toml:8: [search]: granularity tries settings of the learner and of [data], not "
        "decomposer.ceiling: levels begin with what [decomposer] says, each search.factor times "
        'coarser; try its other settings with use = "grid", or with one search each',
    ),
    "a score of several labels for each row": (
        pipeline(decomposer='"tree"')
        + '[search]\nuse = "granularity"\nscore = "f1_samples"\nlearner.C = [1.0]\n',
        "recipe.toml:8: [search]: 'f1_samples' scores rows that have several labels each, and a "
        "class is only one",
    ),
    "a granularity search with folds": (
        pipeline(decomposer='"tree"')
        + '[search]\nuse = "granularity"\nfolds = 3\nlearner.C = [1.0]\n',
        "recipe.toml:8: [search]: granularity judges several levels by validation rows: leave out "
        "folds, or set levels to 1",
    ),
    "a search by an unknown score": (
        pipeline() + '[search]\nscore = "f7"\nlearner.C = [1.0]\n',
        "recipe.toml:7: [search]: no score is called 'f7'; "
        "available: accuracy, average_precision, balanced_accuracy, brier, calibration_error, "
        "cohen_kappa, f1_macro, log_loss, mcc, roc_auc",
    ),
    "class weights that are no weights": (
        'class_weight = "even"\n' + pipeline(),
        "recipe.toml:1: class_weight must be 'balanced', 'none' or a table of numbers by class, "
        "got 'even'",
    ),
    "a class weight of nothing": (
        pipeline() + "[class_weight]\nsetosa = 0\n",
        "recipe.toml:6: class_weight: setosa must be a number above 0, got 0",
    ),
    "an empty table of class weights": (
        "class_weight = {}\n" + pipeline(),
        "recipe.toml:1: class_weight is an empty table: name a class, or leave it out",
    ),
    "class weights at the learner": (
        pipeline(learner='{ use = "kernel_svm", class_weight = "balanced" }'),
        "recipe.toml:2: kernel_svm has no setting 'class_weight'; it stands at the top of a "
        'recipe: class_weight = "balanced"',
    ),
    "a search for class weights that are none": (
        pipeline() + '[search]\nclass_weight = ["none", "even"]\n',
        "recipe.toml:7: class_weight must be 'balanced', 'none' or a table of numbers by class, "
        "got 'even'",
    ),
    "an unknown score": (
        pipeline() + '[measure]\nscores = ["f1_marco"]\n',
        "recipe.toml:7: [measure]: no score is called 'f1_marco'; did you mean 'f1_macro'? "
        "available: accuracy, average_precision, balanced_accuracy, brier, calibration_error, "
        "cohen_kappa, f1_macro, log_loss, mcc, roc_auc",
    ),
    "a score of probabilities without any": (
        'name = "plain"\nprobability = "off"\n'
        + pipeline()
        + '[measure]\nscores = ["log_loss"]\n',
        "recipe.toml:9: the score 'log_loss' needs probabilities, and plain has none; "
        'put probability = "auto" at the top of the recipe',
    ),
    "a search by a score of probabilities without any": (
        'probability = "off"\n' + pipeline() + '[search]\nscore = "brier"\nlearner.C = [1.0]\n',
        "recipe.toml:8: the score 'brier' needs probabilities, and recipe has none; "
        'put probability = "auto" at the top of the recipe',
    ),
    "a measure that is no switch": (
        pipeline() + '[measure]\ncost = "yes"\n',
        "recipe.toml:7: [measure]: cost must be true or false, got 'yes'",
    ),
    "a range that is none": (
        "suits = { rows = [10, 5] }\n" + pipeline(),
        "recipe.toml:1: suits: rows must be two numbers, from and to, got [10, 5]",
    ),
    "a place in the portfolio that is none": (
        'auto = "first"\n' + pipeline(),
        "recipe.toml:1: auto must be a number, the place in the portfolio, got 'first'",
    ),
    "a recipe that extends what is not there": (
        'extends = "global_smv"\n',
        "recipe.toml:1: extends: no recipe file or registered recipe is called 'global_smv'; "
        "did you mean 'global_svm'? available: <recipes>",
    ),
    "a recipe that extends itself": (
        '# a circle\nextends = "recipe.toml"\n',
        "recipe.toml:2: circular extends: recipe.toml -> recipe.toml",
    ),
    "a recipe that extends a number": (
        "extends = 3\n",
        "recipe.toml:1: extends must be the name of a recipe, got 3",
    ),
    "a setting of a component that was inherited": (
        'extends = "global_svm"\n[learner]\ngamma = -2\n',
        "recipe.toml:3: kernel_svm: gamma must be 'scale' or 'auto' or a number above 0, got -2",
    ),
    "a decomposer that does not fit what was inherited": (
        'extends = "global_svm"\ndecomposer = "chunks"\n',
        "recipe.toml:2: combiner 'route' does not fit decomposer 'chunks', which yields subsets: "
        "it works with one part, regions; combiners that fit: <combiners of subsets>",
    ),
    "a classifier that scikit-learn does not have": (
        pipeline(learner='{ use = "sklearn", classifier = "RandomForrest" }'),
        "recipe.toml:2: sklearn: there is no classifier called 'RandomForrest'; <classifiers>",
    ),
    "a transformer without a name": (
        pipeline(learner='{ use = "sklearn", transformers = [{ gamma = 1 }] }'),
        "recipe.toml:2: sklearn: the transformer {'gamma': 1} needs the key 'use'",
    ),
    "a search of a rival for a value that is not allowed": (
        pipeline() + '[compare.rival]\nsearch.learner.C = ["many"]\n',
        "recipe.toml:7: kernel_svm: C must be a number above 0, got 'many'",
    ),
}


def filled_in(sentence):
    """The sentence with the names that the registry holds today."""
    registry = default_registry()
    lists = {
        "<decomposers>": registry.names("decomposer"),
        "<decomposers with levels>": [
            offer.name
            for offer in registry.of_kind("decomposer")
            if offer.what.levels is not Decomposer.levels
        ],
        "<settings of tree>": sorted(settings_of(registry.get("decomposer", "tree"))),
        "<settings of kernel_svm>": sorted(settings_of(registry.get("learner", "kernel_svm"))),
        "<combiners>": registry.names("combiner"),
        "<recipes>": registry.names("recipe"),
        "<endings>": list(READERS),
        "<combiners of subsets>": [
            offer.name for offer in registry.of_kind("combiner") if "subsets" in offer.what.accepts
        ],
    }
    for mark, names in lists.items():
        sentence = sentence.replace(mark, ", ".join(names))
    return sentence.replace("<classifiers>", nearest_classifiers())


def nearest_classifiers():
    names = [name for name, _ in all_estimators(type_filter="classifier")]
    return did_you_mean("RandomForrest", names)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "sentence"), CASES.values(), ids=CASES.keys())
def test_a_mistake_is_told_in_one_sentence(dcsvm, recipe, text, sentence):
    result = dcsvm("run", recipe(text))
    assert result.stderr == f"error: {filled_in(sentence)}\n"
    assert result.stdout == ""
    assert result.exit_code == 2


def test_all_mistakes_of_a_file_are_shown_at_once_in_the_order_of_their_lines(dcsvm, recipe):
    text = """\
        abuot = "x"

        [data]
        use = "iriss"

        [decomposer]
        use = "tree"
        ceiling = 0
        splitter = "worst"

        [learner]
        use = "kernel_svn"

        [combiner]
        use = "route"
        weight = 3
    """
    result = dcsvm("run", recipe(textwrap.dedent(text)))
    lines = result.stderr.removeprefix("error: ").splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        f"recipe.toml:{number}" for number in (1, 4, 8, 9, 12, 16)
    ]
    assert lines[-1] == "recipe.toml:16: route has no setting 'weight'; available: none"


def test_a_recipe_that_is_not_there_suggests_a_registered_one(dcsvm):
    result = dcsvm("run", "quickstrat")
    assert result.stderr == (
        "error: no recipe file or registered recipe is called 'quickstrat'; "
        f"did you mean 'quickstart'? available: {filled_in('<recipes>')}\n"
    )
    assert result.exit_code == 2


def test_a_recipe_that_is_a_directory(dcsvm, tmp_path):
    (tmp_path / "folder").mkdir()
    result = dcsvm("run", "folder")
    assert result.stderr == "error: recipe 'folder' is a directory, not a TOML file\n"
    assert result.exit_code == 2


def test_a_recipe_that_is_binary(dcsvm, tmp_path):
    (tmp_path / "recipe.toml").write_bytes(b"\x93NUMPY\xff\xfe")
    result = dcsvm("run", "recipe.toml")
    assert (
        result.stderr == "error: recipe 'recipe.toml' is not text in UTF-8: invalid start byte\n"
    )
    assert result.exit_code == 2


def test_a_recipe_that_is_nested_too_deeply(dcsvm, recipe):
    result = dcsvm("run", recipe("a = " + "[" * 5000 + "]" * 5000))
    assert result.stderr == "error: recipe.toml: not a recipe: it is nested too deeply\n"
    assert result.exit_code == 2


@pytest.mark.parametrize("seconds", ["-5", "0", "abc", "inf"])
def test_a_time_that_is_none_is_told_once_with_what_was_given(dcsvm, seconds):
    result = dcsvm("run", "auto", "--data", "iris", "--seconds", seconds)
    assert f"must be a number above 0, got '{seconds}'" in result.stderr
    assert result.exit_code == 2
    result = dcsvm("run", "auto", "--data", "iris", "--set", f"search.seconds='{seconds}'")
    assert result.stderr.count("error:") == 1
    assert "needs the key 'seconds'" not in result.stderr
