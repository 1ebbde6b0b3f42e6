"""The conformance kit itself: what it takes, how it fails, what it lets pass."""

import re
import subprocess
import sys
import time

import attrs
import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from dcsvm import (
    DataError,
    Decomposer,
    Division,
    Router,
    Routing,
    SettingError,
    component,
    part,
    setting,
    support_of,
)
from dcsvm.drive.registry import Offer, default_registry
from dcsvm.testing import Check, checks_of, easy_problem, expect, for_any, laws_of
from dcsvm.testing.checks import FIRST, BrokenLawError
from dcsvm.testing.problems import describe_problem, problems
from dcsvm.testing.trials import Centroids, MeanScores


@component
class Crossed(Decomposer):
    """Two halves, then the support of both: two stages.

    >>> Crossed()
    Crossed()
    """

    name = "crossed"
    yields = frozenset({"one part"})
    lost: int = setting(0, at_least=0, help="how many rows to lose")
    held: int = setting(0, at_least=0, help="how many rows to hold back")

    def divide(self, problem):
        rows = problem.seed.generator().permutation(problem.n_rows)
        if problem.n_rows < 4 + self.lost + self.held:
            raise DataError("too few rows")
        held, rows = rows[: self.held], rows[self.held :]
        half = len(rows) // 2
        members = yield [part(rows[: half - self.lost]), part(rows[half:])]
        both = support_of(*members)  # empty where each half has one class only
        yield [both if len(both.rows) else part(rows)]
        return Division(held_back=held)


@pytest.fixture(autouse=True)
def _no_shrinking():
    before = settings.get_current_profile_name()
    settings.register_profile("no shrinking", phases=[Phase.explicit, Phase.generate])
    settings.load_profile("no shrinking")
    yield
    settings.load_profile(before)


def failure_of(law, subject):
    check = next(check for check in checks_of(subject) if check.law.__name__ == law)
    with pytest.raises(AssertionError) as failure:
        check()
    return str(failure.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    [
        *checks_of(Crossed),
        *(check for check in checks_of(Crossed(held=2)) if "processes" not in str(check)),
        *checks_of(Centroids()),
        *checks_of(MeanScores()),
    ],
    ids=str,
)
def test_stand_ins_and_a_decomposer_of_two_stages_conform(check):
    if check.law.__name__ != "says_what_it_is_and_shows_an_example" or check.name == "crossed":
        check()


def test_a_class_an_object_and_settings_make_the_same_checks():
    of_class = checks_of(Crossed, lost=1)
    of_object = checks_of(Crossed(lost=1))
    assert [str(check) for check in of_class] == [str(check) for check in of_object]
    assert of_class[0].component.lost == 1
    assert {check.kind for check in of_class} == {"decomposer"}


def test_a_check_has_the_name_of_its_component_and_law():
    names = [str(check) for check in checks_of(Crossed)]
    assert "decomposer-crossed-covers_every_row" in names
    assert len(set(names)) == len(names)


def test_every_law_is_a_sentence():
    for kind in ("decomposer", "learner", "combiner"):
        assert len(laws_of(kind)) > 15
        for law in laws_of(kind):
            assert law.__doc__
            assert "\n" not in law.__doc__
            assert not law.__doc__.endswith(".")


def test_a_failure_says_which_law_which_component_and_what_was_seen():
    assert re.fullmatch(
        r"decomposer crossed breaks a law: every training row is in a part or declared as held "
        r"back, where `covers` is true\. But 1 of \d+ rows are in no part and not held back, the "
        r"first of them row \[\d+\]; a decomposer that samples says covers = False "
        r"\(seen with \d+ rows, .* classes.*\)",
        failure_of("covers_every_row", Crossed(lost=1)),
    )


