"""Laws and checks: a law is a function with a sentence, a check applies it to a component."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, TypeVar
from unittest import SkipTest

import attrs
import numpy as np
from hypothesis import HealthCheck, given, reject, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from dcsvm.base.component import Component, check_names
from dcsvm.base.errors import ContractError, DataError, SettingError, did_you_mean
from dcsvm.drive.registry import KINDS, WORDS, check_words, default_registry
from dcsvm.testing.problems import describe_problem, identify

Law = Callable[[Any], None]
Example = TypeVar("Example")

#: The modules with the components of the kit itself.
KIT = "dcsvm.testing."
#: How long a smaller example is searched for after the first failure.
SHRINK_SECONDS = 10.0
#: The most basic law of each kind; if it is broken, others may be broken as a result.
FIRST = {
    "decomposer": "divides_and_answers_at_all",
    "learner": "scores_every_row_and_class",
    "combiner": "scores_every_row_and_class",
}


class BrokenLawError(AssertionError):
    """What was seen and what was expected, for the message of a failing check."""


class RaisedError(BrokenLawError):
    """An unexpected error of a component."""

    @classmethod
    def of(cls, error: BaseException, tested: Component, example: str = "") -> RaisedError:
        if isinstance(error, ContractError):  # which names the class at fault
            return cls(f"{error}{example}")
        culprit = find_culprit(error)
        where = "it" if culprit in (None, type(tested)) else _describe_class(culprit)
        told = f"{type(error).__name__}: {error}"
        if isinstance(error, ValueError) and "read-only" in str(error):
            told = f"{told} (arrays of a problem and rows to predict must not be written to)"
        return cls(f"{where} raised {told}{example}")


def find_culprit(error: BaseException) -> type | None:
    """The class of the innermost component whose code raised, without stand-ins of the kit."""
    culprit, trace = None, error.__traceback__
    while trace is not None:
        owner = trace.tb_frame.f_locals.get("self")
        if isinstance(owner, Component) and not type(owner).__module__.startswith(KIT):
            culprit = type(owner)
        trace = trace.tb_next
    return culprit


def _describe_class(cls: Any) -> str:
    kind = next((kind for kind, base in KINDS.items() if issubclass(cls, base)), "component")
    return f"{kind} {cls.name or cls.__name__}, with which it was tried,"


@attrs.frozen(eq=False)
class Check:
    """One law for one component: call it to run the check. Its string is its pytest id."""

    kind: str
    name: str
    component: Any
    law: Law
    #: Why the law does not apply to the component; empty if it does.
    skip: str = ""

    @property
    def sentence(self) -> str:
        """The law in words."""
        return (self.law.__doc__ or self.law.__name__).partition("\n")[0].rstrip(".")

    def __str__(self) -> str:
        return f"{self.kind}-{self.name}-{self.law.__name__}"

    def __call__(self) -> None:
        """Run the check; raise an AssertionError with the law, the component and what was seen.

        A check of a law that does not apply raises SkipTest with the reason.
        """
        if self.skip:
            raise SkipTest(f"{self.sentence}: {self.skip}")
        try:
            self.law(self.component)
        except SkipTest:
            raise
        except Flaky as flaky:
            # The component failed once and not again: report the first failure.
            first = next(iter(getattr(flaky, "exceptions", ())), flaky)
            raise self._build_error(first) from flaky
        except Exception as error:
            raise self._build_error(error) from error

    def _build_error(self, error: BaseException) -> AssertionError:
        seen = (
            error if isinstance(error, BrokenLawError) else RaisedError.of(error, self.component)
        )
        hint = self._suggest_first() if isinstance(seen, RaisedError) else ""
        return AssertionError(
            f"{self.kind} {self.name} breaks a law: {self.sentence}. But {seen}{hint}"
        )

    def _suggest_first(self) -> str:
        """Say which law to fix first, as one error may break many laws."""
        first = FIRST[self.kind]
        if self.law.__name__ == first:
            return ". Fix this first: other laws may be broken as a result"
        return f". If {self.kind}-{self.name}-{first} fails, too, fix that first"


@attrs.frozen(eq=False)
class _Entry:
    kind: str
    law: Law
    when: Callable[[Any], bool]
    otherwise: str


_LAWS: list[_Entry] = []


def law(
    kind: str,
    when: Callable[[Any], bool] = lambda component: True,
    otherwise: str = "",
) -> Callable[[Law], Law]:
    """Register a function of one component as a law of a kind, or of "any" kind.

    The first line of its docstring states the law. `when` selects the components; for the others
    its check is skipped, with `otherwise` as the reason.
    """

    def keep(function: Law) -> Law:
        _LAWS.append(_Entry(kind, function, when, otherwise))
        return function

    return keep


def laws_of(kind: str) -> list[Law]:
    """Return the laws of one kind of component: the most basic one, then those of any kind."""
    return [each.law for each in _entries(kind)]


def checks_of(component: Any, name: str | None = None, /, **settings: Any) -> list[Check]:
    """List the checks of a component: a kind and a registered name, or a class or an instance.

    The settings are those of the component. Problems have 2 to 60 rows, so choose settings that
    divide them: the default part size of a tree is too large.

    Examples
    --------
    >>> from dcsvm.testing import checks_of
    >>> len(checks_of("decomposer", "whole")) > 10
    True
    """
    made = _build(component, name, settings)
    kind = next(kind for kind, base in KINDS.items() if isinstance(made, base))
    title = made.name or type(made).__name__
    return [
        Check(kind, title, made, each.law, "" if each.when(made) else each.otherwise)
        for each in _entries(kind)
    ]


def expect(holds: object, seen: str) -> None:
    """Fail the check with what was seen, unless it holds."""
    if not holds:
        raise BrokenLawError(seen)


def expect_seeded(compute: Callable[[], object], seen: str) -> None:
    """Fail the check if results depend on the global random state of numpy."""
    before = np.random.get_state()  # noqa: NPY002 - the state that a component must not use
    results = []
    try:
        for state in (1, 2):
            np.random.seed(state)  # noqa: NPY002
            results.append(compute())
    finally:
        np.random.set_state(before)  # noqa: NPY002
    expect(results[0] == results[1], seen)


def for_any(
    strategy: SearchStrategy[Example], examples: int = 12
) -> Callable[[Callable[[Any, Example], None]], Law]:
    """Turn a law of a component and an example into a law for all examples, with hypothesis.

    A component may raise a DataError for an example. The examples are the same in every run.
    """

    def wrap(function: Callable[[Any, Example], None]) -> Law:
        @functools.wraps(function)
        def holds_for_any(component: Any) -> None:
            @settings(
                max_examples=examples,
                derandomize=True,
                database=None,
                deadline=None,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            )
            @given(strategy)
            def holds(example: Example) -> None:
                if failures.gives_up_on(example):
                    return
                try:
                    function(component, example)
                except DataError:
                    reject()
                except Exception as error:
                    failures.note(example)
                    seen = f" (seen with {describe_problem(example)})"
                    if isinstance(error, BrokenLawError):
                        raise BrokenLawError(f"{error}{seen}") from None
                    raise RaisedError.of(error, component, seen) from error

            failures = _Failures()
            holds()

        # pytest and hypothesis would read the signature of the wrapped function.
        del holds_for_any.__wrapped__
        return holds_for_any

    return wrap


class _Failures:
    """The examples that failed, to end the search for a smaller one after some seconds."""

    def __init__(self) -> None:
        self.seen: set[Any] = set()
        self.until = np.inf

    def note(self, example: Any) -> None:
        """Keep an example that failed."""
        self.until = min(self.until, time.monotonic() + SHRINK_SECONDS)
        self.seen.add(identify(example))

    def gives_up_on(self, example: Any) -> bool:
        """Whether time is up, and the example is not one that failed before."""
        return time.monotonic() > self.until and identify(example) not in self.seen


def _entries(kind: str) -> list[_Entry]:
    mine = [each for each in _LAWS if each.kind in (kind, "any")]
    mine.sort(key=lambda each: (each.law.__name__ != FIRST.get(kind), each.kind != "any"))
    return mine


def _build(component: Any, name: str | None, given: dict[str, Any]) -> Component:
    if isinstance(component, str):
        if component not in KINDS:
            raise SettingError(
                f"no kind of component is called {component!r}; {did_you_mean(component, KINDS)}"
            )
        if name is None:
            raise SettingError(f"checks_of({component!r}, ...) needs the name of a {component}")
        component = default_registry().build(component, name, **given)
    elif isinstance(component, type) and issubclass(component, Component):
        check_names(component, given)
        component = component(**given)
    elif given:
        raise SettingError("checks_of takes settings with a name or a class, not with an instance")
    for kind, base in KINDS.items():
        if isinstance(component, base):
            if kind in WORDS:
                check_words(type(component), WORDS[kind])
            return default_registry().resolve(kind, component)  # type: ignore[no-any-return]
    raise SettingError(
        f"checks_of needs a component, its class, or its kind and name, got {component!r}"
    )