def test_an_error_of_the_component_becomes_a_failure_that_tells_it():
    class Broken(Crossed):
        def divide(self, problem):
            raise RuntimeError("no way")
            yield

    assert failure_of("divides_an_easy_problem", Broken()) == (
        "decomposer crossed breaks a law: 60 rows of 3 classes are divided, with and without row "
        "weights. But it raised RuntimeError: no way. If "
        "decomposer-crossed-divides_and_answers_at_all fails, too, fix that first"
    )
    assert re.fullmatch(
        r"decomposer crossed breaks a law: any problem is divided, its parts are learned, and new "
        r"rows are answered\. But it raised RuntimeError: no way \(seen with \d+ rows, .*\)\. "
        r"Fix this first: other laws may be broken as a result",
        failure_of("divides_and_answers_at_all", Broken()),
    )


@pytest.mark.parametrize("kind", ["decomposer", "learner", "combiner"])
def test_the_first_law_of_a_kind_uses_the_component_at_all(kind):
    mine = [law for law in laws_of(kind) if law not in laws_of("any")]
    assert mine[0].__name__ == FIRST[kind]


def test_a_component_that_refuses_every_problem_does_not_conform():
    sentence = failure_of("divides_an_easy_problem", Crossed(lost=60))
    assert "But it raised DataError: too few rows. If " in sentence


def test_what_goes_wrong_only_now_and_then_is_told_as_it_was_seen():
    calls = iter(range(1000))

    @for_any(st.integers(0, 3), examples=5)
    def law(component, number):
        """it is always right"""
        expect(next(calls) != 2, "the third call was wrong")

    with pytest.raises(AssertionError) as failure:
        Check("learner", "moody", None, law)()
    assert str(failure.value).startswith(
        "learner moody breaks a law: it is always right. But the third call was wrong (seen with "
    )


def test_expect_raises_only_where_something_does_not_hold():
    expect(True, "nothing to see")
    with pytest.raises(BrokenLawError, match=r"^seen$"):
        expect([], "seen")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ("decomposr", "tree"),
            "no kind of component is called 'decomposr'; did you mean 'decomposer'? "
            "available: combiner, decomposer, learner",
        ),
        (("decomposer",), "checks_of('decomposer', ...) needs the name of a decomposer"),
        (
            (int,),
            "checks_of needs a component, its class, or its kind and name, got <class 'int'>",
        ),
    ],
)
def test_what_is_no_component_is_refused(given, sentence):
    with pytest.raises(SettingError) as refusal:
        checks_of(*given)
    assert str(refusal.value) == sentence


def test_settings_are_not_for_objects():
    with pytest.raises(SettingError) as refusal:
        checks_of(Crossed(), lost=1)
    assert str(refusal.value) == (
        "checks_of takes settings with a name or a class, not with an instance"
    )


def test_an_unknown_setting_is_refused():
    with pytest.raises(SettingError, match="crossed has no setting 'lots'; did you mean 'lost'"):
        checks_of(Crossed, lots=1)


def test_problems_are_small_and_cannot_be_written_to():
    problem = easy_problem(4, rows=20)
    assert np.bincount(problem.y).tolist() == [5, 5, 5, 5]
    with pytest.raises(ValueError, match="read-only"):
        problem.X[0] = 0
    assert describe_problem(attrs.evolve(problem, weights=np.ones(20))) == (
        "20 rows, 3 features, 4 of 4 classes, row weights"
    )


def test_drawn_problems_hold_two_classes_at_least():
    @for_any(problems(), examples=50)
    def law(component, problem):
        """two classes have rows"""
        expect(len(np.unique(problem.y)) >= 2, "one class")
        expect(problem.y.max() < problem.n_classes, "a class too many")

    law(None)


def test_without_hypothesis_the_kit_says_what_to_install():
    script = "import sys; sys.modules['hypothesis'] = None; import dcsvm.testing"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.endswith(
        "ImportError: dcsvm.testing needs hypothesis: pip install 'dcsvm[test]'\n"
    )


def test_a_law_that_does_not_apply_is_skipped_with_the_reason(tmp_path):
    pytest.importorskip("dcsvm_plugins", reason="the component is a built-in one")
    (tmp_path / "test_kit.py").write_text(
        "import pytest\n"
        "from dcsvm.testing import checks_of\n"
        'some = [c for c in checks_of("decomposer", "chunks") if "routes_one" in str(c)]\n'
        '@pytest.mark.parametrize("check", some, ids=str)\n'
        "def test_conforms(check):\n"
        "    check()\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "dcsvm.testing.summary"]
    run = subprocess.run([*command, tmp_path], capture_output=True, text=True, check=True)
    assert "1 skipped" in run.stdout
    assert (
        "a row asked alone is routed as in a batch: its `yields` lacks "
        '"regions", so it has no router'
    ) in run.stdout
    assert re.search(r"decomposer +chunks +0 +0 +1$", run.stdout, re.MULTILINE)


class Unavailable(Centroids):
    """A learner of another distribution that cannot fit.

    >>> Unavailable()
    Unavailable()
    """

    name = "a_broken_one"

    def fit(self, problem):
        raise RuntimeError("the licence has expired")


@pytest.fixture
def broken_learner(monkeypatch):
    """A registry where a broken learner of another distribution comes first."""
    offer = Offer("learner", Unavailable.name, Unavailable, "elsewhere", "1.0")
    registry = default_registry()
    offers = {("learner", Unavailable.name): offer, **registry.offers}
    monkeypatch.setattr(registry, "offers", offers)
    return registry


def test_the_partners_of_a_component_are_built_in_ones(broken_learner):
    pytest.importorskip("dcsvm_plugins", reason="the component is a built-in one")
    assert broken_learner.of_kind("learner")[0].what is Unavailable
    (check,) = [c for c in checks_of("decomposer", "whole") if "model_file" in c.law.__name__]
    check()


def test_a_failure_names_the_component_whose_code_raised():
    class Strict(Crossed):
        def divide(self, problem):
            yield [part(np.arange(problem.n_rows), learner=Unavailable())]

    assert (
        failure_of("divides_an_easy_problem", Strict())
        .partition(". But ")[2]
        .startswith(
            "learner a_broken_one, with which it was tried, raised RuntimeError: the licence has "
            "expired"
        )
    )


@attrs.frozen(eq=False)
class Losing(Router):
    """Routes a batch to one member, and a row alone to no member."""

    def route(self, X):
        rows = np.arange(X.shape[0])[: X.shape[0] - (X.shape[0] == 1)]
        return Routing(rows, np.zeros(len(rows), dtype=np.intp))


def test_a_row_that_is_routed_nowhere_goes_to_no_member():
    @component
    class Lossy(Crossed):
        yields = frozenset({"regions"})

        def divide(self, problem):
            yield [part(np.arange(problem.n_rows))]
            return Losing()

    assert "But row 0 goes to member 0 in a batch and to no member in one row at a time" in (
        failure_of("routes_one_row_as_many", Lossy())
    )


def test_a_write_to_the_problem_is_told_with_the_rule():
    class Writing(Crossed):
        def divide(self, problem):
            problem.X[0] = 0.0
            return super().divide(problem)

    assert re.search(
        r"But it raised ValueError: .*read-only \(arrays of a problem and rows to predict must "
        r"not be written to\)",
        failure_of("divides_an_easy_problem", Writing()),
    )


def test_a_smaller_example_is_searched_for_some_seconds_only(monkeypatch):
    settings.register_profile("shrinking", phases=[Phase.generate, Phase.shrink])
    settings.load_profile("shrinking")
    tried = set()

    @for_any(st.lists(st.integers(0, 2**40), min_size=30), examples=20)
    def slow(component, numbers):
        """it is slow and wrong"""
        tried.add(tuple(numbers))
        time.sleep(0.02)
        expect(sum(numbers) < 2**20, "too large")

    def count_tried(seconds):
        monkeypatch.setattr("dcsvm.testing.checks.SHRINK_SECONDS", seconds)
        tried.clear()
        with pytest.raises(BrokenLawError, match="too large"):
            slow(None)
        return len(tried)

    assert count_tried(0.04) <= 5
    assert count_tried(0.6) > 5
